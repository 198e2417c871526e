"""The sentence of a score: with wordings measured, with one wording, with few questions, behind a closed gate."""

import math
import re

import numpy as np
from scipy.stats import binom

from flipcore.claims.score import (
    ALL_LEAD,
    ASSERTIONS,
    FEW,
    HIGHER,
    QUESTIONS,
    QUESTIONS_ONLY,
    SHORT_HIGHER,
    SHORT_WHOLE,
    WHOLE,
    WHOLE_BAR,
    additivity_claim,
    difference_claim,
    elsewhere_claim,
    least_leads,
    next_calls_words,
    other_extractors_words,
    plan_words,
    rank_claim,
    score_claim,
    share_words,
)
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.error_bar import Components, error_bar, shares
from flipcore.stats.score.next_calls import gains
from tests.stats.score.tables import rows_of


def test_the_sentence_prints_limits_and_its_small_type_half_widths():
    bar = error_bar(score_cells(rows_of(n=60)))
    claim = score_claim("gpt-x", bar, (0.64, 0.78))
    questions, wordings = bar.by_questions, bar.by_wordings
    assert claim.is_made and claim.assertion is SHORT_WHOLE and claim.outcome == WHOLE_BAR
    assert claim.text == (
        f"gpt-x: {bar.value:.0%} right; with other questions and prompts like these {100 * wordings.low:.0f} to {wordings.high:.0%}. "
        "Other extractors read the same outputs as 64 to 78% right."
    )
    alone = f"Other questions alone: {100 * questions.low:.0f} to {questions.high:.0%}. "
    assert claim.detail.startswith(f"{alone}60 questions × 5 prompts × 3 runs. 95% half-widths: questions ± ")
    assert f"{alone}Own prompt: 91%. 60 questions" in score_claim("gpt-x", bar, own_score=0.91).detail
    assert f"questions and prompts ± {100 * bar.half_width('wordings'):.1f} points" in claim.detail


def test_questions_that_lack_a_prompt_are_counted_beside_those_that_make_the_score():
    """Every choice counts them, so its score of the own prompt differs."""
    rows = rows_of(n=60)
    rows = rows[~((rows["wording"] == "w1") & rows["item_id"].isin(["q03", "q07"]))]
    detail = score_claim("m", error_bar(score_cells(rows))).detail
    assert "58 of 60 questions × 5 prompts × 3 runs; the others lack an answer to some prompt." in detail


def test_one_wording_is_marked_questions_only_and_two_have_no_interval_over_wordings():
    one = score_claim("m", error_bar(score_cells(rows_of(n=60, m=1))))
    assert one.outcome == QUESTIONS_ONLY and one.assertion is QUESTIONS
    assert one.text.endswith("%. Asked in one wording only.") and "; with other questions " in one.text
    two = error_bar(score_cells(rows_of(n=60, m=2)))
    assert score_claim("m", two).text.endswith("%. Two wordings are too few to say more.")
    assert elsewhere_claim("m", two).text == ""


