"""Words and word pairs that differ between two sets (source 002, E.1): occurrences, and entries
that contain them.

An entry may repeat a word in every option, so the test counts entries: the log of the odds ratio
that an entry contains the n-gram, with half a count added to each cell (Haldane, Anscombe), an
exact conditional p-value (Fisher's, or McNemar's for source-paired sets; twice the smaller tail),
and the false discovery rate over all n-grams that are frequent enough.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import z_quantile
from flipcore.stats.base.multiplicity import bh

FEWEST_ENTRIES = 5
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Ngram:
    """`log_odds` is above 0 where the n-gram is more usual in the retro-holdout; `q` its p-value
    after Benjamini-Hochberg. Totals count all occurrences, entries those that contain it at least
    once."""

    text: str
    total_target: int
    total_retro: int
    entries_target: int
    entries_retro: int
    log_odds: Estimate
    p: float
    q: float


@dataclass(frozen=True)
class NgramTable:
    """N-grams of `fewest` entries or more, the most different first, of sets of these sizes."""

    rows: tuple[Ngram, ...]
    n_target: int
    n_retro: int
    n_words_target: int
    n_words_retro: int
    fewest: int

    def different(self, rate: float = 0.05) -> list[Ngram]:
        """Return those that differ at a false discovery rate of `rate`."""
        return [row for row in self.rows if row.q < rate]


def ngrams(
    target: Sequence[str],
    retro: Sequence[str],
    longest: int = 2,
    fewest: int = FEWEST_ENTRIES,
    *,
    paired: bool = False,
    level: float = 0.95,
) -> NgramTable:
    """Compare the n-grams of 1 to `longest` lower-case words, numbers and punctuation marks; those
    that cross a line are left out.

    `paired`: row i of `retro` was written from row i of `target`, and the odds are those of
    McNemar's discordant pairs.
    """
    if not len(target) or not len(retro):
        raise BadInput(
            f"Comparing words needs entries of both sets: came {len(target)} and {len(retro)}."
        )
    if paired and len(target) != len(retro):
        raise BadInput(
            f"Paired sets must be equally long: came {len(target)} and {len(retro)} entries."
        )
    counts, names = _counts([*target, *retro], longest)
    parts = counts[: len(target)], counts[len(target) :]
    entries = [np.asarray((part > 0).sum(axis=0)).ravel() for part in parts]
    frequent = np.flatnonzero(entries[0] + entries[1] >= fewest)
    totals = [np.asarray(part.sum(axis=0)).ravel() for part in parts]
    if paired:
        in_both = np.asarray(((parts[0] > 0).multiply(parts[1] > 0)).sum(axis=0)).ravel()
        value, se, p = _paired(
            entries[0][frequent] - in_both[frequent], entries[1][frequent] - in_both[frequent]
        )
    else:
        value, se, p = _unpaired(
            entries[0][frequent], len(target), entries[1][frequent], len(retro)
        )
    q, half = bh(p), z_quantile(0.5 + level / 2) * se
    low, high = value - half, value + half
    rows = [
        Ngram(
            names[i],
            int(totals[0][i]),
            int(totals[1][i]),
            int(entries[0][i]),
            int(entries[1][i]),
            Estimate(
                float(value[j]),
                float(low[j]),
                float(high[j]),
                level,
                "wald",
                len(target) + len(retro),
                None,
            ),
            float(p[j]),
            float(q[j]),
        )
        for j, i in enumerate(frequent)
    ]
    # By text last, so that equal n-grams have one order.
    rows.sort(key=lambda row: (row.p, -abs(row.log_odds.value), row.text))
    single = [" " not in name for name in names]
    return NgramTable(
        tuple(rows),
        len(target),
        len(retro),
        int(totals[0][single].sum()),
        int(totals[1][single].sum()),
        fewest,
    )


def _counts(texts: Sequence[str], longest: int):
    """Return (texts, k) sparse occurrences, and the k n-grams."""
    from scipy.sparse import csr_array

    columns: dict[str, int] = {}
    rows, cols = [], []
    for i, text in enumerate(texts):
        for line in text.lower().splitlines():
            tokens = _TOKEN.findall(line)
            for n in range(1, longest + 1):
                for start in range(len(tokens) - n + 1):
                    rows.append(i)
                    cols.append(
                        columns.setdefault(" ".join(tokens[start : start + n]), len(columns))
                    )
    counts = csr_array(
        (np.ones(len(rows), dtype=np.int64), (rows, cols)), shape=(len(texts), max(1, len(columns)))
    )
    # An n-gram that a text repeats is one cell, with its number.
    counts.sum_duplicates()
    return counts, list(columns) or [""]


def _unpaired(
    a: np.ndarray, n_a: int, b: np.ndarray, n_b: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log odds ratio of b of n_b against a of n_a, its standard error, and Fisher's
    exact p."""
    from scipy.stats import hypergeom

    cells = b + 0.5, n_b - b + 0.5, a + 0.5, n_a - a + 0.5
    # Given the totals, the count in one set is hypergeometric if the sets are alike.
    chance = hypergeom(n_a + n_b, a + b, n_b)
    return (
        np.log(cells[0] / cells[1]) - np.log(cells[2] / cells[3]),
        np.sqrt(sum(1 / cell for cell in cells)),
        np.minimum(1, 2 * np.minimum(chance.cdf(b), chance.sf(b - 1))),
    )


def _paired(
    only_target: np.ndarray, only_retro: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same from pairs in which one entry has it, with McNemar's exact p."""
    from scipy.stats import binom

    # Half a count in each cell: the log odds are finite where one set never has it.
    b, c = only_retro + 0.5, only_target + 0.5
    chance = binom(only_target + only_retro, 0.5)
    return (
        np.log(b / c),
        np.sqrt(1 / b + 1 / c),
        np.minimum(1, 2 * np.minimum(chance.cdf(only_retro), chance.sf(only_retro - 1))),
    )
