"""A decision survives every choice only by the p of the coarsest units too."""

import re
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.claims.choices import (
    AFTER,
    ASSERTIONS,
    BEFORE,
    DIRECTION,
    FALLS,
    FEW_OPEN,
    LEVEL_WAYS,
    MOVED,
    NOT_MOVED,
    SURVIVED,
    _all_intervals_hold_both,
    _changed_choices,
    _option_clause,
    moves_claim,
    survives_claim,
)
from flipcore.claims.decisions import Decision
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option
from flipcore.stats.choices.counting import TOO_FEW, count
from flipcore.stats.choices.curve import Effect
from flipcore.stats.choices.material import ArrayMaterial


@dataclass(frozen=True)
class CoarseTests:
    """One p for every specification."""

    value: float

    def p(self, null, *, below=False):
        return np.full(2, self.value)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("p", "level", "outcome"),
    [
        (0.025, 0.95, SURVIVED),
        (0.026, 0.95, DIRECTION),
        (0.026, 0.9, SURVIVED),
        (0.051, 0.9, DIRECTION),
        (np.nan, 0.95, DIRECTION),
    ],
)
def test_what_every_way_shows_survives_by_half_of_alpha_over_the_coarsest_units(sign, p, level, outcome):
    lead = np.full(40, 1.0 * sign)
    lead[:10] = 0
    options = tuple(Option(name, name, "") for name in "ab")
    extractor = Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")
    states = {("a",): lead, ("b",): lead * (np.arange(40) > 10)}
    material = ArrayMaterial((extractor,), ("extractor",), states, {}, np.arange(40), np.zeros(40, dtype=int))
    curve = replace(count(material), coarse_tests=CoarseTests(p))
    claim = survives_claim(curve, Decision("A", "B"), level)
    assert (claim.outcome, claim.is_made) == (outcome, outcome == SURVIVED)


def lead(n_ahead):
    """40 items, of which so many are ahead, or behind if negative."""
    return np.where(np.arange(40) < abs(n_ahead), np.sign(n_ahead), 0.0)


def curve_of(*leads, closed=0, n_items=40):
    """One way of counting per lead; the last `closed` of them may not be claimed."""
    n_open = len(leads) - closed
    options = tuple(Option(f"e{k}", f"e{k}", "", closed="" if k < n_open else "reads too little") for k in range(len(leads)))
    extractor = Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")
    states = {(f"e{k}",): lead(n)[:n_items] for k, n in enumerate(leads)}
    parts = np.arange(n_items), np.zeros(n_items, dtype=int)
    return count(ArrayMaterial((extractor,), ("extractor",), states, {}, *parts))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("leads", "ending"),
    [
        ((2, 20), "; 1 shows it, where extractor: e1."),
        ((20, 2), "; 1 shows it."),
        ((2, 20, 2), "; 1 shows it, where extractor: e1."),
        ((2, 20, 25), "; 2 show it."),
        ((2, 3), "; none by more than chance."),
        ((2,), "; not by more than chance."),
    ],
)
def test_a_direction_says_how_many_ways_show_it_and_where(leads, ending, sign):
    claim = survives_claim(curve_of(*(sign * n for n in leads)), Decision("A", "B"))
    assert claim.outcome == DIRECTION and not claim.is_made
    assert claim.text.startswith("A leads in " if sign > 0 else "B leads in ") and claim.text.endswith(ending)


def test_ways_that_all_show_it_alone_share_what_they_have_in_common():
    options = tuple(Option(name, name, "") for name in "ab")
    extractor = Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")
    key = Choice("key", "Key", (Option("all", "all", ""), Option("out", "left out", "")), ChoiceClass.EQUAL, "")
    states = {("a",): lead(2), ("b",): lead(20)}
    parts = np.arange(40), np.zeros(40, dtype=int)
    curve = count(ArrayMaterial((extractor, key), ("extractor",), states, {"key=out": np.arange(40) == 39}, *parts))
    text = survives_claim(curve, Decision("A", "B")).text
    assert text.endswith("; 2 show it, all of them where extractor: b.")


def test_what_the_coarsest_units_do_not_show_is_said_with_their_number():
    curve = replace(curve_of(20, 25), coarse_tests=CoarseTests(0.2))
    assert survives_claim(curve, Decision("A", "B")).text.endswith(
        "; all show it, but not over the 40 units that a choice leaves out whole."
    )


