"""The drop gap as a page needs it: both sets, every rule beside the source's, one decision, one sentence.

Recommended decision (statistics.md, section 2): "flag" needs the studentised permutation (p <= .025) AND the conditional
gap (low > 0). Only one of the two: "unresolved: difficulty mismatch". "No memorization" is never the absence of a flag;
it needs equivalence within a margin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate, missing, p_text
from flipcore.stats.base.intervals import mean_interval, z_quantile
from flipcore.stats.base.paired import gap_welch
from flipcore.stats.base.resample import N_BOOT_SOURCE, N_PERMUTATIONS, MonteCarloP, monte_carlo_p
from flipcore.stats.memory.drop_gap import cond_gap, drop_gap_source, gap_score, permuted_t
from flipcore.stats.memory.rewritten import Rewritten, SetDrop, set_drop

FLAG, NO_EVIDENCE, UNRESOLVED = "flag", "no evidence", "unresolved: difficulty mismatch"
PERM_LEVEL = 0.025
MARGIN = 0.05


@dataclass(frozen=True)
class DropGap:
    """The gap in all its versions, benchmark - control, as shares (print with `text_pp`).

    `gap_source` is the source's bootstrap with its two readings; `gap` the score interval (Welch's with several rewrites);
    `cond_gap` the difference of P(wrong after | right before); `gap_net` and `gap_matched` are None where there is no
    identity axis or no matching.
    """

    benchmark: SetDrop
    control: SetDrop
    gap_source: Estimate
    source_literal: bool
    source_directional: bool
    gap: Estimate
    cond_gap: Estimate
    perm_t: float
    perm: MonteCarloP
    welch: dict[str, float]
    gap_net: Estimate | None
    gap_matched: Estimate | None
    equivalent: bool
    equivalence_interval: tuple[float, float]
    margin: float

    @property
    def perm_p(self) -> float:
        """One-sided p of the studentised permutation; more are drawn while its 99 % interval straddles .025."""
        return self.perm.p

    @property
    def detectable(self) -> float:
        """Smallest gap that a study with this many items and this much scatter would find four times in five."""
        return (z_quantile(0.975) + z_quantile(0.8)) * self.welch["se"] or math.nan

    @property
    def decision(self) -> str:
        """ "flag", "no evidence" or "unresolved: difficulty mismatch"."""
        by_drop, by_condition = self.perm_p <= PERM_LEVEL, self.cond_gap.low > 0
        if by_drop and by_condition:
            return FLAG
        return UNRESOLVED if by_drop or by_condition else NO_EVIDENCE

    @property
    def source_decision(self) -> str:
        """The source's rule read literally ("excludes zero"), which also flags a negative gap."""
        return FLAG if self.source_literal else NO_EVIDENCE

    def sentence(self) -> str:
        """The finding and the decision, in two sentences."""
        if math.isnan(self.gap.value):
            return "There is no gap yet: both the benchmark and the control need rewritten items."
        return (
            f"Rewriting costs {_pp(self.benchmark.drop)} on the benchmark and {_pp(self.control.drop)} on the control, "
            f"a gap of {self.gap.text_pp()}. {self._reason()}"
        )

    def _reason(self) -> str:
        p = p_text(self.perm_p)
        if self.decision == FLAG:
            return f"This looks like memory: {p}, and items answered right before break more often too."
        if self.decision == UNRESOLVED:
            given = f"among items answered right before the gap is {self.cond_gap.text_pp()}"
            said = f"the drops differ ({p}), but {given}" if self.perm_p <= PERM_LEVEL else f"{given}, but the drops say {p}"
            return f"Difficulty mismatch, unresolved: {said}. The sets may differ in how hard they are."
        if self.equivalent:
            return f"No memory beyond {100 * self.margin:.0f} pp: the gap lies within that margin (one-sided {p})."
        return (
            f"No evidence of memory (one-sided {p}, level .025), and not enough items to rule out {100 * self.margin:.0f} pp."
        )


def _pp(drop: Estimate) -> str:
    return f"{100 * drop.value:.1f} pp".replace("-", "−")


