"""The three contrasts by the guarded t test written out, and the plan by all outcomes of ten items."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import multinomial

from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.flips import contrast
from flipcore.stats.flips.decomposition import COLUMNS
from flipcore.stats.flips.unread import RATES, Bounds

PARTS = ("A_plus", "A_minus", "both")
N = 12


def guarded_p(values, end):
    """One-sided p of a mean above 0: one unseen item at `end`, weighted so that it moves the sum by one."""
    x, weight = np.append(values, end), np.append(np.ones(len(values)), 1 / abs(end))
    mean = np.average(x, weights=weight)
    variance = max(np.average((x - mean) ** 2, weights=weight), 1e-300)
    return stdtr(len(values) - 1, -mean / math.sqrt(variance / (weight.sum() - 1)))


def parts_of(means):
    """(items, parts) values around the `means` of A+, A- and both."""
    return np.array(means) + np.random.default_rng(5).normal(0, 0.1, (N, 3))


def bounds_of(parts):
    """Bounds whose least rates are those of `parts`."""
    plus, minus, both = parts.T
    rates = dict(zip(PARTS, parts.T, strict=True)) | {"T": plus + both, "G": minus + both}
    rates |= {"compared": plus - both, "reference": minus - both, "genuine": both - plus - minus}
    low = np.stack([rates[name] for name in RATES], axis=1)
    return Bounds(low, low)


def cell(raw, beyond=None, *, floors=(0.0, 0.0), families=None, read=None):
    """A cell with these parts of each item; without a floor unless those `beyond` it are given."""
    beyond = np.full((len(raw), 3), np.nan) if beyond is None else beyond
    values = np.full((len(raw), len(COLUMNS)), np.nan)
    for suffix, parts in (("", raw if read is None else read), ("_excess", beyond)):
        for name, column in zip(PARTS, parts.T, strict=True):
            values[:, list(COLUMNS).index(name + suffix)] = column
    W, W_ref = (SimpleNamespace(value=value) for value in floors)
    unread = SimpleNamespace(raw=bounds_of(raw), beyond=bounds_of(beyond))
    return SimpleNamespace(unread=unread, item_values=values, W=W, W_ref=W_ref, families=families)


# In the first row the contrasts decide, in the second the parts that they name.
@pytest.mark.parametrize("means", [(0.30, 0.20, 0.15), (0.10, -0.30, -0.30)])
@pytest.mark.parametrize("has_floor", [False, True])
def test_a_contrast_and_the_part_that_it_names_must_both_be_above_0(means, has_floor):
    parts, other = parts_of(means), parts_of((0.2, 0.2, 0.2))
    tested = contrast.parts_test(cell(other, parts) if has_floor else cell(parts), temperature=0)
    plus, minus, both = parts.T
    by_hand = [(plus - both, plus), (minus - both, minus), (both - plus - minus, both)]
    end = -2.0 if has_floor else -1.0
    expected = [max(guarded_p(values, end) for values in pair) for pair in by_hand]
    assert tested.p == pytest.approx(expected) and tested.p_read == pytest.approx(expected)
    assert tested.n == N and tested.is_floor_known


def test_bounds_and_readouts_are_tested_apart():
    raw, read = parts_of((0.2, 0.1, 0.1)), parts_of((0.4, 0.1, 0.0))
    tested = contrast.parts_test(cell(raw, read=read))
    for p, values in ((tested.p, raw), (tested.p_read, read)):
        of_both = guarded_p(values[:, 0] - values[:, 2], -1.0), guarded_p(values[:, 0], -1.0)
        assert p[0] == pytest.approx(max(of_both))


@pytest.mark.parametrize(
    ("temperature", "floors", "is_above"),
    [
        (0, (0.0, 0.0), True),
        (0.0, (0.0, 0.0), True),
        (1, (0.0, 0.0), False),
        (None, (0.0, 0.0), False),
        (0, (0.1, 0.0), False),
        (0, (0.0, 0.1), False),
        (0, (1.0, 0.0), False),
        (0, (0.0, 1.0), False),
    ],
)
def test_without_a_floor_only_temperature_0_without_a_flip_of_reruns_is_above_it(temperature, floors, is_above):
    tested = contrast.parts_test(cell(parts_of((0.1, 0.1, 0.4)), floors=floors), temperature)
    assert tested.is_floor_known == is_above
    for p in (tested.p, tested.p_read):
        assert np.isnan(p).tolist() == [False, False, not is_above]


def test_items_without_a_pair_are_not_counted_and_need_no_floor():
    raw, beyond = parts_of((0.2, 0.1, 0.4)), parts_of((0.1, 0.1, 0.3))
    raw[0] = beyond[0] = np.nan
    families = np.array([10, 0, 0, *range(1, 10)])
    assert contrast.parts_test(cell(raw, beyond)).n == N - 1
    assert contrast.parts_test(cell(raw, beyond)).is_floor_known
    clustered = contrast.parts_test(cell(raw, beyond, families=families))
    assert clustered.n == 10
    in_families = guarded_t((beyond[:, 2] - beyond[:, 0] - beyond[:, 1])[None], (-2.0, 2.0), families)
    assert clustered.p[2] == pytest.approx(in_families.p_above[0])
    beyond[1] = np.nan
    assert not contrast.parts_test(cell(raw, beyond)).is_floor_known
    assert contrast.parts_test(cell(raw * np.nan, beyond)).n == 0
    assert not contrast.parts_test(cell(raw * np.nan, beyond)).is_floor_known


@pytest.mark.parametrize(
    ("world", "difference", "share"),
    [
        ("assumed", 0.0, 0.12),
        ("assumed", 0.72, 0.12),
        ("assumed", 0.80, 0.10),  # no more than what the difference leaves, half of it on each side
        ("twice the noise", 0.0, 0.14),
        ("twice the noise", 0.80, 0.10),
        ("half as many under both", 0.0, 0.12),
        ("half as many under both", 0.10, 0.12),
        ("half as many under both", 0.30, 0.32),
        ("half as many under both", 0.50, 0.25),
    ],
)
def test_each_world_has_its_share_against_artifact(world, difference, share):
    assert contrast.share_against(difference, world) == pytest.approx(share)


def test_the_power_of_ten_items_is_that_of_all_their_outcomes():
    # +1 with .84, -1 with .12, 0 with .04; Holm's first step over three contrasts
    exact = dict.fromkeys((1, 4), 0.0)
    for n_plus in range(11):
        for n_minus in range(11 - n_plus):
            values = np.repeat([1.0, -1.0, 0.0], [n_plus, n_minus, 10 - n_plus - n_minus])
            chance = multinomial.pmf([n_plus, n_minus, 10 - n_plus - n_minus], 10, [0.84, 0.12, 0.04])
            for n_cells in exact:
                exact[n_cells] += chance * (3 * n_cells * guarded_p(values, -1.0) <= 0.05)
    for n_cells, share in exact.items():
        found = contrast.power(10, 0.72, n_cells)
        assert 0.05 < share < 0.95 and found == pytest.approx(share, abs=4 * math.sqrt(0.25 / 4_000))
        assert found * 4_000 == pytest.approx(round(found * 4_000))


def test_a_plan_shows_the_same_power_each_time_and_another_for_another_design():
    power = contrast.power(12, 0.4)
    assert power == contrast.power(12, 0.4, 1, 0.95, "assumed", 0, 4_000)
    assert power != contrast.power(12, 0.4, seed=1)
    # The numbers drawn depend on the difference to a millionth.
    assert power == contrast.power(12, 0.4 + 1e-8) != contrast.power(12, 0.4 + 1e-6)


def test_no_power_below_ten_items_or_for_a_difference_that_cannot_be():
    def is_missing(n, difference):
        return math.isnan(contrast.power(n, difference, runs=4))

    assert is_missing(9, 0.3) and not is_missing(10, 0.3)
    assert is_missing(10, -0.01) and not is_missing(10, 0.0)
    assert is_missing(10, 0.721) and not is_missing(10, 0.72)


@pytest.mark.parametrize("fewest", [10, 11, 38, 1_499, 1_500])
def test_the_fewest_items_are_those_with_a_difference_that_is_found(monkeypatch, fewest):
    asked = set()

    def difference(n, n_cells):
        asked.add(n_cells)
        return 0.5 if n >= fewest else math.nan

    monkeypatch.setattr(contrast, "detectable_difference", difference)
    assert contrast.fewest_items.__wrapped__() == contrast.fewest_items.__wrapped__(1) == fewest
    assert contrast.fewest_items.__wrapped__(6) == fewest and asked == {1, 6}


@pytest.mark.parametrize(
    ("n", "needed", "difference"),
    [
        (10, 0.01, 0.01),
        (40, 0.31, 0.31),
        (40, 0.72, 0.72),
        (40, 0.73, math.nan),
        (9, 0.01, math.nan),
        (1_500, 0.31, 0.31),
        (6_000, 0.31, 0.16),  # half of it, rounded up
        (6_000, 0.32, 0.16),
    ],
)
def test_the_difference_is_the_smallest_that_is_found_four_times_in_five(monkeypatch, n, needed, difference):
    designs = set()

    def power(n, difference, n_cells, *, seed):
        designs.add((n, n_cells, seed))
        return 0.80 + 0.03 if difference > needed - 1e-9 else 0.829

    monkeypatch.setattr(contrast, "power", power)
    detectable = contrast.detectable_difference.__wrapped__
    assert detectable(n) == pytest.approx(difference, nan_ok=True)
    assert designs == (set() if n < 10 else {(min(n, 1_500), 1, 0)})
    assert detectable(n, 3, seed=2) == pytest.approx(difference, nan_ok=True)


@pytest.mark.parametrize(("n_cells", "named"), [(1, ()), (2, (2,))])
def test_the_worse_worlds_are_simulated_with_half_of_the_runs(monkeypatch, n_cells, named):
    powers = {"half as many under both": 0.6, "twice the noise": 0.4}

    def power(*design, world, runs):
        assert (design, runs) == ((40, 0.3, n_cells), 2_000)
        return powers[world]

    monkeypatch.setattr(contrast, "power", power)
    assert contrast.power_in_worse_worlds(40, 0.3, *named) == (0.4, 0.6)
