"""Labelled rows that are no random part of all are told by the columns that show it."""

import pytest
from scipy.stats import chi2_contingency

from flipcore.stats.audit.labelled import columns_that_tell

EVEN, FAIR = [(10, 40), (10, 40)], [(11, 39), (9, 41)]
DOUBTFUL = [(14, 36), (6, 44)]
PASSED_ONLY = [(40, 10), (0, 50)]


def test_labels_of_passed_rows_alone_show_in_the_column_of_the_score():
    assert columns_that_tell({"category": EVEN, "score": PASSED_ONLY, "length": FAIR}) == ["score"]


def test_the_surest_column_comes_first():
    less = [(30, 20), (10, 40)]
    assert columns_that_tell({"a": less, "score": PASSED_ONLY}) == ["score", "a"]


@pytest.mark.parametrize("groups", [[], [(10, 40)], [(10, 40), (0, 0)], [(0, 40), (0, 50)], [(10, 0), (40, 0)]])
def test_a_column_with_one_value_or_one_side_is_not_tested(groups):
    assert columns_that_tell({"column": groups}) == []


def test_a_p_at_the_bound_is_significant_and_the_bound_is_holms():
    p = float(chi2_contingency(DOUBTFUL).pvalue)
    assert columns_that_tell({"a": DOUBTFUL}, alpha=p) == ["a"]
    assert columns_that_tell({"a": DOUBTFUL}, alpha=p * 0.999) == []
    assert columns_that_tell({"a": DOUBTFUL, "b": EVEN}, alpha=p) == []  # of two columns the first needs half
    assert columns_that_tell({"a": DOUBTFUL, "b": EVEN}, alpha=2 * p) == ["a"]
