"""Extractors against people, one model and one extractor at a time: how often the extractor reads
otherwise, in which way, and the score with that corrected. Pages, command line and notebook show
these rows."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.judge_labels import Pairs
from flipcore.claims.score import corrected_words, narrower_words
from flipcore.core.records import OK, UNREADABLE
from flipcore.extractors import needs_judge, title_of
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.agreement import Agreement, cohen_log_agreement
from flipcore.stats.base.estimate import MIN_N, MISSING, Estimate, number_text, percent_text
from flipcore.stats.flips.decomposition import COLUMNS, Decomposition
from flipcore.stats.flips.pooled import across_axes
from flipcore.stats.score.corrected import Corrected, corrected
from flipcore.stats.score.corrected_flips import FlipsByPeople, flips_by_people
from flipcore.stats.score.self_preference import SelfPreference, self_preference
from flipcore.store.queries.judges import BACKWARDS
from flipcore.text.counts import count_of

PLACE = ["item_id", "variant_id", "sample"]
MORE = 100  # labels


def with_limits(one: Estimate) -> str:
    """An estimate for a table, a dash where labels are too few for limits: a number that so few
    make invites belief."""
    return one.text() if one.has_interval else MISSING


@dataclass(frozen=True, eq=False)
class ReaderErrors:
    """Of one model's labelled outputs under one extractor (rows of `labelled_readouts`); `score` is
    the score of all its outputs with the labels in it, None where that was not asked for, `units`
    (outputs,) the names of their questions.
    """

    model: str
    reader: str
    rows_read: tuple[Mapping[str, Any], ...]
    score: Corrected | None = None
    units: np.ndarray | None = None

    @property
    def n(self) -> int:
        return len(self.rows_read)

    @cached_property
    def error(self) -> Estimate:
        """The share of the labelled outputs that the extractor reads otherwise than people do; an
        item's outputs are one family."""
        return accuracy(
            [not one["is_same"] for one in self.rows_read],
            [one["family"] for one in self.rows_read],
        )

    @cached_property
    def kinds(self) -> dict[str, int]:
        """In which way it reads otherwise, in outputs; what is right by one and wrong by the other
        is counted once more below."""
        other = [one for one in self.rows_read if not one["is_same"]]
        verdicts = [
            (one["is_correct"], one["label_is_right"])
            for one in self.rows_read
            if one["label_is_right"] is not None
        ]
        return {
            "another answer": sum(
                one["answer"] is not None and one["label"] is not None for one in other
            ),
            "no answer read": sum(one["answer"] is None for one in other),
            "people see no answer": sum(one["label"] is None for one in other),
            "right counted wrong": sum(right and not by_reader for by_reader, right in verdicts),
            "wrong counted right": sum(
                bool(by_reader) and not right for by_reader, right in verdicts
            ),
        }

    @property
    def headline(self) -> str:
        """How often it reads otherwise, in a line."""
        limits = (
            f" [{percent_text(self.error.low)}, {percent_text(self.error.high)}]"
            if self.error.has_interval
            else ""
        )
        share = f"{percent_text(self.error.value)}{limits} of {count_of(self.n, 'labelled output')}"
        note = "" if limits else self.error.note.rstrip(".")
        few = f"; {note[:1].lower()}{note[1:]}" if note else ""
        return (
            f"{title_of(self.reader)} reads {share} of {self.model} otherwise than people do{few}"
        )

    @property
    def sentence(self) -> str:
        """The score with the labels in it, beside the extractor's; why not where that has no
        limits; "" without a score."""
        if self.score is None:
            return ""
        if not self.score.estimate.has_interval:
            n = count_of(self.score.n_labels, "label")
            return (
                f"{self.model} has {n} by people, too few to correct its score."
                f" {self.score.estimate.note}".rstrip()
            )
        return corrected_words(self.model, title_of(self.reader).lower(), self.score)

    @property
    def narrower(self) -> str:
        """What more labels would do; "" without a score."""
        return narrower_words(self.score, MORE) if self.score else ""

    def table_row(self) -> dict[str, Any]:
        one = {
            "model": self.model,
            "extractor": title_of(self.reader),
            "labels": self.n,
            "reads otherwise": self.error.text(),
            **self.kinds,
        }
        if self.score is None:
            return one
        return one | {
            "score as read": self.score.raw.text(),
            "corrected": with_limits(self.score.estimate),
            "by labels alone": with_limits(self.score.by_people),
        }

    def rows(self) -> Iterator[Row]:
        of = {"model": self.model, "reader": self.reader}
        yield Row(
            self.model, title_of(self.reader), "read otherwise than people do", self.error, place=of
        )
        if self.score:
            yield Row(
                self.model,
                title_of(self.reader),
                "score, corrected by people",
                self.score.estimate,
                place=of,
            )

    def as_dict(self) -> dict[str, Any]:
        score = self.score
        of_score = (
            {
                "sentence": self.sentence,
                "score_as_read": plain(score.raw),
                "corrected": plain(score.estimate),
                "by_labels_alone": plain(score.by_people),
                "n_disagreements": score.n_disagreements,
                "half_width": plain(score.half_width()),
                f"half_width_after_{MORE}_more": plain(score.half_width(MORE)),
                "half_width_at_best": plain(score.half_width(math.inf)),
            }
            if score
            else {}
        )
        return {
            "reader": self.reader,
            "n_labels": self.n,
            "error": plain(self.error),
            "kinds": self.kinds,
        } | of_score


