"""Matching controls by hand-made sets: the best pairs, the caliper, subjects, and how alike the sets are before and after."""

import math

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory import matching
from flipcore.stats.memory.matching import Pairs, Traits, matching_of


def traits(prefix, lengths, subject=None, steps=None, part=None):
    n = len(lengths)
    numbers = {"length": np.array(lengths, dtype=float)} | ({} if steps is None else {"steps": np.array(steps, dtype=float)})
    ids = tuple(f"{prefix}{i}" for i in range(n))
    return Traits(ids, numbers, tuple(subject or [""] * n), tuple(part or ["number"] * n))


def test_the_pairs_have_the_least_sum_of_squares_and_not_the_nearest_first():
    # nearest first would pair 10 with 11 and leave 12 with 19; together 10-9 and 12-11 are closer
    matching = matching_of(traits("b", [10, 12]), traits("c", [11, 9, 19]), ["length"], caliper=3)
    assert matching.pairs == {"b0": "c1", "b1": "c0"} and matching.unpaired == ()


def test_nobody_is_paired_beyond_the_caliper_and_who_is_left_is_said():
    matching = matching_of(traits("b", [10, 20, 90]), traits("c", [10, 21, 30]), ["length"], caliper=0.1)
    assert matching.pairs == {"b0": "c0", "b1": "c1"} and matching.unpaired == ("b2",)
    assert matching.sentence().startswith("2 of 3 benchmark items have a control of their own.")


def test_pairs_share_their_subject_and_their_part():
    matching = matching_of(
        traits("b", [5, 5, 5], ["algebra", "law", ""], part=["x", "x", "x"]),
        traits("c", [5, 5, 5], ["law", "algebra", "algebra"], part=["x", "y", "x"]),
        ["length", "subject"],
    )
    assert matching.pairs == {"b0": "c2", "b1": "c0"} and matching.unpaired == ("b2",)


def test_the_balance_is_in_standard_deviations_of_the_unmatched_sets():
    benchmark, control = traits("b", [2, 4, 6]), traits("c", [4, 6, 8, 30])
    (row,) = matching_of(benchmark, control, ["length"], caliper=1).balance
    scale = math.sqrt((np.var([2, 4, 6], ddof=1) + np.var([4, 6, 8, 30], ddof=1)) / 2)
    assert row.before == pytest.approx((4 - 12) / scale)
    assert row.after == pytest.approx((4 - 6) / scale) and row.ratio_after == pytest.approx(1.0)


def test_a_larger_control_set_can_be_made_like_the_benchmark():
    draw = generator(3)
    benchmark, control = traits("b", draw.normal(60, 10, 80)), traits("c", draw.normal(50, 15, 800))
    (row,) = matching_of(benchmark, control, ["length"]).balance
    assert row.before > 0.6 and abs(row.after) < 0.05


def test_a_trait_that_one_set_does_not_say_is_named_and_not_matched():
    matching = matching_of(
        traits("b", [5] * 3, steps=[1, 2, 3]), traits("c", [5] * 3, steps=[math.nan] * 3), ["length", "steps"]
    )
    assert matching.by == ("length",) and matching.unknown == ("steps",) and len(matching.pairs) == 3
    with pytest.raises(BadInput, match="None of the chosen traits is known"):
        matching_of(traits("b", [5]), traits("c", [5], steps=[1]), ["steps"])


def test_subjects_by_other_names_cannot_be_compared():
    matching = matching_of(traits("b", [5] * 2, ["algebra"] * 2), traits("c", [5] * 2, ["law", "art"]), ["length", "subject"])
    assert (
        matching.unknown == ("subject",) and len(matching.pairs) == 2 and [one.trait for one in matching.balance] == ["length"]
    )


@pytest.mark.parametrize(("by", "caliper", "words"), [(["mood"], 1, "cannot be matched by 'mood'"), (["length"], 0, "caliper")])
def test_what_cannot_be_matched_gets_a_sentence(by, caliper, words):
    with pytest.raises(BadInput, match=words):
        matching_of(traits("b", [1]), traits("c", [1]), by, caliper)


def test_pairs_that_still_differ_may_carry_no_claim():
    far = Pairs({"b": "c"}, {"b": {"by": ["length"], "balance": {"length": [0.9, 0.1], "accuracy": [0.5, -0.4]}}})
    assert "accuracy of reference models by 0.40 SD" in far.problem()
    assert far.note().startswith("Pairs were matched by length in words;")
    assert Pairs({"b": "c"}, {"b": {"by": ["length"], "balance": {"length": [0.9, 0.2]}}}).problem() == ""
    assert far.among({"b"}).control_of == {} and far.among({"b", "c"}).problem() == far.problem()


