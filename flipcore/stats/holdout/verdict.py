"""The verdict on a retro-holdout: the source's beside ours, in which each test has one of five
outcomes.

    beyond      the 95% interval lies wholly outside the margin
    different   p < .05, and not shown to lie within the margin or beyond it
    within      p < .05, and the interval held against the margin lies inside it
    equivalent  that interval lies inside the margin
    undecided   none of these: too few items to say

"Could have come from the same source" needs every test inside its margin (intersection-union, no
correction); "different" takes Holm over the tests. A perfect retro-holdout passes the source's
eight p-values only 66% of the time, and one that is 10 points harder passes with .82 at 50 items.
The sentences are made in `flipcore.claims.holdout`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.stats.base import tango
from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, Estimate, missing
from flipcore.stats.base.families import clustered_difference
from flipcore.stats.base.multiplicity import holm
from flipcore.stats.base.paired import discordant
from flipcore.stats.base.power import mde_two_prop
from flipcore.stats.base.proportions import z_quantile
from flipcore.stats.base.separability import Separability
from flipcore.stats.base.two_shares import Counts, difference_limits, p_two_sided
from flipcore.stats.holdout.copies import CrossNeighbours
from flipcore.stats.holdout.semantic import (
    ENUMERATE_UP_TO,
    perm_test_mmd,
    perm_test_semantic,
    perm_test_within_paired,
)
from flipcore.stats.holdout.source_rules import pooled_z, prediction_accuracy
from flipcore.stats.holdout.survey import OddOneOut
from flipcore.stats.holdout.units import ONE_SIDED

BEYOND = "beyond"
DIFFERENT = "different"
WITHIN = "within"
EQUIVALENT = "equivalent"
UNDECIDED = "undecided"
OUTCOMES = (BEYOND, DIFFERENT, WITHIN, EQUIVALENT, UNDECIDED)
INDISTINGUISHABLE, DISTINGUISHABLE = "indistinguishable", "distinguishable"
DIFFICULTY_MARGIN, BALANCED_MARGIN, ODD_MARGIN = 0.10, 0.60, 0.45
ALPHA = 0.05
TESTS = ("difficulty", "semantic", "prediction", "odd one out")
NO_INTERVAL = (math.nan, math.nan)
COPIES = "entries of one set lie next to entries of the other more often than chance, as copies do"


@dataclass(frozen=True)
class HoldoutTest:
    """One test. `p` is ours, `p_source` the source's p-values, `p_held` the p by which a difference
    is decided (Holm over the tests of a page; `p` where that is NaN). `bound` is held against
    `margin` (90%, or one-sided 95%), `outer` the 95% interval that must lie wholly outside it for
    "beyond". `detectable` is the smallest difference from no difference that 80% of such studies
    would find, in the unit of `estimate`. `is_bounded`: the difference that p shows is the one that
    the margin bounds. `too_few` says why nothing may be claimed, `blind` why a difference would not
    show and so sameness may not be claimed, else "". `copied_at_most` of the holdout entries are
    copies beside their original (95%; NaN: not asked). `has_many_twins`: so many entries have twins
    in their own set that this cannot be told."""

    name: str
    p: float
    p_source: tuple[float, ...]
    estimate: Estimate
    equivalent: bool
    bound: tuple[float, float]
    margin: float | None
    detectable: float
    outer: tuple[float, float] = NO_INTERVAL
    p_held: float = math.nan
    is_bounded: bool = True
    too_few: str = ""
    blind: str = ""
    copied_at_most: float = math.nan
    has_many_twins: bool = False

    @property
    def state(self) -> str:
        """One of OUTCOMES."""
        if self.too_few:
            return UNDECIDED
        p = self.p if math.isnan(self.p_held) else self.p_held
        if not p < ALPHA or (self.name == "difficulty" and self.estimate.excludes_zero() is False):
            # Of families p is a t's and the limits are Wilson's: a difference needs both.
            return EQUIVALENT if self.equivalent and not self.blind else UNDECIDED
        if self._is_beyond:
            return BEYOND
        return WITHIN if self.equivalent and self.is_bounded and not self.blind else DIFFERENT

    @property
    def _is_beyond(self) -> bool:
        low, high = self.outer
        return self.margin is not None and (
            low > self.margin or (self.name == "difficulty" and high < -self.margin)
        )

    @property
    def is_inside(self) -> bool:
        """True where the difference is shown to lie inside the margin."""
        return self.state in (WITHIN, EQUIVALENT)

    def against_margin(self, margin: float | None) -> HoldoutTest:
        """Return the test under another margin (None: no margin, so never equivalent)."""
        low, high = self.bound
        # A share has a bound on one side only; a difference has two.
        inside = (
            margin is not None and high < margin and (self.name != "difficulty" or -margin < low)
        )
        return replace(self, margin=margin, equivalent=bool(inside))

    @property
    def source_state(self) -> str:
        """The source's rule: "rejected", or "not rejected" where all p >= .05."""
        return "rejected" if any(p < ALPHA for p in self.p_source) else "not rejected"


