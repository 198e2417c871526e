"""The verdict on a retro-holdout: the source's, and ours, where a test has one of five outcomes.

    beyond      p < .05, and the 95% interval lies wholly outside the margin
    different   p < .05, and neither "beyond" nor "within"
    within      p < .05, and the interval `bound` lies inside the margin
    equivalent  p >= .05, and the interval `bound` lies inside the margin
    undecided   none of these: too few items to say

"Could have come from the same source" needs every test inside its margin (intersection-union, no
correction). "Different" uses Holm over the tests. A perfect retro-holdout passes the source's eight
p-values only 66% of the time; one that is 10 points harder passes them in .82 at 50 items. The
sentences are made in `flipcore.claims.holdout`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base import tango
from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_N, Estimate, missing
from flipcore.stats.base.families import clustered_difference
from flipcore.stats.base.intervals import covering
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
# Default margins: of the difference in accuracy, of balanced accuracy (chance is .5), and of the
# accuracy of odd one out (chance is 1/3).
DIFFICULTY_MARGIN, BALANCED_MARGIN, ODD_MARGIN = 0.10, 0.60, 0.45
ALPHA = 0.05
TESTS = ("difficulty", "semantic", "prediction", "odd one out")
NO_INTERVAL = (math.nan, math.nan)
# Times the standard error: the smallest true difference that 80% of such studies would find.
Z_DETECTABLE = z_quantile(0.975) + z_quantile(0.8)
COPIES = "entries of one set lie next to entries of the other more often than chance, as copies do"


@dataclass(frozen=True)
class HoldoutTest:
    """Result of one test.

    p, p_source : our p, and those of the source.
    p_adjusted : Holm's p over the tests of a page, which decides on a difference; if NaN, `p` does.
    bound : the 90% interval, or one-sided 95%, that is compared with `margin`.
    outer : the 95% interval that must lie wholly outside the margin for "beyond".
    detectable : the smallest difference that 80% of such studies would find, in the unit of
        `estimate`.
    is_bounded : True if p tests the quantity that the margin bounds.
    too_few : why nothing may be claimed, else "".
    blind : why a difference would not show and sameness may not be claimed, else "".
    copied_at_most : upper limit, at 95%, of the share of holdout entries that are copies near their
        original; NaN if not tested.
    has_many_twins : True if that limit is unknown, because too many entries have twins in their
        own set.
    """

    name: str
    p: float
    p_source: tuple[float, ...]
    estimate: Estimate
    equivalent: bool
    bound: tuple[float, float]
    margin: float | None
    detectable: float
    outer: tuple[float, float] = NO_INTERVAL
    p_adjusted: float = math.nan
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
        p = self.p if math.isnan(self.p_adjusted) else self.p_adjusted
        if not p < ALPHA or (self.name == "difficulty" and self.estimate.excludes_zero() is False):
            # With families p comes from a t and the limits from Wilson; a difference needs both.
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
        """True if the difference is shown to lie inside the margin."""
        return self.state in (WITHIN, EQUIVALENT)

    def with_margin(self, margin: float | None) -> HoldoutTest:
        """Return the test with another margin; None is no margin, so never equivalent."""
        low, high = self.bound
        # A share has a bound on one side only; a difference has two.
        inside = (
            margin is not None and high < margin and (self.name != "difficulty" or -margin < low)
        )
        return replace(self, margin=margin, equivalent=bool(inside))

    @property
    def source_state(self) -> str:
        """Outcome by the source's rule: "not rejected" if all p >= .05, else "rejected"."""
        return "rejected" if any(p < ALPHA for p in self.p_source) else "not rejected"


def fewest_text(n: int, noun: str) -> str:
    """Say why so few allow no claim; "" from ten on."""
    return "" if n >= MIN_N else f"{n} {noun}, and at least {MIN_N} are needed"


