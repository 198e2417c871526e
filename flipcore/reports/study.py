"""Flips of each model of a study, for every view of them."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from flipcore.annotation.judge_labels import Pairs
from flipcore.charts.flips import decomposition_bars
from flipcore.charts.theme import Colours, Figure
from flipcore.claims import flips
from flipcore.claims.claim import Claim
from flipcore.claims.flips import UNDEFINED
from flipcore.core.records import role_name
from flipcore.extractors import title_of
from flipcore.reports.answer import Answer, FigureOf, Question
from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.log_scores import TaskScore, leading
from flipcore.reports.read_by_people import PeopleOnFlips, cell_name, people_on_flips, shown_rows
from flipcore.reports.rows import Row, as_json, claim_fields, notebook_table
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.decomposition import (
    COLUMNS,
    REFERENCE,
    Decomposition,
    decompositions,
    default_reference,
)
from flipcore.stats.memory.rewritten import HarnessAccuracy


@dataclass(frozen=True, eq=False)
class FlipsReport(Answer):
    """Flips of one model: the headline, and a cell per axis and extractor.

    `cell_claims` has one claim per cell. Where the model lacks the reference there is one claim and
    no cell. `people` are flip rates corrected by people's labels. `harness` compares the accuracy
    by rotation with that of a single call; None if it was not measured.
    """

    model: str
    headline: Headline
    cells: Sequence[Decomposition] = ()
    cell_claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    people: Sequence[PeopleOnFlips] = ()
    harness: HarnessAccuracy | None = None

    question = Question.FLIPS

    @property
    def claims(self) -> tuple[Claim, ...]:
        return (*self.headline.claims, *self.cell_claims)

    @property
    def figures(self) -> Mapping[str, FigureOf]:
        """The parts of each cell's flips."""

        def draw(theme: Colours) -> Figure:
            return decomposition_bars(self.cells, title_of, theme)

        return {"decomposition": draw} if self.cells else {}

    @property
    def frame(self) -> pd.DataFrame:
        """Table of the cells' estimates, without accuracies."""
        return notebook_table(self.cell_rows())

    def lines(self) -> list[str]:
        lines = [f"{self.model}: {self.headline.sentence}"]
        for claim in self.named_claims():
            if claim.outcome != UNDEFINED or claim.withheld:
                lines.append(f"  {claim.text} {claim.detail}".rstrip())
        lines += [f"  {people.sentence} {people.narrower}" for people in shown_rows(self.people)]
        lines += [f"  {note}" for note in self.notes]
        return lines + ([f"  {self.harness.sentence()}"] if self.harness else [])

    def named_claims(self) -> list[Claim]:
        """Return the claims of the cells; claims withheld for one reason become one. The merged
        claim names its cells. Ten cells behind one gate would repeat the reason ten times."""
        claims: list[Claim] = []
        first_of: dict[tuple[str, str], Claim] = {}
        cells_of: dict[tuple[str, str], list[str]] = {}
        for i, claim in enumerate(self.cell_claims):
            if claim.withheld and i < len(self.cells):
                reason = (claim.withheld, claim.detail)
                first_of.setdefault(reason, claim)
                cells_of.setdefault(reason, []).append(cell_name(self.cells[i]))
            else:
                claims.append(claim)
        for reason, claim in first_of.items():
            withheld = f"{'; '.join(cells_of[reason])}. {claim.withheld}"
            claims.append(replace(claim, withheld=withheld))
        return claims

    def rows(self) -> Iterator[Row]:
        """Yield accuracies at the base prompt, every cell, and the effect of rotation."""
        model = self.model
        for role, mean in self.headline.accuracies.items():
            where = "base prompt, reference extractor"
            if role:
                where = f"{where}, {role.replace('_', ' ')}"
            yield Row(model, where, "accuracy", mean, columns={"model": model, "role": role})
        yield from self.cell_rows()
        if self.harness:
            for name in ("led", "single", "difference"):
                estimate = getattr(self.harness, name)
                yield Row(model, "rotation", name, estimate, columns={"model": model})

    def cell_rows(self) -> Iterator[Row]:
        """Yield the estimates of each cell with its claim, then those by people's labels."""
        # Not strict: where the reference is lacking there is a claim and no cell.
        for cell, claim in zip(self.cells, self.cell_claims, strict=False):
            where = cell_name(cell)
            columns = {"model": self.model, "axis": cell.axis, "extractor": cell.extractor}
            for name in (*COLUMNS, "share"):
                # For the reference itself A is 0 and G equals T, by definition.
                repeats = cell.is_reference and name not in ("T", "W", "excess")
                estimate = getattr(cell, name)
                yield Row(
                    self.model,
                    where,
                    name,
                    estimate,
                    claim=claim,
                    columns=columns,
                    is_repeated=repeats,
                )
        for people in self.people:
            yield from people.rows()

    def as_dict(self) -> dict[str, Any]:
        pairs = zip(self.cells, self.cell_claims, strict=False)
        return {
            "headline": self.headline.sentence,
            "cells": [_cell_as_dict(cell, claim) for cell, claim in pairs],
            "people": [row.as_dict() for row in self.people],
            "not_claimed": [claim.withheld for claim in self.cell_claims if claim.withheld],
            "notes": list(self.notes),
            "harness": _harness_as_dict(self.harness),
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
) -> dict[str, FlipsReport]:
    """Report the flips of each model of `frame`, which has readouts.

    Parameters
    ----------
    reference : the reference extractor. By default a log's first scorer (`scores`), the written
        answer, or a model's last extractor. A chosen one that a model lacks is never replaced:
        nothing is claimed of that model.
    closed_gates : axis or extractor -> why it is not claimed.
    temperatures : model -> its temperature; a missing or None value is unknown.
    repeats : model -> a note, for items that repeat templates.
    scores, by_task : as in `flips.headline`.
    pairs : pairs of outputs that people labelled (`annotation.judge_labels`).
    settings : further arguments of `decompositions`.
    """
    models = list(frame["model"].unique()) if not frame.empty else []
    gates = closed_gates or {}
    reports = {}
    n_labelled = len(pairs.rows) if pairs else 0
    for model in models:
        part, temperature = frame[frame["model"] == model], (temperatures or {}).get(model)
        answers = coded_answers(part)
        own_scores = [score for score in scores if score.model == model]
        scorers = [score.scorer for score in own_scores]
        reference_name = reference or default_reference(answers.extractors, scorers)
        headline = claimed_headline(
            part,
            gates,
            temperature=temperature,
            scores=own_scores,
            by_task=by_task,
            reference=reference_name,
        )
        notes = []
        # Only an unusual reference is worth a note.
        if not reference and reference_name != REFERENCE:
            notes.append(f"Reference extractor: {title_of(reference_name).lower()}.")
        notes += filter(None, (score.passes_words() for score in leading(own_scores, model)))
        if repeated := (repeats or {}).get(model):
            notes.append(repeated)
        if reference_name not in answers.extractors:
            lacking = flips.missing_reference_claim(reference_name, answers.extractors)
            headline = replace(headline, claims=(lacking,))
            reports[model] = FlipsReport(model, headline, cell_claims=[lacking], notes=notes)
            continue
        cells = decompositions(answers, reference_name, **settings)
        claims = flips.cell_claims(cells, closed_gates, temperature)
        if unchecked := flips.unchecked_words((*claims, *headline.claims), n_labelled):
            notes.append(unchecked)
        people = people_on_flips(model, cells, part, pairs, gates) if pairs and pairs.rows else []
        reports[model] = FlipsReport(
            model, headline, cells=cells, cell_claims=claims, notes=notes, people=people
        )
    return reports