@pytest.mark.parametrize(
    ("leads", "closed", "is_said"), [((20, 25), 1, True), ((20, 25, 26), 2, False), ((20, 25, 26), 1, True)]
)
def test_of_half_the_ways_on_something_is_said(leads, closed, is_said):
    claim = survives_claim(curve_of(*leads, closed=closed), Decision("A", "B"))
    assert claim.outcome == (SURVIVED if is_said else FEW_OPEN) and bool(claim.withheld) != is_said
    n_open = len(leads) - closed
    assert claim.numbers["ways"] == n_open
    if is_said:
        assert f"{closed} more may not be claimed: reads too little." in claim.detail
    else:
        words = f"{n_open} of {len(leads)} ways of counting may be claimed: reads too little."
        assert claim.withheld == f"that A scores higher than B. {words}"


def test_too_few_items_or_clusters_are_said_in_plain_words():
    """It was "0 of 2 ways of counting may be claimed: fewer than 10 items or 6 clusters count"."""
    few = survives_claim(curve_of(5, 6, n_items=9), Decision("A", "B"))
    assert few.text == "Not claimed: that A scores higher than B: 9 items, and at least 10 are needed."
    clusters = survives_claim(replace(curve_of(5), closed=(TOO_FEW,)), Decision("A", "B"))
    assert clusters.text == "Not claimed: that A scores higher than B: fewer than 6 clusters carry it."


def test_the_only_way_and_ways_that_say_the_same_are_named():
    only = survives_claim(curve_of(20), Decision("A", "B"))
    assert only.is_made and only.text == "A scores higher than B; no other way of counting is open."
    same = survives_claim(curve_of(20, 20), Decision("A", "B"))
    assert same.is_made and same.text == "A scores higher than B; both ways of counting say the same."
    behind = survives_claim(curve_of(-20), Decision("A", "B"))
    assert behind.text == "A scores lower than B; no other way of counting is open." and behind.numbers["below"]
    assert "in the only way of counting" in survives_claim(curve_of(2), Decision("A", "B")).text
    assert "in the only open way of counting" in survives_claim(curve_of(2, 25, closed=1), Decision("A", "B")).text
    assert "in both ways of counting" in survives_claim(curve_of(2, 2), Decision("A", "B")).text


def test_choices_before_and_after_the_answers_are_told_apart():
    curve = curve_of(20, 25)
    after, before = (survives_claim(curve, Decision("A", "B"), is_locked=locked) for locked in (False, True))
    assert survives_claim(curve, Decision("A", "B")) == after
    assert after.detail.endswith(f"40 questions as declared. {AFTER}") and before.detail.endswith(BEFORE)
    assert (after.numbers["lowest"], after.numbers["highest"]) == (0.5, 0.625) and after.numbers["p"] < 0.001


def with_effects(*changes, labels=(), decision_leads=(20, 25)):
    """A curve whose options change the estimate by so many points, with these corrected p."""
    curve = curve_of(*decision_leads)
    effects = []
    for k, (points, p) in enumerate(changes):
        options = (Option("declared", "as declared", ""), Option("other", f"other {k}", ""))
        label = labels[k] if labels else f"Choice {k}"
        change = Estimate(points / 100, points / 100 - 0.01, points / 100 + 0.01, 0.95, "guarded t", 40, None)
        effects.append(Effect(Choice(f"c{k}", label, options, ChoiceClass.EQUAL, ""), 1, change, p, p))
    return replace(curve, effects=tuple(effects))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            [(1, 0.01), (-3, 0.05)],
            "These move the lead by more than chance: choice 1: other 1 (−3.0 points); choice 0: other 0 (+1.0 points).",
        ),
        ([(1, 0.06), (-3, 0.05)], "This moves the lead by more than chance: choice 1: other 1 (−3.0 points)."),
        ([(1, 0.06), (-3, 0.051)], "No choice moves the lead by more than chance."),
        (
            [(1, np.nan), (-3, 0.06), (2, np.nan)],
            "No choice moves the lead by more than chance. For 2 options too few units differ to say.",
        ),
        ([(1, np.nan), (-3, np.nan)], "Too few units differ to say whether a choice moves the lead."),
    ],
)
def test_options_that_move_the_lead_are_named_by_size(changes, words):
    claim = moves_claim(with_effects(*changes), Decision("A", "B"))
    assert claim.text == words and claim.is_made == (" move" in words and "more than chance: " in words)
    assert claim.outcome == (MOVED if claim.is_made else NOT_MOVED)
    assert claim.detail == f"Over 40 independent units; p corrected for {len(changes)} options (Holm)."
    assert list(claim.numbers) == [f"c{k}=other" for k in range(len(changes))]


