import math

import numpy as np
import pytest
from scipy.stats import binom

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory import pearl_alpha

SETTING = pearl_alpha.Setting("pocket", "completion", "ncd", "xz", (0, 1, 2, 3, 4, 5), 10)


def test_the_seed_alpha_is_the_empirical_quantile():
    values = np.arange(101) / 100
    assert pearl_alpha.alpha_source(values, 0.05) == (pytest.approx(0.95), None)


def test_conformal_alpha_needs_19_non_members_for_five_percent():
    assert pearl_alpha.alpha_conformal(range(19), 0.05) == (18.0, 19)
    assert pearl_alpha.alpha_conformal(range(18), 0.05) == (math.inf, 19)
    assert pearl_alpha.alpha_conformal([], 0.05) == (math.inf, 1)


def test_conformal_ranks_are_not_pushed_up_by_rounding():
    assert [pearl_alpha.alpha_conformal(range(m), 0.05)[1] for m in (19, 39, 59, 99, 199)] == [19, 38, 57, 95, 190]


def test_tolerance_ranks_are_the_binomial_ones():
    # P(rate above the k-th smallest <= fpr) >= conf  <=>  P(Binomial(m, fpr) >= m - k + 1) >= conf
    for m in (59, 100, 300):
        alpha, k = pearl_alpha.alpha_tolerance(range(m), 0.05)
        assert binom.sf(m - k, m, 0.05) >= 0.95 > binom.sf(m - k + 1, m, 0.05)
        assert alpha == k - 1


def test_tolerance_needs_59_non_members_for_five_percent():
    assert pearl_alpha.min_calibration(0.05) == 59
    assert pearl_alpha.alpha_tolerance(range(58), 0.05) == (math.inf, None)
    assert pearl_alpha.alpha_tolerance(range(59), 0.05) == (58.0, 59)


def test_missing_sensitivities_are_left_out_and_counted():
    result = pearl_alpha.calibration([*range(59), math.nan], SETTING)
    assert (result.alpha, result.n, result.n_excluded) == (58.0, 59, 1)


def test_alpha_is_void_in_another_setting():
    result = pearl_alpha.calibration(range(100), SETTING)
    result.check(SETTING)
    other = pearl_alpha.Setting("pocket", "completion", "ncd", "zlib", (0, 1, 2, 3, 4, 5), 10)
    with pytest.raises(BadInput, match="compressor was xz and is zlib"):
        result.check(other)


def test_an_alpha_that_cannot_be_had_says_how_many_texts_are_missing():
    assert "59 are needed" in pearl_alpha.calibration(range(30), SETTING).sentence()
    assert "19 are needed" in pearl_alpha.calibration(range(10), SETTING, rule="conformal").sentence()
    assert "with 95% confidence" in pearl_alpha.calibration(range(100), SETTING).sentence()


def test_an_unknown_rule_is_refused():
    with pytest.raises(BadInput, match="guess"):
        pearl_alpha.calibration(range(100), SETTING, rule="guess")


@pytest.mark.slow
def test_realised_false_positive_rates_are_those_of_statistics_f20():
    """The empirical quantile exceeds 5% with probability .72/.66/.60/.60 at m = 20/50/100/300; the tolerance alpha
    only with .05/.04/.04 at m = 59/100/300. For uniform non-members the realised rate is 1 - alpha."""
    rng, n = generator(0), 4_000
    for m, stated in ((20, 0.72), (50, 0.66), (100, 0.60), (300, 0.60)):
        exceeds = [1 - pearl_alpha.alpha_source(rng.random(m), 0.05)[0] > 0.05 for _ in range(1_000)]
        assert np.mean(exceeds) == pytest.approx(stated, abs=0.06)
    for m in (59, 100, 300):
        k = pearl_alpha.alpha_tolerance(range(m), 0.05)[1]
        exceeds = 1 - np.sort(rng.random((n, m)), axis=1)[:, k - 1] > 0.05
        assert exceeds.mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / n)
    for m, stated in ((20, 0.048), (50, 0.040), (100, 0.049), (300, 0.051)):
        k = pearl_alpha.alpha_conformal(range(m), 0.05)[1]
        realised = 1 - np.sort(rng.random((n, m)), axis=1)[:, k - 1]
        assert realised.mean() == pytest.approx(stated, abs=0.006)


@pytest.mark.parametrize(("fpr", "conf"), [(0.0, 0.95), (1.0, 0.95), (0.05, 1.0)])
def test_a_tolerance_bound_for_no_share_is_refused(fpr, conf):
    with pytest.raises(BadInput, match="between 0 and 1"):
        pearl_alpha.min_calibration(fpr, conf)
