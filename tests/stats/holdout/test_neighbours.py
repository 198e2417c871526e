"""Neighbours, likeness and mixing against loops over all pairs, and the size of the test by simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.holdout import neighbours
from flipcore.stats.holdout.neighbours import cosine_counts, mean_cosine, mixing, most_alike, nearest


def directions(n, d=8, seed=0, shift=0.0):
    rows = generator(seed).standard_normal((n, d)) + shift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(params=[512, 7])
def blocks(request, monkeypatch):
    """The same answers whether or not the rows fit into one block."""
    monkeypatch.setattr(neighbours, "ROWS_AT_ONCE", request.param)


@pytest.mark.usefixtures("blocks")
def test_the_nearest_are_those_of_a_full_sort():
    a, b = directions(20), directions(15, seed=1)
    rows, cosines = nearest(a, b, 4)
    for i in range(20):
        order = sorted(range(15), key=lambda j: (-(a[i] @ b[j]), j))[:4]
        assert rows[i].tolist() == order and cosines[i] == pytest.approx([a[i] @ b[j] for j in order])


@pytest.mark.usefixtures("blocks")
def test_no_entry_is_its_own_neighbour():
    a = directions(20)
    rows, _ = nearest(a, a, 19, skip_self=True)
    assert all(sorted(row) == [j for j in range(20) if j != i] for i, row in enumerate(rows.tolist()))


def test_fewer_entries_than_neighbours_give_all_there_are():
    assert nearest(directions(3), directions(2, seed=1), 10)[0].shape == (3, 2)
    with pytest.raises(BadInput, match="at least one other entry"):
        nearest(directions(1), directions(1), 3, skip_self=True)


@pytest.mark.usefixtures("blocks")
def test_the_most_alike_pairs_are_those_of_all_pairs():
    a = directions(20)
    pairs = sorted(((-(a[i] @ a[j]), i, j) for i, j in itertools.combinations(range(20), 2)))[:10]
    found = most_alike(a, 10)
    assert [(i, j) for i, j, _ in found] == [(i, j) for _, i, j in pairs]
    assert [cosine for *_, cosine in found] == pytest.approx([-value for value, *_ in pairs])


def test_few_entries_have_few_pairs():
    three = directions(3)
    pairs = sorted((-(three[i] @ three[j]), i, j) for i, j in itertools.combinations(range(3), 2))
    assert [(i, j) for i, j, _ in most_alike(three, 10)] == [(i, j) for _, i, j in pairs]
    assert most_alike(directions(1), 10) == []


@pytest.mark.usefixtures("blocks")
def test_every_pair_is_counted_once_in_its_bin():
    a = directions(30)
    cosines = [x @ y for x, y in itertools.combinations(a, 2)]
    assert cosine_counts(a, 8, -1.0, 1.0).tolist() == np.histogram(cosines, bins=8, range=(-1, 1))[0].tolist()
    assert cosine_counts(a, 4, -0.1, 0.1).sum() == 435  # the ends take what lies beyond


def test_mean_cosine_is_the_mean_of_all_pairs():
    a = directions(25, shift=0.4)
    assert mean_cosine(a).value == pytest.approx(np.mean([x @ y for x, y in itertools.combinations(a, 2)]))


def test_a_set_without_pairs_has_no_mean_and_a_small_one_no_interval():
    assert math.isnan(mean_cosine(directions(1)).value)
    small = mean_cosine(directions(5))
    assert not math.isnan(small.value) and not small.has_interval and "5 entries" in small.note


@pytest.mark.slow
def test_the_interval_of_the_mean_cosine_covers():
    # the true mean cosine of two draws is |E u|^2, here from 400,000 draws
    truth = float(np.sum(directions(400_000, 6, seed=9, shift=0.5).mean(axis=0) ** 2))
    found = [mean_cosine(directions(60, 6, seed=i, shift=0.5)) for i in range(600)]
    covered = sum(one.low <= truth <= one.high for one in found)
    assert binomtest(covered, 600, 0.93, alternative="less").pvalue > 0.01


def own_share(rows, labels):
    """Mean over the two sets of the mean share of own neighbours."""
    shares = [np.mean([labels[j] == labels[i] for j in row]) for i, row in enumerate(rows)]
    return np.mean([np.mean([s for s, label in zip(shares, labels, strict=True) if label == wanted]) for wanted in (0, 1)])


@pytest.mark.slow
def test_mixing_counts_own_neighbours_and_expects_those_of_a_random_labelling():
    a, labels = directions(40), np.array([0] * 30 + [1] * 10)
    rows, _ = nearest(a, a, 5, skip_self=True)
    found = mixing(rows, labels, m=99)
    assert found.own_share.value == pytest.approx(own_share(rows, labels)) and found.k == 5
    draws = [own_share(rows, generator(i, "by hand").permutation(labels)) for i in range(2_000)]
    assert found.expected == pytest.approx(np.mean(draws), abs=4 * np.std(draws) / math.sqrt(2_000))


def test_sets_that_lie_apart_do_not_mix():
    a = np.concatenate([directions(30, shift=2.0), directions(30, seed=1, shift=-2.0)])
    rows, _ = nearest(a, a, 5, skip_self=True)
    found = mixing(rows, np.repeat([0, 1], 30))
    assert found.own_share.value == 1.0 and found.p == 0.001
    assert found.own_share.value > found.expected == pytest.approx(0.49, abs=0.005) and found.p == 0.001


def test_pairs_lie_closer_to_the_other_set_and_that_is_no_difference():
    # every retro row is a target row with a little noise: its nearest neighbour is of the other set
    target = directions(60)
    retro = target + 0.05 * generator(3).standard_normal(target.shape)
    retro /= np.linalg.norm(retro, axis=1, keepdims=True)
    both, labels = np.concatenate([target, retro]), np.repeat([0, 1], 60)
    rows, _ = nearest(both, both, 3, skip_self=True)
    free, paired = mixing(rows, labels), mixing(rows, labels, paired=True)
    assert free.p < 0.01 and free.own_share.value < free.expected
    assert paired.p > 0.05 and paired.expected == pytest.approx(free.own_share.value, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n_target, n_retro", [(40, 40), (90, 15)])
def test_mixing_rejects_a_true_null_at_its_level(n_target, n_retro):
    labels = np.repeat([0, 1], [n_target, n_retro])
    rejected = 0
    for i in range(300):
        a = directions(n_target + n_retro, seed=i)
        rejected += mixing(nearest(a, a, 5, skip_self=True)[0], labels, m=99, seed=i).p <= 0.05
    assert binomtest(rejected, 300, 0.05, alternative="greater").pvalue > 0.01


def test_labels_that_do_not_fit_are_refused():
    rows, _ = nearest(directions(6), directions(6), 2, skip_self=True)
    for labels in ([0] * 6, [0, 1], [0, 1, 2, 0, 1, 2]):
        with pytest.raises(BadInput, match="one label per entry"):
            mixing(rows, np.array(labels))
    with pytest.raises(BadInput, match="equally long"):
        mixing(rows, np.array([0, 0, 0, 0, 1, 1]), paired=True)
    with pytest.raises(BadInput, match="equally long"):
        mixing(rows[:5], np.array([0, 0, 0, 1, 1]), paired=True)


def test_the_interval_of_likeness_is_the_jackknifes():
    rows = directions(15, seed=4)
    without = [mean_cosine(np.delete(rows, i, axis=0)).value for i in range(15)]
    se = math.sqrt(14 / 15 * sum((one - np.mean(without)) ** 2 for one in without))
    found = mean_cosine(rows)
    assert found.high - found.value == pytest.approx(student.ppf(0.975, 14) * se)
