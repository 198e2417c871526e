"""Every estimate of a study as one object: for the command line, for tables and for export."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from flipcore.annotation.judge_labels import Pairs
from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.claims.flips import UNDEFINED
from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.log_scores import TaskScore, leading
from flipcore.reports.memory import MemoryTest
from flipcore.reports.read_by_people import PeopleOnFlips, people_on_flips, to_say
from flipcore.reports.rows import Row, claim_fields, plain
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import (
    COLUMNS,
    REFERENCE,
    Decomposition,
    decompositions,
    default_reference,
)
from flipcore.stats.memory.rewritten import HarnessAccuracy


@dataclass(frozen=True)
class Report:
    """`decompositions[model]` in the order of axes and readouts; `headlines[model]` the sentence
    above them; `memory[model]` the tests of items against controls, `memory_claims[model]` which
    kinds of evidence agree, `harness[model]` what rotation adds to a single vote, where there are
    any, `people[model]` T = G + A with people's labels of pairs in it. `closed_gates` are the axes
    and extractors that are not claimed, each with what is missing."""

    headlines: dict[str, Headline]
    decompositions: dict[str, list[Decomposition]]
    memory: dict[str, list[MemoryTest]] = field(default_factory=dict)
    memory_claims: dict[str, Claim] = field(default_factory=dict)
    harness: dict[str, HarnessAccuracy] = field(default_factory=dict)
    closed_gates: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, list[Claim]] = field(default_factory=dict)
    notes: Mapping[str, list[str]] = field(default_factory=dict)
    people: Mapping[str, list[PeopleOnFlips]] = field(default_factory=dict)

    def text(self) -> str:
        lines = []
        for model in self.decompositions:
            lines += ["", f"{model}: {self.headlines[model].sentence}"]
            lines += [
                f"  {claim.text} {claim.detail}".rstrip()
                for claim in self.named_claims(model)
                if claim.outcome != UNDEFINED or claim.withheld
            ]
            lines += [
                f"  {one.sentence} {one.narrower}" for one in to_say(self.people.get(model, []))
            ]
            lines += [f"  {note}" for note in self.notes.get(model, ())]
            lines += [f"  {self.harness[model].sentence()}"] if model in self.harness else []
            lines += [f"  {self.memory_claims[model].text}"] if model in self.memory_claims else []
            lines += [
                f"  {one.items}, {one.detector}: {one.sentence}"
                for one in self.memory.get(model, ())
            ]
        return "\n".join(lines).strip() or "No answer has come back yet."

    def named_claims(self, model: str) -> list[Claim]:
        """The claims of a model's cells. What is said in the place of a withheld one names its
        cell; those that are withheld alike are one."""
        others: list[Claim] = []
        alike: dict[tuple[str, str], list[tuple[str, Claim]]] = {}
        places = [cell_place(one) for one in self.decompositions[model]]
        for i, claim in enumerate(self.claims.get(model, ())):
            if claim.withheld and i < len(places):
                alike.setdefault((claim.withheld, claim.detail), []).append((places[i], claim))
            else:
                others.append(claim)
        several = (
            (why, "; ".join(place for place, _ in cells), cells[0][1])
            for (why, _), cells in alike.items()
        )
        return others + [
            replace(first, withheld=f"{places}. {why}") for why, places, first in several
        ]

    def rows(self, model: str) -> Iterator[Row]:
        """Of one model: accuracy at the base prompt, every cell, what rotation adds, every detector
        of memory."""
        for role, mean in self.headlines[model].accuracies.items():
            of = ", ".join(
                filter(None, ("base prompt, reference extractor", role.replace("_", " ")))
            )
            yield Row(model, of, "accuracy", mean, place={"model": model, "role": role})
        yield from self.cell_rows(model)
        if harness := self.harness.get(model):
            for name in ("led", "single", "difference"):
                yield Row(model, "rotation", name, getattr(harness, name), place={"model": model})
        for one in self.memory.get(model, ()):
            yield from one.rows(model)

    def cell_rows(self, model: str) -> Iterator[Row]:
        """T, G, A and what stands beside them of each axis and extractor, with the cell's claim."""
        for one, claim in zip(self.decompositions[model], self.claims.get(model, ()), strict=False):
            place = {"model": model, "axis": one.axis, "extractor": one.extractor}
            for name in (*COLUMNS, "share"):
                is_repeated = one.is_reference and name not in ("T", "W", "excess")
                yield Row(
                    model,
                    cell_place(one),
                    name,
                    getattr(one, name),
                    claim,
                    place,
                    is_repeated=is_repeated,
                )
        for people in self.people.get(model, ()):
            yield from people.rows()

    def as_dict(self) -> dict:
        models = {model: self._model(model) for model in self.decompositions}
        return {"models": models, "closed": dict(self.closed_gates)}

    def _model(self, model: str) -> dict:
        claims, cells = self.claims.get(model, []), self.decompositions[model]
        return {
            "headline": self.headlines[model].sentence,
            "cells": [_cell(cell, claim) for cell, claim in zip(cells, claims, strict=False)],
            "people": [row.as_dict() for row in self.people.get(model, ())],
            "not_claimed": [claim.withheld for claim in claims if claim.withheld],
            "notes": list(self.notes.get(model, ())),
            "harness": _harness(self.harness.get(model)),
            "memory_headline": (
                self.memory_claims[model].text if model in self.memory_claims else None
            ),
            "memory": [test.as_dict() for test in self.memory.get(model, ())],
        }


