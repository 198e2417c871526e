from dataclasses import replace

import numpy as np
import pytest

from flipcore.claims.holdout import outcome_claim
from flipcore.core.randomness import generator
from flipcore.reports.holdout import semantic
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.copies import (
    _most_copies,
    blocks_of_vectors,
    compared_rows,
    cross_neighbours,
    neighbours_beside_twins,
    twins,
)
from flipcore.stats.holdout.semantic import unit_vectors
from flipcore.stats.holdout.verdict import semantic_test
from tests.lab.claims.copied import nearest_by_vector, nearest_by_words, twin_vectors
from tests.lab.claims.likeness import embedded, entries
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_as_many_copies_as_there_are_stay_possible_and_no_more_than_chance_would_hide():
    """One-sided 95%: of 40 draws about two may name fewer than the share of copies."""
    for share in (0.0, 0.1):
        most = np.array([copies_at_most(share, seed) for seed in range(40)])
        assert (most < share).sum() <= 5 and most.mean() < share + 0.25


def copies_at_most(share, seed):
    target, retro = vectors_with_copies(share, seed)
    return cross_neighbours(nearest_by_vector(np.vstack([target, retro])), LABELS, None, seed, 199).at_most


@pytest.mark.slow
def test_what_sameness_leaves_open_stands_in_its_sentence():
    target, retro = vectors_with_copies(0.0)
    near = cross_neighbours(nearest_by_vector(np.vstack([target, retro])), LABELS)
    said = outcome_claim(semantic_test(target, retro, 0.5, m=199, copies=[near]))
    assert said.outcome == "equivalent" and said.text.endswith(
        f"; at most {np.ceil(100 * near.at_most):.0f}% are close copies."
    )
    assert "copies" not in outcome_claim(semantic_test(target, retro, 0.5, m=199)).text


def test_a_set_none_of_whose_entries_has_a_neighbour_bounds_nothing():
    assert np.isnan(cross_neighbours(np.full(2 * N, -1), LABELS).at_most)


@pytest.mark.slow
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


def semantic_of(n, m, rho, templates, paired, seed):
    """The page's test of two sets without difference, a target of n and a retro set of m entries."""
    items = entries(n, m, templates, paired)
    units = embedded(generator(seed, "units"), items, n, rho, 0.0)
    return semantic(Sets.without_study("made", items[:n], items[n:]), (units, "made"), seed)[0]


@pytest.mark.slow
def test_where_no_two_texts_share_a_run_of_words_no_share_of_them_is_told():
    rng = generator(1)
    texts = words(rng, N)
    texts += [edited(text, rng) for text in texts]
    items = [replace(one, question=f"{one.item_id} {text}") for one, text in zip(entries(N, N, 0, False), texts, strict=True)]
    alone = [replace(one, question=one.item_id) for one in items]
    units = embedded(generator(1, "units"), items, N, 0.0, 0.0)
    told, told_alone = (semantic(Sets.without_study("made", of[:N], of[N:]), (units, "made"), 0)[1] for of in (items, alone))
    assert "by embedding " in told_alone and "runs of five words" not in told_alone and "nan" not in told_alone
    assert "and by runs of five words " in told and "nan" not in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "n_worlds"),
    [(60, 40, 3), pytest.param(60, 40, 8, marks=pytest.mark.slow), pytest.param(40, 40, 8, marks=pytest.mark.slow)],
)
def test_entries_that_name_their_source_are_no_copies_for_it(n, m, n_worlds):
    outcomes = [outcome_claim(semantic_of(n, m, 0.9, 0, True, seed)).outcome for seed in range(n_worlds)]
    assert outcomes.count("different") <= 1, outcomes  # it was 8 of 8: each entry lay next to its declared source


@pytest.mark.slow
def test_families_are_relabelled_whole_and_are_no_neighbours_of_themselves():
    families = np.repeat(np.arange(60), 5)
    labels = np.repeat([0, 1], 150)
    p_whole, p_bare = [], []
    for seed in range(40):
        rng = generator(seed, "families")
        units = np.repeat(rng.standard_normal((60, 8)), 5, axis=0) + 0.3 * rng.standard_normal((300, 8))
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        near = nearest_by_vector(units, families)
        assert (families[near] != families).all()
        p_whole.append(cross_neighbours(near, labels, families, seed, 199).p)
        p_bare.append(cross_neighbours(near, labels, None, seed, 199).p)
    assert np.mean(np.array(p_bare) < 0.05) > 0.15  # what labels of single entries say of such sets
    assert np.mean(np.array(p_whole) < 0.05) < 0.13


