import numpy as np
import pytest

from flipcore.claims.holdout import outcome_claim
from flipcore.core.randomness import generator
from flipcore.stats.holdout.copies import cross_neighbours, nearest_by_vector, nearest_by_words
from flipcore.stats.holdout.verdict import semantic_test
from tests.lab.simulations.planted_memory import embedding_sets

N = 100
LABELS = np.repeat([0, 1], N)


def words(rng, n):
    return [" ".join(f"w{k}" for k in rng.integers(0, 500, 25)) for _ in range(n)]


def edited(text, rng):
    """The same with one word of ten replaced."""
    return " ".join(f"w{rng.integers(0, 500)}" if rng.random() < 0.1 else word for word in text.split())


def vectors_with_copies(share, seed=1):
    target, retro = embedding_sets(generator(seed), N)
    k = round(share * N)
    retro[:k] = target[:k] + 0.01 * generator(seed, "noise").standard_normal((k, target.shape[1]))
    return target, retro / np.linalg.norm(retro, axis=1, keepdims=True)


def test_a_holdout_of_which_three_in_ten_are_copies_is_found_and_never_equivalent():
    target, retro = vectors_with_copies(0.3)
    near = cross_neighbours(nearest_by_vector(np.vstack([target, retro])), LABELS)
    assert near.share > 0.6 and near.chance == pytest.approx(0.5, abs=0.02) and near.p < 0.01
    without = semantic_test(target, retro, 0.5, m=199)
    assert outcome_claim(without).outcome == "equivalent"  # what was said of it before
    test = semantic_test(target, retro, 0.5, m=199, copies=[near])
    claim = outcome_claim(test)
    assert claim.outcome == "different" and "Entries of one set stand for entries of the other" in claim.text


def test_copies_that_holm_does_not_reach_still_keep_sets_from_being_called_equivalent():
    target, retro = vectors_with_copies(0.0)
    few = cross_neighbours(np.full(2 * N, -1), LABELS)
    assert few.p == 1.0 and outcome_claim(semantic_test(target, retro, 0.5, m=199, copies=[few])).outcome == "equivalent"
    at_edge = type(few)(0.58, 0.5, 0.03)
    claim = outcome_claim(semantic_test(target, retro, 0.5, m=199, copies=[at_edge]))
    assert claim.outcome == "undecided" and "as copies do" in claim.text


def test_light_edits_are_found_by_runs_of_words_and_two_samples_are_not():
    rng = generator(3)
    target = words(rng, N)
    copies = [edited(text, rng) for text in target[:30]]
    near = cross_neighbours(nearest_by_words([*target, *copies, *words(rng, N - 30)]), LABELS)
    assert near.share > 0.9 and near.p < 0.01
    assert cross_neighbours(nearest_by_words(words(rng, 2 * N)), LABELS).p > 0.01


def test_a_text_that_shares_no_run_has_no_neighbour():
    near = nearest_by_words(["a b c d e f", "x a b c d e", "one two three four five", "short"])
    assert near.tolist() == [1, 0, -1, -1]
