"""Flags of several detectors side by side."""

import pandas as pd

from flipcore.stats.memory.detectors import flag_table, pair_rows, pairs, pairs_note, share_flagged_by_all

FLAGS = {"loss": {"a": True, "b": True, "c": False}, "pearl": {"b": True, "c": False, "d": True}, "other": {"z": False}}


def test_a_pair_is_judged_on_the_items_that_both_judged():
    found = pairs(FLAGS)
    assert [(one.first, one.second) for one in found] == [("loss", "pearl")]
    one = found[0]
    assert (one.n_both_flag, one.n_first_only, one.n_second_only, one.agreement.n_items, one.agreement.raw) == (1, 0, 0, 2, 1)


def test_the_table_has_the_most_flagged_first_and_leaves_what_was_not_judged_empty():
    table = flag_table(FLAGS)
    assert table["item_id"].iloc[0] == "b" and table["flagged by"].tolist() == [2, 1, 1, 0, 0]
    a = table[table["item_id"] == "a"].iloc[0]
    assert a["loss"] and pd.isna(a["pearl"])


def test_items_that_every_detector_flags_are_counted_among_those_that_any_does():
    """a: by loss alone, which alone judged it; b by both; d by pearl alone: all that judged them. Nothing else is flagged."""
    share = share_flagged_by_all(FLAGS | {"loss": {**FLAGS["loss"], "d": False}})
    assert (share.value, share.n) == (2 / 3, 3)


def test_rows_of_pairs_have_no_kappa_where_one_detector_flags_nothing():
    silent, both = pairs({"loss": {"a": True, "b": False}, "pearl": {"a": False, "b": False}}), pairs(FLAGS)
    assert [one.is_silent for one in (*silent, *both)] == [True, False]
    (row,) = pair_rows(silent)
    assert (row["detector"], row["and"], row["κ"], row["same verdict, %"], row["items"]) == ("loss", "pearl", "–", 50.0, 2)
    assert pair_rows(both)[0]["κ"] != "–" and pair_rows(both)[0]["both flag"] == 1


def test_the_note_on_pairs_says_who_is_silent_and_who_is_the_same():
    flags = {"x": {"a": True, "b": False}, "y": {"a": True, "b": False}, "z": {"a": False, "b": False}}
    assert pairs_note(pairs(flags)) == (
        "In 2 of 3 pairs one detector flags nothing, so κ says nothing there. x and y flag the very same items."
    )
    assert pairs_note([]) == ""


def test_a_pair_is_silent_where_one_of_the_two_flags_nothing():
    loud = {"x": {"a": True, "b": True, "c": True, "d": True}, "y": {"a": True, "b": True, "c": False, "d": False}}
    assert not pairs(loud)[0].is_silent  # y flags nothing that x does not
    assert pairs({"x": {"a": True, "b": True}, "y": {"a": False, "b": False}})[0].is_silent
    assert not pairs({"x": {"a": True, "b": True, "c": False}, "y": {"a": True, "b": False, "c": True}})[0].is_silent
    assert not pairs({"x": {"a": True, "b": False}, "y": {"a": False, "b": True}})[0].is_silent
