"""Telling two sets apart: what is found where there is something, what is not where there is nothing, pairs kept together."""

from dataclasses import replace

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.holdout.entries import paired_rows, source_groups
from flipcore.vectors import classifiers
from flipcore.vectors.classifiers import CLASSIFIERS, classifier_by_name, giveaways, told_apart
from flipcore.vectors.classifiers.kinds import around_the_median, linear_decisions
from tests.vectors.embeddings.items import entry, topical


def random_entries(n, seed, words="a b c d e f g h i j k l m n o p", dataset="made"):
    rng = generator(seed)
    return [entry(f"{seed}-{i}", " ".join(rng.choice(words.split(), 12)) + "?", dataset=dataset) for i in range(n)]


def rewritten(items, change):
    """One entry written from each, with its words run through `change`."""
    return [entry(f"r{i}", change(item.question), dataset="retro", source_id=item.item_id) for i, item in enumerate(items)]


@pytest.mark.slow
def test_sets_with_words_of_their_own_are_told_apart():
    found = told_apart(topical("animals", 20), topical("numbers", 20), m=19)
    assert found.cross_validation.balanced.value > 0.95 and found.cross_validation.p == 0.05
    assert found.described == "Words and word pairs, linear; 5 folds; 20 + 20 entries; 19 permutations; seed 0"


@pytest.mark.slow
def test_halves_of_one_set_are_not():
    items = random_entries(80, 1)
    assert told_apart(items[::2], items[1::2], m=39).cross_validation.p > 0.05


@pytest.mark.slow
def test_a_copy_of_every_entry_is_no_difference():
    # without its pair in the same fold each copy looks like the other set, and accuracy falls far below one half
    target = random_entries(60, 2)
    found = told_apart(target, rewritten(target, lambda question: question), m=99)
    assert found.cross_validation.p > 0.05 and 0.4 <= found.cross_validation.balanced.value <= 0.6
    assert "60 source pairs, swapped within pairs" in found.described


@pytest.mark.slow
def test_a_habit_of_the_rewriter_is_found_within_pairs():
    target = random_entries(60, 3)
    found = told_apart(target, rewritten(target, lambda question: question.replace("a ", "alpha ")), m=99)
    assert found.cross_validation.p == 0.01 and found.cross_validation.balanced.value > 0.6


@pytest.mark.slow
def test_fewer_retro_entries_than_targets_compare_the_pairs_alone():
    target = random_entries(60, 4)
    found = told_apart(target, rewritten(target[:25], str.upper), m=19)
    assert found.cross_validation.n == 50 and "25 source pairs" in found.described


def test_sets_that_are_paired_in_part_keep_their_pairs_in_one_fold():
    target, loose = random_entries(40, 5), random_entries(10, 6, dataset="retro")
    retro = [*rewritten(target[:20], str.upper), *loose]
    assert paired_rows(target, retro) is None
    assert "grouped by source" in told_apart(target, retro, m=5).described


@pytest.mark.slow
def test_unequal_sizes_alone_are_no_difference():
    items = random_entries(200, 7)
    found = told_apart(items[:185], items[185:], m=99)
    assert found.cross_validation.p > 0.05 and abs(found.cross_validation.balanced.value - 0.5) < 0.25


@pytest.mark.slow
def test_a_small_set_is_found_among_a_large_one():
    # at a trained threshold all fifteen would land in the large set, and balanced accuracy would be .5
    found = told_apart(random_entries(185, 8), random_entries(15, 9, words="a b c d e f g h q r s t u v w x"), m=39)
    assert found.cross_validation.p == 1 / 40 and found.cross_validation.balanced.value > 0.7


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result():
    first, again = (told_apart(random_entries(30, 1), random_entries(30, 2), m=9, seed=4) for _ in range(2))
    assert first == again


@pytest.mark.slow
def test_embeddings_are_read_row_by_row():
    target, retro = random_entries(30, 1), random_entries(30, 2)
    rows = np.concatenate([np.tile([1.0, 0.1], (30, 1)), np.tile([0.1, 1.0], (30, 1))])
    found = told_apart(target, retro, "vectors", rows, m=19)
    assert found.cross_validation.balanced.value == 1.0 and "Embeddings, linear" in found.described
    for wrong in (None, rows[:-1]):
        with pytest.raises(BadInput, match="one vector an entry: 60 entries"):
            told_apart(target, retro, "vectors", wrong, m=1)


def test_a_slow_classifier_is_permuted_no_more_often_than_it_can_afford(monkeypatch):
    runs = []

    def prepared(self, texts, vectors=None):
        return lambda train, labels, test: runs.append(1) or np.zeros(len(test))

    monkeypatch.setattr("flipcore.vectors.classifiers.kinds.Bert.prepared", prepared)
    found = told_apart(random_entries(10, 1), random_entries(10, 2), "bert", m=199)
    assert found.cross_validation.n_permutations == 19 and len(runs) == 5 * 20 and "19 permutations" in found.described
    assert told_apart(random_entries(10, 1), random_entries(10, 2), "bert", m=3).cross_validation.n_permutations == 3


