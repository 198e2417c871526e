import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, t
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base import agreement
from flipcore.stats.base.agreement import log_jackknife
from tests import source_statistics

pytestmark = pytest.mark.usefixtures("allowed_folders")

pairs = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=40)


@pytest.mark.slow
@given(pairs, st.sampled_from([None, "linear", "quadratic"]))
@settings(max_examples=100, deadline=None)
def test_cohens_kappa_equals_scikit_learn(rows, weights):
    a, b = zip(*rows, strict=True)
    ours = agreement.cohen_kappa(a, b, weights)
    if len(set(a) | set(b)) == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(cohen_kappa_score(a, b, weights=weights))


def test_cohens_kappa_by_hand():
    # agreement 3/4; chance (.5 * .75 + .5 * .25) = .5; kappa = .25/.5
    assert agreement.cohen_kappa(["y", "y", "n", "n"], ["y", "y", "y", "n"]) == pytest.approx(0.5)


def test_items_that_one_rater_left_out_are_dropped():
    assert agreement.cohen_kappa([1, 2, None, 1], [1, 2, 1, math.nan]) == 1.0
    assert math.isnan(agreement.cohen_kappa([], []))


def test_one_category_leaves_kappa_undefined_and_keeps_the_raw_agreement():
    result = agreement.cohen_agreement([True] * 40, [True] * 40)
    assert math.isnan(result.estimate.value) and result.raw == 1.0
    assert "undefined" in result.sentence()


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=2, max_size=20))
@settings(max_examples=60, deadline=None)
def test_fleiss_kappa_equals_statsmodels(units):
    table = [[unit.count(category) for category in "abc"] for unit in units]
    ours = agreement.fleiss_kappa(table)
    if len({rating for unit in units for rating in unit}) == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(statsmodels_fleiss(table))


def test_fleiss_kappa_refuses_unequal_raters():
    with pytest.raises(BadInput, match="2 to 3"):
        agreement.fleiss_kappa([[2, 1], [1, 1]])
    assert math.isnan(agreement.fleiss_kappa([[1, 0], [0, 1]])) and math.isnan(agreement.fleiss_kappa([]))


@given(
    st.lists(st.lists(st.sampled_from([1.0, 2.0, 3.0, None]), min_size=6, max_size=6), min_size=2, max_size=4),
    st.sampled_from(["nominal", "interval"]),
)
@settings(max_examples=80, deadline=None)
def test_krippendorffs_alpha_equals_the_krippendorff_package(ratings, level):
    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    pairable = [rating for unit in units if len(unit) > 1 for rating in unit]
    ours = source_statistics.krippendorff_alpha(ratings, level)
    if len(set(pairable)) < 2:
        assert math.isnan(ours)
    else:
        data = [[np.nan if r is None else r for r in row] for row in ratings]
        assert ours == pytest.approx(krippendorff.alpha(reliability_data=data, level_of_measurement=level))


def test_krippendorffs_alpha_takes_words():
    assert source_statistics.krippendorff_alpha([["yes", "no", None], ["yes", "no", "no"]]) == 1.0
    with pytest.raises(BadInput, match="ordinal"):
        source_statistics.krippendorff_alpha([[1], [2]], "ordinal")


def noisy_pair(rng, n, p_same):
    truth = rng.integers(0, 2, n)
    return truth, np.where(rng.random(n) < p_same, truth, 1 - truth)


@pytest.mark.slow
def test_the_kappa_interval_covers():
    # two balanced raters who agree with p = .85: kappa = 2 * .85 - 1 = .70
    rng, hits, n = generator(11), 0, 300
    for _ in range(n):
        e = agreement.cohen_agreement(*noisy_pair(rng, 150, 0.85)).estimate
        hits += e.low <= 0.70 <= e.high
    assert binomtest(hits, n, 0.93, alternative="less").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n", "prevalence", "kappa"), [(30, 0.9, 0.3), (60, 0.95, 0.6), (100, 0.95, 0.3), (60, 0.5, 0.6)])
