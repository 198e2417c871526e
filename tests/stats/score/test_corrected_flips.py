"""G and A with people's labels of pairs in them: identities, hand-made cases, and what is said with few labels."""

import math

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.score.corrected import EXACT, METHOD
from flipcore.stats.score.corrected_flips import flips_by_people


def made(n=200, n_pairs=120, misread=0.2, seed=3):
    """One pair an item: 0/1 rates."""
    rng = generator(seed)
    stated = rng.random(n) < 0.3
    reference = stated != (rng.random(n) < misread)
    total = reference | (rng.random(n) < 0.2)
    at = rng.permutation(n)[:n_pairs]
    return total.astype(float), reference.astype(float), stated.astype(float), at


def test_t_is_g_plus_a_and_all_pairs_labelled_is_what_people_say():
    total, reference, stated, at = made(n_pairs=200)
    one = flips_by_people(total, reference, reference[at], stated[at], at)
    assert one.stated.method == METHOD and one.stated.value == pytest.approx(stated.mean())
    assert one.stated.value + one.artifact.value == pytest.approx(total.mean())
    assert one.half_width(0) > one.half_width(100) > one.half_width(math.inf) > 0


def test_the_estimate_is_the_tuned_one_by_hand():
    total, reference, stated, at = made()
    one = flips_by_people(total, reference, reference[at], stated[at], at)
    f, y = reference[at], stated[at]
    weight = np.cov(y, f, bias=True)[0, 1] / f.var()
    assert one.weight == pytest.approx(weight)
    assert one.stated.value == pytest.approx(weight * reference.mean() + (y - weight * f).mean())
    assert one.stated.low < stated.mean() < one.stated.high and one.n_disagreements >= 10
    alone = one.by_labels_alone
    assert one.stated.high - one.stated.low < alone.high - alone.low


def test_pairs_of_one_item_are_one_family_and_an_undefined_item_leaves_with_its_pairs():
    total, reference, stated, at = made(n_pairs=60)
    total[at[0]] = math.nan
    one = flips_by_people(total, reference, reference[at], stated[at], at)
    assert one.n_pairs == 59 and one.total.size == 199
    twice = np.concatenate([at[1:], at[1:]])
    two = flips_by_people(total, reference, reference[twice], stated[twice], twice)
    assert two.n_pairs == 118 and two.stated.value == pytest.approx(one.stated.value)
    assert two.by_labels_alone.high == pytest.approx(one.by_labels_alone.high)  # no narrower for saying the same twice


def test_few_labels_and_few_disagreements_have_no_normal_limits():
    total, reference, stated, at = made(misread=0.03, n_pairs=60)
    few = flips_by_people(total, reference, reference[at], stated[at], at)
    assert few.n_disagreements < 10 and METHOD not in (few.stated.method, few.artifact.method) and few.n_more
    assert few.stated.low < few.stated.value < few.stated.high and math.isnan(few.half_width())
    exact = flips_by_people(total, reference, reference[at], reference[at], at)
    assert exact.stated.method == EXACT and "exact limits of both error rates" in exact.stated.note
    some = at[:12]  # so few that the labels alone say more
    alone = flips_by_people(total, reference, reference[some], reference[some], some)
    assert alone.stated.high - alone.stated.low <= alone.by_labels_alone.high - alone.by_labels_alone.low + 1e-12
    assert alone.artifact.low < alone.artifact.value < alone.artifact.high
    five = flips_by_people(total, reference, reference[at[:5]], stated[at[:5]], at[:5])
    assert not five.stated.has_interval and "5 labelled pairs" in five.stated.note and not five.artifact.has_interval
    none = flips_by_people(total, reference, [], [], [])
    assert math.isnan(none.stated.value) and none.stated.note == "Nobody has labelled both outputs of a pair."


def test_input_that_is_none_is_refused():
    with pytest.raises(BadInput, match="Give each item"):
        flips_by_people([0.5], [0.5, 0.5], [], [], [])
    with pytest.raises(BadInput, match="flips \\(1\\) or does not"):
        flips_by_people([0.5], [0.5], [0.5], [1], [0])


def test_limits_of_the_labels_alone_join_those_of_t_by_squares():
    """T flips where the reference does not, which makes the exact limits of A the wider ones."""
    _, reference, stated, at = made(n=60, n_pairs=60, misread=0.06)
    total = 1 - reference
    flips = flips_by_people(total, reference, reference[at], stated[at], at)
    assert 0 < flips.n_disagreements < 10 and "limits of the labels alone" in flips.artifact.note
    t, g = (clustered_mean(values, np.arange(60)) for values in (total, stated))
    value = t.value - g.value
    assert flips.artifact.value == pytest.approx(value)
    assert flips.artifact.low == pytest.approx(value - math.hypot(t.value - t.low, g.high - g.value))
    assert flips.artifact.high == pytest.approx(value + math.hypot(t.high - t.value, g.value - g.low))
