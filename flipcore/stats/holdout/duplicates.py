"""Entries that say the same, within a set or across two: a duplicate across sets is no holdout, one
within counts twice.

Two entries are as alike as the words that they share in order: 2 * (longest common subsequence) /
(words of both). Words shared in any order bound that from above, so a sparse product finds all
candidates.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput

NEAR = 0.9
ROWS_AT_ONCE = 512
SLACK = 1e-9
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Duplicate:
    """Entries `first` and `second` of the texts that came, first < second; `similarity` is 1.0 and
    `exact` is True where the words are the same (case, spaces and punctuation aside)."""

    first: int
    second: int
    similarity: float
    exact: bool


def duplicates(texts: Sequence[str], near: float = NEAR) -> list[Duplicate]:
    """Return all pairs of texts at least `near` alike, most alike first, then by position. Both
    sets go in as one list.

    `near` counts words in order, in (0, 1]; 0.9 of a 40-word entry is four words replaced. Texts
    without words pair with nothing. 10,000 entries of 50 words take some seconds.
    """
    if not 0 < near <= 1:
        raise BadInput(
            f"Entries are as alike as a share of their words; {near} came, and it must be above 0 "
            "and at most 1."
        )
    words = [_words(text) for text in texts]
    matches = []
    for first, second in _candidates(words, near):
        similarity = _in_order(words[first], words[second])
        if similarity >= near - SLACK:
            matches.append(Duplicate(first, second, similarity, words[first] == words[second]))
    return sorted(matches, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def words_in_common(first: str, second: str) -> float:
    """Return the likeness of two texts by the words that they share in order."""
    return _in_order(_words(first), _words(second))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _in_order(first: list[str], second: list[str]) -> float:
    from rapidfuzz.distance import LCSseq

    # 1 avoids 0/0 for two texts without words.
    return 2 * LCSseq.similarity(first, second) / max(1, len(first) + len(second))


def _candidates(words: list[list[str]], near: float):
    """Yield pairs i < j whose shared words, each as often as both have it, reach `near`."""
    occurrences = _occurrences(words)
    lengths = np.array([len(text_words) for text_words in words], dtype=float)
    for start in range(0, len(words), ROWS_AT_ONCE):
        shared = (occurrences[start : start + ROWS_AT_ONCE] @ occurrences.T).tocoo()
        row = shared.row + start
        # Each pair once; the slack keeps pairs exactly at the threshold.
        alike = (shared.col > row) & (
            2 * shared.data >= near * (lengths[row] + lengths[shared.col]) - SLACK
        )
        yield from zip(row[alike].tolist(), shared.col[alike].tolist(), strict=True)


def _occurrences(words: list[list[str]]):
    """Return (texts, k) sparse 0/1: the third "the" of a text is a column of its own, so that
    products count shared words."""
    from scipy.sparse import csr_array

    columns: dict[tuple[str, int], int] = {}
    rows, cols = [], []
    for i, text_words in enumerate(words):
        tally: Counter = Counter()
        for word in text_words:
            tally[word] += 1
            rows.append(i)
            cols.append(columns.setdefault((word, tally[word]), len(columns)))
    return csr_array(
        (np.ones(len(rows), dtype=np.int32), (rows, cols)), shape=(len(words), max(1, len(columns)))
    )
