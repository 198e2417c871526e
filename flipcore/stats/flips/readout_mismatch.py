"""Disagreement of two extractors on the same variant and sample (arXiv:2402.14499 calls it
mismatch).

Reported twice: with unreadable as an answer of its own, and among answers that both read. An
extractor that reads little disagrees much in the first and may agree in the second.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from flipcore.core.records import ABSENT, CUT, RIGHT, UNREADABLE, WRONG
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.families import ClusteredMean, FamilyMeans
from flipcore.stats.base.intervals import mean_interval

LEVEL = 0.95
_GRID = ("status", "answer", "item_id", "family")
_UNREAD, _NONE = -1, -2  # codes of an unreadable answer, and of none


@dataclass(frozen=True)
class Disagreements:
    """`share[i, j]` of the rows present under both; NaN without one. `estimates` carry the interval
    over items (families of items); `both_read` is the same on the rows where both extractors read
    an answer, `n_both_read` of them."""

    extractors: list[str]
    share: np.ndarray
    estimates: dict[tuple[str, str], Estimate]
    n_rows: dict[tuple[str, str], int]
    unreadable: dict[str, float]
    absent: dict[str, float]
    both_read: dict[tuple[str, str], Estimate]
    n_both_read: dict[tuple[str, str], int]

    def sentence(self, title_of: Callable[[str], str]) -> str:
        """Say which two extractors disagree most; "" where no two can be compared."""
        worst = max(
            self.estimates, key=lambda pair: np.nan_to_num(self.estimates[pair].value, nan=-1.0)
        )
        estimate = self.estimates[worst]
        if math.isnan(estimate.value):
            return ""
        return (
            f"{title_of(worst[0])} and {title_of(worst[1]).lower()} disagree most: on "
            f"{estimate.text_percent()} of the answers to the same prompt ({estimate.n:,} "
            f"items){self._among_read(worst)}."
        )

    def _among_read(self, pair: tuple[str, str]) -> str:
        """Return the second number, where it is not the first."""
        if self.n_both_read[pair] == self.n_rows[pair]:
            return ""
        return f"; {self.both_read[pair].text_percent()} where both read an answer"

    def table(self, title_of: Callable[[str], str]) -> pd.DataFrame:
        """Return one row per pair of extractors, with texts for people."""
        return pd.DataFrame(
            [
                {
                    "extractors": f"{title_of(a)} v {title_of(b).lower()}",
                    "differ": estimate.text_percent(),
                    "answers": self.n_rows[a, b],
                    "differ, both read": self.both_read[a, b].text_percent(),
                    "answers, both read": self.n_both_read[a, b],
                    "items": estimate.n,
                }
                for (a, b), estimate in self.estimates.items()
            ]
        )


@dataclass(frozen=True)
class _Grid:
    """One row per item, variant and sample, in their order by name; `codes` (rows, extractors)
    number the answers, with `_UNREAD` and `_NONE`. `families` (rows,) number what a row belongs to:
    its item's family, the item itself where it has none."""

    codes: np.ndarray
    families: np.ndarray


def disagreements(frame: pd.DataFrame, judges: Collection[str] = ()) -> Disagreements:
    """Compare all pairs of extractors of one model. Absent readouts and answers that were cut off
    are in no pair. The `judges` among the extractors take no answer out, so they are compared by
    right and wrong, which stand in the column `is_correct`."""
    judges = {*judges, *_graders(frame)}
    extractor, distinct = pd.factorize(frame["extractor"])
    names, (row, grid_rows) = list(distinct), _rows(frame)
    # A prompt may stand under several axes, and counts once.
    first = ~pd.Series(row * max(len(names), 1) + extractor).duplicated().to_numpy()
    by_answer = by_verdict = _grid(
        frame.loc[first, [name for name in _GRID if name in frame]],
        row[first],
        extractor[first],
        len(names),
        grid_rows,
    )
    if judges:
        verdicts = frame.assign(answer=frame["is_correct"].map({True: RIGHT, False: WRONG}))
        # Of an answer whose right answer nobody knows there is no verdict to compare, and of an
        # extractor without any verdict an unread one says nothing either.
        has_verdict = frame["is_correct"].notna()
        is_judged = has_verdict.groupby(frame["extractor"].astype(str)).transform("any")
        is_unknown = ~is_judged | (~has_verdict & ~frame["status"].isin((UNREADABLE, CUT)))
        status = verdicts["status"].astype(object).where(~is_unknown, ABSENT)
        verdicts = verdicts.assign(status=status).loc[first]
        by_verdict = _grid(verdicts, row[first], extractor[first], len(names), grid_rows)
    share = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(share, 0.0)
    estimates, n_rows, both_read, n_both_read = {}, {}, {}, {}
    for a, b in combinations(range(len(names)), 2):
        grid = by_verdict if {names[a], names[b]} & set(judges) else by_answer
        pair = names[a], names[b]
        present = (grid.codes[:, a] != _NONE) & (grid.codes[:, b] != _NONE)
        read = present & (grid.codes[:, a] != _UNREAD) & (grid.codes[:, b] != _UNREAD)
        n_rows[pair], n_both_read[pair] = int(present.sum()), int(read.sum())
        estimates[pair] = _differing(grid, a, b, present)
        both_read[pair] = _differing(grid, a, b, read)
        differ = grid.codes[present, a] != grid.codes[present, b]
        share[a, b] = share[b, a] = differ.mean() if present.any() else np.nan
    unreadable, absent = (
        _shares(frame["status"][first] == status, extractor[first], names)
        for status in (UNREADABLE, ABSENT)
    )
    return Disagreements(
        names, share, estimates, n_rows, unreadable, absent, both_read, n_both_read
    )


