"""How often `check` says PASS, FAIL or "some loss is shown" where it is not so, and how often it finds what is there.

A third of the items differs between two runs of the same model: that is what temperature does. A
world says how much of the margin the new run loses, on how many tasks, and what is missing of it.
"""

from functools import partial

import numpy as np
import pandas as pd

from flipcore.claims.claim import Claim
from flipcore.claims.regression import CHECK_FAILS, CHECK_PASSES, CHECK_SHOWS_LOSS, Names, loss_claim, verdict_claim
from flipcore.reports.regression import TaskTable, bounds_of, task_table
from flipcore.stats.score.regression import FAIL, PASS, Bounds, TaskScores, judge
from tests.lab.claims.cell import Cell, Simulation, each

MARGIN, DIFFERS, RIGHT = 0.05, 0.30, 0.7
N_RUNS = 2_000
Draw = np.random.Generator
NAMES = Names("the old run", "the new run", "5 points", ())


def answers(draw: Draw, n: int, loss: float, right: float = RIGHT) -> TaskScores:
    """Right and wrong in two runs; `DIFFERS` of the items differ, and the new run loses `loss`."""
    place = draw.random(n)
    n_fall, n_differ = (DIFFERS + loss) / 2, DIFFERS
    fell, rose = place < n_fall, (place >= n_fall) & (place < n_differ)
    old = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(n) < right))
    return TaskScores(old, old - fell + rose)


def clustered(draw: Draw, n_clusters: int, size: int, loss: float, spread: float = 0.3) -> TaskScores:
    """Clusters fall or rise more or less, by a spread around the loss."""
    clusters = np.repeat(np.arange(n_clusters), size)
    lean = np.clip(draw.normal(loss, spread * DIFFERS, n_clusters), -DIFFERS, DIFFERS)[clusters]
    place = draw.random(clusters.size)
    fell = place < (DIFFERS + lean) / 2
    rose = ~fell & (place < DIFFERS)
    old = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(clusters.size) < RIGHT))
    return TaskScores(old, old - fell + rose, clusters)


def correlated_falls(draw: Draw, n_clusters: int, size: int, loss: float, correlation: float = 0.2) -> TaskScores:
    """Some items fall and none rises, and falls in a cluster are correlated."""
    odds = (1 - correlation) / correlation
    clusters = np.repeat(np.arange(n_clusters), size)
    fell = draw.random(clusters.size) < draw.beta(loss * odds, (1 - loss) * odds, n_clusters)[clusters]
    old = np.where(fell, 1.0, draw.random(clusters.size) < RIGHT)
    return TaskScores(old, np.where(fell, 0.0, old), clusters)


def correlated_rises(draw: Draw, n_clusters: int, size: int, loss: float, correlation: float = 0.5) -> TaskScores:
    """Items fall everywhere, and others rise in some clusters more than in others."""
    rise = 0.03
    odds = (1 - correlation) / correlation
    clusters = np.repeat(np.arange(n_clusters), size)
    rose = draw.random(clusters.size) < draw.beta(rise * odds, (1 - rise) * odds, n_clusters)[clusters]
    fell = ~rose & (draw.random(clusters.size) < (loss + rise) / (1 - rise))
    old = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(clusters.size) < RIGHT))
    return TaskScores(old, old - fell + rose, clusters)


def whole_clusters_lost(draw: Draw, n_clusters: int, size: int, loss: float) -> TaskScores:
    """Few clusters fall wholly, and elsewhere items differ as usual: clusters unlike those that most runs see."""
    is_lost = np.repeat(draw.random(n_clusters) < loss, size)
    usual = answers(draw, is_lost.size, 0.0)
    old, new = np.where(is_lost, 1.0, usual.old), np.where(is_lost, 0.0, usual.new)
    return TaskScores(old, new, np.repeat(np.arange(n_clusters), size))


