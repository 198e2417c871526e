"""Stepping through the items of a picture."""

from flipcore.reports.browser_data.steps import Steps


def test_items_stand_once_in_their_order_and_both_ends_stop():
    steps = Steps(["b", "a", "b", "c"])
    assert len(steps) == 3 and [steps.place(item) for item in ("b", "a", "c", "x")] == [0, 1, 2, None]
    assert [steps.at(place) for place in range(-1, 4)] == [None, "b", "a", "c", None]
