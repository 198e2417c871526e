"""The holdout tests on real sets whose origin is known. The whole run, 200 divisions a row, is in tests/holdout_real.md."""

import numpy as np
import pytest
from scipy.stats import binomtest

from flipcore.stats.base.separability import separability
from flipcore.stats.holdout.duplicates import duplicates
from flipcore.stats.holdout.entries import entry_text, paired_rows, source_groups
from flipcore.stats.holdout.neighbours import mixing, nearest
from flipcore.stats.holdout.ngrams import ngrams
from flipcore.stats.holdout.verdict import BEYOND, DIFFERENT, prediction_test, semantic_test
from flipcore.vectors.classifiers import classifier_by_name, told_apart
from tests import holdout_real
from tests.holdout_real import benchmark, gsm1k, nearest_neighbour, part_rejections, rephrased, units_of

pytestmark = [pytest.mark.usefixtures("shared_data"), pytest.mark.usefixtures("allowed_folders")]


@pytest.fixture(scope="module")
def test_split(shared_data):
    return benchmark("gsm8k")


@pytest.fixture(scope="module")
def reworded(test_split):
    """(target, retro, unit rows of both, positions of the pairs)."""
    retro = rephrased(test_split)
    return test_split, retro, units_of([*test_split, *retro]), paired_rows(test_split, retro)


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_random_parts_of_one_shipped_set_are_seldom_told_apart")
@pytest.mark.simulation
@pytest.mark.slow
@pytest.mark.parametrize("name, n_retro, n_parts", [("truthfulqa", 408, 50), ("gsm8k", 660, 30), ("gsm8k", 50, 40)])
def test_random_parts_of_one_benchmark_are_seldom_told_apart(shared_data, name, n_retro, n_parts):
    tests = ("semantic", "mixing", "difficulty")[: 3 if name == "gsm8k" else 2]
    for rejected in part_rejections(name, n_retro, n_parts, tests, m=199).values():
        assert binomtest(int(rejected.sum()), n_parts, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.stand_in(
    "stats/holdout/test_shipped_sets.py::test_fifty_items_of_one_set_are_no_difference_and_only_a_large_one_would_be_seen"
)
@pytest.mark.simulation
@pytest.mark.slow
def test_random_halves_of_one_benchmark_are_seldom_told_apart_by_a_classifier(shared_data):
    for rejected in part_rejections("truthfulqa", 408, 20, ("words", "vectors")).values():
        assert binomtest(int(rejected.sum()), 20, 0.025, alternative="greater").pvalue > 0.01


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_an_early_end_decides_as_the_whole_test_does")
@pytest.mark.simulation
@pytest.mark.slow
def test_an_early_end_decides_as_the_whole_test_does(shared_data):
    items = benchmark("truthfulqa")[:120]
    fit = classifier_by_name("words").prepared([entry_text(item) for item in items])
    for i in range(4):
        labels = holdout_real.part_labels(120, 60, i)
        whole = separability(np.arange(120), labels, fit, m=39, seed=i).p < 0.05
        assert holdout_real.rejected(labels, fit, 39, i) == whole
    apart = (np.arange(120) >= 60).astype(int)  # the file's own order: categories, so there is something to find
    assert holdout_real.rejected(apart, fit, 39, 0) and separability(np.arange(120), apart, fit, m=39).p < 0.05


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_random_parts_of_one_shipped_set_are_seldom_told_apart")
@pytest.mark.simulation
@pytest.mark.slow
def test_the_training_split_is_not_called_different(test_split):
    train = benchmark("gsm8k-train")
    units = units_of([*test_split, *train])
    assert semantic_test(units[:1319], units[1319:], m=199).state != DIFFERENT
    texts = [entry_text(item) for item in (*test_split, *train)]
    labels = (np.arange(len(texts)) >= 1319).astype(int)
    assert not holdout_real.rejected(labels, classifier_by_name("words").prepared(texts), 39, 0)
    words = ngrams(texts[:1319], texts[1319:])
    assert len(words.different()) <= 0.002 * len(words.rows)


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_reworded_questions_are_caught_within_their_pairs")
@pytest.mark.simulation
@pytest.mark.slow
def test_reworded_questions_are_caught_within_their_pairs(reworded):
    target, retro, units, pairs = reworded
    found = told_apart(target, retro, m=59).cross_validation  # both directions are tested, so that 39 shuffles show nothing
    assert found.p == 1 / 60 and found.balanced.low > 0.85
    assert prediction_test(found).state == BEYOND  # balanced accuracy .85 and more, against a margin of .60
    half = len(pairs) // 2
    assert semantic_test(units[pairs[:half]], units[pairs[half:]], paired=True, m=999).state == DIFFERENT
    both = nearest(units[pairs], units[pairs], 10, skip_self=True)[0]
    assert mixing(both, np.repeat([0, 1], half), paired=True).p < 0.01


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_a_classifier_below_chance_is_no_evidence_of_sameness")
@pytest.mark.slow
def test_a_classifier_below_chance_is_no_evidence_of_sameness(reworded):
    """Without grouping, an entry's nearest neighbour is its own rewording, of the other set: accuracy falls to .15, which
    a one-sided rule would call indistinguishable. With pairs in one fold the same classifier finds the difference."""
    target, retro, units, pairs = reworded
    labels, groups = np.repeat([0, 1], len(pairs) // 2), np.tile(np.arange(len(pairs) // 2), 2)
    fit = nearest_neighbour(units)
    naive = separability(pairs, labels, fit, m=19)
    grouped = separability(pairs, labels, fit, groups, paired=True, m=39)
    assert naive.balanced.high < 0.2 and naive.p == 1.0
    assert grouped.balanced.low > 0.65 and grouped.p == 1 / 40
    assert len(set(source_groups(target, retro))) == len(target)


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_reworded_questions_are_caught_within_their_pairs")
@pytest.mark.simulation
@pytest.mark.slow
def test_fifty_items_of_gsm1k_differ_in_wording_and_are_too_few_to_say_by_how_much(test_split):
    # GSM1k is longer (59 v 46 words), so a difference is there to be found
    retro = gsm1k()
    units = units_of([*test_split, *retro])
    semantic = semantic_test(units[:1319], units[1319:], m=199)
    words = prediction_test(told_apart(test_split, retro, m=59).cross_validation)
    assert semantic.state == DIFFERENT and words.state == DIFFERENT
    assert words.estimate.high - words.estimate.low > 0.1 and not words.equivalent


@pytest.mark.stand_in(
    "stats/holdout/test_shipped_sets.py::test_fifty_items_of_one_set_are_no_difference_and_only_a_large_one_would_be_seen"
)
@pytest.mark.simulation
@pytest.mark.slow
def test_fifty_items_of_gsm8k_itself_are_no_difference_and_only_a_large_one_would_be_seen(test_split):
    chosen = holdout_real.part_labels(len(test_split), 50, 0)
    parts = [[item for item, label in zip(test_split, chosen, strict=True) if label == wanted] for wanted in (0, 1)]
    found = prediction_test(told_apart(*parts, m=39).cross_validation)
    assert found.state != DIFFERENT and found.detectable > 0.1


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_shipped_sets_hold_no_word_for_word_copies")
@pytest.mark.slow
def test_real_sets_hold_no_word_for_word_copies(reworded):
    target, retro, *_ = reworded
    assert not any(pair.exact for pair in duplicates([entry_text(item) for item in (*target, *retro)], 0.95))


@pytest.mark.slow
@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_the_words_that_give_the_paraphrases_away_come_first")
def test_how_and_what_give_the_rewordings_away(reworded):
    target, retro, _, pairs = reworded
    texts, half = [entry_text(item) for item in (*target, *retro)], len(pairs) // 2
    table = ngrams([texts[i] for i in pairs[:half]], [texts[i] for i in pairs[half:]], paired=True)
    assert {one.text for one in table.rows[:4]} >= {"how", "what"} and len(table.different()) > 200
