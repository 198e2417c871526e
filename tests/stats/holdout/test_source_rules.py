import math

import pytest
from scipy.stats import binomtest, fisher_exact, norm
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint, proportions_ztest

from flipcore.core.randomness import generator
from flipcore.stats.holdout import source_rules
from tests import source_statistics


@pytest.mark.parametrize(("k1", "n1", "k2", "n2"), [(56, 70, 48, 80), (1, 9, 3, 4), (60, 100, 44, 100)])
def test_two_proportions_agree_with_statsmodels_and_scipy(k1, n1, k2, n2):
    found = source_statistics.two_prop(k1, n1, k2, n2)
    z, p = proportions_ztest([k1, k2], [n1, n2])
    assert (found["z"], found["p"]) == (pytest.approx(z), pytest.approx(p))
    assert found["fisher"] == pytest.approx(fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue)


def test_sets_answered_all_right_do_not_differ():
    assert source_statistics.two_prop(20, 20, 30, 30) == {"z": 0.0, "p": 1.0, "fisher": 1.0}
    assert math.isnan(source_statistics.two_prop(0, 0, 3, 4)["p"])


def test_the_inflation_of_16_points_has_the_stated_intervals():
    # 66 v 50 of 100: Newcombe [2.3, 28.9]; Appendix A at 95% [-6.1, 36.6]
    found = source_statistics.inflation_pp(66, 100, 50, 100)
    assert found["bi_pp"] == pytest.approx(16)
    assert found["newcombe_pp"] == pytest.approx((2.3, 28.9), abs=0.06)
    assert found["appendixA_pp"] == pytest.approx((-6.1, 36.6), abs=0.06)


def test_the_inflation_intervals_agree_with_statsmodels():
    found = source_statistics.inflation_pp(40, 60, 35, 80)
    newcombe = confint_proportions_2indep(40, 60, 35, 80, method="newcomb", compare="diff")
    wald = confint_proportions_2indep(40, 60, 35, 80, method="wald", compare="diff")
    assert found["newcombe_pp"] == pytest.approx([100 * end for end in newcombe])
    assert found["wald_pp"] == pytest.approx([100 * end for end in wald])
    (low1, high1), (low2, high2) = (proportion_confint(k, n, 0.025, "wilson") for k, n in ((40, 60), (35, 80)))
    assert found["appendixA_pp"] == pytest.approx((100 * (low1 - high2), 100 * (high1 - low2)))
    assert math.isnan(source_statistics.inflation_pp(1, 2, 0, 0)["bi_pp"])


def test_equivalence_is_the_inclusion_of_the_90_percent_interval():
    low, high = confint_proportions_2indep(200, 500, 205, 500, method="newcomb", compare="diff", alpha=0.1)
    found = source_statistics.tost_two_prop(200, 500, 205, 500, margin=0.10)
    assert (found["lo"], found["hi"]) == (pytest.approx(low), pytest.approx(high)) and found["equivalent"] is True
    assert source_statistics.tost_two_prop(200, 500, 205, 500, margin=0.05)["equivalent"] is False
    assert source_statistics.tost_two_prop(0, 0, 5, 10, margin=0.5)["equivalent"] is False


@pytest.mark.parametrize(("k", "n", "p0"), [(60, 100, 0.5), (0, 10, 1 / 3), (90, 230, 1 / 3)])
def test_binomial_tests_are_scipys(k, n, p0):
    found = source_rules.prediction_accuracy(k, n, p0)
    assert found == {
        "acc": k / n,
        "p_two_sided": binomtest(k, n, p0).pvalue,
        "p_greater": binomtest(k, n, p0, alternative="greater").pvalue,
    }
    assert source_rules.odd_one_out(k, n, p0) == found


def test_no_answer_has_no_accuracy():
    assert math.isnan(source_rules.prediction_accuracy(0, 0)["acc"]) and math.isnan(source_rules.odd_one_out(0, 0)["p_greater"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("retro", "n", "stated"),
    [
        (0.30, 50, 0.82),
        (0.30, 100, 0.69),
        (0.30, 150, 0.56),
        (0.30, 500, 0.08),
        (0.24, 50, 0.60),
        (0.24, 100, 0.31),
        (0.24, 150, 0.15),
    ],
)
def test_failing_to_reject_passes_a_holdout_that_is_harder(retro, n, stated):
    # 10 and 16 points; and TOST never passes at n <= 100
    rng, runs = generator(n, retro), 1_500
    passed = equivalent = 0
    for _ in range(runs):
        k1, k2 = rng.binomial(n, 0.40), rng.binomial(n, retro)
        passed += holdout_p(k1, k2, n) >= 0.05
        equivalent += n <= 100 and source_statistics.tost_two_prop(k1, n, k2, n, 0.10)["equivalent"]
    assert passed / runs == pytest.approx(stated, abs=0.05) and equivalent == 0


def holdout_p(k1, k2, n):
    """The pooled z test without Fisher's exact test, which takes a millisecond."""
    pooled = (k1 + k2) / (2 * n)
    return 1.0 if pooled in (0, 1) else 2 * norm.sf(abs(k1 - k2) / n / math.sqrt(pooled * (1 - pooled) * 2 / n))
