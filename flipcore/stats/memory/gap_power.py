"""Power to find a drop gap of a given size, by simulating studies and deciding each of them."""

import math
from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, number_text
from flipcore.stats.memory.gap_decision import CALIBRATED, PAIRED, RANDOM, Sides, gap_decision
from flipcore.stats.memory.rewritten import Rewritten

# A power of .8 from 200 runs has a standard error of .03, which is enough for a plan.
N_RUNS, N_PERMUTATIONS = 200, 499
TARGET_POWER = 0.8
# Six bisections of a range of at most 100 points leave about 1.5 points.
STEPS = 6


@dataclass(frozen=True)
class GapDesign:
    """Design of a simulated study. Tuples are (benchmark, control).

    n : number of items.
    accuracy : accuracy before rewriting.
    breaks, fixes : shares of right answers that rewriting breaks, and of wrong ones that it mends,
        on the control. Those of the benchmark follow from the gap that is simulated (`rates`).
    control : kind of control, which selects the rule.
    guess : chance of a right guess, 1 / options; 0 without options.
    """

    n: tuple[int, int]
    accuracy: tuple[float, float]
    breaks: float = 0.0
    fixes: float = 0.0
    control: str = RANDOM
    guess: float = 0.0

    @property
    def control_drop(self) -> float:
        return self.accuracy[1] * self.breaks - (1 - self.accuracy[1]) * self.fixes

    @property
    def largest_gap(self) -> float:
        """Largest possible gap: all right answers of the benchmark break."""
        return max(0.0, self.accuracy[0] - (1 - self.accuracy[0]) * self.fixes - self.control_drop)

    @property
    def smallest_gap(self) -> float:
        """Smallest possible gap that is not negative: no right answer of the benchmark breaks and
        all wrong ones are mended."""
        return max(0.0, -(1 - self.accuracy[0]) - self.control_drop)

    def rates(self, gap: float) -> tuple[float, float]:
        """Return the benchmark's (breaks, fixes) for which its drop is `gap` larger than the
        control's. `fixes` is that of the control, unless more must be mended to reach the gap."""
        accuracy, drop = self.accuracy[0], self.control_drop + gap
        # 1e-9 avoids a division by 0 if no answer, or each answer, is right before.
        breaks = (drop + (1 - accuracy) * self.fixes) / max(accuracy, 1e-9)
        fixes = self.fixes if breaks >= 0 else -drop / max(1 - accuracy, 1e-9)
        return float(np.clip(breaks, 0, 1)), float(np.clip(fixes, 0, 1))


def rule_power(design: GapDesign, gap: float, seed: int = 0, n_runs: int = N_RUNS) -> float:
    """Return the share of simulated studies with this gap in which the rule finds that the
    benchmark loses more."""
    # The seed depends on the design, so that a plan always shows the same power.
    rng = generator(seed, "gap power", *design.n, round(gap, 6))
    return float(np.mean([_rejects(design, gap, rng) for _ in range(n_runs)]))


def _rejects(design: GapDesign, gap: float, rng: np.random.Generator) -> bool:
    """Simulate one study; return True if the rule finds that the benchmark loses more."""
    n_benchmark, n_control = design.n
    benchmark_accuracy, control_accuracy = design.accuracy
    benchmark = _simulated_set(n_benchmark, benchmark_accuracy, *design.rates(gap), rng)
    control = _simulated_set(n_control, control_accuracy, design.breaks, design.fixes, rng)
    pairs = None
    # The rules for paired and calibrated controls need pairs. All items are alike, so any will do.
    if design.control in (PAIRED, CALIBRATED):
        pairs = {str(i): str(i) for i in range(min(design.n))}
    sides = Sides(benchmark, control, (design.guess, design.guess), pairs=pairs)
    return gap_decision(sides, design.control, int(rng.integers(2**31)), N_PERMUTATIONS).is_larger


def _simulated_set(
    n: int, accuracy: float, breaks: float, fixes: float, rng: np.random.Generator
) -> Rewritten:
    before = rng.random(n) < accuracy
    is_changed = rng.random(n) < np.where(before, breaks, fixes)
    return Rewritten.make([str(i) for i in range(n)], before, before ^ is_changed)


def detectable_gap(design: GapDesign, seed: int = 0, n_runs: int = N_RUNS) -> float:
    """Return the smallest gap (share) that is found four times in five, to about a point; NaN if
    even the largest possible gap is found less often."""
    if (
        min(design.n) < MIN_N
        or design.largest_gap <= 0
        or rule_power(design, design.largest_gap, seed, n_runs) < TARGET_POWER
    ):
        return math.nan
    low, high = design.smallest_gap, design.largest_gap
    for _ in range(STEPS):
        middle = (low + high) / 2
        if rule_power(design, middle, seed, n_runs) >= TARGET_POWER:
            high = middle
        else:
            low = middle
    return high


def detectable_sentence(design: GapDesign, gap: float) -> str:
    """Say which gap a study of this size can find, or that it can find none."""
    n = f"{design.n[0]:,} benchmark and {design.n[1]:,} control items"
    if min(design.n) < MIN_N:
        return f"With {n} no gap can be claimed: each set needs at least {MIN_N}."
    if math.isnan(gap):
        return (
            f"With {n} at this accuracy even the largest possible gap would be missed more often "
            "than one time in five."
        )
    return (
        f"With {n} this rule finds a gap of {number_text(100 * gap, 0)} points four times in five "
        "(simulated)."
    )


def design_of(sides: Sides, control: str) -> GapDesign:
    """Return the design of a study: its sizes, accuracies, and rates of change on the control."""
    benchmark_before = sides.benchmark.before[sides.benchmark.covered]
    before = sides.control.before[sides.control.covered]
    after = sides.control.after_mean[sides.control.covered]
    # Half an item is added to each count: a rate of 0 in a small set does not mean "never".
    breaks = float((np.clip(before - after, 0, 1).sum() + 0.5) / (before.sum() + 1))
    fixes = float((np.clip(after - before, 0, 1).sum() + 0.5) / ((1 - before).sum() + 1))
    return GapDesign(
        (len(benchmark_before), len(before)),
        (_smoothed_mean(benchmark_before), _smoothed_mean(before)),
        breaks=min(breaks, 1.0),
        fixes=min(fixes, 1.0),
        control=control,
        guess=sides.guess[0],
    )


def _smoothed_mean(right: np.ndarray) -> float:
    return float((right.sum() + 0.5) / (len(right) + 1))
