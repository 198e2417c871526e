"""Material of the difficulty test: the models from before the benchmark, and their answers as
conditions.

A model's answers without any boost are often too poor to tell two sets apart, so the source also
counts an answer as right when it is among the model's first k, shows five examples, or uses a
helpful prompt (source 002, 2.2.1): each is a condition, and the sets must be alike under all of
them. Answers that were cut off widen the limits by what they could have been.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from flipcore.core.finish import MOST_CUT
from flipcore.stats.base.estimate import (
    MIN_N,
    Estimate,
    number_text,
    percent_text,
    without_interval,
)
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.holdout.verdict import (
    HoldoutTest,
    difficulty_test,
    difficulty_test_clustered,
    difficulty_test_paired,
)
from flipcore.text.counts import count_of
from flipcore.text.dates import span

BEFORE, AFTER, UNKNOWN = "before", "after", "unknown"
TOP_K = (2, 3)
# The number of items from which an estimate has an interval.
LEAST = 10
# a model that is right below or above it shows no difference of difficulty
FLOOR, CEILING = (0.05, 0.95)


@dataclass(frozen=True)
class PreRelease:
    """The state of a model that may have seen the benchmark: its training cut-off against the
    benchmark's earliest publication."""

    model: str
    state: str
    sentence: str


def pre_release(model: str, cutoff: str | None, published: Sequence[str | None]) -> PreRelease:
    """Compare dates. They are ISO (year-month-day) or None; a cut-off may be a month, which ends on
    its last day. Each benchmark entry needs a date, for one unknown one may be older."""
    dates = [date for date in published if date]
    if not cutoff:
        return PreRelease(
            model,
            UNKNOWN,
            f"{model}: its training cut-off is not stated, so whether it saw the target is "
            "unknown.",
        )
    if not dates:
        return PreRelease(
            model,
            UNKNOWN,
            f"{model}: the target has no publication date, so whether a model with the cut-off "
            f"{cutoff} saw it is unknown.",
        )
    # A cut-off may be a month; its last day decides against the earliest publication.
    if span("training cut-off", cutoff)[1] >= span("publication date", min(dates))[0]:
        return PreRelease(
            model,
            AFTER,
            f"{model}: its training went on to {cutoff} and the target was out on {min(dates)}, "
            "so it may have seen it.",
        )
    if len(dates) < len(published):
        return PreRelease(
            model,
            UNKNOWN,
            f"{model}: {len(published) - len(dates):,} of {len(published):,} benchmark entries "
            "have no publication date, so they cannot be checked.",
        )
    return PreRelease(
        model,
        BEFORE,
        f"{model}: its training ended on {cutoff}, before the target was out on {min(dates)}.",
    )


