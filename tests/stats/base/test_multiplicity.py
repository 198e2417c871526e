"""Adjusted p-values: against statsmodels, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from flipcore.stats.base.multiplicity import bh, bonferroni, holm
from tests.source_statistics import by

NAMES = {bonferroni: "bonferroni", holm: "holm", bh: "fdr_bh", by: "fdr_by"}


@pytest.mark.slow
@pytest.mark.parametrize("adjust", NAMES)
@settings(max_examples=30)  # one call of statsmodels' own Holm takes 50 ms
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_values_are_statsmodels(adjust, p):
    assert adjust(p) == pytest.approx(multipletests(p, method=NAMES[adjust])[1], abs=1e-12)


def test_by_hand():
    # sorted .01 .02 .04: Holm .03, .04, .04; BH .03, .03, .04; the order of the input is kept
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert bh([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.03])


@pytest.mark.parametrize("adjust", NAMES)
def test_a_missing_p_is_no_member_of_the_family(adjust):
    with_hole = adjust([0.01, float("nan"), 0.02])
    assert np.isnan(with_hole[1]) and [with_hole[0], with_hole[2]] == adjust([0.01, 0.02])
    assert adjust([]) == []
