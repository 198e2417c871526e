"""The gate's two errors, simulated through the function that decides: false PASS at a loss of the margin, false FAIL at equal runs."""

import numpy as np
import pytest

from flipcore.stats.score.regression import FAIL, PASS, UNDECIDED, loss, outcome
from tests.lab.simulations import gate

MARGIN, N_WORLDS, N_FEW = 0.05, 300, 40
UP_TO_THREE_TASKS = [world for world in gate.WORLDS if world.n_tasks < 5]


def refuse_errors(world, n_runs):
    most = gate.too_often(n_runs)
    assert gate.shares(world, 0.0, n_runs)[FAIL] <= most
    assert gate.shares(world, world.margin, n_runs)[PASS] <= most


@pytest.mark.slow
@pytest.mark.parametrize("world", UP_TO_THREE_TASKS, ids=lambda world: world.name)
def test_equal_runs_rarely_fail_and_a_loss_of_the_margin_rarely_passes(world):
    refuse_errors(world, N_WORLDS)


@pytest.mark.parametrize("world", UP_TO_THREE_TASKS, ids=lambda world: world.name)
def test_a_few_runs_see_a_gate_that_errs_often(world):
    """The quick sibling of the test above: errors of a seventh or more, not of a twelfth."""
    refuse_errors(world, N_FEW)


def test_the_committed_table_holds_what_the_gate_says_of_itself():
    """Each cell is PASS / UNDECIDED / FAIL; the columns are losses of 0, 0.5, 1, … margins."""
    rows = [line.split(" | ") for line in gate.TABLE.read_text("utf-8").splitlines() if line.count("/") >= len(gate.LOSSES)]
    cells = {row[0].strip("| "): [[float(x) for x in cell.strip(" |").split(" / ")] for cell in row[2:]] for row in rows}
    assert set(cells) == {one.name for one in gate.WORLDS}
    for shares in cells.values():
        assert shares[0][2] <= gate.too_often(gate.N_RUNS)
        at_the_margin = [
            passes for (passes, _, _), loss_in_margins in zip(shares, gate.LOSSES, strict=True) if loss_in_margins >= 1
        ]
        assert max(at_the_margin) <= gate.too_often(gate.N_RUNS)
        assert all(sum(one) == pytest.approx(1, abs=0.002) for one in shares)


def test_a_large_loss_fails_and_many_equal_items_pass():
    assert gate.shares(gate.WORLDS[1], 0.20, 60)[FAIL] > 0.9
    draw = np.random.default_rng(2)
    p = 1 / (1 + np.exp(-draw.normal(2, 2, 1_500)))
    right = draw.binomial(1, p).astype(float)
    new = np.where(draw.random(1_500) < 0.05, 1 - right, right)
    assert loss(right, right, 0.02).outcome == PASS and loss(right, new, 0.10).outcome == PASS


@pytest.mark.parametrize("n_runs", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_limits_and_outcome_never_contradict_each_other(n_runs):
    draw = np.random.default_rng(3)
    for _ in range(n_runs):
        n = int(draw.integers(10, 120))
        old, new = draw.binomial(1, 0.7, n).astype(float), draw.binomial(1, draw.choice([0.4, 0.7]), n).astype(float)
        one = loss(old, new, MARGIN)
        assert (one.high < MARGIN + 1e-5) == (one.p_small < 0.05) or abs(one.high - MARGIN) < 1e-4
        assert (one.low > 0) == (one.p_loss < 0.05) or abs(one.low) < 1e-4


def test_few_items_and_no_change_are_undecided_and_say_what_would_decide():
    few = loss(np.ones(9), np.ones(9), MARGIN)
    assert few.outcome == UNDECIDED and np.isnan(few.low)
    same = loss(np.ones(40), np.ones(40), 0.02)
    assert same.outcome == UNDECIDED and same.high == pytest.approx(1 - 0.05 ** (1 / 40), abs=1e-5)
    old, new = np.r_[np.ones(30), np.zeros(30)], np.r_[np.ones(27), np.zeros(33)]
    assert 60 < loss(old, new, 0.02).n_to_decide(0.02) < 1_000


def test_any_task_that_fails_fails_them_all_after_correction():
    equal, worse = loss(np.ones(300), np.ones(300), MARGIN), loss(np.ones(300), np.r_[np.zeros(60), np.ones(240)], MARGIN)
    assert outcome([equal, worse]) == FAIL and outcome([equal, equal]) == PASS and outcome([]) == UNDECIDED
