"""The sentence of a score: with wordings measured, with one wording, with few questions, behind a closed gate."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from flipcore.claims.score import (
    ALL_LEAD,
    ASSERTIONS,
    EQUAL_ANSWERS,
    FEW,
    HIGHER,
    QUESTIONS,
    QUESTIONS_ONLY,
    SCORE,
    SHORT_HIGHER,
    SHORT_QUESTIONS,
    SHORT_WHOLE,
    WHOLE,
    WHOLE_BAR,
    additivity_claim,
    corrected_words,
    difference_claim,
    elsewhere_claim,
    half_text,
    largest_shares_words,
    least_leads,
    limits_text,
    narrower_words,
    next_calls_words,
    other_extractors_words,
    plan_words,
    rank_claim,
    scale_words,
    score_claim,
    score_text,
    share_words,
    split_words,
)
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.score.cells import ScoreCells, score_cells
from flipcore.stats.score.error_bar import Components, error_bar, shares
from flipcore.stats.score.next_calls import Design, best_design, designs_after, gains, half_width
from tests.stats.score.tables import rows_of


def test_the_sentence_prints_its_range_and_the_small_type_the_narrower_ones():
    bar = error_bar(score_cells(rows_of(n=60)))
    claim = score_claim("gpt-x", bar, (0.64, 0.78))
    questions, wordings = bar.by_questions, bar.by_wordings
    assert claim.is_made and claim.assertion is SHORT_WHOLE and claim.outcome == WHOLE_BAR
    assert claim.text == (
        f"gpt-x: {bar.value:.0%} right; with other questions and prompts like these {100 * wordings.low:.0f} to {wordings.high:.0%}. "
        "Other extractors read the same outputs as 64 to 78% right."
    )
    reruns = bar.estimate("reruns")
    assert claim.detail.startswith(
        "60 questions × 5 prompts × 3 runs. About 91% interval. "
        f"Other questions alone: {100 * questions.low:.0f} to {questions.high:.0%} (95%). "
        f"Reruns alone: {100 * reruns.low:.0f} to {reruns.high:.0%} (95%). These 5 prompts"
    )
    assert score_claim("gpt-x", bar, own_score=0.91).detail.startswith("Own prompt: 91%. 60 questions")


def test_a_score_has_its_range_alone_where_nothing_was_asked_twice():
    """ "78 to 100%" stood beside "± 0.0 points", and no line said which to quote."""
    rows = rows_of(n=16, m=1, s=1).assign(score=1.0)
    claim = score_claim("human", error_bar(score_cells(rows)))
    assert claim.text == "human: 100% right; with other questions 78 to 100%. Asked in one wording only."
    assert claim.detail == "16 questions × 1 prompt × 1 run. 95% interval."
    again = score_claim("human", error_bar(score_cells(rows_of(n=16, m=1, s=3).assign(score=1.0))))
    assert again.detail == "16 questions × 1 prompt × 3 runs. 95% interval."


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
    assert score_claim("m", two).text.endswith("%. Two prompts are too few to say how much the prompt matters.")
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
    assert re.search(r"About 91% interval\. Other questions alone: \d+ to \d+% \(95%\)\.", score_claim("m", few).detail)
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


def test_ranks_are_open_only_where_every_model_may_have_every_rank():
    for best, worst in (([1, 1, 2], [3, 3, 3]), ([1, 1, 1], [3, 2, 3]), ([2, 1, 1], [3, 3, 3])):
        assert rank_claim(["A", "B", "C"], best, worst).is_made
    none = rank_claim(["A", "B", "C"], [1, 1, 1], [3, 3, 3])
    assert none.outcome == "undecided" and none.detail == "" and not none.is_made
    assert rank_claim(["A", "B"], [1, 2], [1, 2], "nobody checked it.").text == "Not claimed: nobody checked it."


def estimate(value, low=math.nan, high=math.nan, n=60, **more):
    return Estimate(value, low, high, 0.95, "crossed", n, None, **more)


@pytest.mark.parametrize(
    ("gaps", "words", "small_print"),
    [
        (
            {"a": (0.1, 0.01, 0.2), "b": (-0.3, -0.7, 0.1)},
            "Several changes at once do not add up for m: a is +10.0 points",
            "1 of 2 ways of asking differs;",
        ),
        (
            {"a": (0.1, 0.0, 0.2), "b": (-0.3, -0.7, 0.1)},
            "Undecided whether several changes at once add up for m: at most, b is −30.0 points",
            "0 of 2 ways of asking differ;",
        ),
        (
            {"a": (0.1, 0.01, 0.2), "b": (-0.3, -0.7, -0.1)},
            "Several changes at once do not add up for m: b is −30.0 points",
            "2 of 2 ways of asking differ;",
        ),
    ],
)
def test_the_largest_gap_of_those_that_are_shown_is_named(gaps, words, small_print):
    estimates = {name: estimate(*limits) for name, limits in gaps.items()}
    claim = additivity_claim("m", estimates)
    assert claim.text.startswith(words) and claim.detail.startswith(small_print)
    assert claim.is_made == (claim.outcome == "differs") == words.startswith("Several")
    short = {name: replace(gap, effective=5.0) for name, gap in estimates.items()}
    assert not additivity_claim("m", short).is_made  # five clusters carry no claim


@pytest.mark.parametrize(
    ("scores", "is_share", "words"),
    [
        ([0.53, 0.861], True, " Other extractors read the same outputs as 53 to 86% right."),
        ([0.861, 0.53, 0.6], True, " Other extractors read the same outputs as 53 to 86% right."),
        ([0.531, 0.529], True, " Other extractors: 53%."),
        ([0.53, math.nan], True, " Other extractors: 53%."),
        ([3.2, 0.25], False, " Other scores: 0.25 to 3.20."),
        ([0.25], False, " Another score: 0.25."),
        ([0.25, 0.25], False, " Other scores: 0.25."),
    ],
)
def test_scores_of_other_extractors_are_a_range_or_one_number(scores, is_share, words):
    assert other_extractors_words(scores, is_share=is_share) == words
    assert other_extractors_words([0.531, 0.529], digits=1) == " Other extractors read the same outputs as 52.9 to 53.1% right."


@pytest.mark.parametrize(
    ("scores", "name", "words"),
    [
        ([0.5], EQUAL_ANSWERS, " Answers that equal the right one: 50%."),
        ([0.5, 0.6], EQUAL_ANSWERS, " Answers that equal the right one: 50 to 60%."),
        ([0.5], SCORE, " Another score: 50%."),
        ([0.5, 0.6], SCORE, " Other scores: 50 to 60%."),
    ],
)
def test_beside_a_tables_own_score_nothing_is_called_an_extractor(scores, name, words):
    assert other_extractors_words(scores, name=name) == words


def test_shares_and_grades_are_printed_on_their_own_scales():
    assert (score_text(0.871, is_share=True), score_text(0.871, 1, is_share=True), score_text(3.421, is_share=False)) == (
        "87%",
        "87.1%",
        "3.42",
    )
    assert (half_text(0.081), half_text(0.081, is_share=False)) == ("± 8.1 points", "± 0.081")
    assert limits_text(estimate(0.86, 0.8, 0.92), is_share=True) == "80 to 92%"
    assert limits_text(estimate(0.86, 0.84, 0.88), is_share=True) == "84.0 to 88.0%"
    assert limits_text(estimate(3.4, 3.1, 3.6), is_share=False) == "3.10 to 3.60"
    scales = [(0.0, 1.0), (1, 5), (-math.inf, math.inf), (0, 5), (0, math.inf)]
    words = ["", " on a scale from 1 to 5", "", " on a scale from 0 to 5", ""]
    assert [scale_words(SimpleNamespace(bounds=scale)) for scale in scales] == words


def test_the_parts_of_the_uncertainty_are_named_the_largest_first():
    parts = {
        "questions": estimate(0.35),
        "wordings": estimate(0.65, 0.6, 0.7),
        "reruns": estimate(0.16),
        "question × wording": estimate(math.nan),
    }
    assert largest_shares_words(parts) == "65% comes from how they were asked, 35% from which questions were asked."
    assert share_words(parts) == (
        "Of the uncertainty, 65% [60, 70] from how they were asked, 35% from which questions were asked, 16% from chance between reruns."
    )
    assert largest_shares_words({}) == "" and largest_shares_words({"own": estimate(1.0)}) == "100% comes from own."


@pytest.mark.parametrize(
    ("half_widths", "is_share", "words"),
    [
        ((0.08, 0.09, 0.095), True, "1,000 more calls on new prompts would narrow the range by 2.0 points at most."),
        ((0.09, 0.08, 0.095), True, "1,000 more calls on new questions would narrow the range by 2.0 points at most."),
        ((0.095, 0.09, 0.0), False, "1,000 more calls on reruns would narrow the range by 0.100 at most."),
        ((0.12, 0.11, 0.13), True, "1,000 more calls on new questions would narrow the range by 0.0 points at most."),
    ],
)
def test_the_next_calls_go_where_they_narrow_the_range_most(half_widths, is_share, words):
    designs = {name: Design(1, 1, 1, half) for name, half in zip(("wordings", "questions", "reruns"), half_widths, strict=True)}
    assert next_calls_words(0.1, designs, 1_000, is_share=is_share) == words


def test_a_plan_has_an_interval_from_ten_questions_and_three_prompts_on():
    parts = Components(0.1, 0.002, 0.03, 0.03)
    assert "too few questions" in plan_words(parts, 9, 3, 1, 100)[0]
    now, more = plan_words(parts, 10, 3, 1, 100)
    assert (
        now == f"10 questions × 3 prompts × 1 run: {half_text(half_width(parts, 10, 3, 1))} with other questions and prompts."
    )
    assert more == next_calls_words(half_width(parts, 10, 3, 1), designs_after(parts, 10, 3, 1, 100), 100)
    two = plan_words(parts, 10, 2, 1, 100)
    assert two == (
        "10 questions × 2 prompts × 1 run: no interval over other prompts.",
        f"Eight prompts drawn at random would give {half_text(half_width(parts, 10, 8, 1))}.",
    )
    best = best_design(parts, 1_440, 480)
    size = f"{best.n_questions} questions × {best.n_wordings} prompts × 1 run"
    assert (
        best.n_runs == 1
        and split_words(parts, 1_440, 480) == f"1,440 calls are split best as {size}: {half_text(best.half_width)}"
    )


def labelled(n_labels=40, n_more=30, *, is_normal=False, has_interval=True):
    limits = (0.7, 0.9) if has_interval else (math.nan, math.nan)
    return SimpleNamespace(
        n_labels=n_labels,
        n_more=n_more,
        n_disagreements=4,
        has_normal_limits=is_normal,
        estimate=estimate(0.8, *limits, note="" if has_interval else "No interval: few."),
        raw=estimate(0.85, 0.8, 0.9),
        false_rights=estimate(0.0, 0.0, 0.12),
        half_width=lambda n: {0: 0.1, 50: 0.08}.get(n, 0.05),
    )


def test_a_corrected_score_says_what_makes_its_interval():
    start = "m with 40 labels by people: 80% right; match alone: 85% [80, 90]."
    few = corrected_words("m", "match", labelled())
    assert few == (
        "m with 40 labels by people: 80% [70, 90] right; match alone: 85% [80, 90]. 4 of 40 labels differ in right or wrong, so "
        "exact limits of both error rates make the interval."
    )
    assert corrected_words("m", "match", labelled(has_interval=False)) == f"{start} No interval: few."
    assert (
        corrected_words("m", "match", labelled(is_normal=True))
        == "m with 40 labels by people: 80% [70, 90] right; match alone: 85% [80, 90]."
    )


def test_further_labels_are_said_to_narrow_the_interval_or_how_many_it_needs():
    assert narrower_words(labelled(is_normal=True), 50) == (
        "50 more labels: ± 10.0 points becomes ± 8.0 points; no number of labels takes it below ± 5.0 points."
    )
    assert (
        narrower_words(labelled(n_labels=9), 50) == "Label about 1 more."
        and narrower_words(labelled(n_labels=0), 50) == "Label about 10 more."
    )
    assert narrower_words(labelled(n_labels=10), 50) == "Label about 30 more for an interval by prediction-powered inference."
    assert (
        narrower_words(labelled(n_more=None), 50)
        == "No label differs from the extractor yet: at most 12% of its rights are wrong."
    )


def test_a_short_interval_over_questions_is_one_over_clusters():
    assert SHORT_QUESTIONS.worlds == ("questions in clusters",) and SHORT_QUESTIONS.error_rate == 0.09
    ten = rows_of(n=10).assign(family="all")
    assert score_claim("m", error_bar(score_cells(ten))).text.endswith("too few clusters for an interval (1).")


def test_how_many_prompts_are_needed_is_said_only_where_the_interval_alone_would_do():
    strong, weak = (score_cells(rows_of(n=60, m=8, seed=seed)) for seed in (0, 1))
    ones = ScoreCells(np.ones((60, 8)), weak.n_runs, weak.squares, weak.questions, weak.wordings)
    beyond, within = error_bar(ones.minus(weak)), error_bar(strong.minus(weak))
    needed = "A lead in at least 7 prompts is needed."
    said = [
        difference_claim("A", "B", bar, leads).detail
        for bar, leads in ((beyond, (8, 0, 0)), (beyond, (6, 2, 0)), (within, (4, 4, 0)))
    ]
    assert [needed in detail for detail in said] == [False, True, False]
    assert elsewhere_claim("m", error_bar(weak)).is_made
