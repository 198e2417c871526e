import math
from dataclasses import replace

import pytest

from flipcore.claims.holdout import outcome_claim, verdict_claim
from flipcore.core.randomness import generator
from flipcore.reports.browser_data.margins import board, margins_of, waiting_board
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.holdout.units import NOTHING, TITLES, axis_text, detectable_text, estimate_text
from flipcore.stats.holdout.verdict import (
    TESTS,
    HoldoutTest,
    HoldoutVerdict,
    as_family,
    difficulty_test,
    joined,
    semantic_test,
    simultaneous,
)


def made(name, p=0.4, value=None, bound=(0.0, 0.55), margin=0.6, detectable=0.1):
    value = NOTHING[name] if value is None else value
    return HoldoutTest(
        name, p, (p,), Estimate(value, *bound, 0.95, "wilson", 100, 0), False, bound, margin, detectable
    ).against_margin(margin)


FOUR = [
    made("difficulty", bound=(-0.05, 0.04), margin=0.1),
    made("semantic", bound=(-0.001, 0.002), margin=0.0012, detectable=0.003),
    made("prediction"),
    made("odd one out", bound=(0.0, 0.42), margin=0.45),
]
ALL = {test.name: test.margin for test in FOUR}


def test_every_test_has_a_title_and_a_value_of_no_difference():
    assert set(TITLES) == set(NOTHING) == set(TESTS)


def test_each_margin_has_the_state_and_sentence_that_the_verdict_would_give():
    rows = board(FOUR, ALL, {}, {})["rows"]
    for row, test in zip(rows, FOUR, strict=True):
        assert row["name"] == test.name and len(row["margins"]) == len(row["states"]) == len(row["sentences"])
        for margin, state, sentence in zip(row["margins"], row["states"], row["sentences"], strict=True):
            said = outcome_claim(as_family(FOUR)[FOUR.index(test)].against_margin(margin))
            assert state == said.outcome and sentence == said.text
        assert row["margins"][row["start"]] == test.margin


def test_the_margin_at_which_a_test_becomes_equivalent_lies_just_above_its_bound():
    rows = {row["name"]: row for row in board(FOUR, ALL, {}, {})["rows"]}
    first = {name: row["margins"][row["states"].index("equivalent")] for name, row in rows.items()}
    # bounds: max(.05, .04), .002, .55, .42 on grids of .01 (difficulty, prediction, odd one out)
    assert (first["difficulty"], first["prediction"], first["odd one out"]) == (0.06, 0.56, 0.43)
    assert 0.002 < first["semantic"] <= 0.004 and None not in rows["semantic"]["margins"]


def test_without_a_margin_there_is_no_handle():
    row = board([made("semantic", bound=(-0.001, 0.002), margin=None)], {"semantic": None}, {}, {})["rows"][1]
    assert row["margins"] == [None] and row["labels"] == ["no margin"] and row["zones"] == [None] and row["start"] == 0


def test_the_overall_sentence_of_every_combination_is_the_verdict_on_it():
    found = board(FOUR, ALL, {}, {})
    assert len(found["overall"]) == 2**4
    for states, said in found["overall"].items():
        tests = tuple(
            replace(test, equivalent=state == "equivalent", margin=1.0 if state == "equivalent" else test.margin)
            for test, state in zip(FOUR, states.split("|"), strict=True)
        )
        assert said["state"] == HoldoutVerdict(tests).state and said["sentence"] == verdict_claim(HoldoutVerdict(tests)).text
    assert found["overall"]["|".join(["equivalent"] * 4)]["state"] == "indistinguishable"


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
    row = found["rows"][2]
    assert set(row["states"]) == {"different", "within"} and row["states"].index("within") == row["margins"].index(0.56)
    assert {said["state"] for said in found["overall"].values()} == {"distinguishable", "undecided"}


