"""All specifications at once are what they are one by one."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.stats.audit.paired import paired_scores
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import guarded_limits
from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import WEIGHTS, Choice, ChoiceClass, Option
from flipcore.stats.choices.counting import _category_weights, count
from flipcore.stats.choices.material import ALIKE, ArrayMaterial
from flipcore.stats.choices.readouts import ItemFacts, item_choices


def choice(name, *options, kind=ChoiceClass.EQUAL):
    return Choice(name, name, tuple(Option(option, option, "") for option in options), kind, "")


def material(rng, clusters, n_samples=2):
    """Two models' scores, five ways to read them, and two ways to leave items out."""
    n, states = len(clusters), {}
    lead = rng.normal(0, 0.5, clusters.max() + 1)[clusters]
    for option in "abcde":
        first, second = (rng.binomial(n_samples, 1 / (1 + np.exp(-x))) / n_samples for x in (0.7 + lead, 0.3 + lead))
        read = rng.random(n) < 0.95
        states[option,] = (np.where(read, first, np.nan), np.where(read, second, np.nan))
    left_out = {"key=out": rng.random(n) < 0.1, "repeated=once": np.arange(n) % 9 == 0}
    choices = (choice("extractor", *"abcde"), choice("key", "published", "out"), choice("repeated", "all", "once"))
    gaps = {option: first - second for option, (first, second) in states.items()}
    return states, ArrayMaterial(choices, ("extractor",), gaps, left_out, clusters, np.zeros(n, dtype=int))


@pytest.mark.parametrize("clusters", [np.arange(150), np.repeat(np.arange(30), 5)], ids=["items", "clusters"])
def test_twenty_specifications_equal_paired_scores(clusters):
    states, stuff = material(np.random.default_rng(3), clusters)
    curve = count(stuff)
    low, high = curve.limits(0.95)
    p = curve.tests.p(0.0)
    assert len(curve) == 20
    for place in range(20):
        setting = curve.setting(place)
        first, second = states[setting["extractor"],]
        is_kept = stuff.is_counted(setting)
        paired = paired_scores(second[is_kept], first[is_kept], clusters[is_kept])
        difference = paired.difference
        assert difference.method == "guarded t"
        assert curve.estimate[place] == pytest.approx(difference.value)
        assert (low[place], high[place]) == (pytest.approx(difference.low), pytest.approx(difference.high))
        assert min(2 * min(p[place], 1 - p[place]), 1) == pytest.approx(paired.p, abs=0.02)
        assert curve.n_units[place] == difference.n


def test_limits_at_other_levels_are_those_of_the_guarded_test():
    clusters = np.repeat(np.arange(30), 5)
    states, stuff = material(np.random.default_rng(4), clusters)
    curve = count(stuff)
    first, second = states["a",]
    for level in (0.8, 0.95, 0.999):
        low, high = curve.limits(level)
        expected = guarded_limits(first - second, first - second, SIGNED, (1 - level) / 2, clusters)
        assert (low[0], high[0]) == pytest.approx(expected)


@pytest.mark.parametrize(("items", "expected"), [("aabb", ["categories"]), ("aab", ["weights", "categories"]), ("aaa", [])])
def test_categories_of_one_size_weigh_alike_already(items, expected):
    """They were said to be of unequal size."""
    facts = ItemFacts({str(place): category for place, category in enumerate(items)})
    assert [choice.name for choice in item_choices(list(facts.categories), facts)] == expected


def test_categories_of_one_size_are_unequal_once_a_key_is_left_out():
    """MMLU-Redux has 100 questions of each subject, and lost half of its ways of counting."""
    facts = ItemFacts({str(place): category for place, category in enumerate("aabb")}, wrong_key={"0"})
    key, weights, _ = item_choices(list(facts.categories), facts)
    assert (key.name, weights.name) == ("key", "weights") and "become unequal where questions are out" in weights.reason


def test_items_without_a_value_are_no_units():
    """The page said "60 questions" and "over 80 independent units" of one decision."""
    _, stuff = material(np.random.default_rng(3), np.arange(150))
    gaps = {name: np.where(np.arange(150) < 40, np.nan, values) for name, values in stuff.states.items()}
    assert count(stuff).n_coarse == 150 and count(replace(stuff, states=gaps)).n_coarse == 110


@pytest.mark.parametrize("n_pairs", [1, 2, 70])
def test_items_that_share_a_unit_are_one_unit_however_few_they_are(n_pairs):
    """With a single pair of items there is one unit less than items."""
    clusters = np.arange(150)
    clusters[: 2 * n_pairs] = np.repeat(np.arange(n_pairs), 2)
    clusters[2 * n_pairs :] -= n_pairs
    states, stuff = material(np.random.default_rng(5), clusters)
    curve = count(stuff)
    first, second = states["a",]
    expected = guarded_limits(first - second, first - second, SIGNED, 0.025, clusters)
    low, high = curve.limits(0.95)
    assert (low[0], high[0]) == pytest.approx(expected) and curve.n_coarse == 150 - n_pairs


def test_all_categories_that_have_items_weigh_the_same():
    categories = np.array([0, 0, 0, 1, 2])
    counted = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 0]], dtype=float)
    weights = _category_weights(counted, categories)
    assert weights[:, 0] == pytest.approx([5 / 9] * 3 + [5 / 3] * 2)
    assert weights[:, 1] == pytest.approx([1, 1, 0, 0, 0]) and weights[:, 2] == pytest.approx([0, 0, 0, 1, 0])
    assert (_category_weights(np.zeros((5, 1)), categories) == 0).all()


@pytest.mark.parametrize("clusters", [np.arange(150), np.repeat(np.arange(30), 5)], ids=["items", "clusters"])
def test_weights_that_are_all_alike_already_change_nothing(clusters):
    """Three categories of 50 items, all read; then one of them has 10 items and counts as much as the others."""
    states, stuff = material(np.random.default_rng(6), clusters)
    gaps = {(option,): np.nan_to_num(first - second) for (option,), (first, second) in states.items()}
    weights = choice(WEIGHTS, "number", ALIKE)
    stuff = replace(stuff, choices=(stuff.choices[0], weights), states=gaps, categories=np.arange(150) % 3)
    curve = count(stuff, stuff.choices)
    low, high = curve.limits(0.95)
    for numbers in (curve.estimate, curve.se, curve.df, curve.n_units, curve.n_items, low, high, curve.tests.p(0.0)):
        assert numbers[1::2] == pytest.approx(numbers[::2])
    assert all(effect.change.value == pytest.approx(0) for effect in curve.effects if effect.choice is weights)

    categories = np.where(np.arange(150) < 10, 0, 1 + np.arange(150) % 2)
    uneven = count(replace(stuff, categories=categories), stuff.choices)
    means = [gaps["a",][categories == category].mean() for category in range(3)]
    assert uneven.estimate[:2] == pytest.approx([gaps["a",].mean(), np.mean(means)])
    each = _category_weights(np.ones((150, 1)), categories)[:, 0]
    sizes, totals = (np.bincount(clusters, weights=values)[:, None] for values in (each, each * gaps["a",]))
    expected = FamilyMeans(totals, sizes)
    assert uneven.n_items.tolist() == [150] * 10
    assert (uneven.se[1], uneven.df[1]) == pytest.approx((expected.se[0], expected.df[0]))