def test_too_few_entries_for_five_folds_are_a_sentence():
    for ask in (lambda *sets: told_apart(*sets, m=1), giveaways):
        with pytest.raises(BadInput, match="at least 5 entries of each, and 20 benchmark and 4 holdout entries came"):
            ask(topical("animals", 20), topical("numbers", 4))


def test_entries_of_one_source_count_once():
    target = random_entries(20, 1)
    retro = [entry(f"r{i}", f"one of {i}?", source_id=target[0].item_id) for i in range(8)]
    with pytest.raises(
        BadInput, match="20 benchmark and 1 holdout entries came: add items. Of entries made from one source the first"
    ):
        told_apart(target, retro, m=9)
    templated = [entry(f"r{i}", f"one of {i}?", source_id=f"template{i // 4}") for i in range(40)]
    found = told_apart(target, templated, m=9)
    assert "20 + 10 entries" in found.described and "30 others were left out" in found.described


def test_a_fold_that_leaves_one_set_to_train_on_decides_nothing():
    # giveaways describe every entry; of eight holdout entries from one source all lie in one fold
    target = random_entries(20, 1)
    retro = [entry(f"r{i}", f"one of {i}?", source_id=target[0].item_id) for i in range(8)]
    assert giveaways(target, retro) is not None


def test_an_unknown_classifier_is_a_sentence():
    with pytest.raises(BadInput, match="no classifier called 'forest'; choose one of words, vectors, bert"):
        classifier_by_name("forest")


def test_every_classifier_says_what_it_is():
    assert [one.name for one in CLASSIFIERS] == ["words", "vectors", "bert"] and classifiers.DEFAULT == "words"
    for one in CLASSIFIERS:
        assert one.title and one.about.endswith(".") and one.n_permutations >= 19
        assert one.why_not() == "" or one.why_not().endswith(".")


def test_groups_follow_a_source_over_several_steps():
    first = entry("t", "one?")
    second = entry("r1", "two?", source_id=first.item_id)
    third = entry("r2", "three?", source_id=second.item_id)
    other = entry("x", "four?", source_id="elsewhere/9@00000000")
    assert source_groups([first, other], [second, third]) == [first.item_id, "elsewhere/9@00000000", *[first.item_id] * 2]


def test_a_circle_of_sources_ends():
    one, two = (entry(key, f"{key}?") for key in "ab")
    circle = [replace(one, source_id=two.item_id), replace(two, source_id=one.item_id)]
    assert len(source_groups(circle[:1], circle[1:])) == 2


def test_pairs_need_a_source_of_their_own_for_every_retro_entry():
    target = random_entries(3, 1)
    retro = rewritten([target[2], target[0]], str.upper)
    assert paired_rows(target, retro).tolist() == [2, 0, 3, 4]
    assert paired_rows(target, []) is None and paired_rows(target, random_entries(2, 2)) is None
    twice = [*retro, entry("again", "again?", source_id=target[0].item_id)]
    assert paired_rows(target, twice) is None


def test_what_gives_a_set_away_leads_the_list():
    found = giveaways(topical("animals", 30), topical("numbers", 30))
    top = {one.token for one in found[:12]}
    assert top & {"dog", "cat", "horse", "cow"} and top & {"three", "seven", "nine", "eleven"}
    for one in found:
        assert one.lowest <= one.weight <= one.highest and one.lowest * one.highest > 0
    assert all((one.weight > 0) == (one.n_retro > one.n_target) for one in found[:12])


def test_embeddings_name_no_token():
    assert giveaways(topical("animals", 10), topical("numbers", 10), "vectors") == []


# Scores are divided at their median, whatever the threshold was.


def test_the_median_divides_scores_whatever_the_threshold_was():
    scores = around_the_median(np.array([-900.0, -3.0, -2.5, -2.0, 5.0]))
    assert (scores > 0.5).tolist() == [False, False, False, True, True] and scores[2] == 0.5 and np.isfinite(scores).all()


# Word weights: rare words in many rows still get theirs.


@pytest.mark.slow
def test_rare_words_in_many_rows_still_get_their_weights():
    # the optimum to eight digits by another solver; lbfgs at a loose tolerance stops at zero here
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    rng = generator(10)
    n, k = 6_000, 3_000
    places = np.repeat(np.arange(n, dtype=np.int32), 8), rng.integers(0, k, 8 * n, dtype=np.int32)
    rows = csr_array((np.full(8 * n, 8**-0.5), places), shape=(n, k))
    labels = (rng.random(n) < 0.85).astype(int)
    found, weights = linear_decisions(rows, labels, rows[:50])
    best = LogisticRegression(C=10.0, class_weight="balanced", solver="newton-cholesky", tol=1e-8).fit(rows, labels)
    assert np.corrcoef(weights, best.coef_[0])[0, 1] > 0.999 and weights.std() == pytest.approx(best.coef_[0].std(), rel=0.02)
    assert np.corrcoef(found, best.decision_function(rows[:50]))[0, 1] > 0.999
