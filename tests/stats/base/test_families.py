"""Means over families: against the matrix formula, in bounds, monotone, and short of nothing where families are unequal."""

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.families import FamilyMeans, by_family, clustered_difference, clustered_mean
from flipcore.stats.base.proportions import mover, t_quantile

UNEQUAL = np.repeat(np.arange(9), [8, 8, 8, 1, 1, 1, 3, 5, 2])


def inverse_root(x):
    values, vectors = np.linalg.eigh(x)
    return vectors @ np.diag(np.where(values > 1e-10, values, np.inf) ** -0.5) @ vectors.T


def by_matrices(y, design, families, contrast, alike):
    """Bell and McCaffrey (2002) as it is written: variance and degrees of freedom of `contrast` @ beta. `alike` are numbers of what
    varies together under the working model with correlation 1."""
    n = len(y)
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    residuals = y - hat @ y
    working = (alike[:, None] == alike[None, :]).astype(float)
    variance, columns = 0.0, []
    for g in np.unique(families):
        rows = families == g
        adjusted = inverse_root(np.eye(rows.sum()) - hat[np.ix_(rows, rows)])
        load = contrast @ bread @ design[rows].T @ adjusted
        variance += (load @ residuals[rows]) ** 2
        columns.append((np.eye(n) - hat)[:, rows] @ load)
    a = np.array(columns).T
    b = a.T @ working @ a
    return variance, np.trace(b) ** 2 / np.trace(b @ b)


@pytest.mark.parametrize("families", [UNEQUAL, np.repeat(np.arange(7), 4), np.arange(12), np.repeat([0, 1], [20, 3])])
def test_variance_and_degrees_of_freedom_are_those_of_the_matrix_formula(families):
    y = generator(1, len(families)).random(len(families))
    found = clustered_mean(y, families)
    variance, df = by_matrices(y, np.ones((len(y), 1)), families, np.ones(1), families)
    assert (found.value, found.se**2, found.df) == pytest.approx((y.mean(), variance, df))
    assert found.n_effective == pytest.approx(len(y) ** 2 / (np.bincount(families) ** 2).sum())


@pytest.mark.parametrize("straddling", [False, True])
def test_a_difference_is_that_of_the_matrix_formula(straddling):
    first, second = UNEQUAL, np.repeat(np.arange(6), [1, 6, 2, 2, 1, 4]) + (0 if straddling else 100)
    rng = generator(2)
    x, y = rng.normal(size=first.size), rng.normal(size=second.size)
    found = clustered_difference(x, first, y, second, bounds=None)
    side = np.repeat([0, 1], [x.size, y.size])
    design = np.column_stack([side == 0, side == 1]).astype(float)
    families = np.concatenate([first, second])
    variance, df = by_matrices(np.concatenate([x, y]), design, families, np.array([1.0, -1.0]), families * 2 + side)
    assert (found.se**2, found.df) == pytest.approx((variance, df))
    assert found.high - found.value == pytest.approx(t_quantile(0.975, df) * variance**0.5)
    assert (found.n, found.n_families) == (len(families), 6)


def test_items_alone_have_the_plain_error_and_its_degrees_of_freedom():
    x = generator(3).normal(size=25)
    found = clustered_mean(x, np.arange(25), bounds=None)
    assert (found.se, found.df, found.n_effective) == pytest.approx((x.std(ddof=1) / 5, 24, 25))


def test_columns_together_are_the_columns_alone_and_lack_what_is_not_there():
    x = generator(4).random((UNEQUAL.size, 3)).round()
    x[:10, 0] = np.nan
    together = FamilyMeans.from_values(x, UNEQUAL)
    low, high = together.limits([0.9, 0.95])[:, 1]
    for j in range(3):
        alone = clustered_mean(x[:, j], UNEQUAL)
        own = together.values[j], together.se[j], together.df[j], low[j], high[j], together.n[j], together.n_families[j]
        assert own == pytest.approx((alone.value, alone.se, alone.df, alone.low, alone.high, alone.n, alone.n_families))


