"""Scores of every way of asking and reading, and what counts as one."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.ranking.ways import Way, scores
from tests.stats.ranking.worlds import readouts

OWN, LETTERS, ROTATED = (
    ("option_order", "base", "regex"),
    ("option_order", "base", "first_token"),
    ("option_order", "r1", "regex"),
)


def test_the_own_prompt_is_one_way_whatever_axis_it_stands_under():
    rows = readouts(
        {"A": {OWN: "110", ("label_set", "base", "regex"): "110", ROTATED: "100"}, "B": {OWN: "011", ROTATED: "11-"}}
    )
    both = scores(rows)
    assert both.models == ("A", "B") and both.ways == (Way("identity", "base", "regex"), Way("option_order", "r1", "regex"))
    assert both.values[0].T.tolist() == [[1, 1, 0], [0, 1, 1]] and both.ways[0].is_base
    assert np.isnan(both.values[1, 2, 1]) and both.common(1).tolist() == [True, True, False]


def test_extractors_of_one_prompt_follow_one_another_and_samples_are_averaged():
    rows = readouts({"A": {OWN: "10", LETTERS: "11", ROTATED: "00"}})
    again = rows[rows["variant"] == "base"].assign(sample=1, is_correct=False)
    both = scores(pd.concat([rows, again]))
    assert [(one.key, one.extractor) for one in both.ways] == [("base", "regex"), ("base", "first_token"), ("r1", "regex")]
    assert both.values[0, :, 0].tolist() == [0.5, 0.0] and both.values[1, :, 0].tolist() == [0.5, 0.5]


def test_what_was_not_read_is_wrong_or_missing_and_bounded_by_both():
    both = scores(readouts({"A": {OWN: "1cu-"}, "B": {OWN: "1111"}}))
    assert both.values[0, :3, 0].tolist() == [1, 0, 0] and np.isnan(both.values[0, 3, 0])
    assert both.lowest[0, :, 0].tolist() == [1, 0, 0, 0] and both.highest[0, :, 0].tolist() == [1, 1, 1, 1]
    assert both.unread[0].tolist() == pytest.approx([3 / 4, 0])


def test_of_a_model_that_was_never_read_under_a_way_nothing_is_known_there():
    both = scores(readouts({"A": {OWN: "uuc", ROTATED: "111"}, "B": {OWN: "110", ROTATED: "1u0"}}))
    assert np.isnan(both.lowest[0, :, 0]).all() and both.unread[0].tolist() == [1, 0]
    assert both.lowest[1, :, 1].tolist() == [1, 0, 0] and both.highest[1, :, 1].tolist() == [1, 1, 0]


def test_a_model_without_any_answer_under_a_way_does_not_empty_it():
    both = scores(readouts({"A": {OWN: "11", LETTERS: "10"}, "B": {OWN: "01"}}))
    assert both.common(1).tolist() == [True, True]


def test_families_are_numbered():
    both = scores(readouts({"A": {OWN: "1100"}}, families=["x", "x", "y", "y"]))
    assert both.is_templated and both.families.tolist() == [0, 0, 1, 1]