def reader_errors(rows: Sequence[Mapping[str, Any]]) -> list[ReaderErrors]:
    """One a model and extractor, from `labelled_readouts`."""
    of: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        of.setdefault((row["model"], row["extractor"]), []).append(row)
    return [ReaderErrors(model, reader, tuple(part)) for (model, reader), part in of.items()]


def corrected_score(
    model: str, reader: str, outputs: pd.DataFrame, rows: Sequence[Mapping[str, Any]], level: float
) -> ReaderErrors | None:
    """Of `outputs` (item_id, variant_id, sample, score, family) under one model and extractor, the
    labels among `rows` in them; None without a label, and where scores are not right or wrong."""
    there = outputs[outputs["score"].notna()]
    own = [
        row
        for row in rows
        if (row["model"], row["extractor"]) == (model, reader) and row["label_is_right"] is not None
    ]
    at = {tuple(row[name] for name in PLACE): row for row in own}
    keys = list(zip(*(there[name] for name in PLACE), strict=True))
    read = tuple(at[key] for key in keys if key in at)
    if not read or not there["score"].isin((0, 1)).all():
        return None
    people = np.array([float(at[key]["label_is_right"]) if key in at else math.nan for key in keys])
    units = there["family"].astype(str).to_numpy()
    return ReaderErrors(model, reader, read, corrected(there["score"], people, units, level), units)


def examples(rows: Sequence[Mapping[str, Any]], n: int = 20) -> list[dict[str, Any]]:
    """Outputs that an extractor reads otherwise than people do, the first of them: what each read,
    and the end of the text."""
    return [
        {
            "extractor": title_of(row["extractor"]),
            "model": row["model"],
            "item": row["item_id"],
            "extractor reads": row["answer"] or "–",
            "people read": row["label"] or "–",
            "the output ends": row["text"][-200:],
        }
        for row in rows
        if not row["is_same"]
    ][:n]


def cost_words(n_labels: int, n_people: int, seconds: float) -> str:
    """What the labels cost."""
    people = "one person" if n_people == 1 else f"{n_people} people"
    took = (
        ""
        if math.isnan(seconds)
        else f", about {count_of(max(round(n_labels * seconds / 60), 1), 'minute')} of reading"
    )
    return f"{n_labels:,} label{'s' * (n_labels != 1)} by {people}{took}."


# T = G + A of a model with people's labels of pairs in it, beside the same without.


