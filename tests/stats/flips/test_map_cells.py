"""Rows of the flip map: an axis opened in place, models under one another, differences, groups and bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from flipcore.stats.base.families import clustered_mean
from flipcore.stats.flips import map_cells
from flipcore.stats.flips.map_cells import Group
from flipcore.stats.flips.surface import Cells


def cells(rate, items=None, columns=("identity", "option_order")) -> Cells:
    rate = np.asarray(rate, dtype=float)
    return Cells(list(items or [f"i{i}" for i in range(len(rate))]), list(columns), rate, np.zeros(rate.shape))


def test_variants_stand_behind_their_axis_and_leave_the_rows_means_alone():
    base = cells([[0.0, 0.5], [1.0, 1.0]])
    variants = Cells(["i1"], ["v1", "v2"], np.array([[1.0, 0.0]]), np.array([[0.5, 0.0]]))
    opened = map_cells.with_variants(base, {"option_order": variants})
    assert [map_cells.column_parts(one) for one in opened.columns] == [
        ("identity", ""),
        ("option_order", ""),
        ("option_order", "v1"),
        ("option_order", "v2"),
    ]
    assert np.isnan(opened.rate[0, 2:]).all() and opened.rate[1].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert opened.unreadable[1].tolist() == [0, 0, 0.5, 0]
    assert map_cells.row_values(opened).tolist() == map_cells.row_values(base).tolist() == [0.5, 1.0]


def test_models_stand_under_one_another_over_all_their_columns():
    both = map_cells.stack([cells([[0, 1]]), cells([[0.25]], columns=("label_set",))])
    assert both.columns == ["identity", "option_order", "label_set"]
    assert both.rate[0, :2].tolist() == [0, 1] and np.isnan(both.rate[0, 2]) and both.rate[1, 2] == 0.25


def test_a_difference_is_undefined_where_either_is():
    one = map_cells.difference(cells([[0.5, 1.0]]), cells([[1.0, np.nan]]))
    assert one.rate[0, 0] == -0.5 and np.isnan(one.rate[0, 1])


def test_groups_follow_what_the_rows_are_sorted_by():
    first, second = cells([[0, 0.0], [0, 1.0], [0, 0.5]]), cells([[0, 1.0], [0, 0.0], [0, 1.0]])
    names = ["a", "b", "a"]
    order, groups = map_cells.group_rows(first, second, [1, 2, 0], names, "field")
    assert order == [1, 2, 0] and groups == [Group("b", 0, 1), Group("a", 1, 3)]
    order, groups = map_cells.group_rows(first, second, [2, 0, 1], names, "faithful")
    assert order == [2, 0, 1] and [group.label for group in groups] == ["a", "b"]
    assert [group.label for group in map_cells.group_rows(first, second, [1, 0, 2], names, "study")[1]] == ["b", "a"]


def test_a_mean_counts_families_once_and_rows_where_there_is_one_family():
    rate = np.random.default_rng(0).random((40, 2))
    part = cells(rate)
    told = map_cells.means_with_intervals(part, {item: f"f{i // 4}" for i, item in enumerate(part.items)})
    numbers = np.repeat(np.arange(10), 4)
    expected = [clustered_mean(x, numbers) for x in (*rate.T, rate[:, 1])]
    assert [one.n for one in told] == [10] * 3
    assert [(one.low, one.high) for one in told] == [pytest.approx((one.low, one.high)) for one in expected]
    assert [one.n for one in map_cells.means_with_intervals(part, dict.fromkeys(part.items, "f"))] == [40] * 3
    assert [one.value for one in told] == pytest.approx([*rate.mean(axis=0), rate[:, 1].mean()])


def test_a_paired_difference_may_be_negative():
    rate = np.random.default_rng(1).normal(-0.4, 0.1, (40, 1))
    (one, _) = map_cells.means_with_intervals(cells(rate, columns=("option_order",)), {}, signed=True)
    assert one.value == pytest.approx(rate.mean()) and one.low < one.value < one.high < 0


GROUPS = [Group("a", 0, 7), Group("b", 7, 9), Group("c", 9, 23)]


def test_no_bin_reaches_over_the_end_of_a_group():
    assert map_cells.bin_starts(GROUPS, 5).tolist() == [0, 5, 7, 9, 14, 19]


@given(arrays(float, 23, elements=st.one_of(st.just(np.nan), st.floats(0, 1))))
def test_bins_hold_the_means_and_quartiles_of_their_rows(values):
    starts = map_cells.bin_starts(GROUPS, 5)
    means = map_cells.bin_means(values[:, None], starts)[:, 0]
    low, high = map_cells.bin_quartiles(values, starts)
    for b, (start, end) in enumerate(zip(starts, [*starts[1:], 23], strict=True)):
        defined = np.sort(values[start:end][~np.isnan(values[start:end])])
        if not defined.size:
            assert np.isnan([means[b], low[b], high[b]]).all()
            continue
        assert means[b] == pytest.approx(defined.mean())
        assert low[b] <= np.median(defined) <= high[b] and {low[b], high[b]} <= set(defined)
        assert (defined < low[b]).sum() <= defined.size / 4 + 0.5 and (defined > high[b]).sum() <= defined.size / 4 + 0.5
