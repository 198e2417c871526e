"""The gate's two errors, simulated through the function that decides: false PASS at a loss of the margin, false FAIL at equal runs."""

import numpy as np
import pytest

from flipcore.stats.score.regression import FAIL, PASS, UNDECIDED, loss, outcome

MARGIN, N_WORLDS = 0.05, 300
WORLDS = {  # items, runs of each side, items a family, tasks
    "one run": (100, 1, 1, 1),
    "many items": (400, 1, 1, 1),
    "five noisy runs": (60, 5, 1, 1),
    "families of four": (120, 1, 4, 1),
    "three tasks": (80, 1, 1, 3),
}


def run_pairs(n, n_runs, size, true_loss, draw):
    """Item means of an old and a new run; items of a family share what they are like."""
    logit = draw.normal(1.0, 1.2, -(-n // size)).repeat(size)[:n] + draw.normal(0, 0.5, n)
    p = 1 / (1 + np.exp(-logit))
    q = p * (1 - true_loss / 0.681)  # 0.681 is the mean of p
    families = np.arange(n) // size
    return draw.binomial(n_runs, p) / n_runs, draw.binomial(n_runs, q) / n_runs, families if size > 1 else None


def share_of(world, true_loss, word, n_worlds=N_WORLDS, margin=MARGIN, seed=1):
    n, n_runs, size, n_tasks = WORLDS[world]
    draw, hits = np.random.default_rng(seed), 0
    for _ in range(n_worlds):
        losses = []
        for task in range(n_tasks):
            old, new, families = run_pairs(n, n_runs, size, true_loss if task == 0 else max(0.0, true_loss - margin), draw)
            losses.append(loss(old, new, margin, families=families))
        hits += outcome(losses) == word
    return hits / n_worlds


@pytest.mark.parametrize("world", WORLDS)
def test_equal_runs_rarely_fail_and_a_loss_of_the_margin_rarely_passes(world):
    assert share_of(world, 0.0, FAIL) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)
    assert share_of(world, MARGIN, PASS) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)


def test_a_large_loss_fails_and_many_equal_items_pass():
    assert share_of("many items", 0.20, FAIL, 60) > 0.9
    draw = np.random.default_rng(2)
    p = 1 / (1 + np.exp(-draw.normal(2, 2, 1_500)))
    right = draw.binomial(1, p).astype(float)
    new = np.where(draw.random(1_500) < 0.05, 1 - right, right)
    assert loss(right, right, 0.02).outcome == PASS and loss(right, new, 0.10).outcome == PASS


def test_limits_and_outcome_never_contradict_each_other():
    draw = np.random.default_rng(3)
    for _ in range(200):
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