def test_the_intervals_cover_where_one_answer_prevails(n, prevalence, kappa):
    # the percentile bootstrap covered .68, .77, .81 and .93 here
    both = [
        prevalence**2 + kappa * prevalence * (1 - prevalence),
        (1 - prevalence) ** 2 + kappa * prevalence * (1 - prevalence),
    ]
    one = (1 - sum(both)) / 2
    rng, hits, runs = generator(12, str(n), str(prevalence)), {"cohen": 0, "alpha": 0}, 0
    for _ in range(150):
        cells = np.repeat(np.arange(4), rng.multinomial(n, [*both, one, one]))
        a, b = np.isin(cells, (0, 2)).tolist(), np.isin(cells, (0, 3)).tolist()
        found = agreement.cohen_agreement(a, b).estimate, agreement.krippendorff_agreement([a, b]).estimate
        if not any(math.isnan(one.value) for one in found):
            runs += 1
            for name, estimate in zip(hits, found, strict=True):
                hits[name] += estimate.low <= kappa <= estimate.high
    assert all(binomtest(k, runs, 0.93, alternative="less").pvalue > 0.01 for k in hits.values())


def test_perfect_agreement_gets_a_bound_below_one():
    result = agreement.cohen_agreement([0, 1] * 50, [0, 1] * 50)
    # Wilson's lower bound of 100/100 is .963; balanced ratings agree by chance with .5: (.963 - .5)/.5
    assert (result.estimate.value, result.estimate.high) == (1.0, 1.0)
    assert result.estimate.low == pytest.approx(0.926, abs=1e-3)
    assert any("loaded twice" in warning for warning in result.warnings)


def test_a_prevailing_answer_is_warned_about():
    a = [1] * 95 + [0] * 5
    b = [1] * 95 + [0, 1, 0, 1, 0]
    assert any("prevails" in warning for warning in agreement.cohen_agreement(a, b).warnings)


def test_krippendorff_agreement_reports_units_and_raw_pairs():
    # units: (1,1,1) 3 of 3 pairs, (1,2) 0 of 1, (2,2) 1 of 1, one single rating that is dropped
    result = agreement.krippendorff_agreement([[1, 1, 2, 1], [1, 2, 2, None], [1, None, None, None]])
    assert result.n_items == 3 and result.raw == pytest.approx(4 / 5)


def test_raters_of_different_items_are_refused():
    with pytest.raises(BadInput, match="got 2 and 1"):
        agreement.cohen_kappa([1, 2], [1])


def test_fleiss_with_gaps_takes_the_largest_group_of_equal_raters():
    # three pairs have two ratings, two have three: the three are used, and equal statsmodels on them
    ratings = [["y", "n", "y", "y", "n"], ["y", "n", "n", "y", "n"], [None, None, None, "y", "y"]]
    found = agreement.fleiss_agreement(ratings)
    assert found.n_items == 3
    assert found.estimate.value == pytest.approx(statsmodels_fleiss([[2, 0], [0, 2], [1, 1]]))
    assert not found.estimate.has_interval and "at least 10 items are needed" in found.estimate.note


def test_an_agreement_that_every_resample_repeats_gets_a_bound_with_width():
    # one dissent in 20 by the second rater alone: kappa is 0 whatever is drawn, and [0, 0] would claim to know that.
    # chance .95 = (.95 * 1); Wilson's of 19/20 is [.764, .991]: (.764 - .95)/.05 < -1, (.991 - .95)/.05 = .82
    found = agreement.cohen_agreement(["y"] * 20, ["y"] * 19 + ["n"]).estimate
    assert (found.value, found.low, found.method) == (0.0, -1.0, "wilson") and found.high == pytest.approx(0.82, abs=0.01)


def test_raters_with_unequal_places_are_refused_in_words():
    with pytest.raises(BadInput, match=r"got \[1, 2\] ratings"):
        source_statistics.krippendorff_alpha([[1, 2], [1]])
    with pytest.raises(BadInput, match="differ in length"):
        agreement.fleiss_kappa([[1, 2], [3]])


def test_fleiss_without_common_items_is_missing():
    found = agreement.fleiss_agreement([["y", None], [None, "n"]])
    assert found.n_items == 0 and math.isnan(found.estimate.value) and "No item" in found.sentence()


