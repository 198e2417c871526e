"""Do entries of one set stand for entries of the other? A holdout that was copied from its target, paraphrased or lightly edited,
differs in nothing that a classifier could learn: each copy lies next to its original, and looks like the same set.

Counted is the share of entries whose nearest neighbour lies in the other set, beside the same share under permuted labels. Whether
an entry was written from one of the other set is what is asked, so that such links hold nothing together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.resample import N_PERMUTATIONS
from flipcore.stats.holdout.neighbours import nearest

N_GRAM = 5
_WORD = re.compile(r"\w+")
_ROWS = 512


@dataclass(frozen=True)
class CrossNeighbours:
    """`share` of the entries whose nearest neighbour lies in the other set, `chance` its mean under permuted labels, `p` one-sided
    for more than that."""

    share: float
    chance: float
    p: float


def cross_neighbours(neighbour: np.ndarray, labels: np.ndarray, seed: int = 0, m: int = N_PERMUTATIONS) -> CrossNeighbours:
    """From each entry's nearest one (row numbers; negative: it has none) and the labels 0 and 1."""
    row = np.flatnonzero(neighbour >= 0)
    if not len(row):
        return CrossNeighbours(np.nan, np.nan, 1.0)
    near, rng = neighbour[row], generator(seed)
    share = float((labels[row] != labels[near]).mean())
    draws = np.array([(mixed[row] != mixed[near]).mean() for mixed in (rng.permutation(labels) for _ in range(m))])
    return CrossNeighbours(share, float(draws.mean()), (1 + int((draws >= share - 1e-12).sum())) / (m + 1))


def nearest_by_vector(units: np.ndarray) -> np.ndarray:
    """(n,) the entry of largest cosine to each of the unit rows (n, d)."""
    return nearest(units, units, 1, skip_self=True)[0][:, 0]


def nearest_by_words(texts: Sequence[str]) -> np.ndarray:
    """(n,) the entry that shares the largest part of its runs of five words with each (Jaccard); -1 where none shares any."""
    from scipy.sparse import csr_array

    columns: dict[tuple[str, ...], int] = {}
    rows, cols = [], []
    for i, text in enumerate(texts):
        words = _WORD.findall(text.lower())
        for run in {tuple(words[start : start + N_GRAM]) for start in range(len(words) - N_GRAM + 1)}:
            rows.append(i)
            cols.append(columns.setdefault(run, len(columns)))
    n = len(texts)
    runs = csr_array((np.ones(len(rows)), (rows, cols)), shape=(n, max(1, len(columns))))
    sizes = np.bincount(rows, minlength=n) if rows else np.zeros(n)
    result = np.full(n, -1)
    for start in range(0, n, _ROWS):
        common = (runs[start : start + _ROWS] @ runs.T).toarray()
        common[np.arange(len(common)), start + np.arange(len(common))] = 0
        union = sizes[start : start + _ROWS, None] + sizes[None, :] - common
        alike = common / np.maximum(union, 1)
        best = alike.argmax(axis=1)
        result[start : start + _ROWS] = np.where(alike.max(axis=1) > 0, best, -1)
    return result