def difficulty_test(
    k_target: int, n_target: int, k_retro: int, n_retro: int, margin: float = DIFFICULTY_MARGIN
) -> HoldoutTest:
    """Test the accuracy on both sets of a model from before the benchmark. The test is the exact
    score test of two shares of different items, `k` right of `n` per set."""
    n = n_target + n_retro
    if not n_target or not n_retro:
        return _empty_difficulty(margin, "answers in one set")
    counts = Counts(k_target, n_target, k_retro, n_retro)
    low, high = difference_limits(counts)
    return _difficulty(
        p_two_sided(counts),
        Estimate(counts.difference, low, high, level=0.95, method="two_shares", n=n, seed=None),
        p_source=_pooled_p(*counts),
        margin=margin,
        detectable=mde_two_prop((k_target + k_retro) / n, n_target, n_retro),
        bound=tuple(difference_limits(counts, 1 - 2 * ALPHA)),
        too_few=fewest_text(min(n_target, n_retro), "answers in one set"),
    )


def difficulty_test_paired(
    target: Sequence[float], retro: Sequence[float], margin: float = DIFFICULTY_MARGIN
) -> HoldoutTest:
    """Test source-paired sets by Tango's score test of their 0/1 answers, pair by pair."""
    b, c, n = discordant(target, retro)
    if not n:
        return _empty_difficulty(margin, "pairs")
    value = (b - c) / n
    low, high = tango.loss_limits(b, c, n)
    return _difficulty(
        tango.p_two_sided(b, c, n),
        Estimate(value, low, high, level=0.95, method="tango", n=n, seed=None),
        p_source=_pooled_p(int(np.nansum(target)), n, int(np.nansum(retro)), n),
        margin=margin,
        detectable=Z_DETECTABLE * math.sqrt(((b + c) / n - value**2) / n),
        bound=tuple(tango.loss_limits(b, c, n, 1 - 2 * ALPHA)),
        too_few=fewest_text(n, "pairs"),
    )


def difficulty_test_clustered(
    hits: Sequence[float] | np.ndarray,
    is_retro: Sequence[bool] | np.ndarray,
    clusters: Sequence | np.ndarray,
    margin: float = DIFFICULTY_MARGIN,
) -> HoldoutTest:
    """Test entries that share templates or sources without being pairs. These are the units.

    `hits`, `is_retro` and `clusters` have one value per entry; a NaN hit is left out. The limits
    are those of `stats.base.families`.
    """
    outcomes, retro = np.asarray(hits, dtype=float), np.asarray(is_retro, dtype=bool)
    names = np.asarray(clusters).astype(str)
    is_answered = ~np.isnan(outcomes)
    outcomes, retro, names = outcomes[is_answered], retro[is_answered], names[is_answered]
    target_hits, retro_hits = outcomes[~retro], outcomes[retro]
    n_target, n_retro = len(target_hits), len(retro_hits)
    if not n_target or not n_retro:
        return _empty_difficulty(margin, "answers in one set")
    sides = (target_hits, names[~retro], retro_hits, names[retro])
    gap, bound = (clustered_difference(*sides, level=level) for level in (1 - ALPHA, 1 - 2 * ALPHA))
    estimate = gap.estimate()
    too_few = "" if gap.se > 0 else "nothing varies between sources or templates"
    if gap.n_effective < MIN_CLAIM_FAMILIES:
        too_few = (
            f"sources or templates that weigh as much as {gap.n_effective:.1f} equal ones, and at "
            f"least {MIN_CLAIM_FAMILIES} are needed"
        )
    return _difficulty(
        gap.p,
        estimate,
        p_source=_pooled_p(int(target_hits.sum()), n_target, int(retro_hits.sum()), n_retro),
        margin=margin,
        detectable=Z_DETECTABLE * gap.se,
        bound=(bound.low, bound.high),
        too_few=too_few,
    )


def _pooled_p(k_target: int, n_target: int, k_retro: int, n_retro: int) -> tuple[float]:
    """Return the p of the source's test of difficulty, as `p_source` of a test."""
    _, p = pooled_z(k_target, n_target, k_retro, n_retro)
    return (p,)


def _empty_difficulty(margin: float, noun: str) -> HoldoutTest:
    """Return the test of sets without any `noun`."""
    too_few = fewest_text(0, noun)
    return _difficulty(math.nan, missing(note="No answer."), margin=margin, too_few=too_few)


