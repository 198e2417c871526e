"""T = G + A of a model with people's labels of pairs in it, beside the same without: pages, command line and notebook show these rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from flipcore.annotation.pair_labels import Pairs
from flipcore.core.records import OK, UNREADABLE
from flipcore.extractors import title_of
from flipcore.reports.read_by_people import MORE, with_limits
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.estimate import MIN_N, number_text, percent_text
from flipcore.stats.flips.decomposition import COLUMNS, Decomposition
from flipcore.stats.flips.pooled import across_axes
from flipcore.stats.score.corrected_flips import FlipsByPeople, flips_by_people
from flipcore.text.counts import count_of


@dataclass(frozen=True, eq=False)
class PeopleOnFlips:
    """One axis (or all changes) under one extractor: `raw` as extractors read it, `people` with the labels; `why_not` what withholds it
    from conclusions."""

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
        """G and A with the labels in them, beside those that extractors give: estimates, and no verdict; without limits that nothing is
        corrected, and why."""
        place, pairs = f"{self.place[0].upper()}{self.place[1:]}", count_of(self.people.n_pairs, "labelled pair")
        stated, artifact = self.people.stated, self.people.artifact
        if not stated.has_interval:
            return f"{place}: {pairs}, too few to correct G and A. {stated.note}".rstrip()
        alone = f"{title_of(self.raw.reference).lower()} alone: {number_text(self.raw.G.value)}"
        genuine = f"{place}: by {pairs} {stated.text()} of pairs state another answer; {alone}."
        gate = f"Not claimed: {self.why_not}" if self.why_not else ""
        return f"{genuine} Artifact: {artifact.text()} instead of {number_text(self.raw.A.value)}. {gate}".rstrip()

    @property
    def narrower(self) -> str:
        """What more labelled pairs would do to the half-width of G, or how many are missing."""
        one = self.people
        if one.has_normal_limits:
            now, then, best = (number_text(one.half_width(n), 3) for n in (0, MORE, math.inf))
            return f"{MORE} more pairs: ± {now} becomes ± {then}; no number of labels takes it below ± {best}."
        if one.n_pairs < MIN_N:
            return f"Label about {MIN_N - one.n_pairs} more pairs."
        if one.n_more is None:
            missed = percent_text(one.errors.false_wrongs.high)
            return f"No labelled pair differs from the reference yet: it misses at most {missed} of what it calls no flip."
        return f"Label about {one.n_more:,} more pairs for an interval by prediction-powered inference."

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
    at_once: bool = False,
) -> list[PeopleOnFlips]:
    """Over all changes that may be claimed, then of each cell, where pairs were labelled. `frame` holds the readouts of this model, from
    which `cells` were made with the base prompt and unreadable answers as a class of their own. `at_once`: every G and A of the list holds
    together with the others (Bonferroni)."""
    own = [row for row in pairs.rows if row["model"] == model]
    if not own or not cells:
        return []
    read = _read(frame, {row["item_id"] for row in own})
    item_at = {name: at for at, name in enumerate(pd.factorize(frame["item_id"])[1])}
    open_cells = [one for one in cells if one.axis not in closed_gates]
    axes = {one.axis for one in open_cells}
    pooled = across_axes(open_cells) if len(axes) > 1 else []
    out = []
    for cell, of_axes in [*((one, axes) for one in pooled), *((one, {one.axis}) for one in cells)]:
        there = [row for row in own if row["axis"] in of_axes]
        both = [_both(row, read, cell) for row in there]
        usable = [(row, words) for row, words in zip(there, both, strict=True) if words is not None]
        t, g = (cell.item_values[:, list(COLUMNS).index(name)] for name in ("T", "G"))
        people = flips_by_people(
            t,
            g,
            [words for _, words in usable],
            [row["flips"] for row, _ in usable],
            [item_at[row["item_id"]] for row, _ in usable],
            cell.families if cell.families is not None else np.arange(t.size),
            level,
        )
        why = closed_gates.get(cell.axis) or closed_gates.get(cell.extractor) or closed_gates.get(cell.reference) or ""
        if people.n_pairs:
            out.append(PeopleOnFlips(model, cell, people, why))
    if not at_once or not out:
        return out
    together = 1 - (1 - level) / (2 * len(out))
    return [replace(one, people=replace(one.people, level=together)) for one in out]


def leading(rows: Sequence[PeopleOnFlips]) -> PeopleOnFlips:
    """The one that is said first: the first of a compared extractor; of the reference alone its own."""
    return next((one for one in rows if not one.raw.is_reference), rows[0])


def to_say(rows: Sequence[PeopleOnFlips]) -> list[PeopleOnFlips]:
    """Those with limits; where labels are too few for any, the one that is said first alone."""
    return [one for one in rows if one.people.stated.has_interval] or ([leading(rows)] if rows else [])


def _read(frame: pd.DataFrame, items: set[str]) -> dict[tuple[Any, ...], str | None]:
    """(item, axis, variant, sample, extractor) -> what was read, None for an unreadable answer; nothing where there is none."""
    part = frame[frame["item_id"].isin(items) & frame["status"].isin((OK, UNREADABLE))]
    columns = (part[name].astype(object) for name in ("item_id", "axis", "variant", "sample", "extractor", "status", "answer"))
    return {tuple(key): (answer if status == OK else None) for *key, status, answer in zip(*columns, strict=True)}


def _both(row: Mapping[str, Any], read: Mapping[tuple[Any, ...], str | None], cell: Decomposition) -> bool | None:
    """Whether the pair flips under the reference; None where one of its outputs is not there under both extractors."""
    keys = [
        [
            (row["item_id"], row["axis"], variant, sample, name)
            for variant, sample in zip(row["variants"], row["samples"], strict=True)
        ]
        for name in (cell.reference, cell.extractor)
    ]
    if not all(key in read for side in keys for key in side):
        return None
    one, two = (read[key] for key in keys[0])
    return one != two
