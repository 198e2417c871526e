"""Paired tests against statsmodels and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_ind
from statsmodels.stats.contingency_tables import mcnemar

from flipcore.stats.base import paired


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_statsmodels(b, c):
    ours = paired.mcnemar(b, c)
    table = [[0, b], [c, 0]]
    assert ours["exact"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    if b + c == 0:
        assert set(ours.values()) == {1.0}
        return
    assert ours["chi2"] == pytest.approx(mcnemar(table, exact=False, correction=False).pvalue)
    if b != c:  # for b = c statsmodels squares |0| - 1
        assert ours["chi2_cc"] == pytest.approx(mcnemar(table, exact=False, correction=True).pvalue)
    assert ours["one_sided_exact"] == pytest.approx(binomtest(b, b + c, 0.5, alternative="greater").pvalue)
    assert ours["midp"] <= ours["exact"]


def test_the_p_of_the_source_is_the_continuity_corrected_one():
    p = paired.mcnemar(33, 0)
    assert p["chi2_cc"] == pytest.approx(2.540e-8, rel=1e-3)
    assert p["exact"] == pytest.approx(2 * 0.5**33) == pytest.approx(2.33e-10, rel=1e-2)


@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=2, max_size=30),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=2, max_size=30),
)
@pytest.mark.filterwarnings("ignore:Precision loss")  # scipy, where one set has no variance
def test_welchs_t_equals_scipy(db, dc):
    ours = paired.gap_welch(db, dc)
    if np.var(db) + np.var(dc) < 1e-12:
        assert ours["p"] == (1.0 if np.mean(db) == np.mean(dc) else 0.0) and math.isnan(ours["lo"])
        return
    theirs = ttest_ind(db, dc, equal_var=False)
    interval = theirs.confidence_interval()
    assert (ours["t"], ours["df"], ours["p"]) == pytest.approx((theirs.statistic, theirs.df, theirs.pvalue))
    assert (ours["lo"], ours["hi"]) == pytest.approx((interval.low, interval.high))
