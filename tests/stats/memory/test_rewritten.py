"""Two accuracies of one study, as asked once and by rotation, and their paired difference."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.memory.rewritten import Rewritten, harness_accuracy


def rows(led, single, status="ok"):
    return pd.DataFrame(
        [
            {"item_id": f"i{i}", "extractor": name, "status": status, "is_correct": right}
            for name, values in (("rotation", led), ("rotation_single", single))
            for i, right in enumerate(values)
        ]
    )


def test_both_accuracies_and_their_paired_difference_are_told():
    # 9 and 6 of 12 items: the difference is 3/12 = 25 points, of the same items. Three that mend and none that breaks are no sign of one
    # (exact McNemar p .25).
    found = harness_accuracy(rows([True] * 9 + [False] * 3, [True] * 6 + [False] * 6))
    assert (found.led.value, found.single.value, found.n) == (0.75, 0.5, 12)
    assert found.difference.value == pytest.approx(0.25) and found.difference.low < 0 < found.difference.high
    assert found.sentence().startswith("By rotation 0.75 [") and "+25.0 points" in found.sentence()


def test_no_vote_is_wrong_and_an_item_without_one_of_the_two_is_left_out():
    frame = rows([True, None, True], [True, True, True])
    assert harness_accuracy(frame).led.value == pytest.approx(2 / 3)
    assert harness_accuracy(frame.iloc[:-1]).n == 2


def test_a_study_that_was_not_asked_by_rotation_has_none():
    assert harness_accuracy(rows([], []).reindex(columns=["item_id", "extractor", "status", "is_correct"])) is None
    assert harness_accuracy(rows([True], [True], "absent")) is None


def test_a_set_with_fewer_ids_than_items_names_no_item_that_is_covered():
    unchecked = Rewritten(("a",), before=np.array([1.0, 0.0]), after=np.array([[1.0], [0.0]]))
    with pytest.raises(ValueError, match="zip"):
        list(unchecked.covered_ids)