def test_the_balance_of_subjects_is_the_largest_difference_of_shares_in_standard_deviations():
    """Half and a fifth are law, half and two fifths algebra, none and two fifths art: .3, .1 and .4 before."""
    benchmark = traits("b", [5] * 4, ["law", "law", "algebra", "algebra"])
    control = traits("c", [5] * 5, ["law", "algebra", "algebra", "art", "art"])
    *_, subject = matching_of(benchmark, control, ["length"]).balance
    assert subject.trait == "subject" and subject.before == pytest.approx(0.4 / math.sqrt(0.24 / 2))
    *_, matched = matching_of(benchmark, control, ["length", "subject"]).balance
    # One law and two of algebra have a control of their own, so that the shares are equal.
    assert matched.before == subject.before and matched.after == 0
    *_, none = matching.balance(benchmark, control, {})
    assert none.before == subject.before and math.isnan(none.after)


@pytest.mark.parametrize(
    ("benchmark", "control", "pairs"),
    [
        # Squares of 3 and 3 are less than of 1 and 4.5, whose sum is less; and 0.5 and 4 less than 3 and 3.
        ([0, 4], [3, 7, -4.5], {"b0": "c0", "b1": "c1"}),
        ([0, 3.5], [3, 6.5, -4], {"b0": "c2", "b1": "c0"}),
        # One standard deviation apart, which is the caliper.
        ([-1, 0, 1], [0, 1, 2], {"b0": "c0", "b1": "c1", "b2": "c2"}),
    ],
)
def test_pairs_have_the_least_squares_within_the_caliper(benchmark, control, pairs):
    caliper = 1 if len(benchmark) == 3 else 10
    assert matching_of(traits("b", benchmark), traits("c", control), ["length"], caliper).pairs == pairs


def test_a_trait_that_never_varies_pairs_equal_values_alone():
    assert matching_of(traits("b", [5, 5]), traits("c", [5.001, 5.001]), ["length"]).pairs == {}
    assert matching_of(traits("b", [5]), traits("c", [5]), ["length"]).pairs == {"b0": "c0"}


@pytest.mark.parametrize(("benchmark", "control"), [([6], [4, 6]), ([5, 7], [5])])
def test_a_set_of_one_item_has_no_variance(benchmark, control):
    """The other one has a variance of 2, so the pooled standard deviation is 1."""
    (row,) = matching_of(traits("b", benchmark), traits("c", control), ["length"]).balance
    assert row.before == pytest.approx(1.0)


def test_sets_of_too_many_possible_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(matching, "MAX_CELLS", 6)
    assert len(matching_of(traits("b", [5, 5]), traits("c", [5] * 3), ["length"]).pairs) == 2
    with pytest.raises(BadInput, match="2 benchmark items against 4 controls are too many"):
        matching_of(traits("b", [5, 5]), traits("c", [5] * 4), ["length"])


def test_a_balance_is_of_the_pairs_whose_items_the_sets_have():
    benchmark, control = traits("b", [0, 0.5, 9]), traits("c", [0, 0.25, 9])
    (row,) = matching.balance(benchmark, control, {"b0": "c0", "b1": "c1", "b2": "gone", "gone": "c2"})
    assert row == matching.balance(benchmark, control, {"b0": "c0", "b1": "c1"})[0]
    assert row.ratio_after == pytest.approx(0.125 / 0.03125)
    assert matching.balance(benchmark, control, {"b0": "c0", "b1": "c1"}) == (row,)


@pytest.mark.parametrize(("benchmark", "control"), [([1, 1], [1, 2]), ([1, 2], [1, 1]), ([1, 1], [1, 1])])
def test_there_is_no_ratio_of_variances_where_one_is_0(benchmark, control):
    sets = traits("b", benchmark), traits("c", control)
    (row,) = matching.balance(*sets, {"b0": "c0", "b1": "c1"})
    assert math.isnan(row.ratio_after) and math.isfinite(row.after)


def test_pairs_of_unknown_traits_have_no_balance():
    steps = [1, 2, math.nan]
    for first, second in ((steps, [1, 2, 3]), ([1, 2, 3], steps)):
        sets = traits("b", [5] * 3, steps=first), traits("c", [5] * 3, steps=second)
        _, row = matching.balance(*sets, {"b2": "c2"})
        assert row.trait == "steps" and math.isnan(row.after) and math.isfinite(row.before)
