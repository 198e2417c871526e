"""Duplicates: every pair above the bound is found, and its similarity is that of the words in order."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore.core.errors import BadInput
from flipcore.stats.holdout import duplicates as module
from flipcore.stats.holdout.duplicates import Duplicate, duplicates

pytestmark = pytest.mark.usefixtures("allowed_folders")


def longest_common(a, b):
    """Length of the longest common subsequence by its recursion."""
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return 1 + longest_common(a[:-1], b[:-1])
    return max(longest_common(a[:-1], b), longest_common(a, b[:-1]))


def slow(texts, near):
    words = [text.split() for text in texts]
    found = [
        (i, j, 2 * longest_common(words[i], words[j]) / (len(words[i]) + len(words[j])))
        for i, j in itertools.combinations(range(len(texts)), 2)
        if words[i] and words[j]
    ]
    return {(i, j): value for i, j, value in found if value >= near - 1e-12}


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "c"]), max_size=6).map(" ".join), max_size=8),
    st.sampled_from([0.4, 0.5, 2 / 3, 0.8, 1.0]),
)
@pytest.mark.slow
def test_every_pair_above_the_bound_is_found_and_no_other(texts, near):
    found = {(pair.first, pair.second): pair.similarity for pair in duplicates(texts, near)}
    assert found == pytest.approx(slow(texts, near))


def test_similarity_by_hand():
    # 5 words each, 4 of them shared in order: 2 * 4 / 10
    assert duplicates(["one two three four five", "one two three four six"], 0.8) == [Duplicate(0, 1, 0.8, False)]
    # the same words in reverse order share one in order: 2 * 1 / 6
    assert duplicates(["one two three", "three two one"], 0.5) == []


def test_case_spaces_and_punctuation_do_not_count():
    assert duplicates(["Is it so?", "is  it, so"]) == [Duplicate(0, 1, 1.0, True)]


def test_a_word_counts_as_often_as_both_have_it():
    # "a a a a" and "a b": one shared word, 2 * 1 / 6
    assert duplicates(["a a a a", "a b"], 0.34) == [] and len(duplicates(["a a a a", "a b"], 0.33)) == 1


def test_texts_without_words_pair_with_nothing():
    assert duplicates(["", "", "?!", "word"]) == [] and duplicates([]) == []


def test_the_most_alike_pair_comes_first():
    found = duplicates(["a b c d", "a b c e", "a b c d"], 0.7)
    assert [(pair.first, pair.second, pair.exact) for pair in found] == [(0, 2, True), (0, 1, False), (1, 2, False)]


def test_blocks_of_rows_give_what_one_block_gives(monkeypatch):
    texts = [f"the number {i % 7} comes after {i % 5}" for i in range(40)]
    whole = duplicates(texts, 0.8)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    assert duplicates(texts, 0.8) == whole and len(whole) > 40


@pytest.mark.parametrize("near", [0.0, -1.0, 1.1])
def test_a_bound_that_is_no_share_is_refused(near):
    with pytest.raises(BadInput, match="as a share of their words"):
        duplicates(["a"], near)


@pytest.mark.stand_in("stats/holdout/test_shipped_sets.py::test_shipped_sets_hold_no_word_for_word_copies")
@pytest.mark.simulation
@pytest.mark.slow
def test_real_sets_hold_few(shared_data):
    """GSM8K's test split repeats nothing; against the training split two of its 8,792 questions come nearly twice."""
    from flipcore.stats.holdout.entries import entry_text
    from tests.holdout_real import benchmark

    test = [entry_text(item) for item in benchmark("gsm8k")]
    assert duplicates(test) == []
    both = duplicates([*test, *(entry_text(item) for item in benchmark("gsm8k-train"))])
    assert len(both) == 2 and all(pair.first >= len(test) for pair in both)
