"""Data of the difficulty test: models from before the benchmark, and their answers as conditions.

Without a boost a model's answers are often too poor to tell two sets apart. So the source also
counts a right option among the model's first k, shows five examples, or uses a helpful prompt
(source 002, 2.2.1). Each of these is a condition, and the sets must be alike under all of them.
Answers that were cut off widen the limits to cover both right and wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from flipcore.core.finish import MAX_CUT
from flipcore.stats.base.estimate import (
    MIN_N,
    Estimate,
    number_text,
    percent_text,
    without_interval,
)
from flipcore.stats.base.intervals import covering
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.holdout.entries import root_of
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
# A model with an accuracy below the floor or above the ceiling shows no difference in difficulty.
FLOOR, CEILING = 0.05, 0.95


@dataclass(frozen=True)
class PreRelease:
    """The order of a model's training and the benchmark's earliest publication.

    `state` is "before", "after" or "unknown".
    """

    model: str
    state: str
    sentence: str


def pre_release(model: str, cutoff: str | None, published: Sequence[str | None]) -> PreRelease:
    """Compare a model's training cut-off with the publication dates of the benchmark entries.

    Dates are ISO (year-month-day) or None; a cut-off may also be a month. BEFORE needs the dates of
    all entries, because an entry of unknown date may be older.
    """
    dates = [date for date in published if date]
    if not cutoff:
        state = UNKNOWN
        sentence = "its training cut-off is not stated, so whether it saw the target is unknown."
    elif not dates:
        state = UNKNOWN
        sentence = (
            "the target has no publication date, so whether a model with the cut-off "
            f"{cutoff} saw it is unknown."
        )
    # Of a cut-off month the last day counts, of a publication month the first.
    elif span("training cut-off", cutoff)[1] >= span("publication date", min(dates))[0]:
        state = AFTER
        sentence = (
            f"its training went on to {cutoff} and the target was out on {min(dates)}, "
            "so it may have seen it."
        )
    elif len(dates) < len(published):
        state = UNKNOWN
        sentence = (
            f"{len(published) - len(dates):,} of {len(published):,} benchmark entries "
            "have no publication date, so they cannot be checked."
        )
    else:
        state = BEFORE
        sentence = f"its training ended on {cutoff}, before the target was out on {min(dates)}."
    return PreRelease(model, state, f"{model}: {sentence}")


@dataclass(frozen=True)
class Condition:
    """Answers of one model under one extractor and one prompt.

    `target` and `retro` map item ids to 1.0 for right and 0.0 for wrong; `source_of` maps them to
    the entry an item was written from, None without one. `boost` is "" or, for example, "top 2".
    `cut` are the items whose answer was cut off. `guess` is the share that guessing gets right, 0
    for free answers. `study_id` is the stored study of the answers, "" without one.
    """

    model: str
    extractor: str
    layout: str
    boost: str
    target: Mapping[str, float]
    retro: Mapping[str, float]
    source_of: Mapping[str, str | None]
    cut: frozenset[str] = frozenset()
    guess: float = 0.0
    study_id: str = ""

    @property
    def cut_share(self) -> float:
        """Share of the answers that were cut off; these count as wrong."""
        n = len(self.target) + len(self.retro)
        return len(self.cut) / n if n else 0.0

    @property
    def worst_cases(self) -> tuple[Condition, Condition]:
        """The condition with all cut answers right on the benchmark and wrong on the holdout, and
        the reverse."""
        # Cut answers count as wrong, so a case only makes those of one set right.
        return (
            replace(self, target=self._with_cut_right(self.target), cut=frozenset()),
            replace(self, retro=self._with_cut_right(self.retro), cut=frozenset()),
        )

    def _with_cut_right(self, answers: Mapping[str, float]) -> dict[str, float]:
        return {item: 1.0 if item in self.cut else right for item, right in answers.items()}

    @property
    def label(self) -> str:
        """Name of the condition: model, extractor, layout and boost."""
        parts = (self.model, self.extractor.replace("_", " "), self.layout, self.boost)
        return ", ".join(filter(None, parts))

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """(target, retro) answers of source-paired entries; empty if the sets are not pairs.
        Each holdout entry must have its own benchmark entry, and these must share no template."""
        source_ids = [self.source_of.get(item) for item in self.retro]
        sources = [source for source in source_ids if source is not None]
        is_one_to_one = bool(sources) and len(set(sources)) == len(source_ids)
        if not is_one_to_one or not set(sources) <= set(self.target):
            return []
        # Pairs that share a template are not independent, so clusters are tested instead.
        if len({root_of(source, self.source_of) for source in sources}) < len(sources):
            return []
        return [
            (self.target[source], self.retro[item])
            for item, source in zip(self.retro, sources, strict=True)
        ]

    @property
    def clusters(self) -> list[str]:
        """The template or source of each entry, target's then retro's."""
        return [root_of(item, self.source_of) for item in (*self.target, *self.retro)]

    @property
    def is_clustered(self) -> bool:
        """True if entries share a template or source without being pairs."""
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
        """Shares of right answers, target then retro; NaN without answers."""
        k_target, n_target, k_retro, n_retro = self.counts
        return (
            k_target / n_target if n_target else math.nan,
            k_retro / n_retro if n_retro else math.nan,
        )

    def test(self, margin: float) -> HoldoutTest:
        """Test paired entries pair by pair, entries of one template as clusters, others as two
        proportions. With a share of cut answers above `MAX_CUT`, limits and p hold whatever those
        answers would have been."""
        test = self._test_cut_as_wrong(margin)
        if self.cut_share <= MAX_CUT:
            return test
        cases = [case._test_cut_as_wrong(margin) for case in self.worst_cases]
        return _over_worst_cases(test, cases)

    def difficulty(self, margin: float) -> HoldoutTest:
        """Return the test with its difference corrected for guessing. It is blind if the model
        guesses or is nearly always right."""
        test = self.test(margin)
        # Guessing hides all but this share of a difference in knowledge.
        visible = 1 - self.guess
        if not visible > 0:
            test = replace(test, blind="every answer would be right by guessing")
            return test.with_margin(margin)
        estimate = replace(
            test.estimate,
            value=test.estimate.value / visible,
            low=test.estimate.low / visible,
            high=test.estimate.high / visible,
        )
        (low, high), (lowest, highest) = test.bound, test.outer
        return replace(
            test,
            estimate=estimate,
            bound=(low / visible, high / visible),
            outer=(lowest / visible, highest / visible),
            detectable=test.detectable / visible,
            blind=self._why_blind(),
        ).with_margin(margin)

    def _why_blind(self) -> str:
        """Say why this model cannot show a difference in difficulty, and the effect of one logit;
        "" if it can."""
        k_target, n_target, k_retro, n_retro = self.counts
        k, n = k_target + k_retro, n_target + n_retro
        low, high = clopper_pearson(k, n)
        floor = max(self.guess, FLOOR)
        if floor < low and high < CEILING:
            return ""
        share = min(max((k / n - self.guess) / (1 - self.guess), 0.0), 1.0)
        # The slope of a logistic curve at a share p is p (1 - p).
        points = number_text(100 * (1 - self.guess) * share * (1 - share), 1)
        state = "guesses" if low <= floor else "is nearly always right"
        return (
            f"{self.model} {state} ({percent_text(k / n)} right), where one logit of difficulty "
            f"moves about {points} points"
        )

    def _test_cut_as_wrong(self, margin: float) -> HoldoutTest:
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
        """Return the accuracy on the benchmark minus that on the holdout, as a share.

        Below ten answers in a set it has no limits. With a share of cut answers above `MAX_CUT`,
        the limits hold whatever those answers would have been.
        """
        test = self.test(1.0)
        fewest = len(self.pairs) or min(len(self.target), len(self.retro))
        if fewest < MIN_N:
            note = f"No interval: {fewest} answers in one set."
            return without_interval(test.estimate.value, fewest, note=note)
        if not test.estimate.has_interval and test.too_few:
            return replace(test.estimate, note=f"No interval: {test.too_few}.")
        return replace(test.estimate, note=self.cut_sentence())

    def cut_sentence(self) -> str:
        """Say how cut answers changed the limits; "" if they are few."""
        if self.cut_share <= MAX_CUT:
            return ""
        n_cut = count_of(len(self.cut), "answer was", "answers were")
        return (
            f"{n_cut} cut off ({percent_text(self.cut_share)}); the limits hold whatever they were."
        )


def conditions(
    frame: pd.DataFrame, top_k: Sequence[int] = (), least: int = MIN_N
) -> list[Condition]:
    """Return the conditions with at least `least` items of each role.

    `frame` has the columns model, extractor, layout, item_id, role, source_id, is_correct,
    probabilities and target; is_cut and n_options are optional. `top_k` adds conditions in which a
    right answer is among the k most probable options if probabilities are stored.
    """
    eligible = []
    by_prompt = frame.groupby(["model", "extractor", "layout"], sort=False)
    for (model, extractor, layout), part in by_prompt:
        source_of = {
            item: source if isinstance(source, str) else None
            for item, source in zip(part["item_id"], part["source_id"], strict=True)
        }
        cut: frozenset[str] = frozenset()
        if "is_cut" in part:
            cut = frozenset(part["item_id"][part["is_cut"].astype(bool)])
        for k in (1, *top_k):
            hits = part["is_correct"].to_numpy(dtype=float) if k == 1 else _top_k_hits(part, k)
            by_role: dict[str, dict[str, float]] = {"target": {}, "retro": {}}
            for item, role, hit in zip(part["item_id"], part["role"], hits, strict=True):
                if role in by_role and not math.isnan(hit):
                    by_role[role][item] = float(hit)
            scored = {*by_role["target"], *by_role["retro"]}
            if min(map(len, by_role.values())) >= least:
                eligible.append(
                    Condition(
                        str(model),
                        str(extractor),
                        str(layout),
                        boost="" if k == 1 else f"top {k}",
                        target=by_role["target"],
                        retro=by_role["retro"],
                        source_of=source_of,
                        cut=cut & scored,
                        guess=_guess(part, k),
                    )
                )
    return eligible


def _guess(part: pd.DataFrame, k: int) -> float:
    """Return the share that guessing k options gets right, mean over the entries; an entry without
    options counts 0."""
    if "n_options" not in part:
        return 0.0
    n = part["n_options"].fillna(0).to_numpy(dtype=float)
    # Free answers have no options to guess from.
    return float(np.mean(np.divide(np.minimum(k, n), n, out=np.zeros(len(n)), where=n > 0)))


def _top_k_hits(part: pd.DataFrame, k: int) -> np.ndarray:
    """Return (rows,) 1 if the target is among the k most probable options, else 0; NaN without
    probabilities and with k options or fewer."""
    hits = []
    for probabilities, target in zip(part["probabilities"], part["target"], strict=True):
        ranked = [option for option, _ in sorted(probabilities, key=lambda pair: -pair[1])]
        # With k options or fewer every answer would count as right.
        hits.append(math.nan if len(ranked) <= k else float(target in ranked[:k]))
    return np.array(hits)


def _over_worst_cases(test: HoldoutTest, cases: Sequence[HoldoutTest]) -> HoldoutTest:
    """Return the test with the largest p of all cases and with intervals that cover all of them.

    Nothing may be claimed if one of the cases allows no claim.
    """
    tests = (test, *cases)
    low, high = covering([(case.estimate.low, case.estimate.high) for case in tests])
    return replace(
        test,
        p=float(np.max([case.p for case in tests])),
        estimate=replace(test.estimate, low=low, high=high, method="worst cases of cut answers"),
        bound=covering([case.bound for case in tests]),
        outer=covering([case.outer for case in tests]),
        too_few=next((case.too_few for case in tests if case.too_few), ""),
    ).with_margin(test.margin)