def test_tests_that_were_not_run_have_a_row_that_says_why():
    found = board(FOUR[1:3], ALL, {}, {"difficulty": "No model is older."})
    assert found["rows"][0] == {"name": "difficulty", "title": "Similarity of difficulty", "missing": "No model is older."}
    assert "missing" in found["rows"][3] and all(
        "2 have not been run" in said["sentence"] for said in found["overall"].values()
    )


def test_the_picture_holds_estimate_bound_and_no_difference():
    for row in board(FOUR, ALL, {}, {})["rows"]:
        low, high = row["axis"]
        assert all(low <= x <= high for x in (row["nothing"], row["value"], *row["bound"]))
        assert row["bound"][0] < row["value"] < row["bound"][1]


def test_what_is_held_against_the_margin_is_said():
    held = [row["held"] for row in board(FOUR, ALL, {}, {})["rows"]]
    assert held == ["[−5.0, 4.0]", "[−0.0010, 0.0020]", "at most 0.55", "at most 0.42"]


def test_missing_numbers_travel_as_none():
    nothing = made("odd one out", p=math.nan, value=math.nan, bound=(0.0, math.nan), detectable=math.nan)
    row = board([nothing], {"odd one out": 0.45}, {}, {})["rows"][3]
    assert (row["value"], row["bound"][1], row["detectable"]) == (None, None, "unknown")
    assert set(row["states"]) == {"undecided"}
    assert margins_of(replace(nothing, name="semantic", bound=(math.nan, math.nan)))[0] > 0


def test_the_margin_of_difficulty_holds_on_both_sides():
    harder, easier = (made("difficulty", bound=bound, margin=0.1) for bound in ((-0.12, 0.02), (-0.02, 0.12)))
    assert (harder.state, easier.state) == ("undecided", "undecided")
    assert harder.against_margin(0.13).state == easier.against_margin(0.13).state == "equivalent"
    assert harder.against_margin(None).state == "undecided"


def test_several_models_are_as_different_as_their_worst_and_as_equal_as_all_of_them():
    same, other = (
        difficulty_test(640, 1_600, 642, 1_600),
        difficulty_test(640, 1_600, 704, 1_600),
    )  # too many for the exact test
    found = joined([same, other])
    # Holm over two: the smaller p doubles; the bound is the widest
    assert found.p == pytest.approx(min(1.0, 2 * other.p)) and found.p_source == pytest.approx((same.p, other.p))
    assert found.bound == (other.bound[0], same.bound[1]) and found.estimate == other.estimate
    assert joined([same, same]).state == "equivalent" and repr(joined([same])) == repr(same)


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
    assert detectable_text(test).removesuffix(" MMD²").strip("0.")


def test_the_board_never_rounds_a_stored_margin():
    test = made("semantic", bound=(-0.001, 0.002), margin=None, detectable=0.003)
    row = board([test], {"semantic": 0.0123456}, {}, {})["rows"][1]
    assert row["margins"][row["start"]] == 0.0123456 and row["margins"] == sorted(row["margins"])


def test_a_board_that_waits_for_a_test_shows_intervals_and_claims_nothing():
    ready = [made("difficulty", p=0.0001, bound=(0.2, 0.4), margin=0.1), made("semantic", margin=None, bound=(-0.001, 0.002))]
    whole, waiting = board(ready, ALL, {}, {}), waiting_board(ready, ALL, {}, {"prediction": "Running."})
    assert "waiting" not in whole["rows"][0]["states"]
    row = waiting["rows"][0]
    assert row["bound"] == [0.2, 0.4] and set(row["states"]) == {"waiting"} and set(row["signs"]) == {"…"}
    assert len(row["sentences"]) == len(row["margins"]) and len(set(row["sentences"])) == 1
    (said,) = waiting["overall"].values()
    assert set(waiting["overall"]) == {"waiting|waiting"} and said["sentence"].startswith("2 of 4 tests are ready; the verdict")
    (none,) = waiting_board([], ALL, {}, {})["overall"].values()
    assert none["sentence"].startswith("None of 4 tests is ready")
    assert waiting["rows"][2]["missing"] == "Running." and waiting["id"] != whole["id"]
