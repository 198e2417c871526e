"""A regression gate on the loss from an old run to a new one on the same items, against a margin.

PASS where a loss of the margin or more is excluded, FAIL where a loss of more than the margin is
shown, else UNDECIDED; each is false in at most `ERROR` of checks. Of rights and wrongs asked once
the test is Tango's score test (`stats.base.tango`), exact up to 300 items. Of several runs, shares,
grades, clusters and tasks it is the guarded t of the mean over tasks (`stats.base.guarded`), on
scores divided by the range of their scale.

Several tasks are judged by their mean, each with the same weight. Beside it each task is screened
for a loss of more than the margin (Holm), and one such task is enough for FAIL. Both together are
held at `ERROR`: the mean at `MEAN_ERROR`, the screen at `SCREEN_ERROR`.

A score that one run lacks and the other has may have been anything: the verdict is taken with it
left out, at its worst and at its best. PASS needs to hold left out and at the worst, FAIL left out
and at the best.
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
ERROR = 0.05  # of PASS, and of FAIL
# Of FAIL where there are several tasks: their mean is nearly always what is asked, so it keeps
# most.
MEAN_ERROR, SCREEN_ERROR = 0.04, 0.01
# How many unseen items at the adverse end: with 1.0 a PASS was false in .064 of checks where a loss
# of the margin came in rare whole falls, 10 tasks of 30 items; with 1.35 in .043 at most.
# Over clusters both verdicts fear more, because some clusters change more than others. Of 57 × 25
# that lost the margin while clusters rose unequally, a FAIL was false in .063 with 1.35 and in .052
# with 1.65; where runs only lost, 1.35 passed .073 and 2.5 .052 (a cluster-robust t .124).
UNSEEN, UNSEEN_RISES_IN_CLUSTERS, UNSEEN_FALLS_IN_CLUSTERS = 1.35, 1.65, 2.5
_Z = 1.6449 + POWER_QUANTILE  # one-sided .05 with a power of .80


@dataclass(frozen=True, eq=False)
class TaskScores:
    """Paired scores of one task: `old` and `new` (items,) are an item's mean score, NaN where it
    has none.

    `clusters` (items,) are names or numbers of clusters, None where items stand for themselves.
    `scale` is the width of the scale of scores.
    """

    old: np.ndarray
    new: np.ndarray
    clusters: np.ndarray | None = None
    scale: float = 1.0

    @cached_property
    def is_shared(self) -> np.ndarray:
        return ~(np.isnan(self.old) | np.isnan(self.new))

    @cached_property
    def differences(self) -> np.ndarray:
        """Old less new per shared item, in parts of the scale."""
        return (self.old - self.new)[self.is_shared] / self.scale

    @cached_property
    def shared_clusters(self) -> np.ndarray | None:
        """Numbers of the clusters of shared items; None where each item is its own."""
        if self.clusters is None:
            return None
        numbers = np.unique(self.clusters[self.is_shared], return_inverse=True)[1]
        return None if np.unique(numbers).size == numbers.size else numbers

    @property
    def is_right_or_wrong(self) -> bool:
        """True where all scores are 0 or 1 on the scale from 0 to 1."""
        shared = np.concatenate([self.old[self.is_shared], self.new[self.is_shared]])
        return self.scale == 1 and bool(np.isin(shared, (0, 1)).all())


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss from the old run to the new one, on one task or on the mean over several.

    `n_fell` and `n_rose` count the items whose score fell and rose. Values and limits are in units
    of the score. p-values and limits are NaN where there are too few items.
    """

    margin: float
    scale: float
    n: int
    n_fell: int
    n_rose: int
    is_clustered: bool
    is_exact: bool  # tested by its counts alone
    tasks: tuple[TaskScores, ...]

    @cached_property
    def mean(self) -> TaskMean:
        parts = [(task.differences, task.shared_clusters) for task in self.tasks]
        return task_mean(parts, (-1.0, 1.0), (self._unseen_rises, self._unseen_falls))

    @property
    def _is_one_of_clusters(self) -> bool:
        return self.is_clustered and len(self.tasks) == 1

    @property
    def _unseen_rises(self) -> float:
        return UNSEEN_RISES_IN_CLUSTERS if self._is_one_of_clusters else UNSEEN

    @property
    def _unseen_falls(self) -> float:
        return UNSEEN_FALLS_IN_CLUSTERS if self._is_one_of_clusters else UNSEEN

    @property
    def value(self) -> float:
        return self.mean.value * self.scale

    @property
    def is_judged(self) -> bool:
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
        """The verdict on this task alone.

        The exact p is not always monotone in the margin, so the limits that are printed beside the
        verdict have to agree with it.
        """
        if self.p_small < ERROR and self.high < self.margin + 2 * tango.PRECISION:
            return PASS
        is_large = self.p_large < ERROR and self.low > self.margin - 2 * tango.PRECISION
        return FAIL if is_large else UNDECIDED

    @property
    def is_shown(self) -> bool:
        """True where some loss is shown, of whatever size."""
        return self.p_loss < ERROR

    @property
    def n_to_decide(self) -> float:
        """About how many items would decide it four times in five, should the loss stay what it is.

        Where no score changed: as many as exclude a loss of the margin if none changes in them
        either. Infinite where no number would.
        """
        margin, variance = self.margin / self.scale, float(np.mean(self.mean.variances))
        if not self.n or math.isnan(variance):
            return math.inf
        if not variance:
            if self.is_exact:
                return math.log(ERROR) / math.log(1 - margin) if 0 < margin < 1 else math.inf
            # 1.7 is about Student's quantile at .05: the unseen items alone then make the limit.
            return (self._unseen_falls + 1.7 * math.sqrt(self._unseen_falls)) / margin
        if not self.is_exact and self.is_judged:
            return self.n * self.mean.growth_to_exclude(margin, ERROR)
        gap = abs(margin - self.mean.value)
        se = math.sqrt(variance / self.mean.variances.size)
        return self.n * (_Z * se / gap) ** 2 if gap else math.inf