def test_templated_copies_are_found_with_all_their_entries():
    """Of 30 families of five in either set, nine of the holdout's are copies; the first of each family alone hardly shows them."""
    rng = generator(5)
    centre = rng.standard_normal((60, 16))
    units = np.repeat(centre, 5, axis=0) + 0.6 * rng.standard_normal((300, 16))
    units[150:195] = units[rng.permutation(150)[:45]] + 0.02 * rng.standard_normal((45, 16))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    families = np.repeat(np.arange(60), 5)
    labels = np.repeat([0, 1], 150)
    assert compared_rows(labels, families).all()
    assert cross_neighbours(nearest_by_vector(units, families), labels, families, 0, 999).p < 0.01


def test_families_that_cannot_change_sides_are_compared_by_their_first_entries():
    """Thirty families of five beside sixty single entries: there is no other labelling of whole families of one size."""
    labels, families = np.repeat([0, 1], [150, 60]), np.concatenate([np.repeat(np.arange(30), 5), np.arange(30, 90)])
    rows = compared_rows(labels, families)
    assert rows.sum() == 90 and rows[:6].tolist() == [True, False, False, False, False, True]
    assert compared_rows(np.repeat([0, 1], 40), np.tile(np.arange(40), 2)).all()  # source pairs swap


@pytest.mark.slow
def test_twins_within_a_set_lower_no_bound_on_copies():
    """By nearest neighbours alone the bound lies below the truth in nine worlds of ten."""
    labels, too_low = np.repeat([0, 1], 100), {"twins as neighbours": 0, "twins apart": 0}
    for seed in range(20):
        units = twin_vectors(np.random.default_rng(seed), 100, 30)
        plain = cross_neighbours(nearest_by_vector(units), labels, None, seed, 99)
        apart = neighbours_beside_twins(blocks_of_vectors(units), labels, np.arange(200), seed, 99)
        too_low["twins as neighbours"] += plain.at_most < 0.3
        too_low["twins apart"] += apart.at_most < 0.3
        assert apart.p == plain.p and not apart.has_many_twins
    assert too_low["twins as neighbours"] > 14 and too_low["twins apart"] <= 2


def test_no_bound_is_told_where_most_entries_have_twins():
    rng = np.random.default_rng(0)
    halves = [np.repeat(rng.standard_normal((50, 40)), 2, axis=0) + 0.1 * rng.standard_normal((100, 40)) for _ in range(2)]
    units = unit_vectors(np.vstack(halves))
    near = neighbours_beside_twins(blocks_of_vectors(units), np.repeat([0, 1], 100), np.arange(200), 0, 99)
    assert near.has_many_twins and np.isnan(near.at_most)


def test_sets_without_twins_keep_their_bound():
    rng = np.random.default_rng(0)
    units = unit_vectors(rng.standard_normal((200, 40)))
    clusters, n_twins = twins(blocks_of_vectors(units), np.repeat([0, 1], 100), np.arange(200))
    assert n_twins < 0.02


def test_entries_word_for_word_are_twins_however_near_the_next_is():
    units = np.eye(6)  # all as far from each other
    units[1] = units[0]
    units[2] = [np.cos(0.1), np.sin(0.1), 0, 0, 0, 0]  # 1 - cos 0.1 = .005 from the first two
    clusters, n_twins = twins(blocks_of_vectors(units), np.zeros(6, dtype=int), np.arange(6))
    assert clusters[0] == clusters[1] != clusters[2] and n_twins == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("excess", "n_target", "n_retro", "n_copies"),
    [
        # Of two sets of 10 each copy adds a neighbour: 2k + (20 - 2k) / 2 = 10 + k.
        *((-0.5, 10, 10, 0), (0.0, 10, 10, 0), (2.9, 10, 10, 2), (3.0, 10, 10, 3), (9.5, 10, 10, 9), (50.0, 10, 10, 10)),
        # With 4 and 5 copies, 5 and 40 entries have 2.67 and 3.30 neighbours more than with none.
        *((2.7, 5, 40, 4), (3.2, 5, 40, 4), (3.4, 5, 40, 40), (3.8, 5, 40, 40), (9.0, 5, 40, 40)),
    ],
)
def test_the_most_copies_that_explain_an_excess_are_all_where_the_smaller_set_may_be(excess, n_target, n_retro, n_copies):
    assert _most_copies(excess, n_target, n_retro) == n_copies
