"""The worlds in which other tools stand beside this one hold the truth that their names state."""

import numpy as np
import pytest

from flipcore.stats.score.regression import FAIL, PASS
from tests.lab.outside_tools import (
    CORRECTIONS,
    FEW_CORRELATIONS,
    GATE_WORLDS,
    GATES,
    JUDGED_WORLDS,
    PAGE,
    TOOLS,
    WORLDS,
    Pair,
    gate_rows,
    judged_rows,
    pair_rows,
    wins_alone,
)

MODULES = {"errorbars": "errorbars", "evalsig": "evalsig", "truescore": "truescore"}


def _needs(tool: str) -> None:
    if tool in MODULES:
        pytest.importorskip(MODULES[tool], reason=f"{tool} is not installed: requirements-tools.txt")


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_models_are_equal_where_a_world_says_so(world):
    draw = np.random.default_rng(3)
    gains = np.array([np.mean(np.subtract(pair.model_b, pair.model_a)) for pair in map(world.draw, [draw] * 400)])
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    assert (abs(gains.mean()) < 4 * error) == world.is_null


@pytest.mark.parametrize("correlation", FEW_CORRELATIONS)
def test_models_are_equal_where_one_wins_alone_and_loses_in_clusters(correlation):
    clusters = np.repeat(np.arange(30), 10)
    x = wins_alone(np.random.default_rng(5), clusters, rate=0.05, correlation=correlation, n_runs=1_000)
    gains = x.mean(axis=1)
    assert abs(gains.mean()) < 4 * gains.std(ddof=1) / gains.size**0.5
    losses = (x < 0).reshape(1_000, 30, 10).sum(axis=2)
    # The variance of a beta-binomial count, over that of a binomial one.
    assert losses.var() / (10 * 0.05 * 0.95) == pytest.approx(1 + 9 * correlation, rel=0.1)


@pytest.mark.parametrize("world", GATE_WORLDS, ids=lambda world: world.name)
def test_a_new_run_loses_what_its_world_says(world):
    draw = np.random.default_rng(8)
    losses = np.array([np.mean(pair.model_a - pair.model_b) for pair in map(world.draw, [draw] * 600)])
    assert abs(losses.mean() - world.loss) < 4 * losses.std(ddof=1) / np.sqrt(losses.size)


@pytest.mark.parametrize("gate", GATES)
def test_a_gate_fails_a_large_loss_and_passes_a_gain(gate):
    draw = np.random.default_rng(9)
    weak, strong = (draw.random((2, 600)) < np.array([[0.4], [0.8]])).astype(float)
    clusters = np.repeat(np.arange(60), 10)
    assert GATES[gate](Pair(strong, weak, clusters)) == FAIL
    assert GATES[gate](Pair(weak, strong, clusters)) == PASS


@pytest.mark.parametrize("name", JUDGED_WORLDS)
def test_the_judge_is_wrong_and_the_truth_is_known(name):
    draw = np.random.default_rng(4)
    worlds = [JUDGED_WORLDS[name](draw) for _ in range(100)]
    assert abs(np.mean([world.judge.mean() for world in worlds]) - 0.850) < 0.01
    if "passed" not in name:
        assert abs(np.nanmean(np.concatenate([world.people for world in worlds])) - 0.715) < 0.02


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_finds_a_large_gain_and_no_loss(tool):
    _needs(tool)
    draw = np.random.default_rng(5)
    model_a, model_b = (draw.random((2, 300)) < np.array([[0.4], [0.8]])).astype(float)
    clusters = np.repeat(np.arange(60), 5)
    assert TOOLS[tool](Pair(model_a, model_b, clusters))
    assert not TOOLS[tool](Pair(model_b, model_a, clusters))


@pytest.mark.parametrize("tool", CORRECTIONS)
def test_a_correction_holds_the_truth_or_refuses(tool):
    _needs(tool)
    world = JUDGED_WORLDS["4,000 outputs, 600 labels"](np.random.default_rng(6))
    low, high = CORRECTIONS[tool](world)
    assert (low < world.truth < high) == (tool != "the judge alone")


def test_labels_of_passed_outputs_are_refused_here():
    world = JUDGED_WORLDS["4,000 outputs, 600 labels of passed ones"](np.random.default_rng(7))
    assert CORRECTIONS["Flipscope"](world) is None


def test_the_page_has_a_row_per_world():
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = [cell.strip("| ") for row in rows for cell in row[:2]]
    assert [world.name for world in (*WORLDS, *GATE_WORLDS) if world.name not in named] == []
    assert [name for name in JUDGED_WORLDS if name not in named] == []


@pytest.mark.slow
def test_rows_are_shares_per_tool():
    for module in MODULES.values():
        pytest.importorskip(module)
    rows = pair_rows(2)
    assert {len(row) for row in rows} == {2 + len(TOOLS)}
    assert all(0 <= float(cell) <= 1 for row in rows for cell in row[2:])
    assert {len(row) for row in gate_rows(2)} == {2 + 2 * len(GATES)}
    assert {len(row) for row in judged_rows(2)} == {1 + len(CORRECTIONS)}
