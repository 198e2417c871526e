"""The verdict on a retro-holdout: the source's beside ours, which has three states.

    different      p < .05
    equivalent     the interval lies inside a margin that was set beforehand
    inconclusive   neither: too few items to say

"Indistinguishable" needs every test equivalent; a perfect retro-holdout passes the source's eight p-values only 66 % of
the time, and one that is 10 pp harder passes with .82 at 50 items.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.stats.base.estimate import Estimate, p_text
from flipcore.stats.base.intervals import bonett_price, newcombe_diff, z_quantile
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.base.paired import discordant, mcnemar
from flipcore.stats.base.power import mde_two_prop
from flipcore.stats.base.separability import Separability
from flipcore.stats.holdout.semantic import ENUMERATE_UP_TO, perm_test_mmd, perm_test_semantic, perm_test_within_paired
from flipcore.stats.holdout.source_rules import prediction_accuracy, tost_two_prop, two_prop
from flipcore.stats.holdout.survey import OddOneOut

DIFFERENT, EQUIVALENT, INCONCLUSIVE = "different", "equivalent", "inconclusive"
INDISTINGUISHABLE, DISTINGUISHABLE, UNDECIDED = "indistinguishable", "distinguishable", "undecided"
DIFFICULTY_MARGIN, BALANCED_MARGIN, ODD_MARGIN = 0.10, 0.60, 0.45
ONE_SIDED = ("prediction", "odd one out")  # a share whose upper bound is held against the margin
ALPHA = 0.05
TESTS = ("difficulty", "semantic", "prediction", "odd one out")
TITLES = {
    "difficulty": "Similarity of difficulty",
    "semantic": "Semantic similarity",
    "prediction": "Prediction accuracy",
    "odd one out": "Human odd-one-out",
}
NOTHING = {
    "difficulty": 0.0,
    "semantic": 0.0,
    "prediction": 0.5,
    "odd one out": 1 / 3,
}  # what each is where there is no difference
SAID = {
    "difficulty": "difficulty",
    "semantic": "semantic similarity",
    "prediction": "prediction accuracy",
    "odd one out": "the survey",
}


@dataclass(frozen=True)
class HoldoutTest:
    """One test. `p` is ours, `p_source` the source's p-values; `bound` is what is held against `margin`; `detectable` the
    smallest difference from no difference that 80 % of such studies would find, in the unit of `estimate`."""

    name: str
    p: float
    p_source: tuple[float, ...]
    estimate: Estimate
    equivalent: bool
    bound: tuple[float, float]
    margin: float | None
    detectable: float

    @property
    def state(self) -> str:
        if self.p < ALPHA:
            return DIFFERENT
        return EQUIVALENT if self.equivalent else INCONCLUSIVE

    def held_against(self, margin: float | None) -> HoldoutTest:
        """The same test under another margin (None: no margin, so never equivalent)."""
        low, high = self.bound
        inside = margin is not None and high < margin and (self.name != "difficulty" or -margin < low)
        return replace(self, margin=margin, equivalent=bool(inside))

    @property
    def source_state(self) -> str:
        """ "rejected" or "not rejected" by the source's rule, every p >= .05."""
        return "rejected" if any(p < ALPHA for p in self.p_source) else "not rejected"

    def sentence(self) -> str:
        """The state in words."""
        if self.state == DIFFERENT:
            return f"On {SAID[self.name]} the sets differ ({p_text(self.p)})."
        if self.state == EQUIVALENT:
            return f"On {SAID[self.name]} the sets are equivalent within the margin (for a difference {p_text(self.p)})."
        why = "no margin is set" if self.margin is None else "too little data to rule out a difference that matters"
        return f"On {SAID[self.name]} nothing was found, and {why} (for a difference {p_text(self.p)})."