def test_limits_are_wilsons_on_the_effective_number_of_items():
    x = np.isin(UNEQUAL, (0, 3, 6)).astype(float)
    found = clustered_mean(x, UNEQUAL)
    t, n = t_quantile(0.975, found.df), found.value * (1 - found.value) / found.se**2
    centre, half = found.value + t**2 / (2 * n), t * (found.value * (1 - found.value) / n + t**2 / (4 * n**2)) ** 0.5
    assert n < UNEQUAL.size and (found.low, found.high) == pytest.approx(
        ((centre - half) / (1 + t**2 / n), (centre + half) / (1 + t**2 / n))
    )


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_all_are_alike_the_families_are_what_was_seen(value):
    found = clustered_mean(np.full(UNEQUAL.size, value), UNEQUAL)
    t = t_quantile(0.975, found.df)
    bound = t**2 / (found.n_effective + t**2)
    assert (found.low, found.high) == pytest.approx((0.0, bound) if value == 0 else (1 - bound, 1.0))


def test_a_share_never_leaves_its_bounds():
    """ "0.90 [0.70, 1.10] of pairs flip" was printed of 20 families."""
    rng = generator(6)
    for _ in range(300):
        families = np.repeat(np.arange(20), rng.integers(1, 12, 20))
        x = (rng.random(families.size) < 0.9) * np.repeat(rng.random(20) < 0.9, np.bincount(families))
        found = clustered_mean(x, families)
        assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("n_runs", [6, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sizes", [[5] * 12, [12] * 6 + [1] * 18, [40] + [1] * 13])
def test_no_limit_falls_when_an_event_is_added(sizes, n_runs):
    rng, families = generator(7, len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    for run in range(n_runs):
        x = np.zeros(families.size)
        order = rng.permutation(families.size) if run % 2 else np.argsort(rng.random(len(sizes))[families], kind="stable")
        before = clustered_mean(x, families)
        for i in order:
            x[i] = 1.0
            after = clustered_mean(x, families)
            slack = 1e-9 if len(set(sizes)) == 1 else 0.02
            assert after.high >= before.high - slack and after.low >= before.low - slack
            before = after


def test_two_sets_of_other_families_are_joined_by_squares():
    rng = generator(8)
    x, y = rng.random(UNEQUAL.size).round(), rng.random(30).round()
    one, two = clustered_mean(x, UNEQUAL), clustered_mean(y, np.arange(30))
    found = clustered_difference(x, [f"a{i}" for i in UNEQUAL], y, [f"b{i}" for i in range(30)])
    assert [found.low, found.high] == pytest.approx(mover(one.value, (one.low, one.high), two.value, (two.low, two.high)))


def test_few_families_have_no_interval_and_some_more_carry_no_claim():
    few, some, enough = (clustered_mean(np.arange(60) % 2, np.repeat(np.arange(g), 60 // g)).estimate() for g in (2, 5, 6))
    assert not few.has_interval and "weigh as much as 2.0 equal ones; at least 3 are needed" in few.note
    assert some.has_interval and some.is_too_short
    assert enough.has_interval and not enough.is_too_short and enough.text().startswith("0.50 [")
    assert not clustered_mean([0, 1, 1], ["a", "b", "c"]).estimate().has_interval
    assert clustered_mean([], []).estimate().text() == "–"


def test_p_is_that_of_the_linear_t():
    x = generator(9).normal(0.2, 1, UNEQUAL.size)
    found = clustered_mean(x, UNEQUAL, bounds=None)
    at_limit = clustered_mean(x - found.low, UNEQUAL, bounds=None)
    assert (at_limit.low, at_limit.p, at_limit.p_above()) == pytest.approx((0, 0.05, 0.025), abs=1e-9)
    assert found.p_above(found.low) == pytest.approx(0.025)
    flat = clustered_mean(np.zeros(20), UNEQUAL[:20], bounds=None)
    assert flat.p == 1


def test_a_name_too_few_is_refused():
    with pytest.raises(BadInput, match="3 values came with 2 names of families"):
        clustered_mean([1, 0, 1], ["a", "b"])


def test_an_item_that_a_column_lacks_leaves_its_family():
    x = np.array([[1.0, np.nan], [0.0, 0.5], [1.0, np.nan]])
    found = by_family(x, np.array([0, 0, 1]))
    assert found[:, 0].mean() == pytest.approx(2 / 3) and found[0, 1] == 0.5 and np.isnan(found[1, 1])


def test_limits_do_not_depend_on_the_order_of_rows():
    rng = generator(5, "order of rows")
    for _ in range(60):
        families = np.repeat(np.arange(20), rng.integers(1, 6, 20))
        values = (rng.random(families.size) < 0.6).astype(float)
        first, order = clustered_mean(values, families), rng.permutation(values.size)
        again = clustered_mean(values[order], rng.permutation(20)[families[order]])
        assert (again.low, again.high) == pytest.approx((first.low, first.high), abs=1e-12)
