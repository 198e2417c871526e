"""Answers that were cut off leave T and come back as two worst cases."""

import numpy as np
import pandas as pd
import pytest

from flipcore.stats.flips.coding import coded_answers, null_rates
from flipcore.stats.flips.cut_bounds import cut_bounds, cut_share, too_many_cut, unsettled, worst_cases
from flipcore.stats.flips.decomposition import decompositions
from flipcore.stats.flips.disagreement import ABSENT, between


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


def test_the_worst_cases_are_that_no_pair_with_a_cut_answer_flips_and_that_all_do():
    answers = coded_answers(rows({"e": [["A", "A", "cut"], ["A", "B", "A"], ["cut", "cut", "A"]]}))
    found = cut_bounds(answers, "order", "e")
    assert (found.n_answers, found.n_cut) == (9, 3) and found.share == pytest.approx(1 / 3) and found.too_many
    assert found.lowest == pytest.approx((0 + 2 / 3 + 0) / 3) and found.highest == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)
    assert "3 of 9 answers were cut off (33.3 %)" in found.sentence() and "between 0.22 and 0.78" in found.sentence()


def test_without_a_cut_answer_both_bounds_are_the_rate_itself():
    answers = coded_answers(rows({"e": [["A", "A", "B"], ["A", None, "absent"]]}))
    found = cut_bounds(answers, "order", "e")
    assert found.lowest == found.highest == pytest.approx((2 / 3 + 1) / 2)
    assert found.sentence() == "" and not found.too_many
    assert all(case is answers for case in worst_cases(answers))


def test_unreadable_and_cut_are_counted_apart():
    answers = coded_answers(rows({"e": [["A", None, "cut", "cut"], ["A", "A", "A", "absent"]]}))
    nulls = null_rates(answers, "order", "e")
    assert (nulls.n_null, nulls.n_readouts, nulls.n_absent) == (1, 5, 1) and nulls.rate == pytest.approx(0.2)
    assert cut_share(answers, "order", "e") == pytest.approx(2 / 7)


@pytest.mark.parametrize("policy", ["own_class", "always_flip", "drop"])
def test_the_rate_with_any_answers_filled_in_lies_between_the_bounds(policy):
    rng = np.random.default_rng(3)
    said = [[str(rng.integers(3)) if rng.random() < 0.7 else "cut" for _ in range(4)] for _ in range(40)]
    answers = coded_answers(rows({"e": said}))
    bounds = cut_bounds(answers, "order", "e", policy)
    cut = answers.cut["order", "e"]
    for _ in range(50):
        filled = np.where(cut, rng.integers(0, 5, cut.shape), answers.codes["order", "e"])
        assert (filled != ABSENT).all()
        assert bounds.lowest - 1e-12 <= between(filled, policy).rate.mean() <= bounds.highest + 1e-12


def verdict(answers):
    return decompositions(answers, "regex", axes=["order"], extractors=["first"], n_boot=200)[0].established


def planted(n_cut: int):
    """60 items: the compared extractor flips on 40, the reference on none; its second answer is cut off on `n_cut`."""
    first = [["A", "B" if i < 40 else "A"] for i in range(60)]
    reference = [["A", "cut" if i < n_cut else "A"] for i in range(60)]
    return coded_answers(rows({"first": first, "regex": reference}))


def test_up_to_five_percent_cut_a_claim_stands_as_it_is():
    answers = planted(6)
    assert too_many_cut(answers, "order", ["first", "regex"]) == []
    assert verdict(answers) is True and unsettled(answers, "order", ["first", "regex"], verdict) == ""


def test_more_than_that_makes_a_claim_only_where_both_worst_cases_agree_with_it():
    few, many = planted(8), planted(35)
    assert too_many_cut(few, "order", ["first", "regex"]) == ["regex"]
    assert unsettled(few, "order", ["first", "regex"], verdict) == ""
    why = unsettled(many, "order", ["first", "regex"], verdict)
    assert "29 % of the answers on order were cut off" in why and "token limit" in why
