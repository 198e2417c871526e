import math
from dataclasses import replace

import pytest

from flipcore.claims.holdout import TOPICS, outcome_claim, verdict_claim
from flipcore.core.randomness import generator
from flipcore.reports.browser_data.board import value_at
from flipcore.reports.browser_data.margins import MISSING, WAITING, board, margins_of, waiting_board
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.holdout.units import NO_DIFFERENCE, TITLES, axis_text, detectable_text, estimate_text
from flipcore.stats.holdout.verdict import (
    TESTS,
    HoldoutTest,
    HoldoutVerdict,
    as_family,
    difficulty_test,
    join_tests,
    semantic_test,
    simultaneous,
)


def made(name, p=0.4, value=None, bound=(0.0, 0.55), margin=0.6, detectable=0.1):
    value = NO_DIFFERENCE[name] if value is None else value
    return HoldoutTest(
        name, p, (p,), Estimate(value, *bound, 0.95, "wilson", 100, 0), False, bound, margin, detectable
    ).with_margin(margin)


FOUR = [
    made("difficulty", bound=(-0.05, 0.04), margin=0.1),
    made("semantic", bound=(-0.001, 0.002), margin=0.0012, detectable=0.003),
    made("prediction"),
    made("odd one out", bound=(0.0, 0.42), margin=0.45),
]
ALL = {test.name: test.margin for test in FOUR}


def first_margin(row, outcome):
    """The smallest margin at which a row has an outcome."""
    return next(margin for i, margin in enumerate(row.control.values) if value_at(row.outcomes, i) == outcome)


def test_every_test_has_a_title_and_a_value_of_no_difference():
    assert set(TITLES) == set(NO_DIFFERENCE) == set(TESTS)


def test_each_margin_has_the_state_and_sentence_that_the_verdict_would_give():
    for row, test in zip(board(FOUR, ALL, {}, {}).rows, FOUR, strict=True):
        assert row.id == test.name and len(row.control.values) == len(row.control.labels)
        for i, margin in enumerate(row.control.values):
            said = outcome_claim(as_family(FOUR)[FOUR.index(test)].with_margin(margin))
            assert value_at(row.outcomes, i) == said.outcome and value_at(row.sentences, i) == said.text.replace(
                f" on {TOPICS[row.id]}", ""
            )
        assert row.control.start == test.margin


def test_the_margin_at_which_a_test_becomes_equivalent_lies_just_above_its_bound():
    rows = {row.id: row for row in board(FOUR, ALL, {}, {}).rows}
    first = {name: first_margin(row, "equivalent") for name, row in rows.items()}
    # bounds: max(.05, .04), .002, .55, .42 on grids of .01 (difficulty, prediction, odd one out)
    assert (first["difficulty"], first["prediction"], first["odd one out"]) == (0.06, 0.56, 0.43)
    assert 0.002 < first["semantic"] <= 0.004 and None not in rows["semantic"].control.values


def test_without_a_margin_there_is_no_handle():
    row = board([made("semantic", bound=(-0.001, 0.002), margin=None)], {"semantic": None}, {}, {}).rows[1]
    assert row.control.values == [None] and row.control.labels == ["no margin"] and row.control.start is None


def test_the_overall_sentence_of_every_combination_is_the_verdict_on_it():
    (found,) = board(FOUR, ALL, {}, {}).headlines
    assert len(found.combined) == 2**4
    for states, said in found.combined.items():
        tests = tuple(
            replace(test, equivalent=state == "equivalent", margin=1.0 if state == "equivalent" else test.margin)
            for test, state in zip(FOUR, states.split("|"), strict=True)
        )
        claim = verdict_claim(HoldoutVerdict(tests))
        assert claim.outcome == HoldoutVerdict(tests).state and said == (claim.text, claim.detail)
    assert found.combined["|".join(["equivalent"] * 4)][0].startswith("The sets could have come from the same source")


def test_the_margins_of_a_measure_without_a_unit_reach_twice_what_the_data_can_show():
    for largest in (0.0004, 0.0541, 3.0):
        margins = margins_of(made("semantic", value=0.0, bound=(-largest, largest / 2), margin=0.1, detectable=largest / 3))
        assert 1.3 * largest < margins[-1] < 3 * largest and len(margins) == 40


def test_a_bound_on_a_share_is_a_share():
    wide = made("prediction", value=0.97, bound=(0.0, 0.99))
    assert simultaneous([wide, wide, wide])[0].bound == (0.0, pytest.approx(0.97 + 0.02 * 1.2938, abs=1e-4))
    assert simultaneous([replace(wide, bound=(0.0, 1.0))] * 3)[0].bound == (0.0, 1.0)


def test_a_difference_stays_a_difference_whatever_the_margin():
    found = board([made("prediction", p=0.001)], {"prediction": 0.6}, {}, {})
    # what changes is whether it lies inside the margin: "different" below the bound of .55, "within" above
    row = found.rows[2]
    assert {outcome for _, outcome in row.outcomes} == {"different", "within"} and first_margin(row, "within") == 0.56
    assert set(found.headlines[0].combined) == {"different", "within"}


def test_tests_that_were_not_run_have_a_row_that_says_why():
    found = board(FOUR[1:3], ALL, {}, {"difficulty": "No model is older."})
    assert found.rows[0].sentences == [[0, "No model is older."]] and found.rows[0].title == "Similarity of difficulty"
    assert found.rows[3].outcomes == [[0, MISSING]] and found.rows[0].control is None
    assert all("2 have not been run" in sentence for sentence, _ in found.headlines[0].combined.values())