def fewest_text(n: int, noun: str) -> str:
    """Say why nothing is claimed of so few: "" from ten on."""
    return "" if n >= MIN_N else f"{n} {noun}, and at least {MIN_N} are needed"


def difficulty_test(
    k_target: int, n_target: int, k_retro: int, n_retro: int, margin: float = DIFFICULTY_MARGIN
) -> HoldoutTest:
    """Test the accuracy of a model from before the benchmark on both sets: the exact score test of
    two shares of different items, and its limits."""
    n = n_target + n_retro
    if not n_target or not n_retro:
        return _difficulty(
            math.nan,
            _NONE,
            (math.nan,),
            margin,
            math.nan,
            NO_INTERVAL,
            fewest_text(0, "answers in one set"),
        )
    counts = Counts(k_target, n_target, k_retro, n_retro)
    low, high = difference_limits(counts)
    return _difficulty(
        p_two_sided(counts),
        Estimate(counts.difference, low, high, 0.95, "two_shares", n, None),
        (pooled_z(*counts)[1],),
        margin,
        mde_two_prop((k_target + k_retro) / n, n_target, n_retro),
        tuple(difference_limits(counts, 1 - 2 * ALPHA)),
        fewest_text(min(n_target, n_retro), "answers in one set"),
    )


def difficulty_test_paired(
    target: Sequence[float], retro: Sequence[float], margin: float = DIFFICULTY_MARGIN
) -> HoldoutTest:
    """Test source-paired sets, entry by entry: Tango's score test and its limits."""
    b, c, n = discordant(target, retro)
    if not n:
        return _difficulty(
            math.nan, _NONE, (math.nan,), margin, math.nan, NO_INTERVAL, fewest_text(0, "pairs")
        )
    value = (b - c) / n
    low, high = tango.loss_limits(b, c, n)
    return _difficulty(
        tango.p_two_sided(b, c, n),
        Estimate(value, low, high, 0.95, "tango", n, None),
        (pooled_z(int(np.nansum(target)), n, int(np.nansum(retro)), n)[1],),
        margin,
        # The smallest true difference that 80% of such studies would find.
        (z_quantile(0.975) + z_quantile(0.8)) * math.sqrt(((b + c) / n - value**2) / n),
        tuple(tango.loss_limits(b, c, n, 1 - 2 * ALPHA)),
        fewest_text(n, "pairs"),
    )


def difficulty_test_clustered(
    hits: Sequence[float] | np.ndarray,
    is_retro: Sequence[bool] | np.ndarray,
    clusters: Sequence | np.ndarray,
    margin: float = DIFFICULTY_MARGIN,
) -> HoldoutTest:
    """Test entries that share a template or a source, though not in pairs: families are the units
    (`stats.base.families`). `hits`, `is_retro` and `clusters` have one value per entry; an entry
    whose hit is NaN leaves."""
    x, retro = np.asarray(hits, dtype=float), np.asarray(is_retro, dtype=bool)
    names = np.asarray(clusters).astype(str)
    keep = ~np.isnan(x)
    x, retro, names = x[keep], retro[keep], names[keep]
    sides = (x[~retro], names[~retro], x[retro], names[retro])
    if not len(sides[0]) or not len(sides[2]):
        return difficulty_test(0, len(sides[0]), 0, len(sides[2]), margin)
    gap, bound = (clustered_difference(*sides, level=level) for level in (1 - ALPHA, 1 - 2 * ALPHA))
    estimate = gap.estimate()
    too_few = "" if gap.se > 0 else "no answer differs from another"
    if gap.n_effective < MIN_CLAIM_FAMILIES:
        too_few = (
            f"sources or templates that weigh as much as {gap.n_effective:.1f} equal ones, and at "
            f"least {MIN_CLAIM_FAMILIES} are needed"
        )
    return _difficulty(
        gap.p,
        estimate,
        (pooled_z(int(sides[0].sum()), len(sides[0]), int(sides[2].sum()), len(sides[2]))[1],),
        margin,
        (z_quantile(0.975) + z_quantile(0.8)) * gap.se,
        (bound.low, bound.high),
        too_few,
    )