def table(cells: Sequence[Decomposition], temperature: float | None = None) -> pd.DataFrame:
    """Return one row per cell with estimates as text; `temperature` is None if unknown."""
    return pd.DataFrame([_row(cell, temperature) for cell in cells])


def _row(cell: Decomposition, temperature: float | None) -> dict:
    is_reference = cell.is_reference
    # At other temperatures reruns that never differed show only that there were few.
    is_deterministic = temperature == 0 and cell.W.value == 0
    return {
        "axis": cell.axis.replace("_", " "),
        "extractor": title_of(cell.extractor),
        "items": cell.n_items,
        "T": cell.T.text_percent(),
        "G genuine": cell.G.text_percent(),
        "A artifact": "reference" if is_reference else cell.A.text_percent(),
        "A+": "" if is_reference else cell.A_plus.text_percent(),
        "A−": "" if is_reference else cell.A_minus.text_percent(),
        "both": "" if is_reference else cell.both.text_percent(),
        "A − G": "" if is_reference else cell.A_minus_G.text_points(0),
        "floor": "deterministic" if is_deterministic else cell.W.text_percent(),
        "T beyond floor": cell.excess.text_percent(),
        "items left out": cell.n_excluded,
        "not read %": round(100 * cell.unread.shares[0], 1),
    }


