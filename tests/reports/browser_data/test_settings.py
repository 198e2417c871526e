"""Settings that nothing can have are left out, whoever sent them."""

import pytest

from flipcore.reports.browser_data.settings import fitting

START = {"level": 0.95, "policy": "own_class", "rule": "paired", "reference": "regex", "cutoff": None}


@pytest.mark.parametrize("key, value", [("level", 0.8), ("policy", "drop"), ("rule", "nonoverlap"), ("cutoff", -3.5)])
def test_what_a_board_offers_is_kept(key, value):
    assert fitting({key: value}, START) == {key: value}


@pytest.mark.parametrize(
    "key, value",
    [
        *(("level", value) for value in (99, -3, 1.0, "high", float("nan"))),
        *(("policy", "nonsense"), ("rule", "tolerance"), ("nonsense", 3)),
    ],
)
def test_what_it_does_not_offer_is_left_out(key, value):
    assert fitting({key: value}, START) == {}