def rerun(draw: Draw, n: int, loss: float, n_runs: int = 5) -> TaskScores:
    """Mean scores of several runs; items are unequally hard."""
    chance = draw.beta(3, 1.3, n)
    lowered = chance * (1 - loss / (3 / 4.3))
    return TaskScores(draw.binomial(n_runs, chance) / n_runs, draw.binomial(n_runs, lowered) / n_runs)


def rare_falls(draw: Draw, n: int, loss: float, scale: float = 4.0) -> TaskScores:
    """Grades from 1 to 5 of which few fall, and those from top to bottom."""
    fell = draw.random(n) < loss
    return TaskScores(np.full(n, 1.0 + scale), np.where(fell, 1.0, 1.0 + scale), scale=scale)


def small_falls(draw: Draw, n: int, loss: float, scale: float = 4.0) -> TaskScores:
    """Grades from 1 to 5: all fall by a little more than the loss, and few rise from bottom to top."""
    rose = draw.random(n) < loss
    old = np.where(rose, 1.0, 4.0)
    fall = loss * (1 + loss) / (1 - loss) * scale
    return TaskScores(old, np.where(rose, 1.0 + scale, old - fall), scale=scale)


def judged(tasks: list[TaskScores]) -> Bounds:
    verdict = judge(tasks, MARGIN * tasks[0].scale)
    return Bounds(verdict, verdict, verdict)


def says(bounds: Bounds, outcome: str, n_tasks: int) -> Claim | bool:
    """The verdict where it is this one."""
    tasks = tuple(f"task {number}" for number in range(n_tasks))
    claim = verdict_claim(bounds, Names(NAMES.old, NAMES.new, NAMES.margin, tasks))
    return claim if claim.outcome == outcome else False


def _said(make: partial, loss: float, outcome: str, n_tasks: int = 1) -> Simulation:
    """How often a check of tasks that all lose `loss` has this outcome."""
    return each(lambda draw: says(judged([make(draw, loss=loss) for _ in range(n_tasks)]), outcome, n_tasks))


def _one_loses(make: partial, loss: float, outcome: str, n_tasks: int) -> Simulation:
    """How often a check has this outcome where the first of several tasks loses `loss` and no other does."""

    def run(draw: Draw) -> Claim | bool:
        losses = [loss] + [0.0] * (n_tasks - 1)
        return says(judged([make(draw, loss=one) for one in losses]), outcome, n_tasks)

    return each(run)


def _shows(make: partial, loss: float, n_tasks: int = 1) -> Simulation:
    """How often some loss is said to be shown."""
    return each(lambda draw: loss_claim(judged([make(draw, loss=loss) for _ in range(n_tasks)])))


def table_of(old: np.ndarray, new: np.ndarray, has_rows: np.ndarray) -> TaskTable:
    """One task as a log has it; NaN is a call that failed, and the new run has rows of some items only."""
    items = np.arange(old.size).astype(str)
    frames = {}
    for side, scores, is_there in (("old", old, np.ones(old.size, bool)), ("new", new, has_rows)):
        frames[side] = pd.DataFrame({"item_id": items[is_there], "sample": 0, "extractor": "choice", "score": scores[is_there]})
    return task_table(frames, "choice", clusters=pd.Series(items, items))


def _missing_rows(draw: Draw, n: int, outcome: str) -> Claim | bool:
    """A third of the rows is missing, and nothing is lost on the rest."""
    both = answers(draw, n, 0.0)
    bounds = bounds_of([table_of(both.old, both.new, draw.random(n) > 1 / 3)], MARGIN)
    return says(bounds, outcome, 1)


def _missing_task(draw: Draw, n: int, n_tasks: int) -> Claim | bool:
    """Nothing is lost on the tasks that are there."""
    tasks = [answers(draw, n, 0.0) for _ in range(n_tasks - 1)]
    verdict = judge(tasks, MARGIN)
    return says(Bounds(verdict, verdict, verdict, has_all_tasks=False), PASS, n_tasks - 1)