def drop_gap_analysis(
    benchmark: Rewritten,
    control: Rewritten,
    seed: int = 0,
    margin: float = MARGIN,
    level: float = 0.95,
    n_boot: int = N_BOOT_SOURCE,
    m: int = N_PERMUTATIONS,
    matched: Sequence[tuple[str, str]] | None = None,
) -> DropGap:
    """Everything about one operator. `matched` lists (benchmark id, control id) pairs made 1:1; the sets are independent
    without it. `n_boot` resamples for the source's interval, at least `m` permutations."""
    of_source = _source_gap(benchmark, control, seed, n_boot)
    perm_t, draw = permuted_t(benchmark.drops, control.drops, generator(seed))
    equivalence = _gap(benchmark, control, 1 - 2 * 0.05)
    return DropGap(
        benchmark=set_drop(benchmark, level, seed),
        control=set_drop(control, level, seed),
        gap_source=of_source[0],
        source_literal=of_source[1],
        source_directional=of_source[2],
        gap=_gap(benchmark, control, level),
        cond_gap=_cond_gap(benchmark, control, level),
        perm_t=perm_t,
        perm=monte_carlo_p(perm_t, draw, m, alpha=PERM_LEVEL),
        welch=gap_welch(benchmark.drops, control.drops, level),
        gap_net=_gap_net(benchmark, control, level),
        gap_matched=None if matched is None else _gap_matched(benchmark, control, matched, level, seed),
        equivalent=-margin < equivalence.low and equivalence.high < margin,
        equivalence_interval=(equivalence.low, equivalence.high),
        margin=margin,
    )


def _source_gap(benchmark: Rewritten, control: Rewritten, seed: int, n_boot: int) -> tuple[Estimate, bool, bool]:
    before_after = [(items.before[items.covered], items.after_mean[items.covered]) for items in (benchmark, control)]
    found = drop_gap_source(*before_after[0], *before_after[1], seed=seed, n_boot=n_boot)
    n = sum(len(before) for before, _ in before_after)
    low, high = found["gap_lo"], found["gap_hi"]
    note = "The source's interval; it has no width where neither set ever changes." if low == high else ""
    return (
        Estimate(found["gap"], low, high, 0.95, "percentile", n, seed, note),
        bool(found["flag_literal"]),
        bool(found["flag_directional"]),
    )


def _gap(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate:
    n = len(benchmark.drops) + len(control.drops)
    if benchmark.is_binary and control.is_binary:
        found = gap_score(
            benchmark.before[benchmark.covered],
            benchmark.after_mean[benchmark.covered],
            control.before[control.covered],
            control.after_mean[control.covered],
            level,
        )
        return Estimate(found["gap"], found["lo"], found["hi"], level, "mover", n, None)
    return _welch_estimate(benchmark.drops, control.drops, level)


def _welch_estimate(first: np.ndarray, second: np.ndarray, level: float) -> Estimate:
    found, n = gap_welch(first, second, level), len(first) + len(second)
    note = "No interval: the drops do not vary." if found["se"] == 0 else ""
    return Estimate(found["gap"], found["lo"], found["hi"], level, "welch", n, None, note)


def _losses(items: Rewritten) -> np.ndarray:
    """Share of its rewrites that each covered item loses, of the items answered right before."""
    right = items.covered & (items.before == 1)
    return 1 - items.after_mean[right]


def _cond_gap(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate:
    first, second = _losses(benchmark), _losses(control)
    if not len(first) or not len(second):
        return missing(len(first) + len(second), level, "No item was answered right before.")
    if not (benchmark.is_binary and control.is_binary):
        return _welch_estimate(first, second, level)
    found = cond_gap(
        benchmark.before[benchmark.covered],
        benchmark.after_mean[benchmark.covered],
        control.before[control.covered],
        control.after_mean[control.covered],
        level,
    )
    return Estimate(found["gap"], found["lo"], found["hi"], level, "newcombe", len(first) + len(second), None)


def _gap_net(benchmark: Rewritten, control: Rewritten, level: float) -> Estimate | None:
    """(D_b - D_b,identity) - (D_c - D_c,identity): per item the identity mean replaces the single answer before."""
    if benchmark.identity is None or control.identity is None:
        return None
    return _welch_estimate(benchmark.net_drops, control.net_drops, level)


def _gap_matched(
    benchmark: Rewritten, control: Rewritten, matched: Sequence[tuple[str, str]], level: float, seed: int
) -> Estimate:
    """Mean of drop(benchmark item) - drop(its control): the pair is the unit. Pairs with an uncovered member leave."""
    first = dict(zip(benchmark.covered_ids, benchmark.drops, strict=True))
    second = dict(zip(control.covered_ids, control.drops, strict=True))
    for side, ids in ((0, benchmark.item_ids), (1, control.item_ids)):
        names = [pair[side] for pair in matched]
        unknown = set(names) - set(ids)
        if unknown or len(set(names)) < len(names):
            raise BadInput(
                f"Matching must pair each item once with an item of the other set; {min(unknown, default='')!r} "
                "is unknown or an item came twice."
            )
    differences = [first[a] - second[b] for a, b in matched if a in first and b in second]
    return mean_interval(differences, level=level, seed=seed, bounds=(-2.0, 2.0))


__all__ = ["FLAG", "NO_EVIDENCE", "UNRESOLVED", "DropGap", "Rewritten", "drop_gap_analysis"]
