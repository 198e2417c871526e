"""The hardness curve: what reference models' scores on two sets expect of a model."""

import numpy as np
import pytest
from scipy.stats import t

from flipcore.core.randomness import generator
from flipcore.stats.memory.hardness_curve import MIN_REFERENCES, excess
from tests.lab.simulations.hardness_curve import CLEAN, READ, TABLE, World, draw, row, runs


def answers(*shares, n=200):
    """0/1 of each model, so many right of `n`."""
    return np.array([[1.0] * round(n * share) + [0.0] * (n - round(n * share)) for share in shares])


CONTROLS = answers(0.30, 0.40, 0.50, 0.60, 0.70, 0.55)
BENCHMARK = answers(0.42, 0.51, 0.62, 0.69, 0.80, 0.66)


def test_the_excess_is_a_prediction_of_a_line_written_out_with_least_squares():
    curve = excess(answers(0.85)[0], answers(0.55)[0], BENCHMARK, CONTROLS)
    v, u = (
        np.arcsin(np.sqrt((200 * x + 0.375) / 200.75))
        for x in (np.append(0.85, BENCHMARK.mean(1)), np.append(0.55, CONTROLS.mean(1)))
    )
    w, m = v - u, (v + u) / 2
    slope, start = np.polyfit(m[1:], w[1:], 1)
    scatter = np.sqrt(((w[1:] - start - slope * m[1:]) ** 2).sum() / 4)
    error = scatter * np.sqrt(1 + 1 / 6 + (m[0] - m[1:].mean()) ** 2 / ((m[1:] - m[1:].mean()) ** 2).sum())
    assert curve.p == pytest.approx(t.sf((w[0] - start - slope * m[0]) / error, 4))
    # what lies on the line: v - u = start + slope (v + u) / 2
    on_line = (start + u[0] * (1 + slope / 2)) / (1 - slope / 2)
    assert curve.expected.value == pytest.approx((np.sin(on_line) ** 2 * 200.75 - 0.375) / 200)
    assert curve.excess.value == pytest.approx(0.85 - curve.expected.value)
    assert curve.expected.low < curve.expected.value < curve.expected.high and curve.excess.low > 0.1 and curve.p < 0.001
    assert (curve.n_references, curve.excess.n, curve.benchmark.n) == (6, 400, 200)


def test_a_model_of_the_line_has_no_excess_although_the_sets_are_not_equally_hard():
    curve = excess(answers(0.66)[0], answers(0.55)[0], BENCHMARK, CONTROLS)
    assert curve.excess.low < 0 < curve.excess.high and curve.p > 0.2 and 0.6 < curve.expected.value < 0.72


@pytest.mark.parametrize(
    "model, references, why",
    [
        ((0.7, 0.6), slice(0, 4), "wants at least 5 reference models; 4 answered"),
        ((0.99, 0.95), slice(0, 6), "better than all 6 reference models, by too much for their curve: add better ones"),
        ((0.05, 0.02), slice(0, 6), "weaker than all 6"),
    ],
)
def test_where_there_is_no_curve_it_says_what_it_wants(model, references, why):
    curve = excess(answers(model[0])[0], answers(model[1])[0], BENCHMARK[references], CONTROLS[references])
    assert why in curve.withheld and np.isnan(curve.p) and np.isnan(curve.excess.value) and curve.benchmark.n == 200


def test_reference_models_on_one_line_leave_nothing_to_compare_a_distance_with():
    """Their scatter is 0, and the division by it ended with a traceback."""
    curve = excess(answers(0.85)[0], answers(0.55)[0], CONTROLS, CONTROLS)
    assert "lie exactly on one line" in curve.withheld and np.isnan(curve.p)


def test_reference_models_that_are_all_alike_and_items_that_nobody_answered_give_none():
    same = np.repeat(answers(0.5), 6, axis=0)
    assert excess(answers(0.5)[0], answers(0.5)[0], same, same).withheld
    missing = CONTROLS.copy()
    missing[2, 5:] = np.nan
    assert "5 controls are answered by all" in excess(answers(0.7)[0], answers(0.6)[0], BENCHMARK, missing).withheld


def test_clean_models_are_seldom_above_the_curve_and_one_that_read_much_is():
    strongest = next(world for world in CLEAN if world.name == "the strongest model")
    clean = [one for one, _ in runs(strongest, 8, 400)]
    assert sum(one.p <= 0.025 for one in clean if not one.withheld) <= 22  # P(more | .025, 400) = .0002
    found = [one for one, _ in runs(World("read", read=0.6, n=500), 8, 60) if not one.withheld]
    assert np.mean([one.p <= 0.025 for one in found]) > 0.8


def test_what_all_reference_models_have_read_is_not_seen():
    world = next(world for world in READ if "all reference" in world.name)
    found = [one for one, _ in runs(world, 8, 100) if not one.withheld]
    assert np.mean([one.p <= 0.025 for one in found]) < 0.15


def test_a_drawn_table_has_the_planted_inflation_and_its_row_stands_in_the_table():
    b, c, inflation = draw(World("x", n=4000, read=0.3), 6, generator(1))
    assert b.shape == (7, 4000) and c.shape == (7, 200) and 0.05 < inflation < 0.3
    text = TABLE.read_text(encoding="utf-8")
    assert all(text.count(f"| {world.name} | {world.n} ×") == 3 for world in (*CLEAN, *READ)) and MIN_REFERENCES == 5
    assert row(CLEAN[0], 5, 20).startswith("| sets alike | 300 × 200 | 5 | 0 pp |")


@pytest.mark.parametrize(("n", "n_controls"), [(10, 200), (200, 10), (9, 200), (200, 9)])
def test_a_curve_wants_ten_items_of_either_set(n, n_controls):
    benchmark, controls = (answers(0.85, *BENCHMARK.mean(1), n=n), answers(0.55, *CONTROLS.mean(1), n=n_controls))
    curve = excess(benchmark[0], controls[0], benchmark[1:], controls[1:])
    assert ("are answered by all models; 10 of each" in curve.withheld) == (min(n, n_controls) < 10)
