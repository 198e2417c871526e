"""The sentence of a score: with wordings measured, with one wording, with few questions, behind a closed gate."""

import math

import numpy as np

from flipcore.claims.score import (
    FEW,
    HIGHER,
    QUESTIONS,
    QUESTIONS_ONLY,
    WHOLE,
    WHOLE_BAR,
    difference_claim,
    elsewhere_claim,
    next_words,
    read_words,
    score_claim,
    share_words,
)
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.error_bar import error_bar, shares
from flipcore.stats.score.next_calls import gains
from tests.stats.score.tables import rows_of


def test_the_sentence_prints_limits_and_its_small_type_half_widths():
    bar = error_bar(score_cells(rows_of(n=60)))
    claim = score_claim("gpt-x", bar, (0.64, 0.78))
    questions, wordings = bar.by_questions, bar.by_wordings
    assert claim.is_made and claim.assertion is WHOLE and claim.outcome == WHOLE_BAR
    assert claim.text == (
        f"gpt-x answers {bar.value:.2f} right. Other questions: [{questions.low:.2f}, {questions.high:.2f}]. "
        f"Other questions and wordings: [{wordings.low:.2f}, {wordings.high:.2f}]. Read otherwise: 0.64 to 0.78."
    )
    assert claim.detail.startswith("60 questions × 5 wordings × 3 runs. 95 % half-widths: questions ± ")
    assert f"questions and wordings ± {bar.half_width('wordings'):.3f}" in claim.detail


def test_one_wording_is_marked_questions_only_and_two_have_no_interval_over_wordings():
    one = score_claim("m", error_bar(score_cells(rows_of(n=60, m=1))))
    assert one.outcome == QUESTIONS_ONLY and one.assertion is QUESTIONS
    assert one.text.endswith("How the wording matters was not measured.") and "wordings:" not in one.text
    two = error_bar(score_cells(rows_of(n=60, m=2)))
    assert score_claim("m", two).text.endswith("Two wordings are too few to say more.")
    assert elsewhere_claim("m", two).text == ""


def test_below_ten_questions_or_six_families_nothing_is_asserted():
    few = score_claim("m", error_bar(score_cells(rows_of(n=8))))
    assert not few.is_made and few.outcome == FEW and few.text.endswith("too few questions for an interval (8).")
    rows = rows_of(n=40)
    in_one = score_claim("m", error_bar(score_cells(rows.assign(family="all"))))
    assert not in_one.is_made and in_one.text.endswith("too few families for an interval (1).")
    in_four = score_claim("m", error_bar(score_cells(rows.assign(family=rows["item_id"].str[-1].astype(int) // 3))))
    assert not in_four.is_made and in_four.text == "Not claimed: 3.6 families carry this score; 6 are needed."


def test_a_closed_gate_withholds_both_claims():
    bar = error_bar(score_cells(rows_of(n=60)))
    assert score_claim("m", bar, why_not="nobody checked the judge.").text == "Not claimed: nobody checked the judge."
    assert not elsewhere_claim("m", bar, "nobody checked the judge.").is_made
    assert elsewhere_claim("m", bar.at(0.99)).text.endswith("(99.0 %).")


def test_grades_are_scored_and_not_answered_right():
    grades = np.random.default_rng(0).normal(3, 1, (30, 4))
    bar = error_bar(ScoreCells(grades, np.ones((30, 4), dtype=int), np.zeros((30, 4))))
    assert score_claim("m", bar).text.startswith(f"m scores {grades.mean():.2f}.")
    on_scale = error_bar(ScoreCells(np.clip(grades, 1, 5), bar.cells.n_runs, bar.cells.squares, scale=(1, 5)))
    assert "on a scale from 1 to 5. Other questions: [" in score_claim("m", on_scale).text
    names = [str(i) for i in range(30)], list("abcd")
    two = [ScoreCells(np.clip(grades + off, 1, 5), bar.cells.n_runs, bar.cells.squares, *names, scale=(1, 5)) for off in (1, 0)]
    said = difference_claim("A", "B", error_bar(two[0].less(two[1])), (4, 0, 0), is_in_points=False)
    assert "pp" not in said.text + said.detail and said.text.startswith("A scores higher than B: 0.")


def test_small_sentences_name_the_largest_first():
    bar = error_bar(score_cells(rows_of(n=60)))
    parts = shares(bar)
    first = max(parts, key=lambda name: parts[name].value)
    low, high = (f"{100 * limit:.0f}" for limit in (parts[first].low, parts[first].high))
    assert share_words(parts).startswith(f"Of the variance: {first} {100 * parts[first].value:.0f} % [{low}, {high}], ")
    said = next_words(bar.half_width("wordings"), gains(bar), 100)
    assert said.startswith("100 more calls change the ± by: as new ") and said.count("−") >= 1
    assert (share_words({}), read_words([]), read_words([math.nan]), read_words([0.5])) == ("", "", "", "Read otherwise: 0.50.")


def test_a_difference_is_asserted_where_its_whole_interval_lies_beside_nothing():
    strong, weak = (score_cells(rows_of(n=60, seed=seed)) for seed in (0, 1))
    much = ScoreCells(np.ones((60, 5)), strong.n_runs, strong.squares, weak.questions, weak.wordings)
    claim = difference_claim("A", "B", error_bar(much.less(weak)), (5, 0, 0))
    assert claim.is_made and claim.assertion is HIGHER
    assert claim.text.startswith("A scores higher than B: +") and claim.text.endswith("] over other questions and wordings.")
    assert claim.detail.startswith("A leads under 5 of 5 wordings, B under 0. Questions only: +")
    alike = difference_claim("A", "B", error_bar(strong.less(weak)), (2, 2, 1))
    assert not alike.is_made and alike.text.startswith("Undecided whether A or B scores higher: ")
    assert ", they tie under 1." in alike.detail
    assert (
        difference_claim("A", "B", error_bar(much.less(weak)), (5, 0, 0), "nobody checked it.").text
        == "Not claimed: nobody checked it."
    )
    one = error_bar(score_cells(rows_of(n=60, m=1)).less(score_cells(rows_of(n=60, m=1, seed=1))))
    assert difference_claim("A", "B", one, (1, 0, 0)).text == ""