def study_report(
    frame: pd.DataFrame,
    reference: str | None = None,
    closed_gates: Mapping[str, str] | None = None,
    temperatures: Mapping[str, float] | None = None,
    repeats: Mapping[str, str] | None = None,
    scores: Sequence[TaskScore] = (),
    *,
    by_task: bool = False,
    pairs: Pairs | None = None,
    **settings,
) -> Report:
    """`frame` holds the readouts of one or more models; `settings` go to `decompositions`. Without
    a `reference` it is the first scorer of a log (`scores`), the written answer, or else a model's
    last extractor, and that is said. One that was asked for and that a model lacks is never
    replaced: nothing of the model is claimed. What is in `closed_gates` is not claimed;
    `temperatures` are the models' own, `repeats` what is said of each where templates repeat;
    `by_task` as in `headline`; `pairs` are those that people labelled (`annotation.judge_labels`).
    """
    models = list(frame["model"].unique()) if not frame.empty else []
    cells: dict = {}
    headlines: dict = {}
    claimed: dict = {}
    notes: dict = {}
    people: dict = {}
    for model in models:
        part, heat = frame[frame["model"] == model], (temperatures or {}).get(model)
        answers = coded_answers(part)
        own = [one for one in scores if one.model == model]
        reference_name = reference or default_reference(
            answers.extractors, [one.scorer for one in own]
        )
        headlines[model] = claimed_headline(
            part, closed_gates or {}, temperature=heat, scores=own, by_task=by_task
        )
        is_usual = reference or reference_name == REFERENCE
        of_reference = (
            "" if is_usual else f"Reference extractor: {flips.title_of(reference_name).lower()}."
        )
        passes = (one.passes_words() for one in leading(own, model))
        notes[model] = [*filter(None, [of_reference, *passes, (repeats or {}).get(model)])]
        if reference_name not in answers.extractors:
            cells[model], claimed[model] = (
                [],
                [flips.lacking_reference(reference_name, answers.extractors)],
            )
            headlines[model] = replace(headlines[model], claims=(claimed[model][0],))
            continue
        cells[model] = decompositions(answers, reference_name, **settings)
        claimed[model] = flips.cell_claims(cells[model], closed_gates, heat)
        n_labelled = len(pairs.rows) if pairs else 0
        notes[model] += filter(
            None, [flips.unchecked_words((*claimed[model], *headlines[model].claims), n_labelled)]
        )
        if pairs and pairs.rows:
            people[model] = people_on_flips(model, cells[model], part, pairs, closed_gates or {})
    return Report(
        headlines,
        cells,
        closed_gates=closed_gates or {},
        claims=claimed,
        notes=notes,
        people=people,
    )


