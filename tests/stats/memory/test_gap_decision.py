"""The rule for each kind of control: its limits, its units and its reasons, by hand."""

import math

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.base.intervals import mean_interval
from flipcore.stats.memory.gap_decision import (
    CALIBRATED,
    FAMILY,
    OTHER,
    PAIRED,
    RANDOM,
    GapDecision,
    Sides,
    _shares_differ,
    _too_few,
    are_split,
    families_of,
    gap_decision,
    pair_differences,
    pair_estimate,
    split_units,
)
from flipcore.stats.memory.rewritten import Rewritten
from flipcore.stats.memory.three_scales import SCALES, ScaleGap


def decided(control, p, low, scales=(), withheld=""):
    gap = Estimate(low + 0.1, low, low + 0.2, 0.95, "welch_t", 60, None)
    gaps = tuple(ScaleGap(name, 0.1, limit, 0.2, 0.02) for name, limit in zip(SCALES, scales, strict=False))
    return GapDecision(control, gap, gap_90=missing(), p=p, units=(60, 60), scales=gaps, changed=(9, 1), withheld=withheld)


@pytest.mark.parametrize("control", [RANDOM, PAIRED, CALIBRATED])
@pytest.mark.parametrize(
    ("p", "low", "is_larger"),
    [(0.025, 0.01, True), (0.026, 0.01, False), (0.01, 0.0, False), (0.01, -0.1, False), (math.nan, 0.1, False)],
)
def test_a_gap_is_larger_by_its_p_and_its_interval(control, p, low, is_larger):
    assert decided(control, p, low).is_larger == is_larger
    assert decided(control, p, low, scales=(-0.1, -0.1, -0.1)).is_larger == is_larger
    assert not decided(control, p, low, withheld="Too few items.").is_larger


def test_a_decision_is_of_items_and_without_mended_ones_unless_it_says_so():
    decision = decided(RANDOM, 0.01, 0.1)
    assert not decision.families and decision.mended == (0, 0) and decision.without_mended is None
    assert Sides(items("a", 2), items("b", 2)).guess == (0, 0)


@pytest.mark.parametrize(
    ("p", "scales", "is_larger"),
    [
        (0.025, (0.1, 0.1, 0.1), True),
        (0.026, (0.1, 0.1, 0.1), False),
        (0.01, (0.1, 0.1, 0.0), False),
        (0.01, (-0.1, 0.1, 0.1), False),
    ],
)
def test_against_another_kind_of_control_all_three_scales_decide(p, scales, is_larger):
    """The interval in points alone is not asked."""
    assert decided(OTHER, p, -0.1, scales).is_larger == is_larger


def items(prefix, n, n_broken=0, n_wrong=0, n_mended=0):
    """`n` items, right before but for `n_wrong`; the first `n_broken` break, and `n_mended` of the wrong ones are right after."""
    before = np.r_[np.ones(n - n_wrong), np.zeros(n_wrong)]
    after = before.copy()
    after[:n_broken] = 0
    after[n - n_wrong : n - n_wrong + n_mended] = 1
    return Rewritten.make([f"{prefix}{k}" for k in range(n)], before, after)


FAMILIES = {"a0": "f", "a1": "f", "b0": "f", "b1": "g", "b2": "g"}


def test_families_are_the_unit_only_where_two_items_share_one():
    first, second = families_of(["a0", "a1", "a2"], ["b0", "b1"], FAMILIES)
    assert (first.tolist(), second.tolist()) == (["f", "f", "a2"], ["f", "g"])
    for labels in (
        families_of(["a0"], ["b0", "b1"], FAMILIES),
        families_of(["a0", "a1"], ["b0"], None),
        families_of(["a0"], ["b0"], {}),
    ):
        assert labels == (None, None)
    only_second = families_of(["a0"], ["b1", "b2"], FAMILIES)
    assert only_second[0].tolist() == ["f"] and only_second[1].tolist() == ["g", "g"]


@pytest.mark.parametrize(
    ("first", "second", "is_split"),
    [
        ("fffg", "ffff", True),  # three of four items have a family that both sides have
        ("ffgg", "ffff", False),
        ("ffff", "ffgg", False),
        ("ffff", "fffg", True),
        ("gggg", "ffff", False),
    ],
)
def test_families_are_split_where_three_quarters_of_each_side_share_them(first, second, is_split):
    assert are_split(list(first), list(second)) == is_split


def test_a_random_split_by_item_exchanges_items_of_shared_families_one_by_one():
    family = {f"{side}{k}": "f" for side in "ab" for k in range(3)} | {"a3": "g", "a4": "g", "b3": "h"}
    first, second = split_units([f"a{k}" for k in range(3)], [f"b{k}" for k in range(3)], family)
    assert first is None and second is None  # each item is a unit of its own
    many = family | {f"{side}{k}": "f" for side in "ab" for k in range(5, 12)}
    ids = [[f"{side}{k}" for k in (0, 1, 2, 3, 4, *range(5, 12)) if f"{side}{k}" in many] for side in "ab"]
    first, second = split_units(*ids, many)
    assert first.tolist() == ["a0", "a1", "a2", "g", "g", *[f"a{k}" for k in range(5, 12)]]
    assert second.tolist() == ["b0", "b1", "b2", "h", *[f"b{k}" for k in range(5, 12)]]
    apart = split_units(["a0", "a1"], ["b1", "b2"], FAMILIES)
    assert [labels.tolist() for labels in apart] == [["f", "f"], ["g", "g"]]