def test_three_options_that_move_most_are_named_and_the_others_counted():
    changes = [(k, 0.01) for k in (1, -5, 3, -2, 4)]
    text = moves_claim(with_effects(*changes), Decision("A", "B")).text
    assert re.findall(r"other (\d)", text) == ["1", "4", "2"] and text.endswith(", and 2 more.")
    three = moves_claim(with_effects(*changes[:3]), Decision("A", "B")).text
    assert "more." not in three
    assert moves_claim(curve_of(20), Decision("A", "B")).text == "No choice is open here."
    assert moves_claim(with_effects((1, 0.09)), Decision("A", "B"), 0.9).is_made


@pytest.mark.parametrize(
    ("changes", "decision", "start"),
    [
        (
            [(4, 0.01), (-2, 0.01), (1.9, 0.01)],
            Decision("A", margin=0.4),
            "Whether it is 55 or 65% is mostly a matter of readers and keys. ",
        ),
        ([(4, 0.01), (1, 0.01)], Decision("A", margin=0.4), "Whether it is 55 or 65% is mostly a matter of readers. "),
        ([(4, 0.01)], Decision("A", "B"), ""),
    ],
)
def test_what_the_range_of_a_score_is_a_matter_of_stands_first(changes, decision, start):
    curve = with_effects(*changes, labels=("Readers", "Keys", "Prompts"), decision_leads=(22, 26))
    text = moves_claim(curve, decision).text
    assert text.startswith(start or "This moves") and ("Whether it is" in text) == bool(start)
    level = with_effects(*changes, labels=("Readers", "Keys", "Prompts"), decision_leads=(22, 22))
    assert "Whether it is" not in moves_claim(level, decision).text


def test_each_claim_errs_in_one_of_twenty():
    assert {(assertion.error_rate, assertion.sides) for assertion in ASSERTIONS} == {(0.05, 2)}


def test_a_lead_that_is_declared_level_is_tested_from_above():
    curve = curve_of(0, 20)
    claim = survives_claim(curve, Decision("A", "B"))
    assert claim.outcome == FALLS and claim.text.endswith("As declared they are level.")
    assert claim.numbers["p"] == curve.p_survives(below=False) != curve.p_survives(below=True)


@pytest.mark.parametrize(
    ("leads", "ahead", "words"),
    [
        ((20, -20, -25), "in 1 of 3", "in 1 by more than chance. It is behind in 2, in each by more than chance."),
        ((20, -20, -2), "in 1 of 3", "in 1 by more than chance. It is behind in 2, in 1 by more than chance."),
        ((2, -2, 20), "in 2 of 3", "in 1 by more than chance. It falls"),
        ((2, -2, 3), "in 2 of 3", "in none by more than chance. It falls"),
    ],
)
def test_ways_on_both_sides_are_counted_with_what_they_show(leads, ahead, words):
    claim = survives_claim(curve_of(*leads), Decision("A", "B"))
    assert (
        claim.outcome == FALLS
        and f"A is not safely ahead of B. It leads {ahead} defensible ways of counting, {words}" in claim.text
    )


def test_ways_that_merge_are_counted_once():
    assert "in both ways of counting" in survives_claim(curve_of(2, 3, 3), Decision("A", "B")).text
    assert "in all 3 ways of counting" in survives_claim(curve_of(2, 2, 2), Decision("A", "B")).text


def test_ways_whose_intervals_hold_0_and_the_margin_are_level():
    level = survives_claim(curve_of(2, 3), Decision("A", "B", 0.05))
    assert level.outcome == LEVEL_WAYS and not level.is_made
    assert level.text == "A and B are not told apart in any of 2 ways of counting: their intervals hold 0 and 5.0 points."
    assert survives_claim(curve_of(2), Decision("A", "B", 0.05)).outcome != LEVEL_WAYS  # one way is no choice
    assert survives_claim(curve_of(2, 20), Decision("A", "B", 0.05)).outcome != LEVEL_WAYS


