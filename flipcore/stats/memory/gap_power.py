"""Power of the rule of the product to find a gap of a given size, by simulation through the rule
itself."""

import math
from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N, number_text
from flipcore.stats.memory.gap_decision import OTHER, RANDOM, Sides, gap_decision
from flipcore.stats.memory.rewritten import Rewritten

# A share of .8 among 200 runs has a standard error of .03: enough for a plan.
N_RUNS, N_PERMUTATIONS = 200, 499
TARGET_POWER = 0.8
# Halvings of a range of at most 100 points, which leave about 1.5.
STEPS = 6


@dataclass(frozen=True)
class GapDesign:
    """Two sets of `n` items, their accuracy before rewriting, and the rates at which rewriting
    breaks right answers and mends wrong ones on the control. The benchmark's follow from the gap
    that is asked about, so that a gap of 0 is none in points, whatever the two accuracies are."""

    n: tuple[int, int]
    accuracy: tuple[float, float]
    breaks: float = 0.0
    fixes: float = 0.0
    control: str = RANDOM
    guess: float = 0.0

    @property
    def drop(self) -> float:
        return self.accuracy[1] * self.breaks - (1 - self.accuracy[1]) * self.fixes

    @property
    def most(self) -> float:
        """Largest gap that the accuracy allows: all right answers of the benchmark break."""
        return max(0.0, self.accuracy[0] - (1 - self.accuracy[0]) * self.fixes - self.drop)

    @property
    def least(self) -> float:
        """The smallest gap from 0 on: no right answer of the benchmark breaks, and all wrong ones
        are mended."""
        return max(0.0, -(1 - self.accuracy[0]) - self.drop)

    def rates(self, gap: float) -> tuple[float, float]:
        """Return the shares of right answers broken and of wrong ones mended at which the benchmark
        loses `gap` more than the control: as many are mended as on the control, and more only where
        none need break."""
        accuracy, lost = self.accuracy[0], self.drop + gap
        breaks = (lost + (1 - accuracy) * self.fixes) / max(accuracy, 1e-9)
        fixes = self.fixes if breaks >= 0 else -lost / max(1 - accuracy, 1e-9)
        return float(np.clip(breaks, 0, 1)), float(np.clip(fixes, 0, 1))


def rule_power(design: GapDesign, gap: float, seed: int = 0, n_runs: int = N_RUNS) -> float:
    """Return the share of simulated studies in which the rule for this control says that the
    benchmark loses `gap` more."""
    # Seeded by the design: a plan gives the same power each time it is drawn.
    rng = generator(seed, "gap power", *design.n, round(gap, 6))
    return float(np.mean([_rejects(design, gap, rng) for _ in range(n_runs)]))


def _rejects(design: GapDesign, gap: float, rng: np.random.Generator) -> bool:
    sets, rates = [], (design.rates(gap), (design.breaks, design.fixes))
    for n, accuracy, (breaks, fixes) in zip(design.n, design.accuracy, rates, strict=True):
        before = rng.random(n) < accuracy
        # A right answer breaks and a wrong one is mended, each with its own rate.
        after = before ^ (rng.random(n) < np.where(before, breaks, fixes))
        sets.append(Rewritten.make([str(i) for i in range(n)], before, after))
    pairs = None
    if design.control not in (RANDOM, OTHER):
        pairs = {str(i): str(i) for i in range(min(design.n))}
    sides = Sides(sets[0], sets[1], (design.guess, design.guess), pairs=pairs)
    return gap_decision(sides, design.control, int(rng.integers(2**31)), N_PERMUTATIONS).is_larger


def detectable_gap(design: GapDesign, seed: int = 0, n_runs: int = N_RUNS) -> float:
    """Return the smallest gap found four times in five, to about a point; NaN without one."""
    if (
        min(design.n) < MIN_N
        or design.most <= 0
        or rule_power(design, design.most, seed, n_runs) < TARGET_POWER
    ):
        return math.nan
    # Below `least` no gap can be made with these rates, so none is tried.
    low, high = design.least, design.most
    for _ in range(STEPS):
        middle = (low + high) / 2
        if rule_power(design, middle, seed, n_runs) >= TARGET_POWER:
            high = middle
        else:
            low = middle
    return high


def detectable_sentence(design: GapDesign, gap: float) -> str:
    """Say which gap a study of this size can find; never a missing number."""
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
    """Return the design of a study: its sizes and accuracies, and the rates at which the control
    breaks and mends, with half an item added so that nothing changing is not taken for certain."""
    sets = [
        (items.before[items.covered], items.after_mean[items.covered])
        for items in (sides.benchmark, sides.control)
    ]
    accuracy = tuple(float((b.sum() + 0.5) / (len(b) + 1)) for b, _ in sets)
    before, after = sets[1]
    breaks = float((np.clip(before - after, 0, 1).sum() + 0.5) / (before.sum() + 1))
    fixes = float((np.clip(after - before, 0, 1).sum() + 0.5) / ((1 - before).sum() + 1))
    return GapDesign(
        (len(sets[0][0]), len(before)),
        (accuracy[0], accuracy[1]),
        min(breaks, 1.0),
        min(fixes, 1.0),
        control,
        sides.guess[0],
    )