def _difficulty(
    p: float,
    estimate: Estimate,
    *,
    margin: float,
    too_few: str,
    p_source: tuple[float, ...] = (math.nan,),
    detectable: float = math.nan,
    bound: tuple[float, ...] = NO_INTERVAL,
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
    ).with_margin(margin)


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
    """Run the source's two within-group tests and MMD^2, combined by Holm's correction.

    The margin bounds MMD^2 only. So if only the likeness inside a set differs, the outcome is
    "different", never "within".

    Parameters
    ----------
    T, R : (entries, d) embeddings of the benchmark and of the holdout.
    margin : of MMD^2, which has no natural unit; None shows no equivalence.
    paired : True if row i of R was written from row i of T; labels then swap within pairs.
    m : number of permutations.
    copies : neighbours across the sets, one result per measure of likeness. Too many of them are a
        difference, and exclude "equivalent". Otherwise the largest bound on copies counts.
    """
    # Few regroupings are enumerated, so that the p is exact.
    enumerate_all = math.comb(len(T) + len(R), len(T)) <= ENUMERATE_UP_TO
    p_source = tuple(
        perm_test_semantic(T, R, which, m, seed, enumerate_all=enumerate_all)["p"]
        for which in ("target", "retro")
    )
    p_within = p_source
    if paired:
        p_within = tuple(
            perm_test_within_paired(T, R, which, m, seed)["p"] for which in ("target", "retro")
        )
    mmd = perm_test_mmd(T, R, m, seed, paired=paired)
    copies_p = [neighbours.p for neighbours in copies]
    copy_bounds = [neighbours.at_most for neighbours in copies]
    adjusted = holm([*p_within, mmd["p"], *copies_p])
    p_target, p_retro, _, *p_copies = adjusted
    has_copies = bool(copies) and min(holm(copies_p)) < ALPHA
    bound = (mmd["obs"] - z_quantile(1 - ALPHA) * mmd["se"], mmd["upper"])
    return HoldoutTest(
        "semantic",
        float(np.min(adjusted)),
        p_source,
        Estimate(mmd["obs"], *bound, 0.90, "delta", len(T) + len(R), seed),
        equivalent=False,
        bound=bound,
        margin=margin,
        detectable=mmd["critical"] + z_quantile(0.8) * mmd["null_sd"],
        outer=(mmd["obs"] - z_quantile(1 - ALPHA / 2) * mmd["se"], math.inf),
        # The margin bounds only MMD², so no other p may show a difference.
        is_bounded=not min([p_target, p_retro, *p_copies]) < ALPHA,
        too_few=fewest_text(min(len(T), len(R)), "entries in one set"),
        blind=COPIES if has_copies else "",
        copied_at_most=max((x for x in copy_bounds if not math.isnan(x)), default=math.nan),
        has_many_twins=any(neighbours.has_many_twins for neighbours in copies),
    ).with_margin(margin)


def prediction_test(separability: Separability, margin: float = BALANCED_MARGIN) -> HoldoutTest:
    """Test the balanced accuracy of a cross-validated classifier; also give the source's binomial
    test of its hits."""
    p_source = prediction_accuracy(separability.k_correct, separability.n)["p_two_sided"]
    balanced, null_sd = separability.balanced, separability.null_sd
    low = min(balanced.low, balanced.value - z_quantile(1 - ALPHA / 2) * null_sd)
    return HoldoutTest(
        "prediction",
        # Two-sided, because copies lower the accuracy below that of the permutations: a copy is
        # mistaken for an entry of its original's set.
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
    ).with_margin(margin)


def odd_one_out_test(answers: OddOneOut, margin: float = ODD_MARGIN) -> HoldoutTest:
    """Test the survey: equivalent if the upper bound of its accuracy is below the margin (chance
    is one in three)."""
    return HoldoutTest(
        "odd one out",
        answers.p,
        (answers.p_source,),
        answers.accuracy,
        equivalent=False,
        bound=(0.0, min(1.0, answers.upper)),
        margin=margin,
        detectable=Z_DETECTABLE * answers.se,
        outer=(answers.accuracy.low, 1.0),
        too_few=answers.too_few,
    ).with_margin(margin)


