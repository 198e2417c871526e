"""The gate's two errors, simulated through the function that decides: false PASS and false FAIL at a loss of the margin."""

import math

import numpy as np
import pytest

from flipcore.stats.score.regression import FAIL, PASS, UNDECIDED, Bounds, TaskScores, judge, loss_of
from tests.lab.simulations import gate

MARGIN, N_WORLDS, N_FEW = 0.05, 300, 40
UP_TO_THREE_TASKS = [world for world in gate.WORLDS if world.n_tasks < 5]


def loss(old, new, margin, scale=1.0, clusters=None):
    return loss_of([TaskScores(old, new, clusters, scale)], margin)


def refuse_errors(world, n_runs):
    most = gate.too_often(n_runs)
    at_the_margin = gate.shares(world, world.margin, n_runs)
    assert at_the_margin[FAIL] <= most and at_the_margin[PASS] <= most


@pytest.mark.slow
@pytest.mark.parametrize("world", UP_TO_THREE_TASKS, ids=lambda world: world.name)
def test_a_loss_of_the_margin_rarely_fails_and_rarely_passes(world):
    refuse_errors(world, N_WORLDS)


# Of two tasks it takes a second and a half: three tasks and one stand for them.
QUICK_WORLDS = [pytest.param(world, marks=pytest.mark.slow if world.n_tasks == 2 else ()) for world in UP_TO_THREE_TASKS]


@pytest.mark.parametrize("world", QUICK_WORLDS, ids=lambda world: world.name)
def test_a_few_runs_see_a_gate_that_errs_often(world):
    """The quick sibling of the test above: errors of a seventh or more, not of a twelfth."""
    refuse_errors(world, N_FEW)


def test_the_committed_table_holds_what_the_gate_says_of_itself():
    """Each cell is PASS / UNDECIDED / FAIL; the columns are losses of 0, 0.5, 1, … margins."""
    rows = [line.split(" | ") for line in gate.TABLE.read_text("utf-8").splitlines() if line.count("/") >= len(gate.LOSSES)]
    cells = {row[0].strip("| "): [[float(x) for x in cell.strip(" |").split(" / ")] for cell in row[2:]] for row in rows}
    assert set(cells) == {one.name for one in gate.WORLDS}
    most = gate.too_often(gate.N_RUNS)
    for shares in cells.values():
        for (passes, _, fails), loss_in_margins in zip(shares, gate.LOSSES, strict=True):
            assert passes <= most or loss_in_margins < 1
            assert fails <= most or loss_in_margins > 1
        assert all(sum(one) == pytest.approx(1, abs=0.002) for one in shares)


def test_a_large_loss_fails_and_many_equal_items_pass():
    assert gate.shares(gate.WORLDS[1], 0.20, 60)[FAIL] > 0.9
    draw = np.random.default_rng(2)
    p = 1 / (1 + np.exp(-draw.normal(2, 2, 1_500)))
    right = draw.binomial(1, p).astype(float)
    new = np.where(draw.random(1_500) < 0.05, 1 - right, right)
    assert loss(right, right, 0.02).outcome == PASS and loss(right, new, 0.10).outcome == PASS


