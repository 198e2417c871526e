"""G and A with people's labels of pairs in them: identities, hand-made cases, and what is said with few labels."""

import math

import numpy as np
import pytest
from scipy import stats

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.families import clustered_mean
from flipcore.stats.base.proportions import clopper_pearson
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


def t_standard_errors(values):
    """The half of Student's interval of a mean at 95%."""
    return stats.t.ppf(0.975, values.size - 1) * values.std(ddof=1) / math.sqrt(values.size)


@pytest.mark.parametrize("n_flips", [0, 1, 12])
def test_the_half_width_is_students_with_residuals_that_their_leverage_widens(n_flips):
    """Each of 40 pairs has a label: G is a mean of λ · reference + (people − λ · reference)."""
    n, rng = 40, generator(7)
    reference, people, total = (np.zeros(n) for _ in range(3))
    reference[:n_flips], people[5:17] = 1, 1
    total[rng.permutation(n)[:20]] = 1
    flips = flips_by_people(total, reference, reference, people, np.arange(n))
    assert flips.has_normal_limits
    squares = (reference - reference.mean()) ** 2
    weight = ((reference - reference.mean()) * (people - people.mean())).sum() / squares.sum() if n_flips else 1.0
    leverage = 1 / n + (squares / squares.sum() if n_flips else 0)
    residuals = people - weight * reference
    widened = (residuals - residuals.mean()) * np.sqrt((1 - 1 / n) / np.maximum(1 - leverage, 1 / n))
    widened += residuals.mean() - widened.mean()
    half, of_labels = (t_standard_errors(values) for values in (weight * reference + widened, widened))
    assert flips.half_width() == pytest.approx(max(half, of_labels))
    of_items = math.sqrt(max(half**2 - of_labels**2, 0))
    assert flips.half_width(math.inf) == pytest.approx(of_items, abs=1e-9)
    assert flips.half_width(3 * n) == pytest.approx(math.hypot(of_items, of_labels / 2))
    # The limits of A are as far away as those of G, in reverse and by the ratio of the standard errors.
    g, a = flips.stated, flips.artifact
    ratio = t_standard_errors(total - weight * reference - widened) / half
    assert a.value == pytest.approx(total.mean() - g.value)
    assert a.low == pytest.approx(a.value - ratio * (g.high - g.value))
    assert a.high == pytest.approx(a.value + ratio * (g.value - g.low))


def test_exact_limits_combine_items_and_error_rates_by_squares():
    """One false flip of 12, one that was missed of 48, and G = g (1 - a) + (1 - g) b."""
    n, n_labels = 400, 60
    genuine, people = (np.arange(n) % 5 == 0).astype(float), np.zeros(n_labels)
    people[[1, *range(5, n_labels, 5)]] = 1
    total = np.maximum(genuine, np.arange(n) % 2)
    flips = flips_by_people(total, genuine, genuine[:n_labels], people, np.arange(n_labels))
    assert (flips.stated.method, flips.artifact.method) == (EXACT, EXACT)
    g, a, b = 0.2, 1 / 12, 1 / 48
    (a_low, a_high), (b_low, b_high) = clopper_pearson(1, 12), clopper_pearson(1, 48)
    slope = 1 - a - b
    items, value = clustered_mean(genuine, np.arange(n)), g * (1 - a) + (1 - g) * b
    down = math.hypot(slope * (g - items.low), g * (a_high - a), (1 - g) * (b - b_low))
    up = math.hypot(slope * (items.high - g), g * (a - a_low), (1 - g) * (b_high - b))
    assert flips.stated.value == pytest.approx(value)
    assert (flips.stated.low, flips.stated.high) == pytest.approx((value - down, value + up))
    of_items = t_standard_errors(total - slope * genuine)
    value = total.mean() - value
    down = math.hypot(of_items, g * (a - a_low), (1 - g) * (b_high - b))
    up = math.hypot(of_items, g * (a_high - a), (1 - g) * (b - b_low))
    assert (flips.artifact.low, flips.artifact.high) == pytest.approx((value - down, value + up))


@pytest.mark.parametrize("total", [0, 1])
def test_no_limit_of_the_artifact_lies_beyond_1(total):
    """One in ten pairs does not differ: by squares the limit of .9 is 1.01, mostly as its one label leaves errors open."""
    n = 100
    genuine = (np.arange(n) % 10 == 0) == total
    labelled = genuine[:10]
    artifact = flips_by_people(np.full(n, total), genuine, labelled, labelled, np.arange(10)).artifact
    assert artifact.method == EXACT and artifact.value == pytest.approx(0.9 if total else -0.9)
    assert (artifact.high if total else artifact.low) == (1 if total else -1)


@pytest.mark.parametrize("n", [3, 4])
def test_three_labelled_items_are_enough_for_residuals_by_leverage(n):
    """Twelve labelled pairs an item: λ is the slope over pairs, all else is over items."""
    reference, people = np.zeros((n, 12)), np.zeros((n, 12))
    reference[0, :6], reference[1, :3], reference[2, :1], people[:, 2:7] = 1, 1, 1, 1
    f, y = reference.ravel(), people.ravel()
    flips = flips_by_people(np.full(n, 0.5), reference.mean(axis=1), f, y, np.repeat(np.arange(n), 12))
    weight = np.cov(y, f, bias=True)[0, 1] / f.var()
    share = reference.mean(axis=1)
    residuals, squares = (people - weight * reference).mean(axis=1), (share - share.mean()) ** 2
    widened = (residuals - residuals.mean()) * np.sqrt((1 - 1 / n) / np.maximum(1 - 1 / n - squares / squares.sum(), 1 / n))
    widened += residuals.mean() - widened.mean()
    half, of_labels = t_standard_errors(weight * share + widened), t_standard_errors(widened)
    assert flips.weight == pytest.approx(weight) and flips.has_normal_limits
    assert flips.stated.value == pytest.approx(weight * share.mean() + (people - weight * reference).mean())
    assert flips.half_width() == pytest.approx(max(half, of_labels))


@pytest.mark.parametrize("n_pairs", [9, 10])
def test_ten_labelled_pairs_have_an_interval(n_pairs):
    total, reference, stated, at = made()
    flips = flips_by_people(total, reference, reference[at[:n_pairs]], stated[at[:n_pairs]], at[:n_pairs])
    assert flips.stated.has_interval == flips.artifact.has_interval == (n_pairs == 10)