@dataclass(frozen=True, eq=False)
class PeopleOnFlips:
    """One axis (or all changes) under one extractor: `raw` as extractors read it, `people` with the
    labels; `why_not` what withholds it from conclusions."""

    model: str
    raw: Decomposition
    people: FlipsByPeople
    why_not: str = ""

    @property
    def place(self) -> str:
        """ "option order, first token"."""
        return f"{self.raw.axis.replace('_', ' ')}, {title_of(self.raw.extractor).lower()}"

    @property
    def sentence(self) -> str:
        """G and A with the labels in them, beside those that extractors give: estimates, and no
        verdict; without limits that nothing is corrected, and why."""
        place, pairs = (
            f"{self.place[0].upper()}{self.place[1:]}",
            count_of(self.people.n_pairs, "labelled pair"),
        )
        stated, artifact = self.people.stated, self.people.artifact
        if not stated.has_interval:
            return f"{place}: {pairs}, too few to correct G and A. {stated.note}".rstrip()
        alone = f"{title_of(self.raw.reference).lower()} alone: {number_text(self.raw.G.value)}"
        genuine = f"{place}: by {pairs} {stated.text()} of pairs state another answer; {alone}."
        gate = f"Not claimed: {self.why_not}" if self.why_not else ""
        return (
            f"{genuine} Artifact: {artifact.text()} instead of {number_text(self.raw.A.value)}."
            f" {gate}".rstrip()
        )

    @property
    def narrower(self) -> str:
        """What more labelled pairs would do to the half-width of G, or how many are missing."""
        one = self.people
        if one.has_normal_limits:
            now, then, best = (number_text(one.half_width(n), 3) for n in (0, MORE, math.inf))
            return (
                f"{MORE} more pairs: ± {now} becomes ± {then}; no number of labels takes it below ±"
                f" {best}."
            )
        if one.n_pairs < MIN_N:
            return f"Label about {MIN_N - one.n_pairs} more pairs."
        if one.n_more is None:
            missed = percent_text(one.errors.false_wrongs.high)
            return (
                f"No labelled pair differs from the reference yet: it misses at most {missed} of"
                " what it calls no flip."
            )
        return (
            f"Label about {one.n_more:,} more pairs for an interval by prediction-powered"
            " inference."
        )

    def table_row(self) -> dict[str, Any]:
        one = self.people
        return {
            "axis": self.raw.axis.replace("_", " "),
            "extractor": title_of(self.raw.extractor),
            "pairs": one.n_pairs,
            "flips that people do not see": one.errors.false_rights.text(),
            "flips missed": one.errors.false_wrongs.text(),
            "T": self.raw.T.text(),
            "G as read": self.raw.G.text(),
            "G by people": with_limits(one.stated),
            "by labels alone": with_limits(one.by_labels_alone),
            "A as read": "reference" if self.raw.is_reference else self.raw.A.text(),
            "A by people": with_limits(one.artifact),
        }

    def rows(self) -> Iterator[Row]:
        of = {"model": self.model, "axis": self.raw.axis, "extractor": self.raw.extractor}
        yield Row(self.model, self.place, "G, corrected by people", self.people.stated, place=of)
        yield Row(self.model, self.place, "A, corrected by people", self.people.artifact, place=of)

    def as_dict(self) -> dict[str, Any]:
        one = self.people
        return {
            "axis": self.raw.axis,
            "extractor": self.raw.extractor,
            "reference": self.raw.reference,
            "sentence": self.sentence,
            "is_claimed": not self.why_not,
            "n_pairs": one.n_pairs,
            "n_disagreements": one.n_disagreements,
            "T": plain(self.raw.T),
            "G_as_read": plain(self.raw.G),
            "G": plain(one.stated),
            "A_as_read": plain(self.raw.A),
            "A": plain(one.artifact),
            "G_by_labels_alone": plain(one.by_labels_alone),
            "half_width": plain(one.half_width()),
            f"half_width_after_{MORE}_more": plain(one.half_width(MORE)),
            "half_width_at_best": plain(one.half_width(math.inf)),
        }


def people_on_flips(
    model: str,
    cells: Sequence[Decomposition],
    frame: pd.DataFrame,
    pairs: Pairs,
    closed_gates: Mapping[str, str],
    level: float = 0.95,
    *,
    at_once: bool = False,
) -> list[PeopleOnFlips]:
    """Over all changes that may be claimed, then of each cell, where pairs were labelled. `frame`
    holds the readouts of this model, from which `cells` were made with the base prompt and
    unreadable answers as a class of their own. `at_once`: every G and A of the list holds together
    with the others (Bonferroni)."""
    labelled_rows = [row for row in pairs.rows if row["model"] == model]
    if not labelled_rows or not cells:
        return []
    read = _read(frame, {row["item_id"] for row in labelled_rows})
    item_index = {name: i for i, name in enumerate(pd.factorize(frame["item_id"])[1])}
    open_cells = [cell for cell in cells if cell.axis not in closed_gates]
    axes = {cell.axis for cell in open_cells}
    pooled = across_axes(open_cells) if len(axes) > 1 else []
    out = []
    for cell, of_axes in [
        *((cell, axes) for cell in pooled),
        *((cell, {cell.axis}) for cell in cells),
    ]:
        flips_by_reader, flips_for_people, items = [], [], []
        for row in labelled_rows:
            flips = _flips_under_reference(row, read, cell) if row["axis"] in of_axes else None
            if flips is not None:
                flips_by_reader.append(flips)
                flips_for_people.append(row["flips"])
                items.append(item_index[row["item_id"]])
        t, g = (cell.item_values[:, list(COLUMNS).index(name)] for name in ("T", "G"))
        families = cell.families if cell.families is not None else np.arange(t.size)
        people = flips_by_people(t, g, flips_by_reader, flips_for_people, items, families, level)
        reasons = [closed_gates.get(name) for name in (cell.axis, cell.extractor, cell.reference)]
        if people.n_pairs:
            why_not = next(filter(None, reasons), "")
            out.append(PeopleOnFlips(model, cell, people, why_not))
    if not at_once or not out:
        return out
    together = 1 - (1 - level) / (2 * len(out))
    return [replace(row, people=replace(row.people, level=together)) for row in out]