@pytest.mark.slow
@pytest.mark.parametrize("n_runs", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_limits_and_outcome_never_contradict_each_other(n_runs):
    draw = np.random.default_rng(3)
    for _ in range(n_runs):
        n = int(draw.integers(10, 120))
        old, new = draw.binomial(1, 0.7, n).astype(float), draw.binomial(1, draw.choice([0.4, 0.7]), n).astype(float)
        one = loss(old, new, MARGIN)
        assert (one.high < MARGIN + 1e-5) == (one.p_small < 0.05) or abs(one.high - MARGIN) < 1e-4
        assert (one.low > 0) == (one.p_loss < 0.05) or abs(one.low) < 1e-4
        assert one.outcome != FAIL or one.low > MARGIN - 1e-5
        assert one.outcome != PASS or one.high < MARGIN + 1e-5


def test_few_items_and_no_change_are_undecided_and_say_what_would_decide():
    few = loss(np.ones(9), np.ones(9), MARGIN)
    assert few.outcome == UNDECIDED and np.isnan(few.low)
    same = loss(np.ones(40), np.ones(40), 0.02)
    assert same.outcome == UNDECIDED and same.high == pytest.approx(1 - 0.05 ** (1 / 40), abs=1e-5)
    old, new = np.r_[np.ones(30), np.zeros(30)], np.r_[np.ones(27), np.zeros(33)]
    assert 60 < loss(old, new, 0.02).n_to_decide < 10_000


def test_no_number_of_unchanged_items_excludes_a_loss_of_nothing():
    clusters = np.arange(40) // 2
    unchanged = TaskScores(np.ones(40), np.ones(40), clusters)
    assert loss_of([unchanged], 0.0).n_to_decide == math.inf
    assert math.isfinite(loss_of([unchanged], 0.05).n_to_decide)


def task(n, n_fall=0, n_rise=0, **more):
    old = np.r_[np.ones(n - n // 3), np.zeros(n // 3)]
    new = old.copy()
    new[:n_fall] = 0
    new[n - n_rise :] = 1
    return TaskScores(old, new, **more)


def test_one_task_that_loses_far_more_turns_pass_into_fail():
    equal, worse = task(300), task(300, 90)
    assert judge([equal] * 5, MARGIN).outcome == PASS
    verdict = judge([equal] * 9 + [worse], 0.10)
    assert verdict.mean.p_small < 0.05 and verdict.outcome == FAIL and verdict.is_failing == (False,) * 9 + (True,)


def test_the_guarded_limits_of_a_mean_over_tasks_invert_its_tests():
    tasks = [task(60, 9, 4), task(40, 8, 2), task(25, 3, 3, clusters=np.arange(25) // 2)]
    mean = judge(tasks, MARGIN).mean
    low, high = mean.limits
    assert mean.mean.p_above(low) == pytest.approx(0.05) and mean.mean.p_below(high) == pytest.approx(0.05)
    assert mean.value == pytest.approx(np.mean([5 / 60, 6 / 40, 0.0]))


def test_a_pass_over_clusters_fears_more_falls_than_were_drawn():
    """30 of 300 items fall, two in each of 15 clusters: without clusters, or as a t, a loss of 13.5 points is excluded."""
    clusters = np.repeat(np.arange(60), 5)
    new = np.ones(300)
    new[np.concatenate([np.arange(15) * 20, np.arange(15) * 20 + 1])] = 0
    of_items, of_clusters = loss(np.ones(300), new, 0.135), loss(np.ones(300), new, 0.135, clusters=clusters)
    assert of_items.outcome == PASS
    assert of_clusters.outcome == UNDECIDED and of_clusters.high > of_items.high


def test_a_scale_changes_no_verdict():
    """Grades from 0 to 100 are those from 0 to 1, times 100."""
    draw = np.random.default_rng(4)
    for _ in range(20):
        old, new = draw.random(30), draw.random(30)
        small, large = loss(old, new, 0.05), loss(100 * old, 100 * new, 5.0, 100.0)
        assert large.p_small == pytest.approx(small.p_small) and large.p_large == pytest.approx(small.p_large)
        assert large.high == pytest.approx(100 * small.high)


@pytest.mark.slow
def test_absent_scores_keep_both_verdicts_from_being_said():
    passes, fails = judge([task(300)], MARGIN), judge([task(300, 60)], MARGIN)
    assert Bounds(passes, passes, passes).outcome == PASS and Bounds(fails, fails, fails).outcome == FAIL
    assert Bounds(passes, fails, passes).outcome == UNDECIDED == Bounds(fails, fails, passes).outcome
    assert Bounds(passes, fails, passes).is_open_by_absence
    assert Bounds(passes, passes, passes, has_all_tasks=False).outcome == UNDECIDED


def leaning_clusters(draw, n_clusters, size=10):
    """A run without loss: a third of the items differs, in some clusters more up and in others more down."""
    clusters = np.repeat(np.arange(n_clusters), size)
    lean = np.clip(draw.normal(0.0, 0.09, n_clusters), -0.3, 0.3)[clusters]
    place = draw.random(clusters.size)
    fell, rose = place < (0.3 + lean) / 2, (place >= (0.3 + lean) / 2) & (place < 0.3)
    old = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(clusters.size) < 0.7))
    return TaskScores(old, old - fell + rose, clusters)


@pytest.mark.slow
def test_as_many_items_of_clusters_as_would_decide_decide_four_times_in_five():
    """By a normal law without the unseen cluster 223 items were said to do, which decide .66."""
    draw = np.random.default_rng(1)
    needed = np.median([judge([leaning_clusters(draw, 12)], 0.10).mean.n_to_decide for _ in range(60)])
    at_that = [judge([leaning_clusters(draw, round(needed / 10))], 0.10).outcome for _ in range(200)]
    assert 240 < needed < 400 and 0.72 < np.mean([outcome != UNDECIDED for outcome in at_that]) < 0.92


def test_few_clusters_that_carry_the_items_need_many_more():
    """Of 12 clusters one has most items, so that a few more of the same would decide nothing."""
    sizes = np.array([30, 20, 20, *[10] * 9])
    clusters = np.repeat(np.arange(12), sizes)
    grades = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 32)
    fall = np.where(clusters < 3, 1.0, -0.5)
    found = loss(grades, np.clip(grades - fall, 1, 5), 0.3, scale=4.0, clusters=clusters)
    assert found.outcome == UNDECIDED and found.n_to_decide > 5 * found.n


def test_a_second_task_like_the_first_halves_the_variance_and_doubles_the_items():
    few = TaskScores(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    one, two = loss_of([few], 0.02), loss_of([few] * 2, 0.02)
    assert (two.n, two.is_exact, two.is_judged) == (8, False, False)
    assert two.n_to_decide == pytest.approx(one.n_to_decide) and math.isfinite(one.n_to_decide)


@pytest.mark.parametrize(("sign", "outcome", "p"), [(1, PASS, "p_small"), (-1, FAIL, "p_large")])
def test_a_verdict_needs_the_test_and_the_limit_up_to_twice_its_precision(sign, outcome, p):
    def outcome_of(p_value, beyond):
        of_items = loss(np.ones(20), np.ones(20), MARGIN)
        limit = MARGIN + sign * beyond
        # As if the exact test had come to these; where it is not monotone they may disagree.
        of_items.__dict__.update({"p_small": 1.0, "p_large": 1.0, "limits": (limit, limit)} | {p: p_value})
        return of_items.outcome

    assert outcome_of(0.049, 1.9e-6) == outcome and outcome_of(0.049, -0.02) == outcome
    assert outcome_of(0.049, 2.1e-6) == outcome_of(0.05, -0.02) == UNDECIDED