@dataclass(frozen=True)
class Condition:
    """One model under one extractor and one prompt: right answers by item. `boost` is "" or "top
    2"; `cut` are items whose answer was cut off, `guess` the share that guessing gets right, 0 for
    free answers."""

    model: str
    extractor: str
    layout: str
    boost: str
    target: Mapping[str, float]
    retro: Mapping[str, float]
    source_of: Mapping[str, str | None]
    cut: frozenset[str] = frozenset()
    guess: float = 0.0
    # The study whose outputs these answers were taken from, where one is stored.
    study_id: str = ""

    @property
    def cut_share(self) -> float:
        """The share of the answers that were cut off, which count as wrong."""
        n = len(self.target) + len(self.retro)
        return len(self.cut) / n if n else 0.0

    @property
    def worst_cases(self) -> tuple[Condition, Condition]:
        """The condition with all cut answers right on the benchmark and wrong on the holdout, and
        the other way round."""
        target, retro = (
            {item: 1.0 if item in self.cut else right for item, right in side.items()}
            for side in (self.target, self.retro)
        )
        return (
            replace(self, target=target, cut=frozenset()),
            replace(self, retro=retro, cut=frozenset()),
        )

    @property
    def label(self) -> str:
        """Name of the condition: model, extractor, layout and boost."""
        return ", ".join(
            part
            for part in (self.model, self.extractor.replace("_", " "), self.layout, self.boost)
            if part
        )

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """(target, retro) of entries where no two holdout entries name one benchmark entry, and
        these share no template; empty otherwise."""
        source_ids = [self.source_of.get(item) for item in self.retro]
        sources = [source for source in source_ids if source is not None]
        if (
            not sources
            or len(set(sources)) < len(source_ids)
            or not set(sources) <= set(self.target)
        ):
            return []
        # Pairs of one template are not independent, so clusters are tested instead.
        if len({self._root(source) for source in sources}) < len(sources):
            return []
        return [
            (self.target[source], self.retro[item])
            for item, source in zip(self.retro, sources, strict=True)
        ]

    def _root(self, item: str) -> str:
        """Return the entry that another goes back to, over any number of steps."""
        # Sources that name each other would go round for ever.
        lineage = {item}
        while (above := self.source_of.get(item)) and above not in lineage:
            item = above
            lineage.add(item)
        return item

    @property
    def clusters(self) -> list[str]:
        """The template or source of each entry, target's then retro's."""
        return [self._root(item) for item in (*self.target, *self.retro)]

    @property
    def is_clustered(self) -> bool:
        """True where entries share a template or source and are no pairs."""
        return not self.pairs and len(set(self.clusters)) < len(self.target) + len(self.retro)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Numbers of right and of all answers, target then retro."""
        return (
            int(sum(self.target.values())),
            len(self.target),
            int(sum(self.retro.values())),
            len(self.retro),
        )

    @property
    def accuracies(self) -> tuple[float, float]:
        """Shares of right answers, target then retro; NaN where nothing was asked."""
        k_target, n_target, k_retro, n_retro = self.counts
        return (
            k_target / n_target if n_target else math.nan,
            k_retro / n_retro if n_retro else math.nan,
        )

    def test(self, margin: float) -> HoldoutTest:
        """Test paired entries entry by entry, families of a template as clusters, others as two
        proportions. With more than `MOST_CUT` cut answers its limits and p hold whatever those
        answers were."""
        test = self._test(margin)
        if self.cut_share <= MOST_CUT:
            return test
        return whatever_was_cut(test, [case._test(margin) for case in self.worst_cases])

    def difficulty(self, margin: float) -> HoldoutTest:
        """Return the test with its difference corrected for guessing, and blind where the model
        guesses or is always right."""
        room = 1 - self.guess
        test = self.test(margin)
        if not room > 0:
            return replace(test, blind="every answer would be right by guessing").against_margin(
                margin
            )
        # Guessing hides all but 1 - guess of a difference in knowing.
        estimate = replace(
            test.estimate,
            value=test.estimate.value / room,
            low=test.estimate.low / room,
            high=test.estimate.high / room,
        )
        (low, high), (lowest, highest) = test.bound, test.outer
        return replace(
            test,
            estimate=estimate,
            bound=(low / room, high / room),
            outer=(lowest / room, highest / room),
            detectable=test.detectable / room,
            blind=self._why_blind(),
        ).against_margin(margin)

    def _why_blind(self) -> str:
        """Say why this model shows no difference of difficulty, and what a difference of one logit
        would show; "" where it would."""
        k_target, n_target, k_retro, n_retro = self.counts
        k, n = k_target + k_retro, n_target + n_retro
        low, high = clopper_pearson(k, n)
        floor = max(self.guess, FLOOR)
        if floor < low and high < CEILING:
            return ""
        share = min(max((k / n - self.guess) / (1 - self.guess), 0.0), 1.0)
        # The slope of a logistic curve at a share p is p (1 - p).
        shows = number_text(100 * (1 - self.guess) * share * (1 - share), 1)
        state = "guesses" if low <= floor else "is nearly always right"
        return (
            f"{self.model} {state} ({percent_text(k / n)} right), where one logit of difficulty "
            f"moves about {shows} points"
        )

    def _test(self, margin: float) -> HoldoutTest:
        if self.pairs:
            target, retro = zip(*self.pairs, strict=True)
            return difficulty_test_paired(target, retro, margin)
        if self.is_clustered:
            hits = [*self.target.values(), *self.retro.values()]
            return difficulty_test_clustered(
                hits, np.arange(len(hits)) >= len(self.target), self.clusters, margin
            )
        return difficulty_test(*self.counts, margin)

    def inflation(self) -> Estimate:
        """Return the accuracy on the benchmark less that on the holdout, as a share; with more than
        `MOST_CUT` cut answers its limits hold whatever those answers were. Below ten answers in a
        set it has none."""
        estimate = replace(self.test(1.0).estimate, note=self.cut_sentence())
        fewest = len(self.pairs) or min(len(self.target), len(self.retro))
        if fewest >= MIN_N:
            return estimate
        note = f"No interval: {fewest} answers in one set."
        return without_interval(estimate.value, fewest, note=note)

    def cut_sentence(self) -> str:
        """Say what cut answers did to the limits; empty where they are few."""
        if self.cut_share <= MOST_CUT:
            return ""
        n_cut = count_of(len(self.cut), "answer was", "answers were")
        return (
            f"{n_cut} cut off ({percent_text(self.cut_share)}); the limits hold whatever they were."
        )


def conditions(
    frame: pd.DataFrame, top_k: Sequence[int] = (), least: int = LEAST
) -> list[Condition]:
    """Return, from rows of (model, extractor, layout, item_id, role, source_id, is_correct,
    probabilities, target) the conditions with at least `least` items of each role; `top_k` adds
    those in which the k likeliest options count, where shares are stored."""
    eligible = []
    for (model, extractor, layout), part in frame.groupby(
        ["model", "extractor", "layout"], sort=False
    ):
        for k in (1, *top_k):
            right = part["is_correct"].to_numpy(dtype=float) if k == 1 else _among(part, k)
            rows = list(zip(part["item_id"], part["role"], right, strict=True))
            sides = [
                {item: float(x) for item, role, x in rows if role == side and not math.isnan(x)}
                for side in ("target", "retro")
            ]
            if min(map(len, sides)) >= least:
                source_of = {
                    item: source if isinstance(source, str) else None
                    for item, source in zip(part["item_id"], part["source_id"], strict=True)
                }
                cut: frozenset[str] = frozenset()
                if "is_cut" in part:
                    cut = frozenset(part["item_id"][part["is_cut"].astype(bool)])
                eligible.append(
                    Condition(
                        str(model),
                        str(extractor),
                        str(layout),
                        boost="" if k == 1 else f"top {k}",
                        target=sides[0],
                        retro=sides[1],
                        source_of=source_of,
                        cut=cut,
                        guess=_guess(part, k),
                    )
                )
    return eligible


def _guess(part: pd.DataFrame, k: int) -> float:
    """Return the share that guessing k options gets right, mean over the entries; 0 for those
    without options."""
    if "n_options" not in part:
        return 0.0
    n = part["n_options"].fillna(0).to_numpy(dtype=float)
    # Free answers have no options to guess among.
    return float(np.mean(np.divide(np.minimum(k, n), n, out=np.zeros(len(n)), where=n > 0)))


def _among(part: pd.DataFrame, k: int) -> np.ndarray:
    """Return 1 where the target is among the k likeliest options, NaN without shares or with no
    more than k options."""
    hits = []
    for shares, target in zip(part["probabilities"], part["target"], strict=True):
        ranked = [option for option, _ in sorted(shares, key=lambda pair: -pair[1])]
        # With k options or fewer any answer would count as right.
        hits.append(math.nan if len(ranked) <= k else float(target in ranked[:k]))
    return np.array(hits)


def whatever_was_cut(test: HoldoutTest, cases: Sequence[HoldoutTest]) -> HoldoutTest:
    """Return the test with limits and p that hold in all cases: the largest p, and intervals that
    span all of them."""
    tests = (test, *cases)
    low, high = _span([(case.estimate.low, case.estimate.high) for case in tests])
    return replace(
        test,
        p=max(case.p for case in tests),
        estimate=replace(test.estimate, low=low, high=high, method="worst cases of cut answers"),
        bound=_span([case.bound for case in tests]),
        outer=_span([case.outer for case in tests]),
    ).against_margin(test.margin)


def _span(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    ends: list[float] = []
    for interval in intervals:
        ends.extend(interval)
    return min(ends), max(ends)
