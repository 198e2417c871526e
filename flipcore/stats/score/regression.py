"""A regression gate: the loss from an old run to a new one on the same items, against a margin.

PASS means that a loss of the margin or more is excluded, FAIL that a loss of more than the margin
is shown; everything else is UNDECIDED. PASS and FAIL are each false in at most `ERROR` of checks.
For right and wrong answers that were asked once, the test is Tango's score test
(`stats.base.tango`), exact up to 300 items. For several runs, shares, grades, clusters and tasks it
is the guarded t of the mean over tasks (`stats.base.guarded`), on scores divided by the width of
their scale.

Several tasks are judged by their mean with equal weights. Each task is also screened for a loss of
more than the margin (Holm), and one such task is enough for FAIL. The mean is tested at
`MEAN_ERROR` and the screen at `SCREEN_ERROR`, which together give `ERROR`.

A score that only one run has could be anything in the other. So there are three verdicts: with the
absent scores left out, at their worst, and at their best. PASS must hold with them left out and at
their worst, FAIL with them left out and at their best.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.stats.base import tango
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.guarded import POWER_QUANTILE, TaskMean, task_mean
from flipcore.stats.base.multiplicity import holm

PASS, FAIL, UNDECIDED = "PASS", "FAIL", "UNDECIDED"
ERROR = 0.05  # error rate of PASS, and of FAIL
# Error rates of FAIL with several tasks. The mean gets the larger part, because it is nearly always
# the question that people ask.
MEAN_ERROR, SCREEN_ERROR = 0.04, 0.01
# Number of unseen items at the adverse end. In 10 tasks of 30 items that lost the margin by rare
# falls over the whole scale, a PASS was false in .064 of checks with 1.0, and in .043 at most with
# 1.35. Clusters need more unseen items, because some change more than others. In 57 clusters of 25
# that lost the margin while clusters rose unequally, a FAIL was false in .063 with 1.35 and in .052
# with 1.65. Where runs only lost, a PASS was false in .073 with 1.35 and in .052 with 2.5 (with a
# cluster-robust t in .124).
UNSEEN, UNSEEN_RISES_IN_CLUSTERS, UNSEEN_FALLS_IN_CLUSTERS = 1.35, 1.65, 2.5
_Z = 1.6449 + POWER_QUANTILE  # one-sided .05 with a power of .80


@dataclass(frozen=True, eq=False)
class TaskScores:
    """Paired scores of one task. `old` and `new` (items,) are mean scores, NaN where absent.
    `clusters` (items,) are names or numbers; None if items share none. `scale` is the width of
    the scale of scores."""

    old: np.ndarray
    new: np.ndarray
    clusters: np.ndarray | None = None
    scale: float = 1.0

    @cached_property
    def is_shared(self) -> np.ndarray:
        """(items,) True where both runs have a score."""
        return ~(np.isnan(self.old) | np.isnan(self.new))

    @cached_property
    def differences(self) -> np.ndarray:
        """(shared items,) old minus new score, as a share of the scale."""
        return (self.old - self.new)[self.is_shared] / self.scale

    @cached_property
    def shared_clusters(self) -> np.ndarray | None:
        """(shared items,) cluster numbers; None if each item is its own cluster."""
        if self.clusters is None:
            return None
        numbers = np.unique(self.clusters[self.is_shared], return_inverse=True)[1]
        return None if np.unique(numbers).size == numbers.size else numbers

    @property
    def is_right_or_wrong(self) -> bool:
        """True if all scores are 0 or 1 on the scale from 0 to 1."""
        shared = np.concatenate([self.old[self.is_shared], self.new[self.is_shared]])
        return self.scale == 1 and bool(np.isin(shared, (0, 1)).all())


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss from the old run to the new one, on one task or on the mean over several.

    `n_fell` and `n_rose` count the items whose score fell and rose. `is_exact` means that the test
    needs only these counts. Values and limits are in units of the score. p-values and limits are
    NaN where there are too few items.
    """

    margin: float
    scale: float
    n: int
    n_fell: int
    n_rose: int
    is_clustered: bool
    is_exact: bool
    tasks: tuple[TaskScores, ...]

    @cached_property
    def mean(self) -> TaskMean:
        """The mean loss over tasks as a share of the scale, with its guarded test."""
        values = [(task.differences, task.shared_clusters) for task in self.tasks]
        return task_mean(values, (-1.0, 1.0), self._unseen)

    @property
    def _unseen(self) -> tuple[float, float]:
        """Numbers of unseen items that rise, and that fall."""
        if self.is_clustered and len(self.tasks) == 1:
            return UNSEEN_RISES_IN_CLUSTERS, UNSEEN_FALLS_IN_CLUSTERS
        return UNSEEN, UNSEEN

    @property
    def value(self) -> float:
        return self.mean.value * self.scale

    @property
    def is_judged(self) -> bool:
        """True if there are enough items for a verdict."""
        return self.n >= MIN_N if self.is_exact else self.mean.is_testable

    @cached_property
    def p_small(self) -> float:
        """One-sided p of a loss of the margin or more."""
        if self.is_exact and self.is_judged:
            return float(tango.p_below(self.n_fell, self.n_rose, self.n, self.margin))
        return self.mean.p_below(self.margin / self.scale)

    @cached_property
    def p_large(self) -> float:
        """One-sided p of a loss of the margin or less."""
        return self._p_above(self.margin)

    @cached_property
    def p_loss(self) -> float:
        """One-sided p of no loss."""
        return self._p_above(0.0)

    def _p_above(self, null: float) -> float:
        if self.is_exact and self.is_judged:
            return float(tango.p_above(self.n_fell, self.n_rose, self.n, null))
        return self.mean.p_above(null / self.scale)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """One-sided lower and upper limits at `ERROR`, from the same tests."""
        if self.is_exact and self.is_judged:
            low, high = tango.loss_limits(self.n_fell, self.n_rose, self.n, 1 - 2 * ERROR)
        else:
            low, high = self.mean.limits(ERROR)
        # No loss is larger than the width of the scale.
        return max(low, -1.0) * self.scale, min(high, 1.0) * self.scale

    @property
    def low(self) -> float:
        return self.limits[0]

    @property
    def high(self) -> float:
        return self.limits[1]

    @property
    def outcome(self) -> str:
        """The verdict on this loss alone. Both the p and the printed limit must agree, because the
        exact p is not always monotone in the margin."""
        if self.p_small < ERROR and self.high < self.margin + 2 * tango.PRECISION:
            return PASS
        is_large = self.p_large < ERROR and self.low > self.margin - 2 * tango.PRECISION
        return FAIL if is_large else UNDECIDED

    @property
    def is_shown(self) -> bool:
        """True if a loss of any size is shown."""
        return self.p_loss < ERROR

    @property
    def n_to_decide(self) -> float:
        """About how many items would give a verdict four times in five, for the same loss.

        If no score changed, it is the number of unchanged items that exclude a loss of the margin.
        Infinite where no number of items is enough.
        """
        margin, variance = self.margin / self.scale, float(np.mean(self.mean.variances))
        if not self.n or math.isnan(variance):
            return math.inf
        if not variance:
            if self.is_exact:
                return math.log(ERROR) / math.log(1 - margin) if 0 < margin < 1 else math.inf
            # Without variance only the unseen items make the limit; 1.7 is about Student's quantile
            # at .05.
            _, n_unseen_falls = self._unseen
            n_unchanged = n_unseen_falls + 1.7 * math.sqrt(n_unseen_falls)
            return n_unchanged / margin if margin > 0 else math.inf
        if not self.is_exact and self.is_judged:
            return self.n * self.mean.growth_to_exclude(margin, ERROR)
        gap = abs(margin - self.mean.value)
        se = math.sqrt(variance / self.mean.variances.size)
        return self.n * (_Z * se / gap) ** 2 if gap else math.inf


