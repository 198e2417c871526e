"""The interval menu: outside references, hand derivations, degenerate data, and simulated coverage."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binomtest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import bootstrap, intervals, joint_means
from flipcore.stats.base import proportions as p
from flipcore.stats.base.bootstrap import bca_limits, studentized_limits
from flipcore.stats.base.estimate import SHORT, Estimate, coverage_label
from flipcore.stats.base.intervals import SIGNED, mean_interval
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.flips.coded_answers import coded_answers
from tests import naive, source_statistics
from tests.stats.flips.test_decomposition import readme

COUNTS = [(0, 10), (3, 20), (10, 10), (497, 1000)]
SKEWED = np.random.default_rng(3).exponential(size=40)


@pytest.mark.parametrize(("k", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_shares_agree_with_statsmodels(k, n, level):
    assert intervals.wilson(k, n, level) == pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-12)
    assert intervals.clopper_pearson(k, n, level) == pytest.approx(proportion_confint(k, n, 1 - level, "beta"), abs=1e-9)


@pytest.mark.parametrize("counts", [(56, 70, 48, 80), (0, 10, 0, 20), (5, 5, 0, 9)])
def test_newcombe_agrees_with_statsmodels(counts):
    theirs = confint_proportions_2indep(*counts, method="newcomb", compare="diff")
    assert intervals.newcombe_diff(*counts) == pytest.approx(theirs, abs=1e-9)


def test_mover_of_wilson_limits_is_newcombes_interval():
    k1, n1, k2, n2 = 30, 40, 10, 50
    found = intervals.mover(k1 / n1, intervals.wilson(k1, n1), k2 / n2, intervals.wilson(k2, n2))
    assert found == intervals.newcombe_diff(k1, n1, k2, n2)


def test_bonett_price_by_hand():
    # b = 9, c = 3, n = 98: p = 10/100, q = 4/100, centre .06, variance (.14 - .0036)/100
    half = 1.959963984540054 * math.sqrt(0.1364 / 100)
    assert intervals.bonett_price(9, 3, 98) == pytest.approx([0.06 - half, 0.06 + half])
    assert intervals.bonett_price(0, 0, 1)[0] >= -1


def test_no_cases_are_missing_and_impossible_counts_are_refused():
    for found in (
        intervals.wilson(0, 0),
        intervals.clopper_pearson(0, 0),
        intervals.newcombe_diff(0, 0, 1, 2),
        intervals.bonett_price(0, 0, 0),
        intervals.hoeffding(math.nan, 0),
        source_statistics.boot_percentile([]),
        source_statistics.boot_bca([]),
        source_statistics.boot_studentized([1.0]),
        source_statistics.conf_seq([1.0]),
    ):
        assert np.isnan(found).all()
    with pytest.raises(BadInput, match="5 of 4 is not a share"):
        intervals.wilson(5, 4)


def test_the_clt_is_scipys_standard_error_and_t_interval():
    found = intervals.clt(SKEWED, t=True)
    assert found["se"] == pytest.approx(stats.sem(SKEWED))
    theirs = stats.t.interval(0.95, 39, SKEWED.mean(), stats.sem(SKEWED))
    assert (found["lo"], found["hi"]) == pytest.approx(theirs)
    assert intervals.clt(SKEWED)["hi"] < found["hi"]
    assert math.isnan(intervals.clt([1.0])["se"]) and math.isnan(intervals.clt([])["mean"])


def test_clustered_errors_are_millers_and_statsmodels_with_cr1():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 60)
    x = rng.normal(size=60) + clusters / 5
    found = source_statistics.cluster_clt(x, clusters)
    assert found["se"] == pytest.approx(naive.cluster_se(x.tolist(), clusters.tolist()))
    fit = OLS(x, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    # statsmodels multiplies by G/(G-1) * (N-1)/(N-1) for one regressor: exactly CR1
    assert found["se_cr1"] == pytest.approx(fit.bse[0])
    assert (found["lo"], found["hi"]) == pytest.approx(tuple(fit.conf_int()[0]))


def test_one_cluster_says_nothing_about_its_error():
    found = source_statistics.cluster_clt([1.0, 0.0], ["a", "a"])
    assert found["mean"] == 0.5 and math.isnan(found["se"]) and math.isnan(found["se_cr1"])
    with pytest.raises(BadInput, match="one name per value"):
        source_statistics.cluster_clt([1.0, 0.0], ["a"])


def test_the_percentile_interval_is_the_sources_loop():
    rng = np.random.default_rng(5)
    reps = [SKEWED[rng.integers(0, 40, size=40)].mean() for _ in range(500)]
    assert source_statistics.boot_percentile(SKEWED, seed=5, n_boot=500) == pytest.approx(
        np.percentile(reps, [2.5, 97.5]).tolist()
    )
    assert source_statistics.boot_percentile(SKEWED, 5, 500, stat=np.median)[0] <= np.median(SKEWED)


def test_bca_is_scipys_on_the_same_resamples():
    # scipy draws the same indices from the same generator; it counts ties as half only in z0 of newer versions, and
    # continuous data have none
    theirs = stats.bootstrap((SKEWED,), np.mean, n_resamples=2000, rng=np.random.default_rng(1), method="BCa")
    found = source_statistics.boot_bca(SKEWED, seed=1, n_boot=2000)
    assert found == pytest.approx(list(theirs.confidence_interval), abs=2e-3)
    median = source_statistics.boot_bca(SKEWED, seed=1, n_boot=500, stat=lambda x: float(np.mean(x)))
    assert median == pytest.approx(source_statistics.boot_bca(SKEWED, seed=1, n_boot=500))


def test_bca_counts_ties_half_on_a_lattice():
    # 3 of 12: many replicates equal the estimate, so z0 needs the mid-rank; with ties left out z0 would be far below 0
    x = np.array([1.0] * 3 + [0.0] * 9)
    rng = np.random.default_rng(0)
    reps = np.array([x[rng.integers(0, 12, size=12)].mean() for _ in range(2000)])
    z0 = stats.norm.ppf((np.mean(reps < 0.25) + np.mean(reps <= 0.25)) / 2)
    d = x - 0.25
    accel = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    z = z0 + stats.norm.ppf([0.025, 0.975])
    wanted = np.percentile(reps, 100 * stats.norm.cdf(z0 + z / (1 - accel * z)))
    assert source_statistics.boot_bca(x) == pytest.approx(wanted)
    assert abs(z0) < 0.1


def test_bca_is_skewed_towards_the_long_tail():
    low, high = source_statistics.boot_bca(SKEWED, n_boot=4000)
    plain_low, plain_high = source_statistics.boot_percentile(SKEWED, n_boot=4000)
    assert low > plain_low and high > plain_high


def test_equal_values_give_an_interval_without_width_for_the_caller_to_replace():
    assert source_statistics.boot_bca([0.5] * 8) == [0.5, 0.5]
    assert source_statistics.boot_studentized([0.5] * 8) == [0.5, 0.5]
    assert source_statistics.boot_percentile([0.5] * 8) == [0.5, 0.5]
    assert np.isnan(bca_limits(np.zeros(9), 5.0, np.array([1.0, 2.0]), 0.95)).all()
    assert studentized_limits(np.empty(0), 0.3, 0.1, 0.95) == [0.3, 0.3]


def test_bootstrap_t_by_the_slow_way():
    x = SKEWED[:12]
    rng, ts = np.random.default_rng(0), []
    for _ in range(400):
        row = x[rng.integers(0, 12, size=12)]
        if np.ptp(row) > 0:
            ts.append((row.mean() - x.mean()) / stats.sem(row))
    low, high = np.percentile(ts, [2.5, 97.5])
    wanted = [x.mean() - high * stats.sem(x), x.mean() - low * stats.sem(x)]
    assert source_statistics.boot_studentized(x, 0, 400) == pytest.approx(wanted)


def test_the_confidence_sequence_by_hand():
    # t = 100, a = .05: r2 = (-2 ln .05 + ln(-2 ln .05 + 1))/100 = (5.99146 + 1.94470)/100
    x = np.tile([0.0, 1.0], 50)
    r2 = 0.0793616
    half = x.std(ddof=1) * math.sqrt((100 * r2 + 1) / (1e4 * r2) * math.log((100 * r2 + 1) / 0.0025))
    assert source_statistics.conf_seq(x) == pytest.approx([0.5 - half, 0.5 + half], abs=1e-5)
    assert source_statistics.conf_seq(x, rho=math.sqrt(r2)) == pytest.approx(source_statistics.conf_seq(x), abs=1e-5)
    fixed = intervals.clt(x)
    assert 1.4 < (half / (fixed["hi"] - 0.5)) < 1.7  # 1.55-1.6 times wider


@pytest.mark.parametrize(
    ("n", "values", "method"),
    [(9, [0, 1], "none"), (10, [0, 1], "wilson"), (29, [0, 0.5], "studentized"), (30, [0, 1], "clt_cluster")],
)
def test_the_default_interval_depends_on_the_number_of_items(n, values, method):
    found = mean_interval((values * n)[:n])
    assert found.method == method and found.n == n
    assert (found.method == "none") == math.isnan(found.low) == ("at least 10 items are needed" in found.note)


def test_every_kind_of_the_menu_is_the_function_of_that_name():
    x = (np.arange(40) % 3 == 0).astype(float)
    assert mean_interval(x, kind="clt_cluster").low == pytest.approx(source_statistics.cluster_clt(x, np.arange(40))["lo"])
    y = SKEWED[:30]  # distinct values draw the source's indices
    for kind, menu in (
        ("percentile", source_statistics.boot_percentile),
        ("bca", source_statistics.boot_bca),
        ("studentized", source_statistics.boot_studentized),
    ):
        found = mean_interval(y, kind=kind, seed=4, n_boot=999, bounds=None)
        assert [found.low, found.high] == pytest.approx(menu(y, 4, 999)) and found.seed == 4


def test_rows_of_an_item_move_together():
    # four equal rows an item are one item: the width must be that of 40 items, not of 160 rows
    x = np.random.default_rng(1).random(40)
    one, four = (
        mean_interval(x, bounds=None),
        mean_interval(np.repeat(x, 4), clusters=np.repeat(np.arange(40), 4), bounds=None),
    )
    assert (four.low, four.high, four.n) == (pytest.approx(one.low), pytest.approx(one.high), 40)
    boot = mean_interval(np.repeat(x, 4), clusters=np.repeat(np.arange(40), 4), kind="bca", n_boot=500)
    assert (boot.low, boot.high) == pytest.approx(tuple(source_statistics.boot_bca(x, 0, 500)))


@pytest.mark.parametrize("kind", ["percentile", "bca", "studentized", "clt_cluster"])
def test_an_interval_without_width_gives_way_to_one_that_has_it_and_says_so(kind):
    share = mean_interval([0.0] * 40, kind=kind)
    assert [share.low, share.high] == intervals.wilson(0, 40) and share.method == "wilson"
    assert share.note == f"The {kind} interval has no width, so Wilson's stands in."
    paired = mean_interval([0.0] * 40, kind=kind, bounds=SIGNED)
    assert [paired.low, paired.high] == intervals.bonett_price(0, 0, 40)
    right = mean_interval([1.0] * 40, kind=kind)
    won, lost = (mean_interval([value] * 40, kind=kind, bounds=SIGNED) for value in (1.0, -1.0))
    assert [right.low, right.high] == intervals.wilson(40, 40)
    assert [won.low, won.high] == intervals.bonett_price(40, 0, 40)
    assert [lost.low, lost.high] == intervals.bonett_price(0, 40, 40)
    bounded = mean_interval([0.5] * 40, kind=kind)
    assert bounded.method == "hoeffding" and bounded.high - bounded.low == pytest.approx(2 * math.sqrt(math.log(40) / 80))
    # half of the width is that of the scale times the root of log(2/.05)/(2 n)
    half = math.sqrt(math.log(40) / 80)
    for value, bounds in ((0.25, SIGNED), (1.0, (-2.0, 2.0)), (0.0, (-1.0, 4.0))):
        graded = mean_interval([value] * 40, kind=kind, bounds=bounds)
        width = bounds[1] - bounds[0]
        ends = max(bounds[0], value - width * half), min(bounds[1], value + width * half)
        assert graded.method == "hoeffding" and (graded.low, graded.high) == pytest.approx(ends)
    nats = mean_interval([2.5] * 40, kind=kind, bounds=None)
    assert math.isnan(nats.low) and "without known bounds" in nats.note


def test_missing_values_leave_with_their_items_and_nothing_is_missing():
    assert mean_interval([1.0, math.nan] * 40).n == 40
    empty = mean_interval([math.nan])
    assert empty.n == 0 and math.isnan(empty.value) and empty.text() == "–"


def test_wrong_kinds_are_refused_with_what_to_do():
    with pytest.raises(BadInput, match="choose one of default"):
        mean_interval([1.0], kind="wald")
    with pytest.raises(BadInput, match="one name per value"):
        mean_interval([1.0, 2.0], clusters=["a"])


def test_skipped_resamples_are_counted_in_the_note():
    found = mean_interval([0.0] * 11 + [0.5], kind="studentized", n_boot=1000)
    assert "of 1,000 resamples had no spread" in found.note


@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clt_cluster", "studentized", "bca"])
def test_clustered_intervals_cover_where_rows_are_correlated(kind):
    # four rows an item with ICC .5; rows as units would cover about .8
    rng, covered, n_sims = generator(0, "clustered", kind), 0, 1000
    clusters = np.repeat(np.arange(150), 4)
    for simulation in range(n_sims):
        x = np.repeat(rng.normal(size=150), 4) + rng.normal(size=600)
        found = mean_interval(x, clusters, kind, seed=simulation, n_boot=499, bounds=None)
        covered += found.low <= 0 <= found.high
    assert binomtest(covered, n_sims, 0.93, alternative="less").pvalue > 0.01


def test_where_few_items_vary_the_default_leaves_the_studentised_interval():
    # two of 12 items vary: (10/12)^12 = 11% of the resamples have no spread, far more than a tail of 2.5%
    found = mean_interval([0.0] * 10 + [0.75] * 2)
    assert found.method == "bca" and "had no spread to studentise with" in found.note
    assert mean_interval([0.0] * 10 + [0.75] * 2, kind="studentized").high < found.high


def test_an_interval_for_a_share_ends_at_1_and_one_without_bounds_does_not():
    values = [1.0] * 36 + [0.1] * 4
    assert mean_interval(values).high <= 1 < mean_interval([1.0] * 39 + [0.5], bounds=None).high
    assert mean_interval([1.0] * 39 + [0.5]).high < 1
    assert mean_interval([2.0] * 39 + [1.0]).high > 1.9  # no shares, whatever the default says


@pytest.mark.parametrize("kind", [list, np.array, lambda names: np.array(names, dtype=object)], ids=["list", "text", "object"])
def test_clusters_stand_in_order_of_appearance_whatever_holds_their_names(kind):
    sums, sizes = intervals.cluster_sums(np.array([1.0, 2.0, 4.0, 8.0]), kind(["b", "a", "b", "c"]))
    assert sums.tolist() == [5.0, 2.0, 8.0] and sizes.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize("kind", [list, lambda names: np.array(names, dtype=object)], ids=["list", "object"])
def test_items_without_a_cluster_name_are_one_cluster(kind):
    sums, sizes = intervals.cluster_sums(np.array([1.0, 2.0, 4.0]), kind([None, "a", None]))
    assert sums.tolist() == [5.0, 2.0] and sizes.tolist() == [2.0, 1.0]


# Bootstrap limits on replicates that are known, and values that are all alike.


def test_percentiles_leave_half_the_rest_outside_on_either_side():
    assert bootstrap.percentile_limits(np.arange(101.0), 0.9) == pytest.approx([5, 95])


def test_without_bias_or_skewness_bca_is_the_percentile_interval():
    reps = np.linspace(-1, 1, 2001)
    assert bootstrap.bca_limits(reps, 0.0, np.array([-1.0, 0.0, 1.0]), 0.95) == pytest.approx([-0.95, 0.95], abs=1e-3)
    assert bootstrap.acceleration(np.array([2.0, 2.0])) == 0.0


def test_an_observed_value_beyond_all_replicates_has_no_bca_limits():
    assert all(map(math.isnan, bootstrap.bca_limits(np.zeros(9) + 1, 5.0, np.arange(3.0), 0.95)))


def test_values_that_are_all_alike_come_back_as_one_point_and_none_as_nan():
    assert (
        source_statistics.boot_bca([2, 2, 2], n_boot=50) == source_statistics.boot_studentized([2, 2, 2], n_boot=50) == [2, 2]
    )
    assert all(
        math.isnan(x)
        for x in (
            *source_statistics.boot_percentile([]),
            *source_statistics.boot_bca([]),
            *source_statistics.boot_studentized([1]),
        )
    )


def test_studentised_limits_turn_the_replicates_round():
    assert bootstrap.studentized_limits(np.linspace(-1, 3, 401), 10.0, 2.0, 0.95) == pytest.approx([10 - 2 * 2.9, 10 + 2 * 0.9])


# Short intervals say what they held in simulation, and nothing is claimed of one that is too short.


CODED = coded_answers(readme(60, 5, n=80))


def test_the_interval_of_a_page_holds_what_it_promises_in_every_simulated_world():
    """Replaced before labelled: no default interval is short, so no page starts with a label."""
    default = [row for row in joint_means._table_rows() if row["kind"] == "default"]
    assert len(default) == 48 and [row for row in default if row["covered"] < SHORT] == []


@pytest.mark.parametrize(("n", "size"), [(12, 26), (26, 26), (49, 26), (50, 50), (10_000, 500)])
def test_it_takes_the_worst_world_of_the_size_below(n, size):
    of_size = [row for row in joint_means._table_rows() if (row["kind"], row["n"]) == ("percentile", size)]
    for signed, quantities in ((False, ("T", "G")), (True, ("A", "A_minus_G"))):
        worst = min(row["covered"] for row in of_size if row["quantity"] in quantities)
        assert joint_means.measured_coverage("percentile", n, signed=signed) == worst


def test_a_short_interval_says_so_and_a_good_one_does_not():
    assert coverage_label(0.897) == "about 90%" and coverage_label(SHORT) == coverage_label(None) == ""
    short = Estimate(0.2, 0.1, 0.3, 0.95, "percentile", 26, 0, coverage=0.897)
    assert short.text() == "0.20 [0.10, 0.30] (about 90%)" and not short.is_too_short
    assert short.text_points() == "+20.0 points [+10.0, +30.0] (about 90%)"
    columns = np.random.default_rng(1).random((26, 1))
    (((estimate,),),) = (JointMeans(columns, 0, 199).estimates("percentile", [0.95], [(0.0, 1.0)]),)
    assert estimate.coverage == joint_means.measured_coverage("percentile", 26) < SHORT


# Closed-form intervals against published figures, and a count that is none.


def test_intervals_are_those_of_their_papers():
    assert p.wilson(1, 10) == pytest.approx([0.0179, 0.4042], abs=1e-4)
    assert p.clopper_pearson(0, 10) == pytest.approx([0, 0.3085], abs=1e-4)
    assert p.newcombe_diff(56, 70, 48, 80) == pytest.approx([0.0524, 0.3339], abs=1e-4)  # Newcombe 1998, table II, method 10
    assert p.hoeffding(0.5, 100) == pytest.approx([0.5 - 0.1358, 0.5 + 0.1358], abs=1e-4)


def test_a_paired_difference_adds_one_pair_to_each_discordant_count():
    shares = (13 / 52, 5 / 52)
    half = 1.959964 * math.sqrt((sum(shares) - (shares[0] - shares[1]) ** 2) / 52)
    assert p.bonett_price(12, 4, 50) == pytest.approx([8 / 52 - half, 8 / 52 + half], abs=1e-6)


def test_limits_join_by_squares_and_stay_within_their_ends():
    assert p.mover(0.8, [0.7, 0.9], 0.5, [0.4, 0.6]) == pytest.approx([0.3 - math.hypot(0.1, 0.1), 0.3 + math.hypot(0.1, 0.1)])
    assert p.wilson(0, 5)[0] == 0 and p.wilson(5, 5)[1] == 1


def test_no_cases_have_no_interval_and_more_hits_than_cases_are_refused():
    pairs = (p.wilson(0, 0), p.clopper_pearson(0, 0), p.newcombe_diff(0, 0, 1, 2), p.bonett_price(0, 0, 0), p.hoeffding(0, 0))
    assert all(math.isnan(limit) for pair in pairs for limit in pair)
    with pytest.raises(BadInput, match="3 of 2 is not a share"):
        p.wilson(3, 2)


def test_a_resample_of_one_cluster_has_no_spread_on_any_scale():
    """Rounding of large numbers is no spread; a t value over it would be the limit."""
    values, clusters = generator(1).random(15), np.repeat([0, 1, 2], [3, 5, 7])
    small, large = (mean_interval(values * scale, clusters, kind="studentized", bounds=None, n_boot=500) for scale in (1, 1e3))
    assert "57 of 500 resamples had no spread" in small.note and large.note == small.note
    assert (large.low / 1e3, large.high / 1e3) == pytest.approx((small.low, small.high))