def difficulty_test(k_target: int, n_target: int, k_retro: int, n_retro: int, margin: float = DIFFICULTY_MARGIN) -> HoldoutTest:
    """Accuracy of a model from before the benchmark on both sets: two-proportion z and TOST (Newcombe, 90 %)."""
    found = two_prop(k_target, n_target, k_retro, n_retro)
    tost = tost_two_prop(k_target, n_target, k_retro, n_retro, margin, ALPHA)
    n = n_target + n_retro
    pooled = (k_target + k_retro) / n if n else math.nan
    value = k_target / n_target - k_retro / n_retro if n_target and n_retro else math.nan
    low, high = newcombe_diff(k_target, n_target, k_retro, n_retro)
    return HoldoutTest(
        "difficulty",
        found["p"],
        (found["p"],),
        Estimate(value, low, high, 0.95, "newcombe", n, None),
        bool(tost["equivalent"]),
        (tost["lo"], tost["hi"]),
        margin,
        mde_two_prop(pooled, n_target, n_retro),
    )


def difficulty_test_paired(target: Sequence[float], retro: Sequence[float], margin: float = DIFFICULTY_MARGIN) -> HoldoutTest:
    """The same for source-paired sets, entry by entry: exact McNemar and the 90 % Bonett-Price interval."""
    b, c, n = discordant(target, retro)
    value = (b - c) / n if n else math.nan
    low, high = bonett_price(b, c, n, 1 - 2 * ALPHA)
    p_source = two_prop(int(np.nansum(target)), n, int(np.nansum(retro)), n)["p"]
    sd = math.sqrt(((b + c) / n - value**2) / n) if n else math.nan
    return HoldoutTest(
        "difficulty",
        mcnemar(b, c)["exact"] if n else math.nan,
        (p_source,),
        Estimate(value, *bonett_price(b, c, n), 0.95, "bonett_price", n, None),
        -margin < low and high < margin,
        (low, high),
        margin,
        (z_quantile(0.975) + z_quantile(0.8)) * sd,
    )


def semantic_test(
    T: np.ndarray, R: np.ndarray, margin: float | None = None, paired: bool = False, m: int = 9_999, seed: int = 0
) -> HoldoutTest:
    """The source's two within-group tests and MMD^2 beside them, joined by Holm's correction.

    With `paired` (row i of R was written from row i of T) ours swap labels within pairs. `margin` is on MMD^2, which has
    no natural unit: without one the best state is inconclusive.
    """
    enumerate_all = math.comb(len(T) + len(R), len(T)) <= ENUMERATE_UP_TO
    source = tuple(perm_test_semantic(T, R, which, m, seed, enumerate_all)["p"] for which in ("target", "retro"))
    within = (
        source if not paired else tuple(perm_test_within_paired(T, R, which, m, seed)["p"] for which in ("target", "retro"))
    )
    mmd = perm_test_mmd(T, R, m, seed, paired)
    half = z_quantile(0.95) * mmd["se"]
    bound = (mmd["obs"] - half, mmd["obs"] + half)
    estimate = Estimate(mmd["obs"], *bound, 0.90, "delta", len(T) + len(R), seed)
    return HoldoutTest(
        "semantic",
        float(np.min(holm([*within, mmd["p"]]))),
        source,
        estimate,
        margin is not None and bound[1] < margin,
        bound,
        margin,
        mmd["critical"] + z_quantile(0.8) * mmd["null_sd"],
    )


def prediction_test(found: Separability, margin: float = BALANCED_MARGIN) -> HoldoutTest:
    """Balanced accuracy of a cross-validated classifier, beside the source's binomial test of its hits."""
    p_source = prediction_accuracy(found.k_correct, found.n)["p_two_sided"]
    return HoldoutTest(
        "prediction",
        found.p,
        (p_source,),
        found.balanced,
        found.upper < margin,
        (0.0, min(1.0, found.upper)),
        margin,
        (z_quantile(0.95) + z_quantile(0.8)) * found.null_sd,
    )


def odd_one_out_test(found: OddOneOut, margin: float = ODD_MARGIN) -> HoldoutTest:
    """The survey: equivalent when the upper bound of accuracy lies below the margin (one in three is chance)."""
    return HoldoutTest(
        "odd one out",
        found.p,
        (found.p_source,),
        found.accuracy,
        found.upper < margin,
        (0.0, min(1.0, found.upper)),
        margin,
        (z_quantile(0.975) + z_quantile(0.8)) * found.se,
    )


