"""When subjects are said to differ: at a p of .05 and not above, and only where that widens the interval."""

import math

import pytest

from flipcore.claims.audit_items import GROUPS_DIFFER, GroupedScores, standard_error_claim
from flipcore.stats.audit.groups import GroupSpread

RATE = GROUPS_DIFFER.error_rate


@pytest.mark.parametrize(
    ("p", "by_group", "is_made"),
    [
        (RATE, 0.0150, True),
        (math.nextafter(RATE, 1), 0.0150, False),
        (0.001, 0.0101, True),  # a hundredth wider is wider
        (0.001, 0.0100, False),
        (0.9, 0.0150, False),
    ],
)
def test_subjects_differ_at_the_error_rate_and_only_where_groups_are_wider(p, by_group, is_made):
    spread = GroupSpread(n_groups=12, by_item=0.01, by_group=by_group, p=p)
    claim = standard_error_claim(GroupedScores("m", "e", "", spread), p)
    assert claim.is_made == is_made
    assert ("are not shown to differ" in claim.text) != is_made


def test_groups_are_said_to_differ_falsely_in_one_of_twenty():
    assert (GROUPS_DIFFER.error_rate, GROUPS_DIFFER.sides) == (0.05, 1)