def apty_ratings(shared_data):
    """Ratings of APTY's pairs that several annotators judged: {pair: {annotator: "True" | "False"}}."""
    import csv

    with (shared_data / "apty" / "apty_base.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    said = {}
    for row in rows:
        pair = row["apt"], row["original"], row["paraphrase-text"]
        said.setdefault(pair, {})[row["annotator"]] = row["applied-correctly"]
    return {pair: votes for pair, votes in said.items() if len(votes) > 1}


@pytest.mark.stand_in("test_krippendorffs_alpha_equals_the_krippendorff_package")
def test_real_raters_of_apty_get_the_coefficients_of_other_packages(shared_data):
    said = apty_ratings(shared_data)
    assert len(said) == 23
    raters = sorted({rater for votes in said.values() for rater in votes})
    table = [[votes.get(rater) for votes in said.values()] for rater in raters]
    coded = [[np.nan if one is None else float(one == "True") for one in row] for row in table]
    ours = agreement.krippendorff_agreement(table)
    assert ours.estimate.value == pytest.approx(krippendorff.alpha(coded, level_of_measurement="nominal"))
    fleiss = agreement.fleiss_agreement(table)
    pairs = [votes for votes in said.values() if len(votes) == 2]
    counts = [[list(votes.values()).count(word) for word in ("False", "True")] for votes in pairs]
    assert fleiss.n_items == len(pairs) == 18 and fleiss.estimate.value == pytest.approx(statsmodels_fleiss(counts))
    kept = [(a, b) for a, b in zip(table[0], table[1], strict=True) if a and b]
    assert agreement.cohen_kappa(table[0], table[1]) == pytest.approx(cohen_kappa_score(*zip(*kept, strict=True)), nan_ok=True)


# Limits by leaving units out: the formula written out, and nothing where it is undefined.


def mean(units):
    return float(units.mean()) if len(units) else math.nan


def test_the_limits_are_those_of_the_formula_written_out():
    units = np.array([[0.9], [0.5], [0.7], [0.9]])
    logs = [math.log(1 - float(np.delete(units, i).mean())) for i in range(4)]
    error = math.sqrt(3 / 4 * sum((one - sum(logs) / 4) ** 2 for one in logs))
    step = t.ppf(0.975, 3) * error
    assert log_jackknife(mean, units) == pytest.approx((1 - 0.25 * math.exp(step), 1 - 0.25 * math.exp(-step)))


@pytest.mark.parametrize("units", [[[0.5]], [[1.0], [1.0]], [[1.0], [0.5]], [[0.5], [0.5], [0.5]]])
def test_one_unit_full_agreement_or_no_change_has_no_limits(units):
    assert all(map(math.isnan, log_jackknife(mean, np.array(units))))


def test_the_limits_of_kappa_leave_out_one_item_at_a_time():
    rng = generator(13)
    first = rng.integers(0, 3, 60)
    second = np.where(rng.random(60) < 0.8, first, rng.integers(0, 3, 60))
    found = agreement.cohen_agreement(first, second).estimate
    assert found.value == pytest.approx(cohen_kappa_score(first, second))
    logs = [math.log(1 - cohen_kappa_score(*(np.delete(x, i) for x in (first, second)))) for i in range(60)]
    half = t.ppf(0.975, 59) * math.sqrt(59 * np.var(logs))
    limits = 1 - (1 - found.value) * math.exp(half), 1 - (1 - found.value) * math.exp(-half)
    assert (found.low, found.high) == pytest.approx(limits)


def test_weighted_kappa_counts_how_far_two_ratings_are_apart():
    """One pair of four differs, by 2 of 2; chance differs by 4 on a mean of 16 pairs, squared by 6.5."""
    first, second = [1, 2, 3, 1], [1, 2, 3, 3]
    assert agreement.cohen_kappa(first, second) == pytest.approx(1 - 1 / (11 / 4))
    assert agreement.cohen_kappa(first, second, "linear") == pytest.approx(1 - 2 / (16 / 4))
    assert agreement.cohen_kappa(first, second, "quadratic") == pytest.approx(1 - 4 / (26 / 4))