def loss_of(tasks: Sequence[TaskScores], margin: float) -> Loss:
    """Return the loss on the mean over tasks with equal weights; all must have the same scale."""
    differences = [task.differences for task in tasks]
    is_clustered = any(task.shared_clusters is not None for task in tasks)
    is_exact = len(tasks) == 1 and not is_clustered and tasks[0].is_right_or_wrong
    return Loss(
        margin,
        tasks[0].scale if tasks else 1.0,
        n=sum(d.size for d in differences),
        n_fell=sum(int((d > 0).sum()) for d in differences),
        n_rose=sum(int((d < 0).sum()) for d in differences),
        is_clustered=is_clustered,
        is_exact=is_exact,
        tasks=tuple(tasks),
    )


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict on all tasks together; `is_failing` (per task) is True if a task shows a loss
    of more than the margin."""

    outcome: str
    mean: Loss
    tasks: tuple[Loss, ...]
    is_failing: tuple[bool, ...]

    @property
    def is_mean_failing(self) -> bool:
        """True if the mean over tasks shows a loss of more than the margin."""
        return self.mean.p_large < MEAN_ERROR if len(self.tasks) > 1 else self.outcome == FAIL


def judge(tasks: Sequence[TaskScores], margin: float) -> Verdict:
    """Judge the tasks by the items with a score in both runs."""
    losses = [loss_of([task], margin) for task in tasks]
    if len(losses) == 1:
        return Verdict(losses[0].outcome, losses[0], tuple(losses), (losses[0].outcome == FAIL,))
    mean = loss_of(tasks, margin)
    screened = holm([task_loss.p_large for task_loss in losses])
    # A task with too few items has a p of NaN, so it does not fail (NaN < SCREEN_ERROR is False).
    is_failing = tuple(p < SCREEN_ERROR for p in screened)
    outcome = PASS if mean.p_small < ERROR else UNDECIDED
    if any(is_failing) or mean.p_large < MEAN_ERROR:
        outcome = FAIL
    return Verdict(outcome, mean, tuple(losses), is_failing)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Verdicts with absent scores left out, at their worst and at their best for the new run. All
    three are equal where no score is absent. `has_all_tasks` is False if the new run lacks a
    task of the old one."""

    left_out: Verdict
    worst: Verdict
    best: Verdict
    has_all_tasks: bool = True

    @property
    def outcome(self) -> str:
        fails = self.left_out.outcome == self.best.outcome == FAIL
        if fails and (self.is_mean_failing or any(self.is_failing)):
            return FAIL
        passes = self.left_out.outcome == self.worst.outcome == PASS
        return PASS if passes and self.has_all_tasks else UNDECIDED

    @property
    def is_failing(self) -> tuple[bool, ...]:
        """Per task: True where it shows a loss of more than the margin, whatever the absent scores
        were."""
        pairs = zip(self.left_out.is_failing, self.best.is_failing, strict=True)
        return tuple(left_out and best for left_out, best in pairs)

    @property
    def is_mean_failing(self) -> bool:
        """True if the mean shows such a loss; False if it lacks a task, and so is unknown."""
        return self.has_all_tasks and self.left_out.is_mean_failing and self.best.is_mean_failing

    @property
    def is_loss_shown(self) -> bool:
        """True if a loss of any size is shown, whatever the absent scores were."""
        return self.has_all_tasks and self.left_out.mean.is_shown and self.best.mean.is_shown

    @property
    def is_open_by_absence(self) -> bool:
        """True if only absent scores keep the verdict undecided."""
        return self.outcome == UNDECIDED and self.left_out.outcome != UNDECIDED