_NONE = missing(note="No answer.")


def _difficulty(
    p: float,
    estimate: Estimate,
    p_source: tuple[float, ...],
    margin: float,
    detectable: float,
    bound: tuple[float, ...],
    too_few: str,
) -> HoldoutTest:
    return HoldoutTest(
        "difficulty",
        p,
        p_source,
        estimate,
        equivalent=False,
        bound=(bound[0], bound[1]),
        margin=margin,
        detectable=detectable,
        outer=(estimate.low, estimate.high),
        too_few=too_few,
    ).against_margin(margin)


def semantic_test(
    T: np.ndarray,
    R: np.ndarray,
    margin: float | None = None,
    *,
    paired: bool = False,
    m: int = 9_999,
    seed: int = 0,
    copies: Sequence[CrossNeighbours] = (),
) -> HoldoutTest:
    """Run the source's two within-group tests and MMD^2, joined by Holm's correction.

    The margin bounds MMD^2 alone: where only the likeness inside a set differs, the outcome is
    "different" and never "within".

    Parameters
    ----------
    T, R : (entries, d) embeddings of the benchmark and of the holdout.
    margin : on MMD^2, which has no natural unit; without one no equivalence can be shown.
    paired : True where row i of R was written from row i of T; labels then swap within pairs.
    m : permutations.
    copies : cross-set neighbours by each likeness. Too many are a difference too, and none is then
        called equivalent; fewer are bounded by the likeness that leaves the most room.
    """
    # All regroupings where they are few: the p is then exact.
    enumerate_all = math.comb(len(T) + len(R), len(T)) <= ENUMERATE_UP_TO
    source = tuple(
        perm_test_semantic(T, R, which, m, seed, enumerate_all=enumerate_all)["p"]
        for which in ("target", "retro")
    )
    inside = source
    if paired:
        inside = tuple(
            perm_test_within_paired(T, R, which, m, seed)["p"] for which in ("target", "retro")
        )
    mmd = perm_test_mmd(T, R, m, seed, paired=paired)
    copies_p = [neighbours.p for neighbours in copies]
    adjusted = holm([*inside, mmd["p"], *copies_p])
    has_copies = bool(copies) and min(holm(copies_p)) < ALPHA
    bound = (mmd["obs"] - z_quantile(1 - ALPHA) * mmd["se"], mmd["upper"])
    return HoldoutTest(
        "semantic",
        float(np.min(adjusted)),
        source,
        Estimate(mmd["obs"], *bound, 0.90, "delta", len(T) + len(R), seed),
        equivalent=False,
        bound=bound,
        margin=margin,
        detectable=mmd["critical"] + z_quantile(0.8) * mmd["null_sd"],
        outer=(mmd["obs"] - z_quantile(1 - ALPHA / 2) * mmd["se"], math.inf),
        # The margin bounds MMD², the third p, and none of the others.
        is_bounded=not min([*adjusted[:2], *adjusted[3:]]) < ALPHA,
        too_few=fewest_text(min(len(T), len(R)), "entries in one set"),
        blind=COPIES if has_copies else "",
        copied_at_most=max(
            (neighbours.at_most for neighbours in copies if not math.isnan(neighbours.at_most)),
            default=math.nan,
        ),
        has_many_twins=any(neighbours.has_many_twins for neighbours in copies),
    ).against_margin(margin)


def prediction_test(separability: Separability, margin: float = BALANCED_MARGIN) -> HoldoutTest:
    """Test the balanced accuracy of a cross-validated classifier, beside the source's binomial test
    of its hits."""
    p_source = prediction_accuracy(separability.k_correct, separability.n)["p_two_sided"]
    balanced, null_sd = separability.balanced, separability.null_sd
    low = min(balanced.low, balanced.value - z_quantile(1 - ALPHA / 2) * null_sd)
    return HoldoutTest(
        "prediction",
        # Two-sided: copies make an accuracy in the lower tail of the permutations, because each
        # entry is then mistaken for one of its original's set.
        min(1.0, 2 * min(separability.p, separability.p_below)),
        (p_source,),
        balanced,
        equivalent=False,
        bound=(0.0, min(1.0, separability.upper)),
        margin=margin,
        detectable=(z_quantile(0.95) + z_quantile(0.8)) * null_sd,
        outer=(low, 1.0),
        is_bounded=separability.p <= separability.p_below,
        too_few=separability.too_few,
        blind=COPIES if separability.p_below < ALPHA / 2 else "",
    ).against_margin(margin)


