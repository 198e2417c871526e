"""The holdout tests on sets of this repository whose origin is known: a smaller namesake of test_real_sets.py."""

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from flipcore.core.paths import PARAPHRASES
from flipcore.core.records import Item
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from flipcore.stats.base.separability import separability
from flipcore.stats.holdout.duplicates import duplicates
from flipcore.stats.holdout.entries import entry_text, paired_rows, source_groups
from flipcore.stats.holdout.neighbours import mixing, nearest
from flipcore.stats.holdout.ngrams import ngrams
from flipcore.stats.holdout.verdict import DIFFERENT, prediction_test, semantic_test
from flipcore.vectors.classifiers import classifier_by_name, told_apart
from tests import holdout_real
from tests.holdout_real import nearest_neighbour, part_labels, units_of

N_PARTS = 24


@pytest.fixture(scope="module")
def reworded():
    """(target, retro, unit rows of both, positions of the pairs): the shipped paraphrases that begin anew most often."""
    lines = [json.loads(line) for line in (PARAPHRASES / "shipped.jsonl").read_text("utf-8").splitlines()]
    first = {row["original"]: row["paraphrase"] for row in reversed(lines) if row["dataset"].startswith("flipscope")}
    target = [Item.make(dataset="t", key=str(i), kind="number", question=text) for i, text in enumerate(first)]
    retro = [
        Item.make(dataset="r", key=str(i), kind="number", question=f"Please say: {text}", source_id=one.item_id)
        for i, (one, text) in enumerate(zip(target, first.values(), strict=True))
    ]
    return target, retro, units_of([*target, *retro]), paired_rows(target, retro)


@pytest.fixture(scope="module")
def one_source():
    """Entries of one origin, one a template, so that a random part is a fair draw."""
    items = load(ItemSource("pocket_prose", n=160, seed=1))
    return items, units_of(items)


@pytest.mark.slow
def test_random_parts_of_one_shipped_set_are_seldom_told_apart(one_source):
    _, units = one_source
    near = nearest(units, units, 10, skip_self=True)[0]
    rejections = {"semantic": 0, "mixing": 0}
    for i in range(N_PARTS):
        labels = part_labels(len(units), 60, i)
        rejections["semantic"] += semantic_test(units[labels == 0], units[labels == 1], m=99, seed=i).p < 0.05
        rejections["mixing"] += mixing(near, labels, m=99, seed=i).p < 0.05
    for n in rejections.values():
        assert binomtest(n, N_PARTS, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.slow
def test_an_early_end_decides_as_the_whole_test_does(one_source):
    texts = [entry_text(item) for item in one_source[0][:80]]
    fit = classifier_by_name("words").prepared(texts)
    for i in range(3):
        labels = part_labels(80, 40, i)
        whole = separability(np.arange(80), labels, fit, m=39, seed=i).p < 0.05
        assert holdout_real.rejected(labels, fit, 39, i) == whole


@pytest.mark.slow
def test_reworded_questions_are_caught_within_their_pairs(reworded):
    target, retro, units, pairs = reworded
    # two-sided, so that 39 permutations could not go below .05
    result = told_apart(target, retro, m=59).cross_validation
    assert result.p == 1 / 60 and prediction_test(result).state != "undecided"
    half = len(pairs) // 2
    assert semantic_test(units[pairs[:half]], units[pairs[half:]], paired=True, m=999).state == DIFFERENT
    both = nearest(units[pairs], units[pairs], 10, skip_self=True)[0]
    assert mixing(both, np.repeat([0, 1], half), paired=True).p < 0.05


def test_a_classifier_below_chance_is_no_evidence_of_sameness(reworded):
    """Without grouping an entry's nearest neighbour is its own paraphrase, of the other set: accuracy falls below chance."""
    target, retro, units, pairs = reworded
    labels, groups = np.repeat([0, 1], len(pairs) // 2), np.tile(np.arange(len(pairs) // 2), 2)
    naive = separability(pairs, labels, nearest_neighbour(units), m=19)
    grouped = separability(pairs, labels, nearest_neighbour(units), groups, paired=True, m=39)
    assert naive.balanced.high < 0.5 and naive.p == 1.0
    assert grouped.balanced.value > naive.balanced.value + 0.2
    assert len(set(source_groups(target, retro))) == len(target)


@pytest.mark.slow
def test_fifty_items_of_one_set_are_no_difference_and_only_a_large_one_would_be_seen(one_source):
    items = one_source[0][:100]
    labels = part_labels(100, 50, 0)
    parts = [[item for item, label in zip(items, labels, strict=True) if label == side] for side in (0, 1)]
    result = prediction_test(told_apart(*parts, m=39).cross_validation)
    assert result.state != DIFFERENT and result.detectable > 0.1


def test_shipped_sets_hold_no_word_for_word_copies(reworded):
    target, retro, *_ = reworded
    assert not any(pair.exact for pair in duplicates([entry_text(item) for item in (*target, *retro)], 0.95))
    problems = [entry_text(item) for item in load(ItemSource("flipscope_problems"))]
    assert duplicates(problems) == [] and len(duplicates([*problems, problems[0]])) == 1


def test_the_words_that_give_the_paraphrases_away_come_first(reworded):
    target, retro, _, pairs = reworded
    texts, half = [entry_text(item) for item in (*target, *retro)], len(pairs) // 2
    table = ngrams([texts[i] for i in pairs[:half]], [texts[i] for i in pairs[half:]], paired=True)
    assert {one.text for one in table.rows[:4]} >= {"please", "say"}
