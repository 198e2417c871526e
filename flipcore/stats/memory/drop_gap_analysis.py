"""The drop gap as a page shows it: both sets, the source's rule and the others, and the decision
for the kind of control.

`DropGap.decided` is the decision; `flipcore.claims.memory_gap` makes its sentences from it. The
rule that was recommended earlier, permutation (p <= .025) AND conditional gap (low > 0), no longer
decides. It misses memory where answers are noisy and gives false alarms where accuracies differ.
`DropGap.old_rule` keeps its verdict for comparison.
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
PERM_LEVEL = 0.025  # one-sided, to match the two-sided 95% intervals
MARGIN = 0.05  # of equivalence, if a study declares none
_FEW = f"No interval: a set has fewer than {MIN_N} items."


@dataclass(frozen=True)
class DropGap:
    """All estimates of the gap, benchmark - control, as shares (print with `text_points`).

    decided : the decision by the rule for the declared kind of control.
    gap_source : the source's bootstrap; `source_literal` and `source_directional` are its flags.
    gap : with the score interval, or Welch's where items have several rewrites.
    cond_gap : difference of P(wrong after | right before).
    perm : studentised permutation test, one-sided.
    gap_net : the gap beyond reruns of the unchanged prompt; None without an identity axis.
    gap_matched : mean difference within pairs; None without pairs.
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
    margin: float

    @property
    def equivalence_interval(self) -> tuple[float, float]:
        """The 90% interval of the decision, which is compared with a margin."""
        # A 90% interval inside the margin is the same as two one-sided tests at 5%.
        return self.decided.gap_90.low, self.decided.gap_90.high

    @property
    def equivalent(self) -> bool:
        """True if `equivalence_interval` lies within +-`margin`."""
        low, high = self.equivalence_interval
        return -self.margin < low and high < self.margin

    @property
    def perm_p(self) -> float:
        """One-sided p of the permutation test. More permutations are drawn while the 99% interval
        of this p contains .025."""
        return self.perm.p

    @property
    def old_rule(self) -> str:
        """Verdict of the withdrawn rule: "flag", "no evidence" or "unresolved: difficulty
        mismatch"."""
        is_drop_larger, is_cond_larger = self.perm_p <= PERM_LEVEL, self.cond_gap.low > 0
        if is_drop_larger and is_cond_larger:
            return FLAG
        return UNRESOLVED if is_drop_larger or is_cond_larger else NO_EVIDENCE

    @property
    def source_decision(self) -> str:
        """Verdict of the source's literal rule ("excludes zero"), which also flags a negative
        gap."""
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
    """Compute all results for one rewrite method.

    Parameters
    ----------
    benchmark, control : the two sets before and after rewriting.
    margin : margin of equivalence, a share of items.
    level : confidence level of the intervals.
    n_boot : number of resamples for the source's interval.
    m : least number of permutations.
    sides : the two sets with facts about their items (pairs, templates, options); None: no facts.
    declared : kind of control that the study declares; it selects the rule that decides.
    """
    sides = sides or Sides(benchmark, control)
    decided = gap_decision(sides, declared, seed, m)
    gap_source, is_literal, is_directional = _source_gap(benchmark, control, seed, n_boot)
    perm_t, draw = permuted_t(benchmark.drops, control.drops, generator(seed))
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
        # Only the withdrawn rule, which pages show for comparison, uses this test.
        perm=monte_carlo_p(perm_t, draw, m, alpha=PERM_LEVEL),
        gap_net=_gap_net(benchmark, control, level),
        gap_matched=pair_estimate(pair_differences(sides), level, seed) if sides.pairs else None,
        margin=margin,
    )


def _source_gap(
    benchmark: Rewritten, control: Rewritten, seed: int, n_boot: int
) -> tuple[Estimate, bool, bool]:
    """Return the source's gap, and its flags: literal and directional."""
    before, control_before = (items.before[items.covered] for items in (benchmark, control))
    after, control_after = (items.after_mean[items.covered] for items in (benchmark, control))
    bootstrap = drop_gap_source(
        before, after, control_before, control_after, seed=seed, n_boot=n_boot
    )
    n = len(before) + len(control_before)
    low, high = bootstrap["gap_lo"], bootstrap["gap_hi"]
    literal, directional = bool(bootstrap["flag_literal"]), bool(bootstrap["flag_directional"])
    # With few items the source's interval is hidden, but its flags are still reported.
    if min(len(before), len(control_before)) < MIN_N:
        return without_interval(bootstrap["gap"], n, 0.95, _FEW), literal, directional
    note = ""
    if low == high:
        note = "The source's interval; it has no width where neither set ever changes."
    gap = Estimate(
        bootstrap["gap"], low, high, level=0.95, method="percentile", n=n, seed=seed, note=note
    )
    return gap, literal, directional


def _losses(items: Rewritten) -> np.ndarray:
    """Return the share of wrong rewrites per covered item, for the items that were right before."""
    was_right = items.covered & (items.before == 1)
    return 1 - items.after_mean[was_right]


def _cond_gap(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate:
    losses, control_losses = _losses(benchmark), _losses(control)
    n = len(losses) + len(control_losses)
    if not len(losses) or not len(control_losses):
        return missing(n, level, "No item was answered right before.")
    if not (benchmark.is_binary and control.is_binary):
        # A lost share is never below 0, unlike a drop.
        return drops_estimate(losses, control_losses, level, low_end=0.0)
    if min(len(losses), len(control_losses)) < MIN_N:
        return without_interval(float(losses.mean() - control_losses.mean()), n, level, _FEW)
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
        level=level,
        method="newcombe",
        n=n,
        seed=None,
    )


def _gap_net(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate | None:
    """Return the gap beyond reruns: per item, the mean of the reruns takes the place of the answer
    before. None if either set was not rerun."""
    if benchmark.identity is None or control.identity is None:
        return None
    return drops_estimate(benchmark.net_drops, control.net_drops, level)