def odd_one_out_test(answers: OddOneOut, margin: float = ODD_MARGIN) -> HoldoutTest:
    """Test the survey: equivalent when the upper bound of accuracy lies below the margin (one in
    three is chance)."""
    return HoldoutTest(
        "odd one out",
        answers.p,
        (answers.p_source,),
        answers.accuracy,
        equivalent=False,
        bound=(0.0, min(1.0, answers.upper)),
        margin=margin,
        detectable=(z_quantile(0.975) + z_quantile(0.8)) * answers.se,
        outer=(answers.accuracy.low, 1.0),
        too_few=answers.too_few,
    ).against_margin(margin)


def joined(tests: Sequence[HoldoutTest]) -> HoldoutTest:
    """Join several tests of one kind (difficulty, by several models) into one. Different by Holm's
    correction over all; equivalent when all are, which needs no correction (intersection-union).
    The estimate is that of the largest difference, so the interval that must lie beyond the margin
    is widened to z(1 - alpha / 2k)."""
    largest = max(tests, key=lambda test: abs(test.estimate.value))
    bound = min(test.bound[0] for test in tests), max(test.bound[1] for test in tests)
    # The largest of k differences needs the limits of k comparisons (Bonferroni).
    wider = z_quantile(1 - ALPHA / 2 / len(tests)) / z_quantile(1 - ALPHA / 2)
    p_source: list[float] = []
    for test in tests:
        p_source.extend(test.p_source)
    return replace(
        largest,
        p=float(np.min(holm([test.p for test in tests]))),
        p_source=tuple(p_source),
        bound=bound,
        outer=_widened(largest, largest.outer, wider),
        detectable=max(test.detectable for test in tests),
        too_few=next((test.too_few for test in tests if test.too_few), ""),
        blind="" if any(not test.blind for test in tests) else tests[0].blind,
    ).against_margin(largest.margin)


def as_family(tests: Sequence[HoldoutTest]) -> list[HoldoutTest]:
    """Decide the differences of the tests of one page together: Holm over those that may claim
    anything. Tests that were decided together before stay as they are."""
    if not any(math.isnan(test.p_held) and not math.isnan(test.p) for test in tests):
        return list(tests)
    holm_p = holm([math.nan if test.too_few else test.p for test in tests])
    return [replace(test, p_held=p) for test, p in zip(tests, holm_p, strict=True)]


def simultaneous(tests: Sequence[HoldoutTest]) -> list[HoldoutTest]:
    """Return the tests so that all their claims hold together, whatever margins are chosen after
    looking: p-values by Holm, bounds widened from z(1 - alpha) to z(1 - alpha / k)."""
    if not tests:
        return []
    # Bonferroni for the limits, which Holm's steps do not have.
    wider = z_quantile(1 - ALPHA / len(tests)) / z_quantile(1 - ALPHA)
    outer = z_quantile(1 - ALPHA / 2 / len(tests)) / z_quantile(1 - ALPHA / 2)
    return [
        replace(
            test,
            p=float(p),
            p_held=float(p),
            bound=_widened(test, test.bound, wider),
            outer=_widened(test, test.outer, outer),
        ).against_margin(test.margin)
        for test, p in zip(tests, holm([test.p for test in tests]), strict=True)
    ]


def _widened(test: HoldoutTest, ends: tuple[float, float], factor: float) -> tuple[float, float]:
    """Return `ends` moved away from the estimate by `factor`, within what a share can be."""
    low, high = (test.estimate.value + factor * (end - test.estimate.value) for end in ends)
    # A one-sided bound has an end at 0 or 1, which does not move.
    return (0.0 if ends[0] == 0 else low, min(1.0, high)) if test.name in ONE_SIDED else (low, high)


@dataclass(frozen=True)
class HoldoutVerdict:
    """All tests that were run, and their joint verdict. `missing` names those that were not run."""

    tests: tuple[HoldoutTest, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in TESTS if name not in {test.name for test in self.tests})

    @property
    def state(self) -> str:
        """Distinguishable (one test beyond or different), indistinguishable (all inside their
        margins) or undecided."""
        if {BEYOND, DIFFERENT} & {test.state for test in self.tests}:
            return DISTINGUISHABLE
        if self.missing or not all(test.is_inside for test in self.tests):
            return UNDECIDED
        return INDISTINGUISHABLE

    @property
    def source_state(self) -> str:
        """The source's verdict: indistinguishable iff no test rejects; undecided while one is
        missing."""
        if any(test.source_state == "rejected" for test in self.tests):
            return DISTINGUISHABLE
        return UNDECIDED if self.missing else INDISTINGUISHABLE