def leading(rows: Sequence[PeopleOnFlips]) -> PeopleOnFlips:
    """The one that is said first: the first of a compared extractor; of the reference alone its
    own."""
    return next((one for one in rows if not one.raw.is_reference), rows[0])


def to_say(rows: Sequence[PeopleOnFlips]) -> list[PeopleOnFlips]:
    """Those with limits; where labels are too few for any, the one that is said first alone."""
    return [one for one in rows if one.people.stated.has_interval] or (
        [leading(rows)] if rows else []
    )


def _read(frame: pd.DataFrame, items: set[str]) -> dict[tuple[Any, ...], str | None]:
    """(item, axis, variant, sample, extractor) -> what was read, None for an unreadable answer;
    nothing where there is none."""
    part = frame[frame["item_id"].isin(items) & frame["status"].isin((OK, UNREADABLE))]
    columns = (
        part[name].astype(object)
        for name in ("item_id", "axis", "variant", "sample", "extractor", "status", "answer")
    )
    return {
        tuple(key): answer if status == OK else None
        for *key, status, answer in zip(*columns, strict=True)
    }


def _flips_under_reference(
    row: Mapping[str, Any], read: Mapping[tuple[Any, ...], str | None], cell: Decomposition
) -> bool | None:
    """Whether the pair flips under the reference; None where one of its outputs is not there under
    both extractors."""
    answers = []
    for name in (cell.reference, cell.extractor):
        for variant, sample in zip(row["variants"], row["samples"], strict=True):
            key = (row["item_id"], row["axis"], variant, sample, name)
            if key not in read:
                return None
            answers.append(read[key])
    return answers[0] != answers[1]


# Judges as instruments: what a second judge reads in the same outputs, and whether a judge that is
# a contestant favours itself.

OUTPUT = ["model", "item_id", "variant_id", "sample"]
ALIASES = {"o": "gpt", "chatgpt": "gpt"}  # OpenAI's reasoning models are named by a letter


def family_of(model: str) -> str:
    """The family that a model's name begins with: "gpt" of "openai/gpt-4o", "llama" of
    "Meta-Llama-3-8B"; of a Python function its own name."""
    if ":" in model and "." in model.partition(":")[0]:
        return model
    words = re.findall(r"[a-z]+", model.rpartition("/")[2].lower())
    first = next((word for word in words if word not in ("meta", "nous", "deepinfra")), model)
    return ALIASES.get(first, first)


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """What two judges read in the same outputs, both texts that they could not read counted: `same`
    is the share alike."""

    first: str
    second: str
    same: Estimate
    agreement: Agreement
    n: int

    @property
    def sentence(self) -> str:
        """How often they agree, and beyond chance."""
        kappa = self.agreement.estimate.text()
        names = f"{title_of(self.first)} and {title_of(self.second).lower()}"
        return f"{names} read {self.same.text()} of {self.n:,} outputs alike, kappa {kappa}."


@dataclass(frozen=True, eq=False)
class Contestant:
    """A judge that answers here itself, or whose family does: `own` are those models. `preference`
    is None without labels of both."""

    judge: str
    reader: str
    own_models: tuple[str, ...]
    preference: SelfPreference | None
    n_own: int = 0
    n_others: int = 0

    @property
    def sentence(self) -> str:
        """Who is judge and contestant, and what labels say of it: an estimate, and no verdict."""
        is_itself = self.judge in self.own_models
        which = (
            "answers here itself"
            if is_itself
            else f"judges its own family ({', '.join(self.own_models)})"
        )
        start = f"The judge {self.judge} {which}."
        if self.preference is None:
            return (
                f"{start} Label outputs of these models and of others to see whether it favours its"
                " own."
            )
        own_text, others_text = (
            self.preference.own.text_points(),
            self.preference.others.text_points(),
        )
        return (
            f"{start} Beside people it scores its own outputs {own_text} (n = {self.n_own:,}) and"
            f" others' {others_text} (n = {self.n_others:,}). Apart:"
            f" {self.preference.apart.text_points()}."
        )