@pytest.mark.parametrize(
    ("leads", "margin", "ending"),
    [
        ((4, 20), 0.1, "As declared it is just the margin ahead."),
        ((20, 0), 0.0, "They are level only where extractor: e1."),
        ((-20, 20), 0.0, "It leads only where extractor: e1."),
        ((20, -20, -3), 0.0, "It falls behind already where one choice changes (extractor)."),
    ],
)
def test_where_a_decision_turns_is_said(leads, margin, ending):
    assert survives_claim(curve_of(*leads), Decision("A", "B", margin)).text.endswith(f" {ending}")


def test_choices_that_each_turn_a_decision_are_named():
    options = tuple(Option(name, name, "") for name in "ab")
    extractor = Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")
    key = Choice("key", "Key", (Option("all", "all", ""), Option("out", "left out", "")), ChoiceClass.EQUAL, "")
    first, second = lead(20), lead(-20)
    first[20:38] = -1
    parts = np.arange(40), np.zeros(40, dtype=int)
    material = ArrayMaterial(
        (extractor, key), ("extractor",), {("a",): first, ("b",): second}, {"key=out": np.arange(40) < 4}, *parts
    )
    curve = count(material)
    assert [round(40 * value) for value in curve.estimate[:1]] == [2]
    text = survives_claim(curve, Decision("A", "B")).text
    assert text.endswith("It falls behind already where one choice changes (extractor or key).")
    assert _changed_choices(curve, [3], 2) == "2 choices change"


@pytest.mark.parametrize(
    ("label", "option", "words"),
    [
        ("Unread answers", "count as wrong", "unread answers count as wrong"),
        ("Unread answers", "left out", "unread answers are left out"),
        ("Repeated questions", "counted once", "repeated questions are counted once"),
        ("Prompt", "mean of 15 prompts", "prompt: mean of 15 prompts"),
    ],
)
def test_an_option_is_said_as_a_clause(label, option, words):
    assert _option_clause(Choice("c", label, (), ChoiceClass.EQUAL, ""), Option("o", option, "")) == words


@pytest.mark.parametrize(
    ("low", "high", "holds_both"),
    [
        ([-0.1, -0.2], [0.1, 0.2], True),
        ([-0.1, 0.0], [0.1, 0.2], False),
        ([-0.1, -0.2], [0.1, 0.05], False),
        ([0.1, 0.1], [0.2, 0.2], False),
    ],
)
def test_both_ends_of_an_interval_are_beyond_what_it_holds(low, high, holds_both):
    """The last way may not be claimed."""
    limits = np.array([*low, 0.3]), np.array([*high, 0.4])
    curve = SimpleNamespace(ends=None, limits=lambda level: limits, is_open=np.array([True, True, False]))
    assert _all_intervals_hold_both(curve, 0.95, 0.05) == holds_both
    assert not _all_intervals_hold_both(curve, 0.95, 0.0)


@pytest.mark.parametrize(
    ("n_ahead", "keys", "ending"),
    [
        (8, ("key",), "It falls behind only where extractor: b and one more choice changes."),
        (10, ("key", "repeated"), "It falls behind only where extractor: b and 2 more choices change."),
    ],
)
def test_a_turn_that_needs_one_option_and_any_of_others_counts_the_others(n_ahead, keys, ending):
    """By extractor b, A is behind in 7 of 40; leaving out two it wins by every key turns the lead."""
    options = tuple(Option(name, name, "") for name in "ab")
    choices = [Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")]
    masks = {}
    for number, key in enumerate(keys):
        key_options = tuple(Option(name, name, "") for name in ("all", "first", "second"))
        choices.append(Choice(key, key, key_options, ChoiceClass.EQUAL, ""))
        for place, name in enumerate(("first", "second")):
            masks[f"{key}={name}"] = np.isin(np.arange(40), (3 * number, 3 * number + 1 + place))
    states = {("a",): lead(30), ("b",): lead(n_ahead) - lead(n_ahead + 7) * (lead(n_ahead) == 0)}
    parts = np.arange(40), np.zeros(40, dtype=int)
    curve = count(ArrayMaterial(tuple(choices), ("extractor",), states, masks, *parts))
    assert survives_claim(curve, Decision("A", "B")).text.endswith(ending)