def joined(tests: Sequence[HoldoutTest]) -> HoldoutTest:
    """Several tests of one kind (difficulty, by several models) as one. Different by Holm's correction over all; equivalent
    when every one is, which needs no correction (intersection-union). The estimate is that of the largest difference."""
    largest = max(tests, key=lambda test: abs(test.estimate.value))
    bound = min(test.bound[0] for test in tests), max(test.bound[1] for test in tests)
    return replace(
        largest,
        p=float(np.min(holm([test.p for test in tests]))),
        p_source=tuple(p for test in tests for p in test.p_source),
        bound=bound,
        detectable=max(test.detectable for test in tests),
    ).held_against(largest.margin)


def simultaneous(tests: Sequence[HoldoutTest]) -> list[HoldoutTest]:
    """The tests so that all their claims hold together, whatever margins are chosen after looking: p-values by Holm, bounds
    widened from z(1 - alpha) to z(1 - alpha / k)."""
    if not tests:
        return []
    wider = z_quantile(1 - ALPHA / len(tests)) / z_quantile(1 - ALPHA)
    return [
        replace(test, p=float(p), bound=_widened(test, wider)).held_against(test.margin)
        for test, p in zip(tests, holm([test.p for test in tests]), strict=True)
    ]


def _widened(test: HoldoutTest, factor: float) -> tuple[float, float]:
    low, high = (test.estimate.value + factor * (end - test.estimate.value) for end in test.bound)
    return (0.0, min(1.0, high)) if test.name in ONE_SIDED else (low, high)


@dataclass(frozen=True)
class HoldoutVerdict:
    """All tests that were run, and what they say together. `missing` names those that were not."""

    tests: tuple[HoldoutTest, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in TESTS if name not in {test.name for test in self.tests})

    @property
    def state(self) -> str:
        """indistinguishable (every test equivalent), distinguishable (one different) or undecided."""
        states = {test.state for test in self.tests}
        if DIFFERENT in states:
            return DISTINGUISHABLE
        return INDISTINGUISHABLE if states == {EQUIVALENT} and not self.missing else UNDECIDED

    @property
    def source_state(self) -> str:
        """The source's verdict: indistinguishable iff no test rejects; undecided while one is missing."""
        if any(test.source_state == "rejected" for test in self.tests):
            return DISTINGUISHABLE
        return UNDECIDED if self.missing else INDISTINGUISHABLE

    def sentence(self) -> str:
        """The verdict, why, and what the source would have said."""
        seed = f"The source's rule says {self.source_state}."
        if self.state == DISTINGUISHABLE:
            names = _listed(SAID[test.name] for test in self.tests if test.state == DIFFERENT)
            return f"The sets can be told apart, by {names}. {seed}"
        if self.state == INDISTINGUISHABLE:
            return f"The sets could have come from the same source: every test is equivalent within its margin. {seed}"
        open_tests = [SAID[test.name] for test in self.tests if test.state == INCONCLUSIVE]
        not_run = [SAID[name] for name in self.missing]
        reasons = [f"{_listed(open_tests)} {'are' if open_tests[1:] else 'is'} inconclusive"] if open_tests else []
        reasons += [f"{_listed(not_run)} {'were' if not_run[1:] else 'was'} not run"] if not_run else []
        return f"Nothing tells the sets apart, and that is not yet sameness: {'; '.join(reasons)}. {seed}"


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def inflation(k_target: int, n_target: int, k_retro: int, n_retro: int, level: float = 0.95) -> Estimate:
    """Benchmark inflation, accuracy on target - retro, as a share (print with `text_pp`); Newcombe's interval."""
    value = k_target / n_target - k_retro / n_retro if n_target and n_retro else math.nan
    low, high = newcombe_diff(k_target, n_target, k_retro, n_retro, level)
    return Estimate(value, low, high, level, "newcombe", n_target + n_retro, None)


def inflation_paired(target: Sequence[float], retro: Sequence[float], level: float = 0.95) -> Estimate:
    """Benchmark inflation of source-paired entries (Bonett-Price); n counts pairs."""
    b, c, n = discordant(target, retro)
    return Estimate((b - c) / n if n else math.nan, *bonett_price(b, c, n, level), level, "bonett_price", n, None)