def _graders(frame: pd.DataFrame) -> set[str]:
    """Return the extractors that only say right or wrong, as a log's scorer does."""
    answered = frame[frame["answer"].notna()]
    is_verdict = answered["answer"].astype(str).isin((RIGHT, WRONG))
    only_verdicts = is_verdict.groupby(answered["extractor"].astype(str)).all()
    return set(only_verdicts.index[only_verdicts])


def _rows(frame: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Return the number of each readout's item, variant and sample among those, in their order by
    name, and how many there are."""
    place = np.zeros(len(frame), dtype=np.int64)
    for column in ("item_id", "variant_id", "sample"):
        code, n = _by_name(frame[column])
        # Item, variant and sample in one number, in the order of their names.
        place = place * max(n, 1) + code
    # The readouts of an answer mostly stand together: one entry of each run is enough to sort.
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    row, distinct = pd.factorize(place[starts], sort=True)
    return np.repeat(row, np.diff(starts, append=len(place))), distinct.size


def _by_name(column: pd.Series) -> tuple[np.ndarray, int]:
    """Return numbers in the order of the names, and how many names there may be."""
    # The codes of sorted categories are in that order already, without a sort of all rows.
    if (
        isinstance(column.dtype, pd.CategoricalDtype)
        and column.cat.categories.is_monotonic_increasing
    ):
        return column.cat.codes.to_numpy(), len(column.cat.categories)
    code, names = pd.factorize(column, sort=True)
    return code, len(names)


def _grid(
    frame: pd.DataFrame, row: np.ndarray, extractor: np.ndarray, n_extractors: int, n_rows: int
) -> _Grid:
    is_present = ~frame["status"].isin((ABSENT, CUT)).to_numpy()
    # -1, pandas' code of a missing value, is no answer: unreadable.
    answer = pd.factorize(frame["answer"])[0]
    codes = np.full((n_rows, n_extractors), _NONE, dtype=np.int32)
    codes[row[is_present], extractor[is_present]] = np.where(
        answer[is_present] < 0, _UNREAD, answer[is_present]
    )
    families = np.zeros(n_rows, dtype=np.int64)
    families[row] = pd.factorize(
        frame["family" if "family" in frame else "item_id"], use_na_sentinel=False
    )[0]
    return _Grid(codes, families)


def _shares(is_so: pd.Series, extractor: np.ndarray, names: list[str]) -> dict[str, float]:
    """Map each extractor to the share of its readouts that `is_so` marks."""
    n = np.bincount(extractor, minlength=len(names))
    n_so = np.bincount(extractor, weights=is_so.to_numpy(dtype=float), minlength=len(names))
    return {str(name): float(k / total) for name, k, total in zip(names, n_so, n, strict=True)}


def _differing(grid: _Grid, a: int, b: int, rows: np.ndarray) -> Estimate:
    """Return the share of rows whose two answers differ, with its interval over families."""
    differ, families = grid.codes[rows, a] != grid.codes[rows, b], grid.families[rows]
    # Summed by number: by name a million rows take a second.
    sizes = np.bincount(families)
    if sizes.max(initial=0) < 2:  # each row stands for itself
        return mean_interval(differ.astype(float), families)
    sums, has_rows = np.bincount(families, differ), sizes > 0
    means = FamilyMeans(sums[has_rows, None], sizes[has_rows, None].astype(float))
    low, high = means.limits([LEVEL])[:, 0, 0].tolist()
    return ClusteredMean(
        means.values[0].item(),
        means.se[0].item(),
        means.df[0].item(),
        low,
        high,
        LEVEL,
        n=int(means.n[0]),
        n_families=means.n_families[0].item(),
        n_effective=means.n_effective[0].item(),
        method=str(means.methods()[0]),
    ).estimate()
