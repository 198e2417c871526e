"""Disagreement of two extractors on the same outputs (arXiv:2402.14499 calls it mismatch).

It is reported twice: over all outputs, where unreadable is an answer of its own, and over the
outputs that both extractors read. An extractor that reads few outputs disagrees often in the first
and may still agree in the second.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from flipcore.core.records import ABSENT, CUT, RIGHT, UNREADABLE, WRONG
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.intervals import mean_interval

LEVEL = 0.95
_GRID_COLUMNS = ("status", "answer", "item_id", "family")
_UNREAD, _NONE = -1, -2  # codes of an unreadable answer, and of no answer


@dataclass(frozen=True)
class Disagreements:
    """Disagreements of all pairs of extractors.

    share : (extractors, extractors) shares of common outputs with different answers; NaN without a
        common output.
    estimates, n_rows : per pair, the same share with its interval over items (or families), and the
        number of common outputs.
    unreadable, absent : per extractor, shares of its readouts.
    both_read, n_both_read : as `estimates` and `n_rows`, for outputs that both extractors read.
    """

    extractors: list[str]
    share: np.ndarray
    estimates: dict[tuple[str, str], Estimate]
    n_rows: dict[tuple[str, str], int]
    unreadable: dict[str, float]
    absent: dict[str, float]
    both_read: dict[tuple[str, str], Estimate]
    n_both_read: dict[tuple[str, str], int]

    def sentence(self, title_of: Callable[[str], str]) -> str:
        """Say which two extractors disagree most; "" if none can be compared."""
        # -1, so that a pair without a common output is chosen only if there is no other.
        worst = max(
            self.estimates, key=lambda pair: np.nan_to_num(self.estimates[pair].value, nan=-1.0)
        )
        estimate = self.estimates[worst]
        if math.isnan(estimate.value):
            return ""
        among_read = ""
        if self.n_both_read[worst] != self.n_rows[worst]:
            among_read = f"; {self.both_read[worst].text_percent()} where both read an answer"
        return (
            f"{title_of(worst[0])} and {title_of(worst[1]).lower()} disagree most: on "
            f"{estimate.text_percent()} of the answers to the same prompt ({estimate.n:,} "
            f"items){among_read}."
        )

    def table(self, title_of: Callable[[str], str]) -> pd.DataFrame:
        """Return one row per pair of extractors, as a page shows it."""
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
    """One row per output (item, variant and sample), sorted by name.

    `codes` (outputs, extractors) are answer codes, `_UNREAD` or `_NONE`. `families` (outputs,) are
    numbers of the item's family, or of the item if the readouts have no families.
    """

    codes: np.ndarray
    families: np.ndarray


def disagreements(frame: pd.DataFrame, graders: Collection[str] = ()) -> Disagreements:
    """Compare all pairs of extractors in the readouts of one model.

    Absent readouts and answers that were cut off are left out. `graders` are extractors that only
    say right or wrong. Pairs with one are compared by the column `is_correct`, not by answers.
    """
    graders = {*graders, *_graders(frame)}
    extractor, distinct = pd.factorize(frame["extractor"])
    names, (output, n_outputs) = list(distinct), _output_numbers(frame)
    # The same prompt may be a row of several axes; it counts once.
    is_first = ~pd.Series(output * max(len(names), 1) + extractor).duplicated().to_numpy()
    output, extractor = output[is_first], extractor[is_first]
    readouts = frame.loc[is_first, [name for name in _GRID_COLUMNS if name in frame]]
    by_answer = by_verdict = _grid(readouts, output, extractor, len(names), n_outputs)
    if graders:
        # There is no verdict to compare if the right answer is unknown. If an extractor has no
        # verdicts at all, its unreadable answers are not compared either.
        has_verdict = frame["is_correct"].notna()
        is_judged = has_verdict.groupby(frame["extractor"].astype(str)).transform("any")
        is_unknown = ~is_judged | (~has_verdict & ~frame["status"].isin((UNREADABLE, CUT)))
        verdicts = frame.assign(
            answer=frame["is_correct"].map({True: RIGHT, False: WRONG}),
            status=frame["status"].astype(object).where(~is_unknown, ABSENT),
        )
        by_verdict = _grid(verdicts.loc[is_first], output, extractor, len(names), n_outputs)
    share = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(share, 0.0)
    estimates, n_rows, both_read, n_both_read = {}, {}, {}, {}
    for a, b in combinations(range(len(names)), 2):
        pair = names[a], names[b]
        grid = by_verdict if graders.intersection(pair) else by_answer
        is_present = (grid.codes[:, a] != _NONE) & (grid.codes[:, b] != _NONE)
        is_read = is_present & (grid.codes[:, a] != _UNREAD) & (grid.codes[:, b] != _UNREAD)
        n_rows[pair], n_both_read[pair] = int(is_present.sum()), int(is_read.sum())
        estimates[pair] = _share_differing(grid, a, b, is_present)
        both_read[pair] = _share_differing(grid, a, b, is_read)
        differ = grid.codes[is_present, a] != grid.codes[is_present, b]
        share[a, b] = share[b, a] = differ.mean() if is_present.any() else np.nan
    unreadable, absent = (
        _shares(readouts["status"] == status, extractor, names) for status in (UNREADABLE, ABSENT)
    )
    return Disagreements(
        names,
        share,
        estimates=estimates,
        n_rows=n_rows,
        unreadable=unreadable,
        absent=absent,
        both_read=both_read,
        n_both_read=n_both_read,
    )


def _graders(frame: pd.DataFrame) -> set[str]:
    """Return the extractors whose answers are only right or wrong, such as a log's scorer."""
    answered = frame[frame["answer"].notna()]
    is_verdict = answered["answer"].astype(str).isin((RIGHT, WRONG))
    only_verdicts = is_verdict.groupby(answered["extractor"].astype(str)).all()
    return set(only_verdicts.index[only_verdicts])


