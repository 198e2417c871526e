import math

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student
from statsmodels.regression.linear_model import OLS

from flipcore.core.randomness import generator
from flipcore.stats.holdout.survey import odd_one_out_survey, two_way_se
from tests.lab.simulations.planted_memory import odd_one_out_hits


@pytest.mark.parametrize("seed", range(4))
def test_the_one_way_parts_are_statsmodels_clustered_standard_errors(seed):
    hits, entries, annotators = odd_one_out_hits(generator(seed), oddness_sd=seed / 2)
    hits[annotators % 3 == 0] = seed % 2  # people who always (never) find it
    fitted = [
        OLS(hits, np.ones(len(hits))).fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
        for groups in (entries, annotators, np.arange(len(hits)))
    ]
    cr1 = [float(fit.bse[0]) ** 2 * g / (g - 1) for fit, g in zip(fitted, (30, 23, len(hits)), strict=True)]
    expected = math.sqrt(max(cr1[0], cr1[1], cr1[0] + cr1[1] - cr1[2]))
    assert two_way_se(hits, entries, annotators) == pytest.approx(expected)


def test_the_degrees_of_freedom_are_those_of_the_fewer_clusters():
    hits, entries, annotators = odd_one_out_hits(generator(6), accuracy=0.4)
    found = odd_one_out_survey(hits, entries, annotators)
    t_value = (found.accuracy.value - 1 / 3) / found.se
    assert found.p == pytest.approx(2 * student.sf(abs(t_value), 22))
    assert found.accuracy.high - found.accuracy.value == pytest.approx(student.ppf(0.975, 22) * found.se)


