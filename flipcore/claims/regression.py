"""The verdict of `check` on a new run against an old one: a loss is excluded, shown, or neither."""

from dataclasses import dataclass

import numpy as np

from flipcore.claims.claim import Assertion, Claim, description
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.guarded import CLUSTERS_LIKE_SEEN
from flipcore.stats.score.regression import ERROR, FAIL, PASS, UNDECIDED, Bounds, Loss
from flipcore.text.counts import count_of

CHECK_PASSES = Assertion(
    "check passes",
    "the new run does not lose the margin or more, on the mean over tasks",
    error_rate=ERROR,
    sides=1,
    family="each check; what one run lacks is taken at its worst too",
    worlds=(
        "loses the margin",
        "several tasks lose the margin",
        "clusters, loses the margin",
        "clusters lose the margin in falls alone",
        "grades, loses the margin in rare falls",
        "reruns, loses the margin",
        "a task is missing",
        "a third of the rows is missing",
        "lost calls hide the loss",
    ),
)
# The mean and the single tasks share the error rate, so a task may be named without another check.
CHECK_FAILS = Assertion(
    "check fails",
    "the new run loses more than the margin, on the mean over tasks or on a task that is named",
    error_rate=ERROR,
    sides=1,
    family="each check: the mean at .04, its tasks at .01 (Holm)",
    worlds=(
        "loses the margin",
        "several tasks lose the margin",
        "loses .8 of the margin",
        "equal runs",
        "clusters, loses the margin",
        "clusters rise unequally, loses the margin",
        "grades, loses the margin in all items",
        "reruns, loses the margin",
        "lost calls make a loss",
    ),
)
CHECK_SHOWS_LOSS = Assertion(
    "check shows a loss",
    "the new run is worse than the old one, by whatever margin",
    error_rate=ERROR,
    sides=1,
    family="each check",
    worlds=("equal runs", "several equal tasks", "clusters, equal runs", "grades, equal runs"),
)
ASSERTIONS = (CHECK_PASSES, CHECK_FAILS, CHECK_SHOWS_LOSS)


@dataclass(frozen=True)
class Names:
    """Names and counts that the sentences print.

    `margin` is a text with its unit. `tasks` are in both runs, `missing_tasks` only in the old
    one. `n_absent` counts items that lack scores in one run.
    """

    old: str
    new: str
    margin: str
    tasks: tuple[str, ...]
    missing_tasks: tuple[str, ...] = ()
    n_absent: int = 0


def verdict_claim(bounds: Bounds, names: Names) -> Claim:
    """Return the verdict of a check."""
    # Scores that one run lacks are set to the worst for PASS and to the best for FAIL.
    runs = f"{names.new} against {names.old}"
    mean = f" on the mean of {len(names.tasks)} tasks" if len(names.tasks) > 1 else ""
    detail = CLUSTERS_LIKE_SEEN if bounds.left_out.mean.is_clustered else ""
    numbers = {
        "n_fell": bounds.left_out.mean.n_fell,
        "n_rose": bounds.left_out.mean.n_rose,
        "p_small": bounds.left_out.mean.p_small,
        "p_large": bounds.left_out.mean.p_large,
        "p_small_at_worst": bounds.worst.mean.p_small,
        "p_large_at_best": bounds.best.mean.p_large,
        "failing": [float(is_failing) for is_failing in bounds.is_failing],
    }
    outcome = bounds.outcome
    if outcome == PASS:
        sentence = f"PASS: {runs}, a loss of {names.margin} or more is excluded{mean}."
        return Claim(CHECK_PASSES, PASS, sentence, asserted=True, detail=detail, numbers=numbers)
    if outcome == FAIL:
        outcomes = zip(names.tasks, bounds.is_failing, strict=True)
        failing = [task for task, is_failing in outcomes if is_failing]
        where = f" on {len(failing)} of {len(names.tasks)} tasks"
        if bounds.is_mean_failing:
            where = mean
        elif len(failing) == 1:
            where = f" on {failing[0]}"
        sentence = f"FAIL: {runs}, a loss of more than {names.margin} is shown{where}."
        return Claim(CHECK_FAILS, FAIL, sentence, asserted=True, detail=detail, numbers=numbers)
    sentence = f"UNDECIDED: {runs}, {_why_undecided(bounds, names, mean)}."
    return Claim(CHECK_PASSES, UNDECIDED, sentence, detail=detail, numbers=numbers)


def loss_claim(bounds: Bounds) -> Claim:
    """Say whether some loss is shown, of any size; "" if the verdict makes that clear."""
    mean = bounds.left_out.mean
    if not mean.is_judged or bounds.outcome == FAIL or not bounds.has_all_tasks:
        return description("")
    numbers = {"p_loss": mean.p_loss, "p_loss_at_best": bounds.best.mean.p_loss}
    if bounds.is_loss_shown:
        # PASS and a shown loss do not contradict each other, as the sentence explains.
        sentence = "Some loss is shown."
        if bounds.outcome == PASS:
            sentence = "A loss is shown, within the margin."
        return Claim(CHECK_SHOWS_LOSS, "loss", sentence, asserted=True, numbers=numbers)
    sentence = "" if bounds.outcome == PASS else "No loss is shown."
    return Claim(CHECK_SHOWS_LOSS, "no loss shown", sentence, numbers=numbers)


def why_not_judged(loss: Loss) -> str:
    """Say why a loss cannot be judged: too few items, items of one task, or clusters."""
    if loss.n < MIN_N:
        return f"{count_of(loss.n, 'shared item is', 'shared items are')} too few to judge by"
    if np.min(loss.mean.degrees) <= 0:
        return "a task has too few shared items to judge the mean by"
    return f"the {loss.n:,} shared items come in too few clusters to judge by"


def _why_undecided(bounds: Bounds, names: Names, mean: str) -> str:
    """Return the reason of an undecided check, the most useful one first."""
    if names.missing_tasks:
        first, n_further = names.missing_tasks[0], len(names.missing_tasks) - 1
        if not n_further:
            return f"{first} is missing from the new run"
        return f"{first} and {count_of(n_further, 'further task')} are missing from the new run"
    if bounds.is_open_by_absence:
        return f"{count_of(names.n_absent, 'item lacks a score', 'items lack scores')} in one run"
    if not bounds.left_out.mean.is_judged:
        return why_not_judged(bounds.left_out.mean)
    return f"a loss of {names.margin} is neither shown nor excluded{mean}"