def _lost_calls(draw: Draw, n: int, outcome: str, *, are_hard: bool) -> Claim | bool:
    """Calls fail on the items that would show the loss (`are_hard`), or on those that would show none.

    The new run loses the margin in all, and the calls that are left say something else.
    """
    both = answers(draw, n, MARGIN)
    fell = both.old > both.new
    is_lost = (fell if are_hard else both.old < both.new) & (draw.random(n) < 0.6)
    bounds = bounds_of([table_of(both.old, np.where(is_lost, np.nan, both.new), np.ones(n, bool))], MARGIN)
    return says(bounds, outcome, 1)


SINGLE = tuple((f"{n}", partial(answers, n=n)) for n in (40, 400, 1_000))
SEVERAL = ((5, "5 × 200", partial(answers, n=200)), (10, "10 × 30", partial(answers, n=30)))
CLUSTERED = tuple((f"{k} × {size}", partial(clustered, n_clusters=k, size=size)) for k, size in ((12, 10), (40, 5)))
MANY = ("57 × 25", partial(clustered, n_clusters=57, size=25))
SKEWED = tuple(
    (f"{k} × {size}, correlation {correlation:g}", {"n_clusters": k, "size": size, "correlation": correlation})
    for k, size, correlation in ((20, 10, 0.5), (40, 5, 0.2), (57, 25, 0.2), (57, 25, 0.5))
)
RERUN = (("60 × 5 runs", partial(rerun, n=60)),)
GRADED = tuple((f"{n}", n) for n in (40, 54, 90, 200))


def _null(assertion: object, world: str, n: str, simulate: Simulation, n_runs: int = N_RUNS) -> Cell:
    return Cell(assertion, world, n, simulate, n_runs=n_runs)  # type: ignore[arg-type]


def _cells_of(assertion: object, outcome: str) -> list[Cell]:
    """At a loss of the margin neither PASS nor FAIL is true."""
    cells = [_null(assertion, "loses the margin", n, _said(make, MARGIN, outcome)) for n, make in SINGLE]
    cells += [_null(assertion, "several tasks lose the margin", n, _said(make, MARGIN, outcome, k)) for k, n, make in SEVERAL]
    cells += [_null(assertion, "clusters, loses the margin", n, _said(make, MARGIN, outcome)) for n, make in CLUSTERED]
    cells += [
        _null(
            assertion,
            "clusters, several tasks lose the margin",
            "5 × 12 × 5",
            _said(partial(clustered, n_clusters=12, size=5), MARGIN, outcome, 5),
        ),
        *(_null(assertion, "reruns, loses the margin", n, _said(make, MARGIN, outcome)) for n, make in RERUN),
    ]
    return cells


