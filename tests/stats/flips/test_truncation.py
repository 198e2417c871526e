"""Answers that were cut off leave T and come back as two worst cases."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.flips.coded_answers import coded_answers, null_rates
from flipcore.stats.flips.disagreement import ABSENT, between
from flipcore.stats.flips.truncation import cut_answers


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
    assert answers.n_cut("order", "e") == 3 and answers.n_absent["order", "e"] == 0


def bounded(by_extractor, policy="own_class"):
    answers = coded_answers(rows(by_extractor))
    return answers, cut_answers(answers, "order", "e", "regex", policy)


def test_the_worst_cases_are_that_no_pair_with_a_cut_answer_flips_and_that_all_do():
    compared = [["A", "A", "cut"], ["A", "B", "A"], ["cut", "cut", "A"]]
    _, cut = bounded({"e": compared, "regex": [["A"] * 3] * 3})
    assert cut.n == 3 and cut.share == pytest.approx(1 / 3) and cut.G == (0, 0)
    assert cut.T == pytest.approx(((0 + 2 / 3 + 0) / 3, (2 / 3 + 2 / 3 + 1) / 3))
    assert cut.lowest == pytest.approx([0, 2 / 3, 0]) and cut.highest == pytest.approx([2 / 3, 2 / 3, 1])


def test_a_cut_answer_of_the_reference_counts_against_artifact():
    """A - G is T - 2 G: what the reference may have flipped is taken off twice."""
    _, cut = bounded({"e": [["A", "B"]], "regex": [["A", "cut"]]})
    assert (cut.lowest.tolist(), cut.highest.tolist()) == ([1 - 2], [1])


def test_without_a_cut_answer_both_bounds_are_the_rate_itself():
    answers, cut = bounded({"e": [["A", "A", "B"], ["A", None, "A"]], "regex": [["A"] * 3] * 2})
    rate = between(answers.codes["order", "e"]).rate
    assert cut.n == 0 and cut.lowest == pytest.approx(rate) and cut.highest == pytest.approx(rate)


def test_unreadable_and_cut_are_counted_apart():
    answers = coded_answers(rows({"e": [["A", None, "cut", "cut"], ["A", "A", "A", "absent"]]}))
    nulls = null_rates(answers, "order", "e")
    assert (nulls.n_null, nulls.n_readouts, nulls.n_absent) == (1, 5, 1) and nulls.rate == pytest.approx(0.2)
    assert answers.n_cut("order", "e") == 2


@pytest.mark.parametrize("policy", ["own_class", "always_flip"])
def test_the_rate_with_any_answers_filled_in_lies_between_the_bounds(policy):
    rng = np.random.default_rng(3)
    compared = [[str(rng.integers(3)) if rng.random() < 0.7 else "cut" for _ in range(4)] for _ in range(40)]
    answers, bounds = bounded({"e": compared, "regex": [["A"] * 4] * 40}, policy)
    cut = answers.cut["order", "e"]
    for _ in range(50):
        filled = np.where(cut, rng.integers(0, 5, cut.shape), answers.codes["order", "e"])
        assert (filled != ABSENT).all()
        assert bounds.T[0] - 1e-12 <= between(filled, policy).rate.mean() <= bounds.T[1] + 1e-12