def loss(
    old: np.ndarray,
    new: np.ndarray,
    margin: float,
    scale: float = 1.0,
    clusters: np.ndarray | None = None,
) -> Loss:
    """Return the loss on one task; arguments as those of `TaskScores`."""
    return loss_of([TaskScores(old, new, clusters, scale)], margin)


def loss_of(tasks: Sequence[TaskScores], margin: float) -> Loss:
    """Return the loss on the mean over tasks of one scale, each with the same weight."""
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
    """The verdict on all tasks together, with those that show a loss of more than the margin."""

    outcome: str
    mean: Loss
    tasks: tuple[Loss, ...]
    is_failing: tuple[bool, ...]

    @property
    def is_mean_failing(self) -> bool:
        return self.mean.p_large < MEAN_ERROR if len(self.tasks) > 1 else self.outcome == FAIL


def judge(tasks: Sequence[TaskScores], margin: float) -> Verdict:
    """Judge the tasks by the items that both runs have a score of."""
    losses = [loss_of([task], margin) for task in tasks]
    if len(losses) == 1:
        return Verdict(losses[0].outcome, losses[0], tuple(losses), (losses[0].outcome == FAIL,))
    mean = loss_of(tasks, margin)
    # A task with too few items is no member of the family.
    screened = holm([task_loss.p_large for task_loss in losses])
    # NaN < SCREEN_ERROR is False: a task that cannot be judged does not fail.
    is_failing = tuple(p < SCREEN_ERROR for p in screened)
    outcome = PASS if mean.p_small < ERROR else UNDECIDED
    if any(is_failing) or mean.p_large < MEAN_ERROR:
        outcome = FAIL
    return Verdict(outcome, mean, tuple(losses), is_failing)


@dataclass(frozen=True, eq=False)
class Bounds:
    """The verdict with absent scores left out, at their worst and at their best for the new run.

    All three are one where nothing is absent. `has_all_tasks` is false where the new run lacks a
    task of the old one.
    """

    left_out: Verdict
    worst: Verdict
    best: Verdict
    has_all_tasks: bool = True

    @property
    def outcome(self) -> str:
        if (
            self.left_out.outcome == FAIL
            and self.best.outcome == FAIL
            and (self.is_mean_failing or self.any_failing)
        ):
            return FAIL
        passes = self.left_out.outcome == self.worst.outcome == PASS
        return PASS if passes and self.has_all_tasks else UNDECIDED

    @property
    def is_failing(self) -> tuple[bool, ...]:
        """Tasks that show a loss of more than the margin, whatever the absent scores were."""
        pairs = zip(self.left_out.is_failing, self.best.is_failing, strict=True)
        return tuple(left_out and best for left_out, best in pairs)

    @property
    def any_failing(self) -> bool:
        return any(self.is_failing)

    @property
    def is_mean_failing(self) -> bool:
        """True where the mean shows such a loss; of a mean that lacks a task nothing is known."""
        return self.has_all_tasks and self.left_out.is_mean_failing and self.best.is_mean_failing

    @property
    def is_loss_shown(self) -> bool:
        """True where some loss is shown, of whatever size."""
        return self.has_all_tasks and self.left_out.mean.is_shown and self.best.mean.is_shown

    @property
    def is_open_by_absence(self) -> bool:
        """True where only absent scores keep the verdict undecided."""
        return self.outcome == UNDECIDED and self.left_out.outcome != UNDECIDED