CELLS = (
    *_cells_of(CHECK_PASSES, PASS),
    *(
        _null(CHECK_PASSES, "grades, loses the margin in rare falls", n, _said(partial(rare_falls, n=size), MARGIN, PASS))
        for n, size in GRADED
    ),
    _null(
        CHECK_PASSES, "grades, loses the margin in rare falls", "10 × 30", _said(partial(rare_falls, n=30), MARGIN, PASS, 10)
    ),
    *(
        _null(
            CHECK_PASSES, "clusters lose the margin in falls alone", n, _said(partial(correlated_falls, **sizes), MARGIN, PASS)
        )
        for n, sizes in SKEWED
    ),
    *(_null(CHECK_PASSES, "a task is missing", f"{k} × 400", each(partial(_missing_task, n=400, n_tasks=k))) for k in (2, 5)),
    *(
        _null(CHECK_PASSES, "a third of the rows is missing", f"{n}", each(partial(_missing_rows, n=n, outcome=PASS)), 500)
        for n in (600,)
    ),
    *(
        _null(
            CHECK_PASSES, "lost calls hide the loss", f"{n}", each(partial(_lost_calls, n=n, outcome=PASS, are_hard=True)), 500
        )
        for n in (600,)
    ),
    *(
        Cell(CHECK_PASSES, "no loss", n, _said(make, 0.0, PASS, k), "planted", N_RUNS)
        for k, n, make in ((1, "400", partial(answers, n=400)), *SEVERAL)
    ),
    *(Cell(CHECK_PASSES, "clusters, no loss", n, _said(make, 0.0, PASS), "planted", N_RUNS) for n, make in (*CLUSTERED, MANY)),
    *(
        Cell(
            CHECK_PASSES,
            "the margin is lost in whole clusters",
            f"{k} × {size}",
            _said(partial(whole_clusters_lost, n_clusters=k, size=size), MARGIN, PASS),
            "outside",
            N_RUNS,
        )
        for k, size in ((20, 10), (40, 5), (57, 25))
    ),
    *_cells_of(CHECK_FAILS, FAIL),
    *(
        _null(
            CHECK_FAILS, "clusters rise unequally, loses the margin", n, _said(partial(correlated_rises, **sizes), MARGIN, FAIL)
        )
        for n, sizes in SKEWED
    ),
    *(_null(CHECK_FAILS, "loses .8 of the margin", n, _said(make, 0.8 * MARGIN, FAIL)) for n, make in SINGLE),
    *(_null(CHECK_FAILS, "loses .8 of the margin", n, _said(make, 0.8 * MARGIN, FAIL, k)) for k, n, make in SEVERAL),
    *(_null(CHECK_FAILS, "equal runs", n, _said(make, 0.0, FAIL, k)) for k, n, make in SEVERAL),
    _null(CHECK_FAILS, "equal runs", "400", _said(partial(answers, n=400), 0.0, FAIL)),
    *(
        _null(CHECK_FAILS, "grades, loses the margin in all items", n, _said(partial(small_falls, n=size), MARGIN, FAIL))
        for n, size in GRADED
    ),
    *(
        _null(
            CHECK_FAILS, "lost calls make a loss", f"{n}", each(partial(_lost_calls, n=n, outcome=FAIL, are_hard=False)), 1_000
        )
        for n in (600,)
    ),
    *(
        Cell(CHECK_FAILS, "each task loses twice the margin", n, _said(make, 2 * MARGIN, FAIL, k), "planted", N_RUNS)
        for k, n, make in ((1, "400", partial(answers, n=400)), *SEVERAL)
    ),
    Cell(
        CHECK_FAILS,
        "one task loses a quarter",
        "5 × 200",
        _one_loses(partial(answers, n=200), 0.25, FAIL, 5),
        "planted",
        N_RUNS,
    ),
    *(
        Cell(CHECK_FAILS, "clusters, loses twice the margin", n, _said(make, 2 * MARGIN, FAIL), "planted", N_RUNS)
        for n, make in (*CLUSTERED, MANY)
    ),
    *(_null(CHECK_SHOWS_LOSS, "equal runs", n, _shows(make, 0.0)) for n, make in SINGLE),
    *(_null(CHECK_SHOWS_LOSS, "several equal tasks", n, _shows(make, 0.0, k)) for k, n, make in SEVERAL),
    *(_null(CHECK_SHOWS_LOSS, "clusters, equal runs", n, _shows(make, 0.0)) for n, make in CLUSTERED),
    *(_null(CHECK_SHOWS_LOSS, "grades, equal runs", n, _shows(partial(small_falls, n=size), 0.0)) for n, size in GRADED[:1]),
    Cell(
        CHECK_SHOWS_LOSS, "loses .8 of the margin", "1,000", _shows(partial(answers, n=1_000), 0.8 * MARGIN), "planted", N_RUNS
    ),
    *(
        Cell(CHECK_SHOWS_LOSS, "clusters, loses twice the margin", n, _shows(make, 2 * MARGIN), "planted", N_RUNS)
        for n, make in (*CLUSTERED, MANY)
    ),
)