@pytest.mark.parametrize(
    ("counts", "sizes", "differ"),
    [
        ((5, 0), (5, 5), True),
        ((0, 5), (5, 5), True),
        ((3, 0), (5, 5), False),
        ((0, 0), (5, 5), False),
        ((5, 0), (5, 0), False),
        ((0, 5), (0, 5), False),
        ((1, 0), (1, 19), False),  # p is .05 exactly
        ((1, 0), (1, 20), True),
    ],
)
def test_shares_of_mended_items_differ_by_fishers_test(counts, sizes, differ):
    assert _shares_differ(counts, sizes) == differ


def test_sets_of_ten_are_large_enough_and_the_smaller_one_is_named():
    names = ("rewritten benchmark item", "rewritten control item")
    assert _too_few((10, 10), names) == ""
    assert _too_few((9, 1), names) == "9 rewritten benchmark items; at least 10 are needed for an interval and a claim."
    assert _too_few((10, 1), names) == "1 rewritten control item; at least 10 are needed for an interval and a claim."
    assert _too_few((2, 9), (FAMILY, FAMILY)).startswith("2 rewritten families of items; ")
    decision = gap_decision(Sides(items("a", 9), items("b", 12)), RANDOM, m=99)
    assert decision.withheld == _too_few((9, 12), names) and math.isnan(decision.p) and decision.units == (9, 12)


def test_pairs_lose_the_difference_of_their_drops():
    sides = Sides(
        items("a", 4, n_broken=2),
        items("b", 4, n_broken=1),
        pairs={"a0": "b0", "a1": "b3", "a2": "b1", "a3": "b0", "x": "b0", "a0 ": "b1"},
    )
    assert pair_differences(sides).tolist() == [0, 1, 0, -1]
    assert len(pair_differences(Sides(items("a", 4), items("b", 4)))) == 0


def test_the_interval_of_pairs_has_a_pair_more_on_each_side():
    differences = np.array([1.0] * 3 + [0.0] * 9)
    found = pair_estimate(differences, 0.9)
    padded = mean_interval(np.append(differences, (1.0, -1.0)), kind="clt_cluster", level=0.9, bounds=(-2.0, 2.0))
    assert (found.value, found.n, found.level, found.method) == (0.25, 12, 0.9, "bonett_price")
    assert (found.low, found.high) == (padded.low, padded.high)
    assert pair_estimate(differences[:10], 0.95).has_interval and not pair_estimate(differences[:9], 0.95).has_interval
    assert pair_estimate(np.zeros(10), 0.95).low < 0 < pair_estimate(np.zeros(10), 0.95).high


@pytest.mark.parametrize("control", [PAIRED, CALIBRATED])
def test_pairs_decide_by_sign_flips(control):
    pairs = {f"a{k}": f"b{k}" for k in range(20)}
    sides = Sides(items("a", 20, n_broken=9), items("b", 20), pairs=pairs, pairs_note="Matched by length.")
    decision = gap_decision(sides, control, m=999)
    assert decision.is_larger and decision.gap.value == pytest.approx(0.45) and decision.gap.low > 0
    assert (
        decision.p == pytest.approx(2**-9, abs=0.004) and decision.note == "Matched by length." and decision.units == (20, 20)
    )
    assert (decision.gap.level, decision.gap_90.level, decision.changed) == (0.95, 0.9, (9, 0)) and decision.scales == ()
    assert not gap_decision(Sides(items("a", 20), items("b", 20, n_broken=9), pairs=pairs), control, m=999).is_larger
    problem = gap_decision(
        Sides(items("a", 20, n_broken=9), items("b", 20), pairs=pairs, pairs_problem="Too far apart."), control, m=99
    )
    assert problem.withheld == "Too far apart." and math.isnan(problem.p) and problem.gap.has_interval
    few = gap_decision(Sides(items("a", 20), items("b", 20), pairs={f"a{k}": f"b{k}" for k in range(9)}), control, m=99)
    assert few.withheld.startswith("9 rewritten pairs; ") and math.isnan(few.p)
    none = gap_decision(Sides(items("a", 20), items("b", 20)), control, m=99)
    assert none.withheld.startswith("The control is declared as paired, and no pairs are stored") and none.units == (0, 0)


@pytest.mark.parametrize("control", [RANDOM, OTHER])
@pytest.mark.parametrize(("mended", "rest"), [((10, 0), ("benchmark", 30)), ((0, 10), ("control", 30)), ((4, 4), None)])
def test_the_side_with_more_mended_items_is_tried_without_them(control, mended, rest):
    benchmark = items("a", 40, n_broken=3, n_wrong=10, n_mended=mended[0])
    others = items("b", 40, n_broken=3, n_wrong=10, n_mended=mended[1])
    decision = gap_decision(Sides(benchmark, others), control, m=99)
    assert decision.mended == mended and decision.units == (40, 40)
    if rest is None:
        assert decision.without_mended is None
    else:
        assert decision.without_mended.units == ((30, 40) if rest[0] == "benchmark" else (40, 30))


def test_a_control_of_an_unknown_kind_is_refused():
    with pytest.raises(BadInput, match="The control came as 'own'"):
        gap_decision(Sides(items("a", 12), items("b", 12)), "own")


def test_the_p_of_another_kind_of_control_is_the_largest_of_three():
    sides = Sides(items("a", 100, n_broken=40, n_wrong=20), items("b", 100, n_broken=3, n_wrong=20))
    decision = gap_decision(sides, OTHER)
    assert decision.is_larger and len(decision.scales) == 3 and decision.p == max(scale.p for scale in decision.scales)
    assert decision.changed == (40, 3) and not decision.families and gap_decision(sides).scales == decision.scales
    random = gap_decision(sides, RANDOM, m=999)
    assert random.is_larger and random.scales == ()