def test_the_source_p_is_the_binomial_one():
    hits = [1.0] * 50 + [0.0] * 180
    found = odd_one_out_survey(hits, np.arange(230) % 30, np.arange(230) // 10)
    assert found.p_source == binomtest(50, 230, 1 / 3).pvalue and (found.n_entries, found.n_annotators) == (30, 23)


def test_too_few_answers_have_no_test():
    assert math.isnan(odd_one_out_survey([], [], []).p)
    one_entry = odd_one_out_survey([1, 0, 1], ["e"] * 3, ["a", "b", "c"])
    assert math.isnan(one_entry.p) and one_entry.too_few.startswith("answers on 1 holdout entries")
    assert odd_one_out_survey([1, 1], ["e", "f"], ["a", "b"]).p == pytest.approx(1 / 9)


def test_missing_answers_leave():
    hits, entries, annotators = odd_one_out_hits(generator(1))
    some = hits.copy()
    some[:5] = math.nan
    assert odd_one_out_survey(some, entries, annotators) == odd_one_out_survey(hits[5:], entries[5:], annotators[5:])


def test_people_who_find_it_are_reported():
    hits, entries, annotators = odd_one_out_hits(generator(2), accuracy=0.55)
    found = odd_one_out_survey(hits, entries, annotators)
    assert found.p < 0.05 and found.accuracy.value > 1 / 3 and not found.too_few
    assert found.upper < found.accuracy.high


@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize(("oddness_sd", "stated"), [(0.5, 0.09), (1.0, 0.17)])
def test_rows_as_units_read_too_small_a_p_and_clusters_do_not(oddness_sd, stated):
    # rows .09 / .17, clustered by entry .042 / .040
    rng, runs = generator(3, oddness_sd), 1_000
    rows = clustered = 0
    for _ in range(runs):
        found = odd_one_out_survey(*odd_one_out_hits(rng, oddness_sd))
        rows += found.p_source < 0.05
        clustered += found.p < 0.05
    assert rows / runs == pytest.approx(stated, abs=0.045)
    assert binomtest(clustered, runs, 0.05, alternative="greater").pvalue > 1e-3


@pytest.mark.parametrize(("accuracy", "stated"), [(0.38, 0.34), (0.40, 0.58), (0.45, 0.96)])
def test_the_power_of_230_answers_is_the_stated_one(accuracy, stated):
    k = generator(4).binomial(230, accuracy, 1_500)
    p = {int(hits): binomtest(int(hits), 230, 1 / 3).pvalue for hits in set(k.tolist())}
    assert np.mean([p[int(hits)] < 0.05 for hits in k]) == pytest.approx(stated, abs=0.06)


def test_one_annotator_who_saw_every_entry_once_has_the_exact_test():
    found = odd_one_out_survey([1] * 7 + [0] * 3, list("abcdefghij"), ["me"] * 10)
    assert found.p == binomtest(7, 10, 1 / 3).pvalue and found.accuracy.method == "clopper_pearson"
    assert found.upper == pytest.approx(binomtest(7, 10).proportion_ci(0.90).high)
    assert "this one alone" in found.accuracy.note and not found.too_few
    assert math.isnan(odd_one_out_survey([1, 0, 1], ["a", "a", "b"], ["me"] * 3).p)


def test_answers_that_are_all_hits_are_found_out_and_not_too_few():
    # four annotators of six entries never miss: no spread, so as four answers: (1/3)^4 = 1/81, and no result is rarer
    entries, people = [f"e{i % 6}" for i in range(24)], [f"a{i // 6}" for i in range(24)]
    found = odd_one_out_survey([1] * 24, entries, people)
    assert found.p == pytest.approx(1 / 81) and found.accuracy.value == 1.0
    assert (found.accuracy.low, found.accuracy.high) == pytest.approx((0.025**0.25, 1.0))
    assert found.too_few == "answers on 6 holdout entries, and at least 10 are needed"
    assert odd_one_out_survey([0] * 24, entries, people).p > 0.05


def test_fewer_than_ten_annotators_are_no_sample_of_people():
    # four annotators of forty entries each: entries alone are the clusters, and the note says whom it holds for
    rng = generator(7)
    entries, people = np.tile(np.arange(40), 4), np.repeat(np.arange(4), 40)
    hits = (rng.random(160) < np.repeat([0.2, 0.3, 0.4, 0.5], 40)).astype(float)
    found = odd_one_out_survey(hits, entries, people)
    means = hits.reshape(4, 40).mean(axis=0)
    assert found.se == pytest.approx(means.std(ddof=1) / math.sqrt(40)) and "these 4 annotators alone" in found.accuracy.note
    assert found.accuracy.high - found.accuracy.value == pytest.approx(student.ppf(0.975, 39) * found.se)


def test_an_exact_test_has_the_error_of_guesses():
    found = odd_one_out_survey([1] * 4 + [0] * 6, list("abcdefghij"), ["me"] * 10)
    assert found.se == pytest.approx(math.sqrt(1 / 3 * 2 / 3 / 10))
    assert (found.n_entries, found.n_annotators, found.accuracy.n, found.accuracy.value) == (10, 1, 10, 0.4)


@pytest.mark.parametrize(
    ("n_entries", "n_annotators", "df"),
    [(10, 9, 9), (10, 10, 9), (12, 10, 9), (12, 9, 11), (9, 8, 7), (10, 2, 9), (12, 1, None)],
)
def test_from_ten_annotators_on_the_fewer_clusters_count_and_below_the_entries(n_entries, n_annotators, df):
    entries, people = np.repeat(np.arange(n_entries), n_annotators), np.tile(np.arange(n_annotators), n_entries)
    hits = generator(9).integers(0, 2, entries.size).astype(float)
    found = odd_one_out_survey(hits, entries, people)
    if df is None:
        assert found.accuracy.method == "clopper_pearson"
        return
    half = student.ppf(0.975, df) * found.se
    assert found.accuracy.high == pytest.approx(min(1, hits.mean() + half))
    assert found.accuracy.low == pytest.approx(max(0, hits.mean() - half))
    assert found.p == pytest.approx(2 * student.sf(abs(hits.mean() - 1 / 3) / found.se, df))
    assert found.upper == pytest.approx(hits.mean() + student.ppf(0.95, df) * found.se)
    assert bool(found.accuracy.note) == (n_annotators < 10 <= n_entries)
    assert bool(found.too_few) == (n_entries < 10)