def test_below_ten_questions_or_six_families_nothing_is_asserted():
    few = score_claim("m", error_bar(score_cells(rows_of(n=8))))
    assert not few.is_made and few.outcome == FEW and few.text.endswith("too few questions for an interval (8).")
    rows = rows_of(n=40)
    in_one = score_claim("m", error_bar(score_cells(rows.assign(family="all"))))
    assert not in_one.is_made and in_one.text.endswith("too few clusters for an interval (1).")
    in_four = score_claim("m", error_bar(score_cells(rows.assign(family=rows["item_id"].str[-1].astype(int) // 3))))
    assert not in_four.is_made and in_four.text == "Not claimed: 3.6 clusters carry this score; 6 are needed."


def test_a_closed_gate_withholds_both_claims():
    bar = error_bar(score_cells(rows_of(n=60)))
    assert score_claim("m", bar, why_not="nobody checked the judge.").text == "Not claimed: nobody checked the judge."
    assert not elsewhere_claim("m", bar, "nobody checked the judge.").is_made
    assert elsewhere_claim("m", bar.at_level(0.99)).text.endswith("(99.0%).")


def test_grades_are_scored_and_not_answered_right():
    grades = np.random.default_rng(0).normal(3, 1, (30, 4))
    bar = error_bar(ScoreCells(grades, np.ones((30, 4), dtype=int), np.zeros((30, 4))))
    assert score_claim("m", bar).text.startswith(f"m scores {grades.mean():.2f}; with other questions and prompts like these ")
    on_scale = error_bar(ScoreCells(np.clip(grades, 1, 5), bar.cells.n_runs, bar.cells.squares, scale=(1, 5)))
    assert "on a scale from 1 to 5; with other questions" in score_claim("m", on_scale).text
    names = [str(i) for i in range(30)], list("abcd")
    two = [ScoreCells(np.clip(grades + off, 1, 5), bar.cells.n_runs, bar.cells.squares, *names, scale=(1, 5)) for off in (1, 0)]
    said = difference_claim("A", "B", error_bar(two[0].minus(two[1])), (4, 0, 0), is_in_points=False)
    assert "pp" not in said.text + said.detail and said.text.startswith(
        "A scores higher than B with other questions and prompts like these: 0."
    )


def test_small_sentences_name_the_largest_first():
    bar = error_bar(score_cells(rows_of(n=60)))
    parts = shares(bar)
    first = max(parts, key=lambda name: parts[name].value)
    low, high = (f"{100 * limit:.0f}" for limit in (parts[first].low, parts[first].high))
    assert share_words(parts).startswith(f"Of the uncertainty, {100 * parts[first].value:.0f}% [{low}, {high}] from ")
    said = next_calls_words(bar.half_width("wordings"), gains(bar), 100)
    assert re.match(r"100 more calls on new \w+ would narrow the range by \d+\.\d points at most\.$", said)
    few = next_calls_words(0.1, gains(bar), 100, few_prompts=5)
    assert few.endswith("5 are too few prompts to tell: how far prompts lie apart is taken at its upper limit.")
    assert (share_words({}), other_extractors_words([]), other_extractors_words([math.nan]), other_extractors_words([0.5])) == (
        "",
        "",
        "",
        " Another extractor: 50%.",
    )


def test_a_difference_is_asserted_where_its_whole_interval_lies_beside_nothing():
    strong, weak = (score_cells(rows_of(n=60, seed=seed)) for seed in (0, 1))
    much = ScoreCells(np.ones((60, 5)), strong.n_runs, strong.squares, weak.questions, weak.wordings)
    claim = difference_claim("A", "B", error_bar(much.minus(weak)), (5, 0, 0))
    assert claim.is_made and claim.assertion is SHORT_HIGHER
    assert claim.text.startswith("A scores higher than B with other questions and prompts like these: +")
    assert claim.detail.startswith(
        "A leads in all 5 prompts, B in 0. On these questions B would lead in 0% [0, 52] of such prompts."
    )
    alike = difference_claim("A", "B", error_bar(strong.minus(weak)), (2, 2, 1))
    assert not alike.is_made and alike.text.startswith(
        "Undecided whether A or B scores higher with other questions and prompts like these: "
    )
    assert ", they tie in 1." in alike.detail
    assert (
        difference_claim("A", "B", error_bar(much.minus(weak)), (5, 0, 0), "nobody checked it.").text
        == "Not claimed: nobody checked it."
    )
    one = error_bar(score_cells(rows_of(n=60, m=1)).minus(score_cells(rows_of(n=60, m=1, seed=1))))
    assert difference_claim("A", "B", one, (1, 0, 0)).text == ""


def test_ranks_follow_from_the_leads_of_all_pairs():
    claim = rank_claim(["A", "B", "C"], [1, 2, 2], [1, 3, 3])
    assert claim.is_made and claim.text == "Ranks with other questions and prompts like these: A 1, B 2 to 3, C 2 to 3."
    assert claim.assertion is HIGHER and claim.outcome == "ranked"
    assert rank_claim(["A", "B"], [1, 2], [1, 2], is_short=True).assertion is SHORT_HIGHER
    assert claim.numbers == {"best": {"A": 1, "B": 2, "C": 2}, "worst": {"A": 1, "B": 3, "C": 3}}
    none = rank_claim(["A", "B"], [1, 1], [2, 2])
    assert (
        not none.is_made and none.text == "No model is shown to rank above another with other questions and prompts like these."
    )
    many = rank_claim([f"m{i}" for i in range(7)], range(1, 8), range(1, 8))
    assert many.text.endswith("m4 5.") and many.detail == "Further ranks: m5 6, m6 7."
    five = rank_claim([f"m{i}" for i in range(5)], range(1, 6), range(1, 6))
    assert five.text == many.text and five.detail == ""


def test_changes_that_do_not_add_up_are_named():
    one, other = (Estimate(value, value - 0.05, value + 0.05, 0.95, "crossed", 60, None) for value in (-0.12, 0.03))
    claim = additivity_claim("m", {"way-1": other, "way-2": one})
    assert (
        claim.is_made
        and claim.text
        == "Several changes at once do not add up for m: way-2 is −12.0 points [−17.0, −7.0] from the sum of its parts."
    )
    none = additivity_claim("m", {"way-1": other}, is_in_points=False)
    assert not none.is_made and "at most, way-1 is 0.030 [−0.020, 0.080] from" in none.text
    assert additivity_claim("m", {}).text == "" and not additivity_claim("m", {"way-2": one}, "nobody checked it.").is_made


def test_a_plan_says_what_is_missing_before_it_says_how_sure():
    parts = Components(0.1, 0.002, 0.03, 0.03)
    assert plan_words(parts, 8, 8, 1, 100) == (
        "8 questions × 8 prompts × 1 run: too few questions for an interval; from 10 on there is one.",
    )
    one, eight = plan_words(parts, 60, 1, 2, 100), plan_words(parts, 60, 8, 2, 100)
    assert one[0] == "60 questions × 1 prompt × 2 runs: no interval over other prompts." and one[1].endswith(
        eight[0].split("±")[1].split(" with")[0] + "."
    )
    assert eight[1].startswith("100 more calls on new ")


def test_the_small_line_says_how_common_a_kind_of_prompt_may_be_that_was_not_met():
    bar = error_bar(score_cells(rows_of(n=60, m=8)))
    assert "These 8 prompts may miss a kind that makes up to 31% of all prompts." in score_claim("m", bar).detail
    one = error_bar(score_cells(rows_of(n=60, m=1)))
    assert "kind of prompt" not in score_claim("m", one).detail


def test_a_level_is_printed_as_measured_where_prompts_or_clusters_are_few():
    enough = error_bar(score_cells(rows_of(n=60, m=8)))
    assert score_claim("m", enough).assertion is WHOLE and "about" not in score_claim("m", enough).detail
    assert elsewhere_claim("m", enough).text.endswith("(95%).")
    few = error_bar(score_cells(rows_of(n=60, m=5)))
    small = score_claim("m", few).detail
    assert re.search(r"95% half-widths: questions ± [\d.]+ points, questions and prompts ± [\d.]+ points \(about 91%\)", small)
    assert elsewhere_claim("m", few).text.endswith("(about 91%).")


def scores_by_prompt(shares, n=100):
    """Questions of which each prompt gets such a share right, the easiest ones first."""
    right = (np.arange(n)[:, None] < n * np.array(shares)[None, :]).astype(float)
    names = [str(i) for i in range(n)], [str(j) for j in range(len(shares))]
    return ScoreCells(right, np.ones(right.shape, dtype=int), np.zeros(right.shape), *names)


def test_prompts_that_spread_over_what_is_left_to_the_top_print_what_such_intervals_held():
    apart = [0.99, 0.98, 0.98, 0.97, 0.95, 0.92, 0.88, 0.82]
    near_the_top, in_the_middle = error_bar(scores_by_prompt(apart)), error_bar(scores_by_prompt([x - 0.4 for x in apart]))
    alike = error_bar(scores_by_prompt([0.94, 0.93, 0.94, 0.93, 0.94, 0.93, 0.94, 0.93]))
    assert [bar.is_short("wordings") for bar in (near_the_top, in_the_middle, alike)] == [True, False, False]
    assert score_claim("m", near_the_top).assertion is SHORT_WHOLE and score_claim("m", alike).assertion is WHOLE
    assert elsewhere_claim("m", near_the_top).text.endswith("(about 91%).")
    assert elsewhere_claim("m", in_the_middle).text.endswith("(95%).")
    assert not near_the_top.is_short("questions")  # these prompts are all there are
    rows = rows_of(n=60, m=8)
    clustered = error_bar(score_cells(rows.assign(family=rows["item_id"].str[-1])))
    assert score_claim("m", clustered).assertion is SHORT_WHOLE


def test_a_lead_over_prompts_needs_their_signs():
    assert [least_leads(n, 0.95) for n in (3, 6, 7, 8, 9, 12, 20)] == [3, 6, 6, 7, 8, 10, 15]
    weak = score_cells(rows_of(n=60, m=8, seed=1))
    ones = ScoreCells(np.ones((60, 8)), weak.n_runs, weak.squares, weak.questions, weak.wordings)
    bar = error_bar(ones.minus(weak))
    assert difference_claim("A", "B", bar, (7, 1, 0)).is_made
    six = difference_claim("A", "B", bar, (6, 2, 0))
    assert not six.is_made and "A lead in at least 7 prompts is needed." in six.detail


def test_so_many_prompts_must_lead_that_equal_models_seldom_do():
    for level in (0.8, 0.84, 0.9, 0.95, 0.99):
        for n in range(2, 80):
            half = (1 - level) / 2
            least = next((k for k in range(n + 1) if binom.sf(k - 1, n, 0.5) <= half), n + 1)
            wanted = n if n <= ALL_LEAD else min(least, n - 1)
            assert least_leads(n, level) == wanted, (level, n)


def test_scores_err_in_one_of_twenty_and_short_intervals_in_nine_of_a_hundred():
    short = [assertion for assertion in ASSERTIONS if assertion.name.endswith(", about 91%")]
    assert {(assertion.error_rate, assertion.sides) for assertion in short} == {(0.09, 2)} and len(short) == 4
    assert {(assertion.error_rate, assertion.sides) for assertion in ASSERTIONS if assertion not in short} == {(0.05, 2)}
