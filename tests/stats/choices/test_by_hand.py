"""Merge, shares, distances and effects on a table of twelve items, counted by hand.

    item      1  2  3  4  5  6  7  8  9 10 11 12
    A         1  1  1  1  1  1  1  1  0  0  0  1     9 right, 8 of the first eleven
    B         1  1  1  1  1  0  0  0  1  1  0  0     7 right, 7 of the first eleven
    A - B     0  0  0  0  0  1  1  1 -1 -1  0  1     sum 2

The second extractor takes items 6, 7 and 8 of A for wrong: sum -1. The key of item 12 is disputed: without it sums 1 and -2.
Item 5 repeats item 4, whose difference is 0. A third extractor reads as the first one does.
"""

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.stats.choices.choice import Choice, ChoiceClass, Option, limit_specifications, selected, specifications
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import State
from flipcore.stats.choices.material import ArrayMaterial

FIRST = np.array([0, 0, 0, 0, 0, 1, 1, 1, -1, -1, 0, 1.0])
SECOND = FIRST - np.array([0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
ITEM = np.arange(12)


def choice(name, *options, kind=ChoiceClass.EQUAL):
    return Choice(name, name.title(), tuple(Option(option, option, "") for option in options), kind, "")


EXTRACTOR = choice("extractor", "a", "b", "c")
KEY = choice("key", "published", "out")
REPEATED = choice("repeated", "all", "once")


def twelve(*choices, clusters=ITEM):
    states = {("a",): FIRST, ("b",): SECOND, ("c",): FIRST}
    left_out = {"key=out": ITEM == 11, "repeated=once": ITEM == 4, "categories=last": ITEM < 8}
    return ArrayMaterial(choices, ("extractor",), states, left_out, clusters, np.zeros(12, dtype=int))


def test_every_specification_is_counted():
    curve = count(twelve(EXTRACTOR, KEY, REPEATED))
    assert curve.options.tolist()[:5] == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]
    expected = [2 / 12, 2 / 11, 1 / 11, 1 / 10, -1 / 12, -1 / 11, -2 / 11, -2 / 10, 2 / 12, 2 / 11, 1 / 11, 1 / 10]
    assert curve.estimate == pytest.approx(expected)
    assert curve.n_items.tolist() == [12, 11, 11, 10] * 3
    assert curve.se[0] == pytest.approx(FIRST.std(ddof=1) / 12**0.5)


def test_equal_specifications_are_one_way_and_count_once():
    curve = count(twelve(EXTRACTOR, KEY, REPEATED))
    # Extractor c is extractor a: eight ways, four of which have two specifications.
    assert curve.ways.first.tolist() == [0, 1, 2, 4, 3, 5, 6, 7]
    assert curve.ways.number[8:].tolist() == curve.ways.number[:4].tolist()
    assert sorted(curve.ways.n_merged.tolist()) == [1, 1, 1, 1, 2, 2, 2, 2]
    shares = curve.shares(0.95)
    assert (shares.n_open, shares.n_ahead, shares.n_behind, shares.n_shown) == (8, 4, 4, 0)
    assert curve.ahead_in()["key", "out"] == (2, 4)
    # A margin of 15 points: only with all items, or without the repeated one.
    assert curve.shares(0.95, 0.15).n_ahead == 2


def test_one_change_turns_the_direction_and_an_option_without_effect_does_not_move_the_distance():
    for choices in ((EXTRACTOR, KEY), (EXTRACTOR, KEY, REPEATED)):
        turn = count(twelve(*choices)).turns()
        assert turn.n_changed == 1
    curve = count(twelve(EXTRACTOR, KEY, REPEATED))
    assert [curve.setting(place)["extractor"] for place in turn.specifications] == ["b"]
    assert {curve.setting(place)["extractor"] for place in turn.all_turned} == {"b"}
    # Without the second extractor nothing turns it.
    only = selected(curve.choices, without=["extractor=b"])
    assert np.isnan(count(twelve(EXTRACTOR, KEY, REPEATED), only).turns().n_changed)


def test_effects_are_mean_differences_with_their_own_spread():
    curve = count(twelve(EXTRACTOR, KEY))
    effects = {effect.name: effect for effect in curve.effects}
    # Extractor b: -3/12 with all items and -3/11 without item 12.
    assert effects["extractor=b"].change.value == pytest.approx((-3 / 12 - 3 / 11) / 2)
    assert effects["extractor=c"].change.value == 0 and effects["extractor=c"].p == 1
    # Disputed out: +2/12 becomes 1/11 (twice, extractors a and c), -1/12 becomes -2/11.
    expected = (2 * (1 / 11 - 2 / 12) + (-2 / 11 + 1 / 12)) / 3
    assert effects["key=out"].change.value == pytest.approx(expected)
    # Three items of twelve differ, by one each: too few to tell an effect, as one item out is.
    assert np.isnan(effects["key=out"].p)
    differences = SECOND - FIRST
    plain = count(twelve(choice("extractor", "a", "b")))
    spread = differences.std(ddof=1) / 12**0.5
    low, high = plain.effects[0].change.low, plain.effects[0].change.high
    assert (high - low) / 2 > 1.96 * spread and (low + high) / 2 == pytest.approx(-3 / 12)


def test_holm_runs_over_all_options():
    curve = count(twelve(EXTRACTOR, KEY))
    known = [effect for effect in curve.effects if not np.isnan(effect.p)]
    smallest = min(known, key=lambda effect: effect.p)
    assert smallest.adjusted_p == pytest.approx(min(1, len(known) * smallest.p))


def test_what_may_not_be_claimed_is_closed_and_outside_every_share():
    options = (Option("a", "a", ""), Option("b", "b", "", closed="reads 62% of B"))
    extractor = Choice("extractor", "Extractor", options, ChoiceClass.EQUAL, "")
    curve = count(twelve(extractor, KEY))
    states = curve.states(0.95)
    assert [state is State.CLOSED for state in states] == [False, False, True, True]
    assert curve.shares(0.95).n_closed == 2 and curve.shares(0.95).n_open == 2
    assert np.isnan(curve.turns().n_changed)
    assert [effect.name for effect in curve.effects] == ["key=out"]


def test_nine_items_or_five_clusters_are_closed():
    few = np.repeat(np.arange(4), 3)
    assert count(twelve(KEY, EXTRACTOR, clusters=few)).closed[0] == "fewer than 10 items or 6 clusters count"


def test_choices_are_switched_by_name():
    groups = choice("categories", "all", "x", kind=ChoiceClass.UNCERTAIN)
    names = [[c.name for c in selected((EXTRACTOR, KEY, groups), **words)] for words in ({}, {"also": ["categories"]})]
    assert names == [["extractor", "key"], ["extractor", "key", "categories"]]
    kept = selected((EXTRACTOR, KEY), without=["key", "extractor=b"])
    assert [[option.name for option in c.options] for c in kept] == [["a", "c"]]
    with pytest.raises(BadInput, match="as declared"):
        selected((EXTRACTOR,), without=["extractor=a"])
    with pytest.raises(BadInput, match="no choice 'prompt'"):
        selected((EXTRACTOR,), without=["prompt"])


def test_ways_that_ask_otherwise_are_counted_apart():
    """Of the last four items alone the lead is -1, -1, 0, 1: behind, or with item 12 left out too."""
    categories = choice("categories", "all", "last", kind=ChoiceClass.UNCERTAIN)
    made = twelve(EXTRACTOR, KEY, REPEATED, categories)
    curve = count(made, (KEY, REPEATED, categories))
    alone = count(made, (KEY, REPEATED))
    defensible, apart = curve.equally_defensible, curve.apart
    assert defensible.estimate.tolist() == alone.estimate.tolist() and defensible.shares(0.95) == alone.shares(0.95)
    assert defensible.p_survives() == pytest.approx(alone.p_survives(), nan_ok=True)
    assert apart.estimate == pytest.approx([-1 / 4, -1 / 4, -2 / 3, -2 / 3])
    assert (apart.shares(0.95).n_open, apart.shares(0.95).n_closed) == (0, 2)
    assert curve.ahead_in()["key", "out"] == alone.ahead_in()["key", "out"] == (2, 2)
    assert alone.equally_defensible is alone and alone.apart is None
    # The effect of a defensible option does not change when another asks otherwise.
    changes = [[effect.change.value for effect in made.effects] for made in (curve, alone)]
    assert changes[0] == pytest.approx(changes[1])


def test_more_than_5000_leave_out_single_prompts_first_and_say_so():
    prompts = tuple(Option(f"p{k}", f"p{k}", "", is_uncertain=k > 0) for k in range(40))
    many = (choice("extractor", *map(str, range(60))), Choice("prompt", "Prompt", prompts, ChoiceClass.EQUAL, ""), KEY)
    kept, sentence = limit_specifications(many, 1_200)
    assert len(kept[0].options) == 60 and len(kept[1].options) == 10
    assert len(specifications(kept)) == 1_200 and "prompt p39" in sentence


@pytest.mark.parametrize("sign", [1, -1])
def test_what_the_declared_way_shows_is_lost_where_another_shows_it_no_longer(sign):
    lead, none = np.full(40, 1.0 * sign), np.zeros(40)
    lead[:10] = 0
    states = {("a",): lead, ("b",): none, ("c",): -lead}

    def curve_of(*options):
        of_extractors = {(name,): states[option,] for name, option in zip("abc", options, strict=False)}
        names = choice("extractor", *"abc"[: len(options)])
        parts = np.arange(40), np.zeros(40, dtype=int)
        return count(ArrayMaterial((names,), ("extractor",), of_extractors, {}, *parts))

    shown = curve_of("a", "b", "a").loses(0.95)
    assert (shown.n_changed, shown.specifications, shown.all_turned) == (1, (1,), (1,))
    assert curve_of("a", "c", "b").loses(0.95).specifications == (1, 2)
    assert np.isnan(curve_of("a", "a").loses(0.95).n_changed)
    # What is not shown cannot be lost, whatever another way shows.
    assert np.isnan(curve_of("b", "a").loses(0.95).n_changed)
    # Exactly on the margin nothing turns; another way on the margin counts where none is beyond it.
    assert np.isnan(curve_of("b", "a").turns().n_changed)
    assert curve_of("a", "b").turns().specifications == (1,)
    assert curve_of("a", "b", "c").turns().specifications == (2,)
    assert curve_of("a", "b").turns(margin=0.25 * sign).specifications == (1,)
    # The largest p over all ways; in one direction nearly 0, in the other nearly 1.
    assert curve_of("a", "a").p_survives(below=sign < 0) < 0.001 and curve_of("a", "a").p_survives(below=sign > 0) > 0.999
    assert curve_of("a", "b").p_survives(below=sign < 0) > 0.5
    default = curve_of("a", "a").p_survives()
    assert default == curve_of("a", "a").p_survives(0.0, below=False) != curve_of("a", "a").p_survives(0.01)