def join_tests(tests: Sequence[HoldoutTest]) -> HoldoutTest:
    """Join several tests of one kind (difficulty, by several models) into one.

    It is "different" by Holm's correction over all tests, and "equivalent" if all of them are,
    which needs no correction (intersection-union). Its estimate is that with the largest
    difference, so `outer` is widened to z(1 - alpha / 2k). Raises BadInput without a test.
    """
    if not len(tests):
        raise BadInput("Several tests of one kind are joined from at least one, and got none.")
    largest = max(tests, key=lambda test: abs(test.estimate.value))
    # The largest of k differences needs the limits of k comparisons (Bonferroni).
    wider = z_quantile(1 - ALPHA / 2 / len(tests)) / z_quantile(1 - ALPHA / 2)
    p_source: list[float] = []
    for test in tests:
        p_source.extend(test.p_source)
    return replace(
        largest,
        p=float(np.min(holm([test.p for test in tests]))),
        p_source=tuple(p_source),
        bound=covering([test.bound for test in tests]),
        outer=_widened(largest, largest.outer, wider),
        detectable=max(test.detectable for test in tests),
        too_few=next((test.too_few for test in tests if test.too_few), ""),
        blind="" if any(not test.blind for test in tests) else tests[0].blind,
    ).with_margin(largest.margin)


def as_family(tests: Sequence[HoldoutTest]) -> list[HoldoutTest]:
    """Adjust the p-values of the tests of a page together, by Holm over those with enough items.
    Tests that were adjusted before are returned unchanged."""
    if not any(math.isnan(test.p_adjusted) and not math.isnan(test.p) for test in tests):
        return list(tests)
    holm_p = holm([math.nan if test.too_few else test.p for test in tests])
    return [replace(test, p_adjusted=p) for test, p in zip(tests, holm_p, strict=True)]


def simultaneous(tests: Sequence[HoldoutTest]) -> list[HoldoutTest]:
    """Adjust the tests so that all claims hold together, whatever margins are chosen after looking.
    The p-values are Holm's; bounds are widened from z(1 - alpha) to z(1 - alpha / k)."""
    if not tests:
        return []
    # Bonferroni for the limits, because Holm's procedure gives none.
    bound_factor = z_quantile(1 - ALPHA / len(tests)) / z_quantile(1 - ALPHA)
    outer_factor = z_quantile(1 - ALPHA / 2 / len(tests)) / z_quantile(1 - ALPHA / 2)
    return [
        replace(
            test,
            p=float(p),
            p_adjusted=float(p),
            bound=_widened(test, test.bound, bound_factor),
            outer=_widened(test, test.outer, outer_factor),
        ).with_margin(test.margin)
        for test, p in zip(tests, holm([test.p for test in tests]), strict=True)
    ]


def _widened(test: HoldoutTest, ends: tuple[float, float], factor: float) -> tuple[float, float]:
    """Return `ends` moved away from the estimate by `factor`; those of a share stay in [0, 1]."""
    low, high = (test.estimate.value + factor * (end - test.estimate.value) for end in ends)
    if test.name not in ONE_SIDED:
        return low, high
    # A one-sided bound has an end at 0 or 1, which does not move.
    return 0.0 if ends[0] == 0 else low, min(1.0, high)


@dataclass(frozen=True)
class HoldoutVerdict:
    """All tests that were run, and their joint verdict; `missing` names the tests not run."""

    tests: tuple[HoldoutTest, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in TESTS if name not in {test.name for test in self.tests})

    @property
    def state(self) -> str:
        """Distinguishable if a test is beyond or different, indistinguishable if all are run
        and inside their margins, else undecided."""
        if {BEYOND, DIFFERENT} & {test.state for test in self.tests}:
            return DISTINGUISHABLE
        if self.missing or not all(test.is_inside for test in self.tests):
            return UNDECIDED
        return INDISTINGUISHABLE

    @property
    def source_state(self) -> str:
        """The source's verdict: indistinguishable if no test rejects; undecided while tests are
        missing and none rejects."""
        if any(test.source_state == "rejected" for test in self.tests):
            return DISTINGUISHABLE
        return UNDECIDED if self.missing else INDISTINGUISHABLE
