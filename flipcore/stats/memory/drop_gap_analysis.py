"""The drop gap as a page needs it: both sets, all rules beside the source's, and the decision for
the kind of control.

The earlier recommended rule, permutation (p <= .025) AND conditional gap (low > 0), is withdrawn as
the decision: it is blind to memory where answers are noisy and false where accuracies differ.
`old_rule` keeps it by name, for comparison. `flipcore.claims.memory_gap` makes its sentences from
`decided`.
"""

from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, without_interval
from flipcore.stats.base.resample import N_BOOT_SOURCE, N_PERMUTATIONS, MonteCarloP, monte_carlo_p
from flipcore.stats.memory.drop_gap import cond_gap, drop_gap_source, permuted_t
from flipcore.stats.memory.gap_decision import (
    OTHER,
    GapDecision,
    Sides,
    gap_decision,
    pair_differences,
    pair_estimate,
)
from flipcore.stats.memory.gap_intervals import drops_estimate, gap_estimate
from flipcore.stats.memory.rewritten import Rewritten, SetDrop, set_drop

FLAG, NO_EVIDENCE, UNRESOLVED = "flag", "no evidence", "unresolved: difficulty mismatch"
# One-sided: half of the two-sided 5% of the intervals beside it.
PERM_LEVEL = 0.025
# 5 points, the margin of "no memory beyond" where a study declares none.
MARGIN = 0.05
_FEW = f"No interval: a set has fewer than {MIN_N} items."


@dataclass(frozen=True)
class DropGap:
    """The gap in all its versions, benchmark - control, as shares (print with `text_points`).

    `decided` holds the decision. `gap_source` is the source's bootstrap with its two readings;
    `gap` the score interval (Welch's with several rewrites); `cond_gap` the difference of P(wrong
    after | right before); `gap_net` and `gap_matched` are None where there is no identity axis or
    no pairs.
    """

    sides: Sides
    decided: GapDecision
    benchmark: SetDrop
    control: SetDrop
    gap_source: Estimate
    source_literal: bool
    source_directional: bool
    gap: Estimate
    cond_gap: Estimate
    perm: MonteCarloP
    gap_net: Estimate | None
    gap_matched: Estimate | None
    equivalent: bool
    equivalence_interval: tuple[float, float]
    margin: float

    @property
    def perm_p(self) -> float:
        """The one-sided p of the studentised permutation; more are drawn while its 99% interval
        straddles .025."""
        return self.perm.p

    @property
    def old_rule(self) -> str:
        """The withdrawn rule's verdict: "flag", "no evidence" or "unresolved: difficulty
        mismatch"."""
        by_drop, by_condition = self.perm_p <= PERM_LEVEL, self.cond_gap.low > 0
        if by_drop and by_condition:
            return FLAG
        return UNRESOLVED if by_drop or by_condition else NO_EVIDENCE

    @property
    def source_decision(self) -> str:
        """The source's rule read literally ("excludes zero"), which also flags a negative gap."""
        return FLAG if self.source_literal else NO_EVIDENCE


def drop_gap_analysis(
    benchmark: Rewritten,
    control: Rewritten,
    seed: int = 0,
    margin: float = MARGIN,
    level: float = 0.95,
    n_boot: int = N_BOOT_SOURCE,
    m: int = N_PERMUTATIONS,
    sides: Sides | None = None,
    declared: str = OTHER,
) -> DropGap:
    """Compute all results of one rewrite method.

    Parameters
    ----------
    benchmark, control : the two sets before and after rewriting.
    margin : share of items, the margin of equivalence.
    n_boot : resamples for the source's interval.
    m : permutations, at least.
    sides : the sets with the facts about their items: pairs, templates, options.
    declared : kind of control that the study declares, which decides the rule.
    """
    sides = sides or Sides(benchmark, control)
    decided = gap_decision(sides, declared, seed, m)
    gap_source, is_literal, is_directional = _source_gap(benchmark, control, seed, n_boot)
    perm_t, draw = permuted_t(benchmark.drops, control.drops, generator(seed))
    # A 90% interval inside the margin is two one-sided tests at 5%.
    equivalence = decided.gap_90
    return DropGap(
        sides=sides,
        decided=decided,
        benchmark=set_drop(benchmark, level, seed),
        control=set_drop(control, level, seed),
        gap_source=gap_source,
        source_literal=is_literal,
        source_directional=is_directional,
        gap=gap_estimate(benchmark, control, level),
        cond_gap=_cond_gap(benchmark, control, level),
        # Kept for the withdrawn rule, which pages show for comparison.
        perm=monte_carlo_p(perm_t, draw, m, alpha=PERM_LEVEL),
        gap_net=_gap_net(benchmark, control, level),
        gap_matched=pair_estimate(pair_differences(sides), level, seed) if sides.pairs else None,
        equivalent=-margin < equivalence.low and equivalence.high < margin,
        equivalence_interval=(equivalence.low, equivalence.high),
        margin=margin,
    )


def _source_gap(
    benchmark: Rewritten, control: Rewritten, seed: int, n_boot: int
) -> tuple[Estimate, bool, bool]:
    before, control_before = (items.before[items.covered] for items in (benchmark, control))
    after, control_after = (items.after_mean[items.covered] for items in (benchmark, control))
    bootstrap = drop_gap_source(
        before, after, control_before, control_after, seed=seed, n_boot=n_boot
    )
    n = len(before) + len(control_before)
    low, high = bootstrap["gap_lo"], bootstrap["gap_hi"]
    literal, directional = bool(bootstrap["flag_literal"]), bool(bootstrap["flag_directional"])
    # The source's verdicts are kept where its interval is not shown.
    if min(len(before), len(control_before)) < MIN_N:
        return without_interval(bootstrap["gap"], n, 0.95, _FEW), literal, directional
    note = ""
    if low == high:
        note = "The source's interval; it has no width where neither set ever changes."
    return (
        Estimate(bootstrap["gap"], low, high, 0.95, "percentile", n, seed, note),
        literal,
        directional,
    )


def _losses(items: Rewritten) -> np.ndarray:
    """Return the share of its rewrites that each covered item loses, of the items answered right
    before."""
    right = items.covered & (items.before == 1)
    # Of an item that was right all that is not right after is lost.
    return 1 - items.after_mean[right]


def _cond_gap(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate:
    first, second = _losses(benchmark), _losses(control)
    if not len(first) or not len(second):
        return missing(len(first) + len(second), level, "No item was answered right before.")
    if not (benchmark.is_binary and control.is_binary):
        # A share that is lost is never below 0, unlike a drop.
        return drops_estimate(first, second, level, low_end=0.0)
    if min(len(first), len(second)) < MIN_N:
        return without_interval(
            float(first.mean() - second.mean()), len(first) + len(second), level, _FEW
        )
    interval = cond_gap(
        benchmark.before[benchmark.covered],
        benchmark.after_mean[benchmark.covered],
        control.before[control.covered],
        control.after_mean[control.covered],
        level,
    )
    return Estimate(
        interval["gap"],
        interval["lo"],
        interval["hi"],
        level,
        "newcombe",
        len(first) + len(second),
        None,
    )


def _gap_net(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate | None:
    """Return (D_b - D_b,identity) - (D_c - D_c,identity): per item the identity mean replaces the
    single answer before."""
    if benchmark.identity is None or control.identity is None:
        return None
    return drops_estimate(benchmark.net_drops, control.net_drops, level)
