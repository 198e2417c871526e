"""Answers that nobody read: they leave T where they never came, and bound every rate and contrast of a cell."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.flips.coded_answers import CodedAnswers, coded_answers, unread_warnings
from flipcore.stats.flips.disagreement import between, pair_split
from flipcore.stats.flips.unread import RATES, unread


def rows(by_extractor: dict[str, list[list[str]]], axis: str = "order") -> pd.DataFrame:
    """{extractor: items of answers}; "cut", "absent" and None (unreadable) are statuses, anything else an answer."""
    words = {"cut": "cut", "absent": "absent", None: "unreadable"}
    return pd.DataFrame(
        [
            {
                "item_id": f"i{i}",
                "axis": axis,
                "variant": "base" if v == 0 else f"v{v}",
                "sample": 0,
                "extractor": name,
                "status": words.get(answer, "ok"),
                "answer": None if answer in words else answer,
            }
            for name, items in by_extractor.items()
            for i, answers in enumerate(items)
            for v, answer in enumerate(answers)
        ]
    )


def test_a_pair_with_a_cut_answer_is_in_no_flip_rate():
    answers = coded_answers(rows({"e": [["A", "A", "cut"], ["A", "B", "A"], ["cut", "cut", "A"]]}))
    rates = between(answers.codes["order", "e"]).rate
    assert rates[:2] == pytest.approx([0, 2 / 3]) and np.isnan(rates[2])
    assert answers.is_open("order", "e").sum() == 3 and answers.n_absent["order", "e"] == 0


def bounds(by_extractor, name):
    """(items,) least and largest of a rate."""
    not_read = unread(coded_answers(rows(by_extractor)), "order", "e", "regex")
    at = list(RATES).index(name)
    return not_read.raw.low[:, at], not_read.raw.high[:, at]


@pytest.mark.parametrize("lost", ["cut", "absent", None])
def test_whatever_was_not_read_may_flip_every_pair_or_none(lost):
    compared = [["A", "A", lost], ["A", "B", "A"], [lost, lost, "A"]]
    both = {"e": compared, "regex": [["A"] * 3] * 3}
    low, high = bounds(both, "T")
    assert low == pytest.approx([0, 2 / 3, 0]) and high == pytest.approx([2 / 3, 2 / 3, 1])
    assert bounds(both, "G")[1].tolist() == [0, 0, 0]
    not_read = unread(coded_answers(rows(both)), "order", "e", "regex")
    assert not_read.n == 3 and not_read.shares == pytest.approx((1 / 3, 0))


def test_an_unread_answer_of_the_reference_counts_against_artifact_of_the_other_and_against_genuine():
    one = {"e": [["A", "B"]], "regex": [["A", "cut"]]}
    ends = {name: tuple(float(end[0]) for end in bounds(one, name)) for name in ("compared", "reference", "genuine", "A_minus")}
    assert ends == {"compared": (-1, 1), "reference": (-1, 0), "genuine": (-1, 1), "A_minus": (0, 0)}


def test_without_an_unread_answer_both_bounds_are_the_rate_itself():
    answers = coded_answers(rows({"e": [["A", "A", "B"], ["A", "C", "A"]], "regex": [["A", "B", "B"], ["A"] * 3]}))
    not_read, split = (
        unread(answers, "order", "e", "regex"),
        pair_split(answers.codes["order", "e"], answers.codes["order", "regex"]),
    )
    wanted = np.column_stack(
        [split.plus, split.minus, split.both, split.plus - split.both, split.both - split.plus - split.minus]
    )
    at = [list(RATES).index(name) for name in ("A_plus", "A_minus", "both", "compared", "genuine")]
    assert not_read.n == 0 and np.allclose(not_read.raw.low[:, at], wanted) and np.allclose(not_read.raw.high[:, at], wanted)


def test_the_swapped_extractors_have_the_swapped_bounds():
    answers = coded_answers(rows({"e": [["A", None, "B", "cut"]], "regex": [["A", "B", "absent", "B"]]}))
    one, other = unread(answers, "order", "e", "regex").raw, unread(answers, "order", "regex", "e").raw
    at = list(RATES).index
    assert one.low[0, [at("compared"), at("genuine")]].tolist() == other.low[0, [at("reference"), at("genuine")]].tolist()


def test_unreadable_and_cut_are_counted_apart():
    answers = coded_answers(rows({"e": [["A", None, "cut", "cut"], ["A", "A", "A", "absent"]]}))
    # One of five that are there is unreadable; two that were cut off and the absent one are not among them.
    assert unread_warnings(answers, "order", "e")[0] == "20.0% of the answers could not be read (more than 5%)."
    assert answers.is_open("order", "e").sum() == 4


def test_every_rate_with_any_answers_filled_in_lies_between_its_bounds():
    rng = np.random.default_rng(3)

    def answers_of(share):
        return [[str(rng.integers(3)) if rng.random() < share else "cut" for _ in range(4)] for _ in range(40)]

    answers = coded_answers(rows({"e": answers_of(0.7), "regex": answers_of(0.8)}))
    raw = unread(answers, "order", "e", "regex").raw
    for _ in range(50):
        filled = [
            np.where(answers.is_open("order", e), rng.integers(0, 5, (40, 4, 1)), answers.codes["order", e])
            for e in ("e", "regex")
        ]
        split = pair_split(*filled)
        found = np.column_stack([between(filled[0]).rate, split.plus, split.minus, split.both, split.plus - split.both])
        at = [list(RATES).index(name) for name in ("T", "A_plus", "A_minus", "both", "compared")]
        assert (raw.low[:, at] <= found + 1e-12).all() and (found <= raw.high[:, at] + 1e-12).all()


def test_extractors_with_different_numbers_of_variants_have_no_common_pairs():
    codes = {("axis", "first"): np.zeros((4, 3, 1), dtype=int), ("axis", "regex"): np.zeros((4, 1, 1), dtype=int)}
    base = {"axis": np.zeros((4, 3), dtype=bool)}
    answers = CodedAnswers(np.arange(4), ("axis",), ("first", "regex"), codes, base, {}, np.array(["a"]))
    with pytest.raises(ValueError, match="zip"):
        unread(answers, "axis", "first", "regex")
