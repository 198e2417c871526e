"""Duplicate entries: across two sets they are no holdout, within a set they count twice.

The likeness of two entries is the share of words that they have in common in order: 2 * (longest
common subsequence) / (words of both). The words in common in any order are an upper bound, so a
sparse product finds all candidates.
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
    """Positions of two texts, first < second. `exact` is True, and `similarity` is 1.0, if they
    have the same words, without regard to case, spaces and punctuation."""

    first: int
    second: int
    similarity: float
    exact: bool


def duplicates(texts: Sequence[str], near: float = NEAR) -> list[Duplicate]:
    """Return all pairs of texts with a likeness of at least `near`, most alike first, then by
    position. For two sets, pass one list of both.

    `near` is in (0, 1], else BadInput is raised; 0.9 of a 40-word entry is four words replaced.
    Texts without words are in no pair. 10,000 entries of 50 words take some seconds.
    """
    if not 0 < near <= 1:
        raise BadInput(
            f"Entries are as alike as a share of their words; {near} came, and it must be above 0 "
            "and at most 1."
        )
    words = [_words(text) for text in texts]
    matches = []
    for first, second in _candidates(words, near):
        similarity = _likeness(words[first], words[second])
        if similarity >= near - SLACK:
            matches.append(Duplicate(first, second, similarity, words[first] == words[second]))
    return sorted(matches, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def words_in_common(first: str, second: str) -> float:
    """Return the likeness of two texts, from 0 to 1, by their words in common in order."""
    return _likeness(_words(first), _words(second))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _likeness(first: list[str], second: list[str]) -> float:
    from rapidfuzz.distance import LCSseq

    # 1 avoids 0/0 for two texts without words.
    return 2 * LCSseq.similarity(first, second) / max(1, len(first) + len(second))


def _candidates(words: list[list[str]], near: float):
    """Yield the pairs i < j whose likeness by words in any order reaches `near`."""
    occurrences = _occurrences(words)
    lengths = np.array([len(text_words) for text_words in words], dtype=float)
    for start in range(0, len(words), ROWS_AT_ONCE):
        shared = (occurrences[start : start + ROWS_AT_ONCE] @ occurrences.T).tocoo()
        row = shared.row + start
        # The slack keeps pairs exactly at the threshold.
        is_near = 2 * shared.data >= near * (lengths[row] + lengths[shared.col]) - SLACK
        is_candidate = is_near & (shared.col > row)
        yield from zip(row[is_candidate].tolist(), shared.col[is_candidate].tolist(), strict=True)


def _occurrences(words: list[list[str]]):
    """Return a sparse 0/1 array (texts, k). The third "the" of a text has its own column, so that
    products count words in common."""
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
