"""Sentences about two sets: the verdict first, its number, at most 25 words, and nothing asserted that was not shown."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims.claim import Claim
from flipcore.claims.holdout import (
    ASSERTIONS,
    SAME_SOURCE,
    SETS_EQUIVALENT,
    TOPICS,
    inflation_claim,
    most_copies,
    outcome_claim,
    survey_claim,
    verdict_claim,
)
from flipcore.claims.likeness import likeness_claim, mixing_claim, words_claim
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.holdout import neighbours
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.ngrams import ngrams
from flipcore.stats.holdout.survey import OddOneOut, odd_one_out_survey
from flipcore.stats.holdout.verdict import COPIES, OUTCOMES, TESTS, HoldoutVerdict, difficulty_test
from tests.lab.simulations.planted_memory import odd_one_out_hits
from tests.reports.browser_data.test_margins import made

BOUNDS = {"difficulty": (-0.02, 0.02), "semantic": (-0.001, 0.002), "prediction": (0.0, 0.55), "odd one out": (0.0, 0.42)}
MARGINS = {"difficulty": 0.1, "semantic": 0.01, "prediction": 0.6, "odd one out": 0.45}
FAR = {"difficulty": (0.2, 0.4), "semantic": (0.02, 0.04), "prediction": (0.7, 0.9), "odd one out": (0.5, 0.7)}


def with_outcome(name, outcome):
    test = made(name, bound=BOUNDS[name], margin=MARGINS[name])
    if outcome in ("different", "undecided"):
        test = replace(test, bound=(-0.9, 0.99), equivalent=False)
    if outcome in ("beyond", "different", "within"):
        apart = Estimate(0.3, 0.2, 0.4, 0.95, "newcombe", 100, None) if name == "difficulty" else test.estimate
        test = replace(
            test, estimate=apart, p=0.001, p_adjusted=0.004, outer=FAR[name] if outcome == "beyond" else (-0.9, 0.99)
        )
    assert test.state == outcome
    return test


def n_words(claim: Claim) -> int:
    return len(claim.text.replace("pp", "").split())


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_of_every_test_is_a_short_sentence(name, outcome):
    said = outcome_claim(with_outcome(name, outcome))
    assert said.outcome == outcome and said.is_made == (outcome != "undecided") == (said.assertion is not None)
    assert n_words(said) <= 25 and said.text.endswith(".") and "nan" not in said.text
    starts = {"equivalent": "The sets are alike on", "undecided": "Undecided on"}
    assert said.text.startswith(starts.get(outcome, "The sets differ on"))


def test_the_verdict_of_every_combination_is_a_short_sentence():
    for outcomes in itertools.product((*OUTCOMES, None), repeat=4):
        tests = tuple(with_outcome(name, outcome) for name, outcome in zip(TESTS, outcomes, strict=True) if outcome)
        said = verdict_claim(HoldoutVerdict(tests))
        assert n_words(said) <= 25, said.text
        assert said.is_made == (said.outcome != "undecided")
        if {"beyond", "different"} & set(outcomes):
            assert said.text.startswith("The sets can be told apart: ")


def test_the_open_verdict_counts_its_tests():
    # the verdict first, then what is missing
    tests = (with_outcome("semantic", "undecided"), with_outcome("prediction", "equivalent"))
    said = verdict_claim(HoldoutVerdict(tests))
    assert said.text == "Undecided: the holdout is like the benchmark on 1 of 4 tests, 1 is inconclusive, 2 have not been run."
    assert said.detail == "The source's rule says undecided."
    assert (
        verdict_claim(HoldoutVerdict(())).text
        == "Undecided: the holdout is like the benchmark on none of 4 tests, 4 have not been run."
    )


def test_all_inside_their_margins_is_one_source():
    same = [with_outcome(name, "equivalent") for name in TESTS]
    said = verdict_claim(HoldoutVerdict(tuple(same)))
    assert said.text == "The sets could have come from the same source: they are alike on all 4 tests."
    same[0] = with_outcome("difficulty", "within")
    said = verdict_claim(HoldoutVerdict(tuple(same)))
    assert said.text == "All 4 tests lie within their margins; a small difference is shown on difficulty."


def test_one_source_names_the_copies_that_no_test_could_see():
    same = [with_outcome(name, "equivalent") for name in TESTS]
    same[1] = replace(same[1], copied_at_most=0.141)
    said = verdict_claim(HoldoutVerdict(tuple(same)))
    assert (
        said.detail.startswith("At most 15% of the holdout entries are close copies, nearest to their own original. ")
        and said.is_made
    )
    assert outcome_claim(same[1]).text.endswith("; at most 15% are close copies.") and n_words(outcome_claim(same[1])) <= 25
    within = replace(with_outcome("semantic", "within"), copied_at_most=0.141)
    assert n_words(outcome_claim(within)) <= 25


def test_a_test_says_why_it_is_open():
    few = difficulty_test(9, 9, 0, 200)
    assert outcome_claim(few).text == "Undecided on difficulty: 9 answers in one set, and at least 10 are needed."
    assert "no margin is set" in outcome_claim(made("semantic", bound=(-0.1, 0.1), margin=None)).text
    held = replace(made("prediction", p=0.03, bound=(0.0, 0.7)), p_adjusted=0.09)
    assert "p = .030 alone, no difference by Holm over the tests" in outcome_claim(held).text


def condition(model, k_target, k_retro, n=100):
    sides = [{f"{role}{i}": float(i < k) for i in range(n)} for role, k in (("t", k_target), ("r", k_retro))]
    return Condition(model, "regex", "plain", "", *sides, {})


def test_inflation_counts_models_after_holm_and_names_the_largest():
    # p of 70 v 50: .0039; of 60 v 45: .034, which over three models is no longer below .05 (.034 * 2)
    conditions = [condition("a", 70, 50), condition("b", 60, 45), condition("c", 50, 50)]
    assert conditions[1].test(1.0).p < 0.05 and conditions[0].accuracies == (0.7, 0.5)
    said = inflation_claim(conditions)
    assert said.text.startswith(
        "1 of 3 models scores higher on the benchmark than on the holdout; the largest difference is a's, 20.0 points (likely "
    )
    assert said.is_made and inflation_claim(conditions[:1]).text.startswith(
        "a scores 20.0 points higher on the benchmark than on the holdout (likely "
    )
    nothing = inflation_claim(conditions[2:])
    assert "is not shown to score higher on the benchmark" in nothing.text and not nothing.is_made
    assert inflation_claim([]).assertion is None


def test_a_model_that_is_worse_on_the_target_is_not_inflated():
    said = inflation_claim([condition("a", 50, 70)])
    assert not said.is_made and said.text.startswith("a is not shown")


def test_the_survey_names_whom_it_holds_for():
    said = survey_claim(odd_one_out_survey(*odd_one_out_hits(generator(2), accuracy=0.55)))
    assert said.is_made and said.text.startswith("People find the holdout entry more often than one time in three: 5")
    one = survey_claim(odd_one_out_survey([1] * 9 + [0] * 3, [f"e{i}" for i in range(12)], ["me"] * 12))
    assert one.text.startswith("One person finds") and "this one alone" in one.detail
    few = survey_claim(odd_one_out_survey([1] * 24, [f"e{i % 6}" for i in range(24)], [f"a{i // 6}" for i in range(24)]))
    assert few.text == "Undecided: answers on 6 holdout entries, and at least 10 are needed." and not few.is_made
    rng = generator(3)
    four = odd_one_out_survey((rng.random(160) < 0.7).astype(float), np.tile(np.arange(40), 4), np.repeat(np.arange(4), 40))
    assert survey_claim(four, "model").text.startswith("These sheets find")


def test_neighbours_and_likeness_inside():
    rng = generator(4)
    units = rng.standard_normal((40, 6)) + np.repeat([[3.0] + [0] * 5, [0] * 5 + [3.0]], 20, axis=0)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    rows = neighbours.nearest(units, units, 5, skip_self=True)[0]
    said = mixing_claim(neighbours.mixing(rows, np.repeat([0, 1], 20)))
    assert said.is_made and said.text.startswith("Neighbors keep to their own set more than if the sets were mixed: ")
    mixed = neighbours.nearest(rng.standard_normal((40, 6)), rng.standard_normal((40, 6)), 5)[0]
    chance = mixing_claim(neighbours.mixing(mixed, np.repeat([0, 1], 20)))
    assert chance.text == "On the map the two sets mix as chance would mix them." and "are expected (p" in chance.detail
    few = mixing_claim(neighbours.mixing(rows[:18] % 18, np.repeat([0, 1], 9)))
    assert not few.is_made and "at least 10 entries" in few.text
    ends = [Estimate(value, value - 0.02, value + 0.02, 0.95, "clt_cluster", 20, None) for value in (0.2, 0.3, 0.1)]
    said = likeness_claim(*ends).text
    assert said.startswith(
        "Holdout entries are more alike than benchmark entries: mean cosine 0.300 [0.280, 0.320] in the holdout"
    )
    flat = replace(ends[2], low=-0.1)
    assert not likeness_claim(*ends[:2], flat).is_made and likeness_claim(missing(), ends[0], ends[1]).assertion is None


def test_words_that_give_a_set_away():
    apart = words_claim(ngrams(["red cat"] * 20, ["blue cat"] * 20))
    assert apart.is_made and "words and word pairs are more usual in one set, most of all" in apart.text
    assert not words_claim(ngrams(["red cat"] * 20, ["red cat"] * 20)).is_made
    assert words_claim(ngrams(["a"], ["b"])).text.startswith("Undecided: at least 10 entries")
    assert words_claim(ngrams(list("abcdefghij"), list("klmnopqrst"))).text.startswith("No word or word pair is in 5 entries")


def test_a_retro_set_may_be_less_alike_inside():
    target, retro, difference = (
        Estimate(value, value - 0.02, value + 0.02, 0.95, "clt_cluster", 20, None) for value in (0.3, 0.2, -0.1)
    )
    claim = likeness_claim(target, retro, difference)
    assert claim.is_made and claim.outcome == "less"
    assert claim.text == (
        "Holdout entries are less alike than benchmark entries: mean cosine 0.200 [0.180, 0.220] in the holdout, 0.300 "
        "[0.280, 0.320] in the benchmark."
    )
    assert claim.detail == "Difference −0.100 [−0.120, −0.080]."


def test_each_claim_errs_in_one_of_twenty():
    assert {assertion.error_rate for assertion in ASSERTIONS} == {0.05}
    assert {assertion for assertion in ASSERTIONS if assertion.sides == 1} == {SETS_EQUIVALENT, SAME_SOURCE}
    assert {assertion.sides for assertion in ASSERTIONS} == {1, 2} and len(SAME_SOURCE.worlds) == 3


@pytest.mark.parametrize(
    ("shares", "has_many_twins", "most"),
    [
        ((), False, None),
        ((math.nan,), False, None),
        ((0.141,), False, 15),
        ((0.14, math.nan, 0.02), False, 14),
        ((0.141,), True, None),
    ],
)
def test_most_copies_is_the_largest_limit_rounded_up(shares, has_many_twins, most):
    tests = [replace(with_outcome("semantic", "equivalent"), copied_at_most=share, has_many_twins=False) for share in shares]
    if has_many_twins:
        tests.append(replace(tests[0], has_many_twins=True))
    assert most_copies(tests) == most


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"blind": "a word gives it away"}, "and sameness could not show: a word gives it away."),
        ({"margin": None}, "and no margin is set."),
        ({"is_bounded": False}, "in how alike the entries of a set are, which no margin bounds."),
        ({}, "not shown to lie within the margin or beyond it."),
        ({"blind": COPIES}, None),
    ],
)
def test_a_difference_that_has_no_place_says_why(change, words):
    test = replace(with_outcome("semantic", "different"), p=0.0012, p_adjusted=0.0012, **change)
    claim = outcome_claim(test)
    assert claim.outcome == "different" and claim.is_made
    if words:
        assert claim.text == f"The sets differ on {TOPICS['semantic']} (p = .001), {words}"
    else:
        assert claim.text.startswith(f"Entries of one set stand for entries of the other: {TOPICS['semantic']} (p = .001).")


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        (
            ("equivalent", "equivalent", "equivalent", None),
            "The sets could have one source as far as it was tested: alike on 3 of 3 tests; the survey was not run.",
        ),
        (
            ("within", "equivalent", "equivalent", None),
            f"3 of 3 tests lie within their margins, with a small difference on {TOPICS['difficulty']}; the survey was not run.",
        ),
        (
            ("undecided", "equivalent", "equivalent", None),
            "Undecided: the holdout is like the benchmark on 2 of 4 tests, 1 is inconclusive, 1 has not been run.",
        ),
        (
            (None, "equivalent", "equivalent", "equivalent"),
            "Undecided: the holdout is like the benchmark on 3 of 4 tests, 1 has not been run.",
        ),
        (
            ("within", "within", None, None),
            "Undecided: the holdout is like the benchmark on none of 4 tests, 2 differ within their margins, 2 have not been run.",
        ),
        (
            ("within", "undecided", "undecided", "equivalent"),
            "Undecided: the holdout is like the benchmark on 1 of 4 tests, 1 differs within its margin, 2 are inconclusive.",
        ),
    ],
)
def test_a_verdict_without_the_survey_holds_as_far_as_it_was_tested(outcomes, sentence):
    tests = tuple(with_outcome(name, outcome) for name, outcome in zip(TESTS, outcomes, strict=True) if outcome)
    claim = verdict_claim(HoldoutVerdict(tests))
    assert claim.text == sentence and claim.is_made == (not sentence.startswith("Undecided"))


@pytest.mark.parametrize(
    ("p", "share", "is_found"),
    [(0.049, 0.5, True), (0.05, 0.5, False), (0.049, 0.2, False), (0.049, 1 / 3, False), (0.5, 0.5, False)],
)
def test_people_find_the_holdout_entry_where_they_do_so_more_often_than_by_chance(p, share, is_found):
    answers = OddOneOut(
        Estimate(share, share - 0.1, share + 0.1, 0.95, "wilson", 40, None), p, 0.6, 0.05, p, n_entries=40, n_annotators=1_000
    )
    claim = survey_claim(answers)
    verb = "find" if is_found else "are not shown to find"
    assert claim.text.startswith(f"People {verb} the holdout entry more often than one time in three: ")
    assert claim.is_made == is_found and claim.detail.startswith("1,000 annotators, 40 holdout entries.")
    sentence = survey_claim(replace(answers, n_annotators=1), "model").text
    assert sentence.startswith(f"One sheet of a model {'finds' if is_found else 'is not shown to find'}")
    assert survey_claim(replace(answers, n_annotators=9)).text.startswith(f"These people {verb}")
    assert survey_claim(replace(answers, n_annotators=10)).text.startswith(f"People {verb}")


@pytest.mark.parametrize(("p", "is_alone"), [(0.0499, True), (0.05, False)])
def test_a_p_at_the_level_shows_nothing_alone(p, is_alone):
    held = replace(made("prediction", p=p, bound=(0.0, 0.7)), p_adjusted=0.09)
    assert ("alone, no difference by Holm" in outcome_claim(held).text) is is_alone


def planted(p, low, *, value=0.1, coverage=None):
    """A model with this p and this low limit of its difference."""
    estimate = Estimate(value, low, 0.2, 0.95, "newcombe", 100, None, coverage=coverage)
    return SimpleNamespace(
        model="m", inflation=lambda: estimate, test=lambda margin: SimpleNamespace(p=p), cut_sentence=lambda: ""
    )


@pytest.mark.parametrize(
    ("p", "low", "coverage", "is_made"),
    [
        (0.0499, 0.001, None, True),
        (0.05, 0.001, None, False),
        (0.0499, 0.0, None, False),
        (0.0499, 0.001, 0.84, False),  # an interval that is too short supports no claim
        (0.0499, 0.001, 0.86, True),
    ],
)
def test_a_model_scores_higher_below_the_level_and_with_an_interval_above_0(p, low, coverage, is_made):
    claim = inflation_claim([planted(p, low, coverage=coverage)])
    assert claim.is_made == is_made and claim.numbers["better"] == is_made
    assert claim.outcome == ("inflated" if is_made else "undecided")


def test_of_several_models_those_that_score_higher_are_counted():
    two = inflation_claim([planted(0.001, 0.01), planted(0.001, 0.01, value=0.3), planted(0.9, -0.1)])
    assert two.text.startswith(
        "2 of 3 models score higher on the benchmark than on the holdout; the largest difference is m's, 30.0 points"
    )
    none = inflation_claim([planted(0.9, -0.1), planted(0.9, -0.1)])
    assert none.text.startswith("None of 2 models is shown to score higher") and not none.is_made
    assert two.numbers["models"] == 3 and two.numbers["p"] == pytest.approx(0.003)