def test_the_picture_holds_estimate_bound_and_no_difference():
    for row in board(FOUR, ALL, {}, {}).rows:
        (picture,) = row.pictures
        low, high = picture["scale"]
        assert all(low <= x <= high for x in (picture["nothing"], picture["value"], *picture["bound"]))
        assert picture["bound"][0] < picture["value"] < picture["bound"][1]


def test_what_is_held_against_the_margin_is_said():
    held = [row.hint.split("\n")[1] for row in board(FOUR, ALL, {}, {}).rows]
    limits = ["[−5.0, 4.0]", "[−0.0010, 0.0020]", "at most 55.0%", "at most 42.0%"]
    assert held == [f"against the margin: {text}" for text in limits]


def test_missing_numbers_travel_as_none():
    nothing = made("odd one out", p=math.nan, value=math.nan, bound=(0.0, math.nan), detectable=math.nan)
    row = board([nothing], {"odd one out": 0.45}, {}, {}).data()["rows"][3]
    (picture,) = row["pictures"]
    assert (picture["value"], picture["bound"][1]) == (None, None) and "could detect unknown" in row["hint"]
    assert row["outcomes"] == [[0, "undecided"]]
    assert margins_of(replace(nothing, name="semantic", bound=(math.nan, math.nan)))[0] > 0


def test_the_margin_of_difficulty_holds_on_both_sides():
    harder, easier = (made("difficulty", bound=bound, margin=0.1) for bound in ((-0.12, 0.02), (-0.02, 0.12)))
    assert (harder.state, easier.state) == ("undecided", "undecided")
    assert harder.with_margin(0.13).state == easier.with_margin(0.13).state == "equivalent"
    assert harder.with_margin(None).state == "undecided"


def test_several_models_are_as_different_as_their_worst_and_as_equal_as_all_of_them():
    same, other = (
        difficulty_test(640, 1_600, 642, 1_600),
        difficulty_test(640, 1_600, 704, 1_600),
    )  # too many for the exact test
    found = join_tests([same, other])
    # Holm over two: the smaller p doubles; the bound is the widest
    assert found.p == pytest.approx(min(1.0, 2 * other.p)) and found.p_source == pytest.approx((same.p, other.p))
    assert found.bound == (other.bound[0], same.bound[1]) and found.estimate == other.estimate
    assert join_tests([same, same]).state == "equivalent" and repr(join_tests([same])) == repr(same)


def test_together_p_values_grow_by_holm_and_bounds_by_the_smaller_level():
    pair = [
        made("prediction", p=0.02, value=0.52, bound=(0.0, 0.55)),
        made("odd one out", p=0.03, value=0.36, bound=(0.0, 0.42), margin=0.43),
    ]
    found = simultaneous(pair)
    # Holm: .02 * 2, max(.04, .03); z(.975) / z(.95) = 1.1916
    assert [test.p for test in found] == pytest.approx([0.04, 0.04])
    assert found[0].bound[1] == pytest.approx(0.52 + 0.03 * 1.1916, abs=1e-5)
    assert not found[1].equivalent and pair[1].equivalent and simultaneous([]) == []


def test_answers_that_are_all_right_do_not_say_what_could_be_detected():
    assert detectable_text(difficulty_test(50, 50, 50, 50)) == "unknown"


def test_a_small_measure_is_shown_with_two_digits_of_what_is_open():
    units = generator(3).standard_normal((3_000, 16)) + 2
    test = semantic_test(units[:1_500], units[1_500:], m=99)
    low, high = test.bound
    assert axis_text(test, low) != axis_text(test, high) and axis_text(test, 0.0) == "0"
    assert float(estimate_text(test).split("[")[1].split(",")[0].replace("−", "-")) == pytest.approx(low, rel=0.05)
    assert detectable_text(test).removesuffix(" (distance)").strip("0.")


def test_the_board_never_rounds_a_stored_margin():
    test = made("semantic", bound=(-0.001, 0.002), margin=None, detectable=0.003)
    control = board([test], {"semantic": 0.0123456}, {}, {}).rows[1].control
    assert control.start == 0.0123456 and control.start in control.values and control.values == sorted(control.values)


def test_a_board_that_waits_for_a_test_shows_intervals_and_claims_nothing():
    ready = [made("difficulty", p=0.0001, bound=(0.2, 0.4), margin=0.1), made("semantic", margin=None, bound=(-0.001, 0.002))]
    whole, waiting = board(ready, ALL, {}, {}), waiting_board(ready, ALL, {}, {"prediction": "Running."})
    assert WAITING not in [outcome for _, outcome in whole.rows[0].outcomes] and not whole.is_waiting
    row = waiting.rows[0]
    assert row.pictures[0]["bound"] == [0.2, 0.4] and row.outcomes == [[0, WAITING]] and row.control.values
    assert row.sentences == [[0, "Its verdict waits for what is still running."]]
    (said,) = waiting.headlines
    assert said.sentence[0][1].startswith("2 of 4 tests are ready; the verdict") and waiting.is_waiting
    (none,) = waiting_board([], ALL, {}, {}).headlines
    assert none.sentence[0][1].startswith("None of 4 tests is ready") and not said.combined
    assert waiting.rows[2].sentences == [[0, "Running."]]
