"""The next step is the cheapest that can still change the verdict, with its cost."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from flipcore.claims.next_steps import SetFacts, next_step
from flipcore.core.randomness import generator
from flipcore.stats.holdout.planning import StartingMargin, equivalence_plan, starting_margin
from flipcore.stats.holdout.semantic import mmd2_cos
from flipcore.stats.holdout.verdict import TESTS
from tests.claims.test_holdout import with_outcome

START = StartingMargin(0.0123, "the middle distance between 4 groups by category", 100)


def at(**outcomes):
    return {name: with_outcome(name, outcome) for name, outcome in zip(TESTS, outcomes.values(), strict=False) if outcome}


@pytest.mark.slow
def test_each_step_has_its_cost():
    said = next_step({}, 100, 100).text
    assert (
        said
        == "Next: under Inflation, ask a model that was trained before the benchmark was published; 200 calls, free with the pocket model."
    )
    open_margin = at(difficulty="equivalent", semantic="undecided", prediction="equivalent")
    open_margin["semantic"] = replace(open_margin["semantic"], margin=None)
    said = next_step(open_margin, 100, 100, START)
    assert said.text.startswith("Next: set a margin for semantic similarity, for example 0.012 (distance): the middle distance")
    assert "10 people with one sheet each take about 100 minutes" in next_step(open_margin, 100, 100).text
    scarce = at(difficulty="undecided", semantic="equivalent", prediction="equivalent", odd="equivalent")
    n = equivalence_plan(0.5, 0.1).n
    assert (
        next_step(scarce, 50, 50).text == f"Next: write entries; difficulty needs about {n} a set at that margin." and n > 400
    )


def test_a_step_that_is_done_or_that_leads_nowhere_is_not_given_again():
    undated = next_step({}, 100, 100, facts=SetFacts(is_dated=False)).text
    assert undated.startswith("Next: give each benchmark entry its publication date (column published)")
    paid = next_step({}, 100, 100, facts=SetFacts(is_free=False)).text
    assert paid == "Next: under Inflation, ask a model that was trained before the benchmark was published; 200 calls."
    asked = SetFacts(has_answers=True)
    assert "build a survey" in next_step({}, 100, 100, facts=asked).text
    assert "send the survey's link" in next_step({}, 100, 100, facts=replace(asked, has_survey=True)).text
    odd = at(difficulty=None, semantic=None, prediction="undecided", odd="undecided")
    assert next_step(odd, 100, 100, facts=asked).text.startswith("Next: write more entries")


def test_what_was_decided_is_edited_or_confirmed():
    same = at(a="equivalent", b="equivalent", c="equivalent", d="equivalent")
    assert "set a share aside" in next_step(same, 100, 100).text
    assert "Locked mode" in next_step(same, 100, 100, is_aside=True).text
    assert "Look inside" in next_step(at(a="beyond"), 100, 100).text
    assert next_step(same, 100, 9).text == "Next: add entries; each set needs at least 10, and these have 100 and 9."


def test_a_starting_margin_is_the_middle_distance_of_groups():
    rng = generator(5)
    groups = np.repeat(["a", "b", "c", "few"], [20, 20, 20, 5])
    rows = rng.standard_normal((65, 6)) + 2 * np.eye(4, 6)[np.repeat(np.arange(4), [20, 20, 20, 5])]
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    made = starting_margin(units, groups.tolist())
    pairs = [mmd2_cos(units[groups == a], units[groups == b]) for a, b in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert made.margin == pytest.approx(np.median(pairs)) and made.meaning == "the middle distance between 3 groups by category"
    alone = starting_margin(units, [""] * 65)
    spread = 1 - np.linalg.norm(units.mean(axis=0)) ** 2
    assert alone.margin == pytest.approx(0.04 * spread) and alone.meaning == "a planted shift of 0.2 SD"
    assert starting_margin(units[:9], ["a"] * 9) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one group has no distance to another
        assert starting_margin(units, ["a"] * 20 + [""] * 45).meaning == "a planted shift of 0.2 SD"


OPEN = SetFacts(has_answers=True)


@pytest.mark.parametrize(("n_target", "n_retro", "outcome"), [(9, 10, "add"), (10, 9, "add"), (10, 10, "difficulty")])
def test_sets_of_ten_entries_can_be_tested(n_target, n_retro, outcome):
    assert next_step({}, n_target, n_retro).outcome == outcome


@pytest.mark.parametrize(
    ("facts", "outcome", "n_calls"),
    [
        (SetFacts(is_dated=False), "date", None),
        (SetFacts(is_dated=False, has_answers=True), "date", None),
        (SetFacts(), "difficulty", 1_050),
        (OPEN, "survey", None),
        (replace(OPEN, has_survey=True), "survey", None),
    ],
)
def test_the_cheapest_open_step_comes_first(facts, outcome, n_calls):
    claim = next_step({}, 1_000, 50, facts=facts)
    assert claim.outcome == outcome and claim.numbers.get("n_calls") == n_calls and claim.assertion is None
    assert ("1,050 calls" in claim.text) == (n_calls is not None)


@pytest.mark.parametrize("facts", [SetFacts(is_dated=False), SetFacts()])
def test_a_difficulty_that_was_tested_needs_neither_date_nor_answers(facts):
    assert next_step(at(difficulty="undecided"), 100, 100, facts=facts).outcome == "survey"


@pytest.mark.parametrize(
    ("margin", "start", "outcome"), [(None, START, "margin"), (None, None, "survey"), (0.01, START, "survey")]
)
def test_a_margin_is_suggested_where_none_is_set(margin, start, outcome):
    tests = at(difficulty="equivalent", semantic="undecided")
    tests["semantic"] = replace(tests["semantic"], margin=margin)
    assert next_step(tests, 100, 100, start).outcome == outcome
    del tests["semantic"]
    assert next_step(tests, 100, 100, start).outcome == "survey"


@pytest.mark.parametrize(
    ("outcome", "margin", "is_counted"),
    [("undecided", 0.2, True), ("undecided", None, False), ("undecided", 0.0, False), ("equivalent", 0.2, False)],
)
def test_entries_are_counted_where_a_margin_of_difficulty_needs_them(outcome, margin, is_counted):
    tests = at(difficulty=outcome, semantic="undecided", prediction="equivalent", odd="undecided")
    tests["difficulty"] = replace(tests["difficulty"], margin=margin)
    claim = next_step(tests, 50, 50)
    n = equivalence_plan(0.5, margin).n if is_counted else None
    assert claim.outcome == "write" and claim.numbers.get("n") == n
    assert claim.text.startswith("Next: write entries; " if is_counted else "Next: write more entries, or ask more people")


def test_a_model_that_costs_is_not_called_free():
    assert ", free with the pocket model" in next_step({}, 10, 10).text
    assert "free" not in next_step({}, 10, 10, facts=SetFacts(is_free=False)).text
    assert "10 people with one sheet each take about 100 minutes in all." in next_step({}, 10, 10, facts=OPEN).text
