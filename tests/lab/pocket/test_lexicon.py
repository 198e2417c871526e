"""The words of the pocket world: none is of two kinds."""

from collections import Counter

from tests.lab.pocket.lexicon import CATEGORIES


def test_no_word_is_of_two_kinds():
    counts = Counter(word for words in CATEGORIES.values() for word in words)
    assert max(counts.values()) == 1 and len(CATEGORIES) == 22