def _cell_as_dict(cell: Decomposition, claim: Claim) -> dict:
    # There is no claim on the reference itself, nor on too few items.
    is_established = None
    if not cell.is_reference and claim.outcome != flips.FEW:
        is_established = claim.is_made and claim.outcome in (flips.ARTIFACT, flips.OF_BOTH)
    return {
        "axis": cell.axis,
        "extractor": cell.extractor,
        "reference": cell.reference,
        **claim_fields(claim),
        "p_claim": as_json(claim.numbers.get("p", math.nan)),
        "n_items": cell.n_items,
        "n_excluded": cell.n_excluded,
        "n_left_out": cell.n_left_out,
        "rule": cell.rule,
        "p_artifact": as_json(cell.p_artifact),
        "p_more": as_json(cell.p_more),
        "established": is_established,
        **{name: as_json(getattr(cell, name)) for name in (*COLUMNS, "share")},
    }


def _harness_as_dict(accuracy: HarnessAccuracy | None) -> dict | None:
    if accuracy is None:
        return None
    return {
        "rotation": as_json(accuracy.led),
        "single": as_json(accuracy.single),
        "difference": as_json(accuracy.difference),
        "n": accuracy.n,
    }


def matches(row: dict, words: str) -> bool:
    """Tell whether a study's name or one of its models contains the searched words."""
    return words.strip().lower() in " ".join([row["name"], *row["models"]]).lower()


def with_and_without(
    frame: pd.DataFrame, disputed: Collection[str], closed_gates: Mapping[str, str] | None = None
) -> list[dict]:
    """Return accuracies and flip rates over all items and over those that nobody disputes.

    One row per model and number: the accuracy at the base prompt, and T of each axis and extractor
    whose gates are open. `frame` is that of `studies.readouts`.
    """
    gates = set(closed_gates or ())
    all_reports = study_report(frame)
    undisputed_reports = study_report(frame[~frame["item_id"].isin(list(disputed))])
    rows = []
    for model, report in all_reports.items():
        undisputed, accuracies = undisputed_reports.get(model), report.headline.accuracies
        for role, mean in accuracies.items():
            name = f"accuracy, {role_name(role, accuracies)} items"
            remaining = undisputed.headline.accuracies.get(role) if undisputed else None
            rows.append(_compared(model, name, mean, remaining))
        t_of = {}
        for cell in undisputed.cells if undisputed else ():
            t_of[cell.axis, cell.extractor] = cell.T
        for cell in report.cells:
            if not {cell.axis, cell.extractor} & gates:
                remaining = t_of.get((cell.axis, cell.extractor))
                rows.append(_compared(model, f"T, {cell_name(cell)}", cell.T, remaining))
    return rows


def _compared(model: str, number: str, over_all: Estimate, remaining: Estimate | None) -> dict:
    return {
        "model": model,
        "number": number,
        "all items": over_all.text_percent(),
        "without disputed": remaining.text_percent() if remaining else "–",
        "items then": remaining.n if remaining else 0,
    }
