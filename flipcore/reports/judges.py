"""Judges as instruments: what a second judge reads in the same outputs, and whether a judge that is a contestant favours itself."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd

from flipcore.core.records import OK, UNREADABLE
from flipcore.extractors import needs_judge, title_of
from flipcore.reports.rows import Row, plain
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.agreement import Agreement, cohen_log_agreement
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.score.self_preference import SelfPreference, self_preference
from flipcore.store.queries.judges import BACKWARDS

OUTPUT = ["model", "item_id", "variant_id", "sample"]
ALIASES = {"o": "gpt", "chatgpt": "gpt"}  # OpenAI's reasoning models are named by a letter


def family_of(model: str) -> str:
    """The family that a model's name begins with: "gpt" of "openai/gpt-4o", "llama" of "Meta-Llama-3-8B"; of a Python function its own
    name."""
    if ":" in model and "." in model.partition(":")[0]:
        return model
    words = re.findall(r"[a-z]+", model.rpartition("/")[2].lower())
    first = next((word for word in words if word not in ("meta", "nous", "deepinfra")), model)
    return ALIASES.get(first, first)


@dataclass(frozen=True, eq=False)
class TwoJudges:
    """What two judges read in the same outputs, both texts that they could not read counted: `same` is the share alike."""

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
    """A judge that answers here itself, or whose family does: `own` are those models. `preference` is None without labels of both."""

    judge: str
    reader: str
    own: tuple[str, ...]
    preference: SelfPreference | None
    n_own: int = 0
    n_others: int = 0

    @property
    def sentence(self) -> str:
        """Who is judge and contestant, and what labels say of it: an estimate, and no verdict."""
        which = "answers here itself" if self.judge in self.own else f"judges its own family ({', '.join(self.own)})"
        start = f"The judge {self.judge} {which}."
        if self.preference is None:
            return f"{start} Label outputs of these models and of others to see whether it favours its own."
        own, others, apart = (one.text_pp() for one in (self.preference.own, self.preference.others, self.preference.apart))
        return (
            f"{start} Beside people it scores its own outputs {own} (n = {self.n_own:,}) and others' {others} (n = {self.n_others:,}). "
            f"Apart: {apart}."
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
            yield Row("", f"{pair.first}, {pair.second}", "two judges read alike", pair.same, place=of)
        for one in self.contestants:
            if one.preference:
                of = {"judge": one.judge, "reader": one.reader}
                for name in ("own", "others", "apart"):
                    quantity = f"judge above people, {name}"
                    yield Row(one.judge, title_of(one.reader), quantity, getattr(one.preference, name), place=of)

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
                    "own": list(one.own),
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
    frame: pd.DataFrame, labelled: Sequence[Mapping[str, Any]], model_of: Mapping[str, str], models: Sequence[str]
) -> Judges:
    """`frame` are readouts, `labelled` what people read (`judge_labels.labelled_readouts`), `model_of` reader -> the model that reads as
    it, `models` those that answer."""
    readers = (
        [name for name in frame["extractor"].unique() if needs_judge(str(name)) and name != BACKWARDS] if len(frame) else []
    )
    pairs = [_two(frame, str(a), str(b)) for a, b in combinations(readers, 2)]
    contestants = [
        _contestant(reader, model_of[reader], own, labelled)
        for reader in map(str, readers)
        if reader in model_of and (own := _own(model_of[reader], models))
    ]
    return Judges(tuple(one for one in pairs if one), tuple(contestants))


def _own(judge: str, models: Sequence[str]) -> tuple[str, ...]:
    """The judge itself, or without it the models of its family."""
    return (judge,) if judge in models else tuple(one for one in models if family_of(one) == family_of(judge))


def _contestant(reader: str, judge: str, own: tuple[str, ...], labelled: Sequence[Mapping[str, Any]]) -> Contestant:
    rows = [row for row in labelled if row["extractor"] == reader and row["label_is_right"] is not None]
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
    a, b = (both[name].where(both[name].notna(), "none").tolist() for name in ("answer", "answer_second"))
    same = accuracy([x == y for x, y in zip(a, b, strict=True)], both[family].to_numpy())
    return TwoJudges(first, second, same, cohen_log_agreement(a, b), len(both))