@dataclass(frozen=True, eq=False)
class Judges:
    """Of a study: each pair of judges, and each that is a contestant."""

    pairs: tuple[TwoJudges, ...] = ()
    contestants: tuple[Contestant, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*(one.sentence for one in self.contestants), *(one.sentence for one in self.pairs))

    def rows(self) -> Iterator[Row]:
        for pair in self.pairs:
            of = {"first": pair.first, "second": pair.second}
            yield Row(
                "", f"{pair.first}, {pair.second}", "two judges read alike", pair.same, place=of
            )
        for one in self.contestants:
            if one.preference:
                of = {"judge": one.judge, "reader": one.reader}
                for name in ("own", "others", "apart"):
                    quantity = f"judge above people, {name}"
                    yield Row(
                        one.judge,
                        title_of(one.reader),
                        quantity,
                        getattr(one.preference, name),
                        place=of,
                    )

    def as_dict(self) -> dict[str, Any]:
        return {
            "pairs": [
                {
                    "first": one.first,
                    "second": one.second,
                    "sentence": one.sentence,
                    "same": plain(one.same),
                    "kappa": plain(one.agreement.estimate),
                    "n": one.n,
                }
                for one in self.pairs
            ],
            "contestants": [
                {
                    "judge": one.judge,
                    "reader": one.reader,
                    "own": list(one.own_models),
                    "sentence": one.sentence,
                    "above_people": {
                        name: plain(getattr(one.preference, name)) if one.preference else None
                        for name in ("own", "others", "apart")
                    },
                }
                for one in self.contestants
            ],
        }


def judges_of(
    frame: pd.DataFrame,
    labelled: Sequence[Mapping[str, Any]],
    model_of: Mapping[str, str],
    models: Sequence[str],
) -> Judges:
    """`frame` are readouts, `labelled` what people read (`judge_labels.labelled_readouts`),
    `model_of` reader -> the model that reads as it, `models` those that answer."""
    readers = []
    for name in frame["extractor"].unique() if len(frame) else ():
        if needs_judge(str(name)) and name != BACKWARDS:
            readers.append(str(name))
    pairs = [_two(frame, first, second) for first, second in combinations(readers, 2)]
    contestants = []
    for reader in readers:
        own_models = _own_models(model_of[reader], models) if reader in model_of else ()
        if own_models:
            contestants.append(_contestant(reader, model_of[reader], own_models, labelled))
    return Judges(tuple(pair for pair in pairs if pair), tuple(contestants))


def _own_models(judge: str, models: Sequence[str]) -> tuple[str, ...]:
    """The judge itself, or without it the models of its family."""
    return (
        (judge,)
        if judge in models
        else tuple(one for one in models if family_of(one) == family_of(judge))
    )


def _contestant(
    reader: str, judge: str, own: tuple[str, ...], labelled: Sequence[Mapping[str, Any]]
) -> Contestant:
    rows = [
        row for row in labelled if row["extractor"] == reader and row["label_is_right"] is not None
    ]
    is_own = [row["model"] in own for row in rows]
    n_own = sum(is_own)
    if not 0 < n_own < len(rows):
        return Contestant(judge, reader, own, None)
    preference = self_preference(
        [bool(row["is_correct"]) for row in rows],
        [row["label_is_right"] for row in rows],
        is_own,
        [row["family"] for row in rows],
    )
    return Contestant(judge, reader, own, preference, n_own, len(rows) - n_own)


def _two(frame: pd.DataFrame, first: str, second: str) -> TwoJudges | None:
    """None where they read no output in common."""
    family = "family" if "family" in frame else "item_id"
    columns = list(dict.fromkeys([*OUTPUT, family, "status", "answer"]))
    one, two = (
        frame.loc[(frame["extractor"] == name) & frame["status"].isin((OK, UNREADABLE)), columns]
        .astype(object)
        .drop_duplicates(OUTPUT)
        for name in (first, second)
    )
    both = one.merge(two[[*OUTPUT, "answer"]], on=OUTPUT, suffixes=("", "_second"))
    if both.empty:
        return None
    a, b = (
        both[name].where(both[name].notna(), "none").tolist()
        for name in ("answer", "answer_second")
    )
    same = accuracy([x == y for x, y in zip(a, b, strict=True)], both[family].to_numpy())
    return TwoJudges(first, second, same, cohen_log_agreement(a, b), len(both))
