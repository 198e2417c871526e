"""Words and word pairs that differ between a benchmark (`target`) and its holdout (`retro`).

This follows Haimes et al. (2024, arXiv:2410.09247, appendix E.1). An entry may repeat a word in
every option, so the test counts the entries that contain an n-gram. For each n-gram it estimates
the log odds ratio, with half a count added to each cell (Haldane, Anscombe), and an exact
conditional p-value, twice the smaller tail: Fisher's, or McNemar's for source-paired sets. Sets are
source-paired if each entry of the holdout was written from one entry of the benchmark. The false
discovery rate is controlled over all n-grams that are frequent enough.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import z_quantile
from flipcore.stats.base.multiplicity import bh

MIN_ENTRIES = 5  # of both sets together; rarer n-grams could hardly differ significantly
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Ngram:
    """An n-gram and its counts.

    `total_…` counts all occurrences, `entries_…` the entries that contain it. `log_odds` is above 0
    if it is more frequent in the holdout. `q` is the p-value after Benjamini-Hochberg.
    """

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
    """N-grams in at least `fewest` entries of both sets together, the most different first.

    `n_…` counts the entries of a set, `n_words_…` its words, numbers and punctuation marks.
    """

    rows: tuple[Ngram, ...]
    n_target: int
    n_retro: int
    n_words_target: int
    n_words_retro: int
    fewest: int

    def different(self, rate: float = 0.05) -> list[Ngram]:
        """Return the n-grams that differ at a false discovery rate of `rate`."""
        return [row for row in self.rows if row.q < rate]


def ngrams(
    target: Sequence[str],
    retro: Sequence[str],
    longest: int = 2,
    fewest: int = MIN_ENTRIES,
    *,
    paired: bool = False,
    level: float = 0.95,
) -> NgramTable:
    """Compare the n-grams of 1 to `longest` tokens: lower-case words, numbers, punctuation marks.

    N-grams do not cross lines. With `paired`, row i of `retro` was written from row i of `target`,
    and the odds are those of McNemar's discordant pairs. Raises BadInput for an empty set, and for
    paired sets of unequal lengths.
    """
    if not len(target) or not len(retro):
        raise BadInput(
            f"Comparing words needs entries of both sets: got {len(target)} and {len(retro)}."
        )
    if paired and len(target) != len(retro):
        raise BadInput(
            f"Paired sets must be equally long: got {len(target)} and {len(retro)} entries."
        )
    n_target, n_retro = len(target), len(retro)
    counts, names = _counts([*target, *retro], longest)
    target_counts, retro_counts = counts[:n_target], counts[n_target:]
    target_totals, retro_totals = _column_sums(target_counts), _column_sums(retro_counts)
    target_entries, retro_entries = _column_sums(target_counts > 0), _column_sums(retro_counts > 0)
    frequent = np.flatnonzero(target_entries + retro_entries >= fewest)
    if paired:
        in_both = _column_sums((target_counts > 0).multiply(retro_counts > 0))
        only_target, only_retro = target_entries - in_both, retro_entries - in_both
        value, se, p = _paired(only_target[frequent], only_retro[frequent])
    else:
        value, se, p = _unpaired(
            target_entries[frequent], n_target, retro_entries[frequent], n_retro
        )
    q, half_width = bh(p), z_quantile(0.5 + level / 2) * se
    low, high = (value - half_width).tolist(), (value + half_width).tolist()
    rows = []
    for j, column in enumerate(frequent):
        log_odds = float(value[j])
        rows.append(
            Ngram(
                names[column],
                int(target_totals[column]),
                total_retro=int(retro_totals[column]),
                entries_target=int(target_entries[column]),
                entries_retro=int(retro_entries[column]),
                log_odds=Estimate(
                    log_odds,
                    low[j],
                    high[j],
                    level=level,
                    method="wald",
                    n=n_target + n_retro,
                    seed=None,
                ),
                p=float(p[j]),
                q=float(q[j]),
            )
        )
    # The text comes last, so that equally different n-grams have a fixed order.
    rows.sort(key=lambda row: (row.p, -abs(row.log_odds.value), row.text))
    is_single_token = [" " not in name for name in names]
    return NgramTable(
        tuple(rows),
        n_target,
        n_retro=n_retro,
        n_words_target=int(target_totals[is_single_token].sum()),
        n_words_retro=int(retro_totals[is_single_token].sum()),
        fewest=fewest,
    )


def _column_sums(counts) -> np.ndarray:
    """Return the sums over the rows of a sparse array."""
    return np.asarray(counts.sum(axis=0)).ravel()


def _counts(texts: Sequence[str], longest: int):
    """Return a sparse array (texts, k) of occurrences, and the k n-grams."""
    from scipy.sparse import csr_array

    columns: dict[str, int] = {}
    text_indices, column_indices = [], []
    for i, text in enumerate(texts):
        for line in text.lower().splitlines():
            tokens = _TOKEN.findall(line)
            for n in range(1, longest + 1):
                for start in range(len(tokens) - n + 1):
                    name = " ".join(tokens[start : start + n])
                    text_indices.append(i)
                    column_indices.append(columns.setdefault(name, len(columns)))
    ones = np.ones(len(text_indices), dtype=np.int64)
    # Texts without any token get one empty column, named "".
    shape = (len(texts), max(1, len(columns)))
    counts = csr_array((ones, (text_indices, column_indices)), shape=shape)
    counts.sum_duplicates()  # one cell per text and n-gram, so that `> 0` counts a text once
    return counts, list(columns) or [""]


def _unpaired(
    target: np.ndarray, n_target: int, retro: np.ndarray, n_retro: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log odds ratio, standard error and Fisher's exact p, from the numbers of entries that
    have the n-gram (`target`, `retro`), of `n_target` and `n_retro`."""
    from scipy.stats import hypergeom

    # Half a count per cell keeps the log odds finite if a set never has the n-gram.
    retro_with, retro_without = retro + 0.5, n_retro - retro + 0.5
    target_with, target_without = target + 0.5, n_target - target + 0.5
    # For equal odds and given totals, the count in a set is hypergeometric.
    chance = hypergeom(n_target + n_retro, target + retro, n_retro)
    return (
        np.log(retro_with / retro_without) - np.log(target_with / target_without),
        np.sqrt(1 / retro_with + 1 / retro_without + 1 / target_with + 1 / target_without),
        np.minimum(1, 2 * np.minimum(chance.cdf(retro), chance.sf(retro - 1))),
    )


def _paired(
    only_target: np.ndarray, only_retro: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log odds ratio, standard error and McNemar's exact p, from the numbers of pairs in
    which only the benchmark's or only the holdout's entry has the n-gram."""
    from scipy.stats import binom

    # Half a count per cell keeps the log odds finite if a set never has the n-gram.
    b, c = only_retro + 0.5, only_target + 0.5
    chance = binom(only_target + only_retro, 0.5)
    return (
        np.log(b / c),
        np.sqrt(1 / b + 1 / c),
        np.minimum(1, 2 * np.minimum(chance.cdf(only_retro), chance.sf(only_retro - 1))),
    )
