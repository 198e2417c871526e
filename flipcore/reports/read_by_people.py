"""Extractors against people, one model and one extractor at a time: how often the extractor reads otherwise, in which way, and the score
with that corrected. Pages, command line and notebook show these rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from flipcore.claims.score import corrected_words, narrower_words
from flipcore.extractors import title_of
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import MISSING, Estimate, percent_text
from flipcore.stats.score.corrected import Corrected, corrected
from flipcore.text.counts import count_of

PLACE = ["item_id", "variant_id", "sample"]
MORE = 100  # labels


def with_limits(one: Estimate) -> str:
    """An estimate for a table, a dash where labels are too few for limits: a number that so few make invites belief."""
    return one.text() if one.has_interval else MISSING


@dataclass(frozen=True, eq=False)
class ReaderErrors:
    """Of one model's labelled outputs under one extractor (rows of `labelled_readouts`); `score` is the score of all its outputs with the
    labels in it, None where that was not asked for, `units` (outputs,) the names of their questions."""

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
        """The share of the labelled outputs that the extractor reads otherwise than people do; an item's outputs are one family."""
        return accuracy([not one["is_same"] for one in self.rows_read], [one["family"] for one in self.rows_read])

    @cached_property
    def kinds(self) -> dict[str, int]:
        """In which way it reads otherwise, in outputs; what is right by one and wrong by the other is counted once more below."""
        other = [one for one in self.rows_read if not one["is_same"]]
        verdicts = [(one["is_correct"], one["label_is_right"]) for one in self.rows_read if one["label_is_right"] is not None]
        return {
            "another answer": sum(one["answer"] is not None and one["label"] is not None for one in other),
            "no answer read": sum(one["answer"] is None for one in other),
            "people see no answer": sum(one["label"] is None for one in other),
            "right counted wrong": sum(right and not by_reader for by_reader, right in verdicts),
            "wrong counted right": sum(bool(by_reader) and not right for by_reader, right in verdicts),
        }

    @property
    def headline(self) -> str:
        """How often it reads otherwise, in a line."""
        limits = f" [{percent_text(self.error.low)}, {percent_text(self.error.high)}]" if self.error.has_interval else ""
        share = f"{percent_text(self.error.value)}{limits} of {count_of(self.n, 'labelled output')}"
        note = "" if limits else self.error.note.rstrip(".")
        few = f"; {note[:1].lower()}{note[1:]}" if note else ""
        return f"{title_of(self.reader)} reads {share} of {self.model} otherwise than people do{few}"

    @property
    def sentence(self) -> str:
        """The score with the labels in it, beside the extractor's; why not where that has no limits; "" without a score."""
        if self.score is None:
            return ""
        if not self.score.estimate.has_interval:
            n = count_of(self.score.n_labels, "label")
            return f"{self.model} has {n} by people, too few to correct its score. {self.score.estimate.note}".rstrip()
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
        yield Row(self.model, title_of(self.reader), "read otherwise than people do", self.error, place=of)
        if self.score:
            yield Row(self.model, title_of(self.reader), "score, corrected by people", self.score.estimate, place=of)

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
        return {"reader": self.reader, "n_labels": self.n, "error": plain(self.error), "kinds": self.kinds} | of_score


def reader_errors(rows: Sequence[Mapping[str, Any]]) -> list[ReaderErrors]:
    """One a model and extractor, from `labelled_readouts`."""
    of: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        of.setdefault((row["model"], row["extractor"]), []).append(row)
    return [ReaderErrors(model, reader, tuple(part)) for (model, reader), part in of.items()]


def corrected_score(
    model: str, reader: str, outputs: pd.DataFrame, rows: Sequence[Mapping[str, Any]], level: float
) -> ReaderErrors | None:
    """Of `outputs` (item_id, variant_id, sample, score, family) under one model and extractor, the labels among `rows` in them; None
    without a label, and where scores are not right or wrong."""
    there = outputs[outputs["score"].notna()]
    own = [row for row in rows if (row["model"], row["extractor"]) == (model, reader) and row["label_is_right"] is not None]
    at = {tuple(row[name] for name in PLACE): row for row in own}
    keys = list(zip(*(there[name] for name in PLACE), strict=True))
    read = tuple(at[key] for key in keys if key in at)
    if not read or not there["score"].isin((0, 1)).all():
        return None
    people = np.array([float(at[key]["label_is_right"]) if key in at else math.nan for key in keys])
    units = there["family"].astype(str).to_numpy()
    return ReaderErrors(model, reader, read, corrected(there["score"], people, units, level), units)


def examples(rows: Sequence[Mapping[str, Any]], n: int = 20) -> list[dict[str, Any]]:
    """Outputs that an extractor reads otherwise than people do, the first of them: what each read, and the end of the text."""
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
    took = "" if math.isnan(seconds) else f", about {count_of(max(round(n_labels * seconds / 60), 1), 'minute')} of reading"
    return f"{n_labels:,} label{'s' * (n_labels != 1)} by {people}{took}."