def _output_numbers(frame: pd.DataFrame) -> tuple[np.ndarray, int]:
    """Return the number of each readout's output (item, variant and sample), in the order of their
    names, and the number of outputs."""
    key = np.zeros(len(frame), dtype=np.int64)
    for column in ("item_id", "variant_id", "sample"):
        code, n = _codes_by_name(frame[column])
        # Item, variant and sample in one number need only one sort.
        key = key * max(n, 1) + code
    # Readouts of an output are mostly consecutive rows; only one row of each run is sorted.
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    number, distinct = pd.factorize(key[starts], sort=True)
    return np.repeat(number, np.diff(starts, append=len(key))), distinct.size


def _codes_by_name(column: pd.Series) -> tuple[np.ndarray, int]:
    """Return codes in the order of the names, and an upper bound of the number of names."""
    # The codes of sorted categories are in this order already, without a sort of all rows.
    if (
        isinstance(column.dtype, pd.CategoricalDtype)
        and column.cat.categories.is_monotonic_increasing
    ):
        return column.cat.codes.to_numpy(), len(column.cat.categories)
    code, names = pd.factorize(column, sort=True)
    return code, len(names)


def _grid(
    frame: pd.DataFrame,
    output: np.ndarray,
    extractor: np.ndarray,
    n_extractors: int,
    n_outputs: int,
) -> _Grid:
    is_present = ~frame["status"].isin((ABSENT, CUT)).to_numpy()
    # A readout without an answer has pandas' code of a missing value, -1: it is unreadable.
    answer = pd.factorize(frame["answer"])[0][is_present]
    codes = np.full((n_outputs, n_extractors), _NONE, dtype=np.int32)
    codes[output[is_present], extractor[is_present]] = np.where(answer < 0, _UNREAD, answer)
    family = frame["family" if "family" in frame else "item_id"]
    families = np.zeros(n_outputs, dtype=np.int64)
    families[output] = pd.factorize(family, use_na_sentinel=False)[0]
    return _Grid(codes, families)


def _shares(mask: pd.Series, extractor: np.ndarray, names: list[str]) -> dict[str, float]:
    """Return extractor -> share of its readouts for which `mask` is True."""
    n = np.bincount(extractor, minlength=len(names))
    n_true = np.bincount(extractor, weights=mask.to_numpy(dtype=float), minlength=len(names))
    return {str(name): float(k / total) for name, k, total in zip(names, n_true, n, strict=True)}


def _share_differing(grid: _Grid, a: int, b: int, mask: np.ndarray) -> Estimate:
    """Return the share of the outputs in `mask` for which extractors a and b have different
    answers, with its interval over families."""
    differ, families = grid.codes[mask, a] != grid.codes[mask, b], grid.families[mask]
    # Sums by family number, because grouping a million rows by name takes a second.
    sizes = np.bincount(families)
    if sizes.max(initial=0) < 2:
        return mean_interval(differ.astype(float), families)
    sums, has_rows = np.bincount(families, differ), sizes > 0
    means = FamilyMeans(sums[has_rows, None], sizes[has_rows, None].astype(float))
    return means.first_column(LEVEL).estimate()
