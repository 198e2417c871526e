import math

import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.base import retention

YES, NO = [True, True, True], [True, False, False]
MOST = [True, True, False]


def test_a_pair_is_kept_only_if_both_checks_pass():
    result = retention.retention_pairs([YES, YES, NO, MOST], [YES, NO, YES, MOST])
    assert result == {"kept": 2, "total": 4, "rate": 0.5}


def test_unanimity_keeps_fewer_than_the_majority():
    assert retention.retention_pairs([YES, MOST], [YES, YES], rule="unanimous")["kept"] == 1
    assert retention.passes([True, False], "majority") is False and retention.passes([], "unanimous") is False


def test_no_audit_has_no_retention():
    assert math.isnan(retention.retention(0, 0)["rate"]) and math.isnan(retention.retention_pairs([], [])["rate"])
    assert math.isnan(retention.retention_estimate(0, 0).value)


def test_the_published_88_7_percent_of_400_cannot_be_reached():
    # 88.7 % of 400 cannot be had: 354 is 88.5, 355 is 88.75
    assert not any(round(100 * kept / 400, 1) == 88.7 for kept in range(401))


def test_the_rule_travels_with_the_number():
    e = retention.retention_estimate(355, 400, "unanimous")
    assert (e.value, e.method, e.n) == (0.8875, "wilson", 400) and "unanimous" in e.note
    assert (e.low, e.high) == pytest.approx((0.8528, 0.9149), abs=1e-4)  # statsmodels proportion_confint(wilson)


def test_unequal_checks_and_unknown_rules_are_refused():
    with pytest.raises(BadInput, match="came 1 and 0"):
        retention.retention_pairs([YES], [])
    with pytest.raises(BadInput, match="most"):
        retention.passes(YES, "most")
