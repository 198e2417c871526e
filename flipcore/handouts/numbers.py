"""Every estimate of a report in one list, each with its interval, method, n and seed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from flipcore.claims.ranking import place as way_text
from flipcore.extractors import title_of
from flipcore.handouts.contents import Contents
from flipcore.handouts.flips_part import place
from flipcore.reports.ranking import accuracy
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.decomposition import COLUMNS
from flipcore.stats.holdout.difficulty import conditions
from flipcore.stats.holdout.units import TITLES
from flipcore.store.queries import holdout


@dataclass(frozen=True)
class Number:
    """One estimate and where it stands: `where` names a row of the report, `quantity` its column."""

    model: str
    where: str
    quantity: str
    estimate: Estimate

    def row(self) -> dict[str, object]:
        """As a row of a table, at full precision; what is missing is None."""
        one = self.estimate
        return {
            "model": self.model,
            "where": self.where,
            "quantity": self.quantity,
            "value": _plain(one.value),
            "low": _plain(one.low),
            "high": _plain(one.high),
            "level": one.level,
            "method": one.method.replace("_", " "),
            "n": one.n,
            "seed": one.seed,
            "note": one.note,
        }


def numbers(c: Contents) -> list[Number]:
    """In the order of the report; an extractor's own artifact as the reference, 0 by definition, is left out."""
    return [*(one for model in c.models for one in _of_model(c, model)), *_of_ranking(c), *_of_tests(c), *_of_inflation(c)]


def _of_model(c: Contents, model: str) -> Iterator[Number]:
    report = c.whole.report
    for role, mean in report.headlines[model].accuracies.items():
        of = ", ".join(filter(None, ("base prompt, reference extractor", role.replace("_", " "))))
        yield Number(model, of, "accuracy", mean)
    for one in report.decompositions[model]:
        names = ("T", "W", "excess") if one.is_reference else (*COLUMNS, "share")
        yield from (Number(model, place(one), name, getattr(one, name)) for name in names)
    if harness := report.harness.get(model):
        for name in ("led", "single", "difference"):
            yield Number(model, "rotation", name, getattr(harness, name))
    for test in report.memory.get(model, ()):
        for name, value in test.numbers.items():
            if isinstance(value, Estimate):
                yield Number(model, f"{test.items}, {test.detector}", name, value)


def _of_ranking(c: Contents) -> Iterator[Number]:
    if c.whole.ranking is None:
        return
    contest = c.whole.ranking.contest
    for i, way in enumerate(contest.order.scores.ways):
        for m, model in enumerate(contest.models):
            yield Number(model, way_text(way), "accuracy under a way", accuracy(contest, i, m))
    for pair in c.whole.ranking.pairs:
        yield Number(pair.first, "own prompt", f"lead over {pair.second}", pair.paired.difference)


def _of_tests(c: Contents) -> Iterator[Number]:
    for name, one in c.holdout.tests.items() if c.holdout else ():
        yield Number("", "target and retro", TITLES[name].lower(), one.estimate)


def _of_inflation(c: Contents) -> Iterator[Number]:
    for one in conditions(holdout.accuracies(c.store, c.study_id)):
        yield Number(one.model, f"{one.layout}, {title_of(one.extractor).lower()}", "inflation", one.inflation())


def _plain(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None