def cell_place(one: Decomposition) -> str:
    """ "option order, first token"."""
    return f"{one.axis.replace('_', ' ')}, {title_of(one.extractor).lower()}"


def table(cells: list[Decomposition], temperature: float | None = None) -> pd.DataFrame:
    """One row a cell with estimates as text, for a page and for download. `temperature`: None where
    unknown."""
    return pd.DataFrame([_row(one, temperature) for one in cells])


def _row(one: Decomposition, temperature: float | None) -> dict:
    hidden = one.is_reference
    return {
        "axis": one.axis.replace("_", " "),
        "extractor": title_of(one.extractor),
        "items": one.n_items,
        "T": one.T.text_percent(),
        "G genuine": one.G.text_percent(),
        "A artifact": "reference" if hidden else one.A.text_percent(),
        "A+": "" if hidden else one.A_plus.text_percent(),
        "A−": "" if hidden else one.A_minus.text_percent(),
        "both": "" if hidden else one.both.text_percent(),
        "A − G": "" if hidden else one.A_minus_G.text_points(0),
        "floor": "deterministic" if temperature == 0 and one.W.value == 0 else one.W.text_percent(),
        "T beyond floor": one.excess.text_percent(),
        "items left out": one.n_excluded,
        "not read %": round(100 * one.unread.shares[0], 1),
    }


def _cell(one: Decomposition, claim: Claim) -> dict:
    numbers = {name: plain(getattr(one, name)) for name in (*COLUMNS, "share")}
    return {
        "axis": one.axis,
        "extractor": one.extractor,
        "reference": one.reference,
        **claim_fields(claim),
        "p_claim": plain(claim.numbers.get("p", math.nan)),
        "n_items": one.n_items,
        "n_excluded": one.n_excluded,
        "n_left_out": one.n_left_out,
        "rule": one.rule,
        "p_artifact": plain(one.p_artifact),
        "p_more": plain(one.p_more),
        "established": (
            None
            if one.is_reference or claim.outcome == flips.FEW
            else claim.is_made and claim.outcome in (flips.ARTIFACT, flips.OF_BOTH)
        ),
    } | numbers


def _harness(accuracy: HarnessAccuracy | None) -> dict | None:
    if accuracy is None:
        return None
    return {
        "rotation": plain(accuracy.led),
        "single": plain(accuracy.single),
        "difference": plain(accuracy.difference),
        "n": accuracy.n,
    }


def matches(row: dict, words: str) -> bool:
    """True where the study's name or one of its models holds the words looked for."""
    return words.strip().lower() in " ".join([row["name"], *row["models"]]).lower()


def with_and_without(
    frame: pd.DataFrame, disputed: Collection[str], closed_gates: Mapping[str, str] | None = None
) -> list[dict]:
    """A row a number of each model: its accuracy at the base prompt and T of each axis and
    extractor, of all items and of those that nobody disputes (`frame` as `studies.readouts` gives
    it). What gates withhold is left out."""
    shut = set(closed_gates or ())
    both = [study_report(one) for one in (frame, frame[~frame["item_id"].isin(list(disputed))])]
    rows = []
    for model, whole in both[0].headlines.items():
        rest = both[1].headlines.get(model)
        for role, mean in whole.accuracies.items():
            rest_mean = rest.accuracies.get(role) if rest else None
            rows.append(
                _both(
                    model, f"accuracy, {role_name(role, whole.accuracies)} items", mean, rest_mean
                )
            )
        cells = {(one.axis, one.extractor): one.T for one in both[1].decompositions.get(model, [])}
        rows += [
            _both(model, f"T, {cell_place(one)}", one.T, cells.get((one.axis, one.extractor)))
            for one in both[0].decompositions[model]
            if not {one.axis, one.extractor} & shut
        ]
    return rows


def _both(model: str, what: str, whole, rest) -> dict:
    return {
        "model": model,
        "number": what,
        "all items": whole.text_percent(),
        "without disputed": rest.text_percent() if rest else "–",
        "items then": rest.n if rest else 0,
    }
