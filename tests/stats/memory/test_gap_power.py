"""The design of a study by hand, and the bisection on a rule whose power is given."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.stats.memory import gap_power
from flipcore.stats.memory.gap_decision import CALIBRATED, OTHER, PAIRED, RANDOM, Sides
from flipcore.stats.memory.gap_power import GapDesign, design_of, detectable_gap, detectable_sentence
from flipcore.stats.memory.rewritten import Rewritten


@pytest.mark.parametrize(
    ("accuracy", "rates", "control_drop", "smallest", "largest"),
    [
        ((0.8, 0.6), (0.5, 0.25), 0.3 - 0.1, 0.0, 0.8 - 0.2 * 0.25 - 0.2),
        ((0.9, 0.5), (0.0, 0.8), -0.4, 0.4 - 0.1, 0.9 - 0.1 * 0.8 + 0.4),
        ((0.1, 0.9), (0.5, 0.0), 0.45, 0.0, 0.0),  # the control loses more than the benchmark has
        ((0.7, 0.7), (0.0, 0.0), 0.0, 0.0, 0.7),
    ],
)
def test_the_gaps_that_a_design_can_have(accuracy, rates, control_drop, smallest, largest):
    design = GapDesign((40, 40), accuracy, *rates)
    assert design.control_drop == pytest.approx(control_drop)
    assert (design.smallest_gap, design.largest_gap) == pytest.approx((smallest, largest))


@pytest.mark.parametrize(
    ("accuracy", "rates", "gap", "expected"),
    [
        ((0.8, 0.6), (0.5, 0.25), 0.1, ((0.2 + 0.1 + 0.2 * 0.25) / 0.8, 0.25)),
        ((0.8, 0.5), (0.1, 0.1), 0.0, (0.02 / 0.8, 0.1)),
        ((0.8, 0.5), (0.0, 0.0), 0.0, (0.0, 0.0)),
        ((0.8, 0.5), (0.0, 0.4), 0.05, (0.0, 0.15 / 0.2)),  # only mended answers reach the gap
        ((0.8, 0.5), (0.0, 0.8), 0.1, (0.0, 1.0)),
        ((0.8, 0.5), (0.0, 0.0), 0.9, (1.0, 0.0)),
        ((0.0, 0.5), (0.0, 0.0), 0.1, (1.0, 0.0)),
        ((1.0, 0.5), (0.0, 0.4), 0.1, (0.0, 1.0)),
    ],
)
def test_the_rates_of_the_benchmark_follow_from_the_gap(accuracy, rates, gap, expected):
    assert GapDesign((40, 40), accuracy, *rates).rates(gap) == pytest.approx(expected)


def test_a_design_that_only_names_sizes_and_accuracies_changes_nothing():
    design = GapDesign((40, 40), (0.5, 0.5))
    assert (design.breaks, design.fixes, design.control, design.guess) == (0, 0, RANDOM, 0)


def test_the_power_is_the_share_of_runs_that_find_the_gap(monkeypatch):
    drawn = []

    def rejects(design, gap, rng):
        drawn.append(rng.random())
        return len(drawn) % 4 == 0

    monkeypatch.setattr(gap_power, "_rejects", rejects)
    design = GapDesign((40, 40), (0.5, 0.5))
    assert gap_power.rule_power(design, 0.1) == 0.25 and len(drawn) == 200
    for arguments in ((design, 0.1), (design, 0.1, 0, 200), (design, 0.1 + 1e-8)):
        gap_power.rule_power(*arguments)
        assert drawn[-200:] == drawn[:200]
    for arguments in ((design, 0.1, 1), (design, 0.1 + 2e-6), (GapDesign((40, 41), (0.5, 0.5)), 0.1)):
        gap_power.rule_power(*arguments)
        assert drawn[-200:] != drawn[:200]


@pytest.mark.parametrize(("control", "is_paired"), [(RANDOM, False), (OTHER, False), (PAIRED, True), (CALIBRATED, True)])
def test_a_simulated_study_has_the_sizes_and_rates_of_its_design(monkeypatch, control, is_paired):
    tested = []

    def decide(sides, control, seed, n_permutations):
        tested.append((sides, control, n_permutations))
        return SimpleNamespace(is_larger=True)

    monkeypatch.setattr(gap_power, "gap_decision", decide)
    design = GapDesign((3_000, 2_000), (0.9, 0.4), 0.2, 0.3, control, 0.25)
    assert gap_power._rejects(design, 0.3, np.random.default_rng(2))
    ((sides, tested_control, n_permutations),) = tested
    assert (tested_control, n_permutations, sides.guess) == (control, 499, (0.25, 0.25))
    pairs = {str(i): str(i) for i in range(2_000)}
    assert sides.pairs == (pairs if is_paired else None)
    for found, n, accuracy, breaks, fixes in (
        (sides.benchmark, 3_000, 0.9, *design.rates(0.3)),
        (sides.control, 2_000, 0.4, 0.2, 0.3),
    ):
        before, after = found.before.astype(bool), found.after_mean
        assert len(found.item_ids) == n and before.mean() == pytest.approx(accuracy, abs=0.04)
        assert after[before].mean() == pytest.approx(1 - breaks, abs=0.06)
        assert after[~before].mean() == pytest.approx(fixes, abs=0.08)


@pytest.mark.parametrize(
    ("n", "found_from", "expected"),
    [
        ((10, 10), 0.30, 0.30),
        ((9, 10), 0.30, math.nan),
        ((10, 9), 0.30, math.nan),
        ((40, 40), 0.0, 0.7 / 64),  # six halvings of the range up to .7
        ((40, 40), 0.7, 0.7),
        ((40, 40), 0.71, math.nan),
    ],
)
def test_the_gap_is_the_smallest_that_is_found_four_times_in_five(monkeypatch, n, found_from, expected):
    seen = set()

    def power(design, gap, seed, n_runs):
        seen.add((seed, n_runs))
        return 0.8 if gap >= found_from else 0.799

    monkeypatch.setattr(gap_power, "rule_power", power)
    design = GapDesign(n, (0.7, 0.5))
    found = detectable_gap(design)
    assert math.isnan(found) if math.isnan(expected) else found_from <= found <= expected + 0.7 / 64
    assert detectable_gap(design, 3, 40) == pytest.approx(found, nan_ok=True)
    assert seen == ({(0, 200), (3, 40)} if min(n) >= 10 else set())
    assert math.isnan(detectable_gap(GapDesign(n, (0.1, 0.9), 0.5)))


def test_a_bisection_begins_at_the_smallest_gap(monkeypatch):
    monkeypatch.setattr(gap_power, "rule_power", lambda design, gap, seed, n_runs: 1.0)
    design = GapDesign((40, 40), (0.9, 0.5), 0.0, 0.8)  # gaps from .3 to 1.22
    assert detectable_gap(design) == pytest.approx(0.3 + 0.92 / 64)


@pytest.mark.parametrize(
    ("n", "gap", "said"),
    [
        ((9, 1_200), 0.2, "With 9 benchmark and 1,200 control items no gap can be claimed: each set needs at least 10."),
        ((10, 1_200), 0.2, "With 10 benchmark and 1,200 control items this rule finds a gap of 20 points"),
        ((1_200, 10), math.nan, "With 1,200 benchmark and 10 control items at this accuracy even the largest possible"),
    ],
)
def test_the_sentence_says_which_gap_is_found_or_why_none(n, gap, said):
    assert detectable_sentence(GapDesign(n, (0.5, 0.5)), gap).startswith(said)


def items(before, after):
    return Rewritten.make([str(k) for k in range(len(before))], before, after)


def test_the_design_of_a_study_adds_half_an_item_to_each_count():
    benchmark = items([1, 1, 0, 1], [1, 0, 0, math.nan])
    # covered: three right, of which 1 and half of one break; two wrong, of which half of one is mended
    control = items([1, 1, 1, 0, 0, 1], [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [math.nan] * 2])
    design = design_of(Sides(benchmark, control, (0.25, 0.5)), OTHER)
    assert (design.n, design.control, design.guess) == ((3, 5), OTHER, 0.25)
    assert design.accuracy == pytest.approx((2.5 / 4, 3.5 / 6))
    assert (design.breaks, design.fixes) == pytest.approx((2 / 4, 1 / 3))
    every = design_of(Sides(benchmark, items([1.0] * 4, [0.0] * 4)), RANDOM)
    assert (every.breaks, every.fixes) == pytest.approx((4.5 / 5, 0.5))
    # Partly right answers may be mended by more than was wrong: no rate is above 1.
    assert design_of(Sides(benchmark, items([0.9] * 2, [0.0] * 2)), RANDOM).breaks <= 1
