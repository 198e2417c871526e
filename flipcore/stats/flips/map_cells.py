"""Rows of a map from cells: an axis opened into its variants, models under one another, a
difference, groups, bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.estimate import Estimate, missing, without_interval
from flipcore.stats.flips.surface import Cells, column_means, placed, row_means

SEPARATOR = "\x1f"  # between axis and variant in a column's id: no name has it
MOST_WITH_INTERVALS = 60  # groups of a map; beyond them a group carries its mean and n
BIN = 5  # rows of one step of the zoom that are one row of the next


def column_id(axis: str, variant: str = "") -> str:
    """Return the id of an axis's column, or of one of its variants."""
    return f"{axis}{SEPARATOR}{variant}" if variant else axis


def column_parts(column: str) -> tuple[str, str]:
    """Return (axis, variant) of a column's id; the variant is "" for an axis's own column."""
    axis, _, variant = column.partition(SEPARATOR)
    return axis, variant


def row_values(cells: Cells) -> np.ndarray:
    """Return (rows,) the mean of a row's defined axes outside the noise floor, opened or not; NaN
    without one."""
    axes = [c for c, column in enumerate(cells.columns) if SEPARATOR not in column]
    return row_means(
        Cells(
            cells.items,
            [cells.columns[c] for c in axes],
            cells.rate[:, axes],
            cells.unreadable[:, axes],
        )
    )


def with_variants(cells: Cells, opened: Mapping[str, Cells]) -> Cells:
    """Return the same rows with the variants behind each axis of `opened` (axis -> cells whose
    columns are its variants)."""
    columns = []
    for axis in cells.columns:
        columns.append(axis)
        if axis in opened:
            columns += [column_id(axis, variant) for variant in opened[axis].columns]
    # Rates stay NaN where an opened axis has no such item; shares become 0 below.
    rate, unreadable, cut = np.full((3, len(cells.items), len(columns)), np.nan)
    for axis in cells.columns:
        to, start = columns.index(axis), cells.columns.index(axis)
        rate[:, to], unreadable[:, to] = cells.rate[:, start], cells.unreadable[:, start]
        cut[:, to] = cells.cut_shares[:, start]
        if axis in opened:
            part = placed(opened[axis], cells.items, opened[axis].columns)
            span = slice(to + 1, to + 1 + len(part.columns))
            rate[:, span], unreadable[:, span] = part.rate, part.unreadable
            cut[:, span] = part.cut_shares
    return Cells(cells.items, columns, rate, np.nan_to_num(unreadable), np.nan_to_num(cut))


def stacked(parts: Sequence[Cells]) -> Cells:
    """Stack the rows of several cells (one per model), over all their columns."""
    items: list[str] = []
    columns: list[str] = []
    for part in parts:
        items += part.items
        columns += [column for column in part.columns if column not in columns]
    wide = [placed(part, part.items, columns) for part in parts]
    return Cells(
        items,
        columns,
        np.vstack([part.rate for part in wide]),
        np.vstack([part.unreadable for part in wide]),
        np.vstack([part.cut_shares for part in wide]),
    )


def difference(first: Cells, second: Cells) -> Cells:
    """Return the rates of `first` less those of `second` (-1 to 1), NaN where either is; the larger
    of the unreadable and cut shares."""
    return Cells(
        first.items,
        first.columns,
        first.rate - second.rate,
        np.maximum(first.unreadable, second.unreadable),
        np.maximum(first.cut_shares, second.cut_shares),
    )


@dataclass(frozen=True)
class Group:
    """Rows of a map that stand under one header: rows `start` to `end` (excluded) of its order."""

    label: str
    start: int
    end: int


def group_rows(
    first: Cells, second: Cells, rows: Sequence[int], names: Sequence[str], sort: str
) -> tuple[list[int], list[Group]]:
    """Return `rows` in groups of equal `names` (one per row of the cells), the rows of a group in
    their order; the groups by the mean that the rows are sorted by, or by their first row in the
    order of the study."""
    members: dict[str, list[int]] = {}
    for row in rows:
        members.setdefault(names[row], []).append(row)
    means = {
        "field": row_values(first),
        "faithful": row_values(second),
        "difference": row_values(first) - row_values(second),
    }
    labels = list(members)
    if sort in means:
        labels.sort(key=lambda label: (-_mean(means[sort][members[label]]), label))
    order: list[int] = []
    groups: list[Group] = []
    for label in labels:
        groups.append(Group(label, len(order), len(order) + len(members[label])))
        order += members[label]
    return order, groups


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    # -1 is below any mean rate, so a group without one comes last.
    return float(defined.mean()) if defined.size else -1.0


def means_with_intervals(
    cells: Cells, family_of: Mapping[str, str], *, signed: bool = False
) -> list[Estimate]:
    """Return `surface.column_means` of each column, and last that of the rows' own means."""
    return column_means(
        cells, family_of, np.column_stack([cells.rate, row_values(cells)]), signed=signed
    )


def means_alone(cells: Cells) -> list[Estimate]:
    """Return the same means without intervals."""
    columns = np.column_stack([cells.rate, row_values(cells)])
    means = []
    for column in columns.T:
        n = int((~np.isnan(column)).sum())
        if n:
            means.append(without_interval(float(np.nanmean(column)), n))
        else:
            means.append(missing(note="No item defines it."))
    return means


def bin_starts(groups: Sequence[Group], size: int) -> np.ndarray:
    """Return the rows at which bins of `size` rows begin; none reaches over the end of a group."""
    return np.concatenate(
        [np.arange(group.start, group.end, size) for group in groups] or [np.arange(0)]
    ).astype(int)


def bin_means(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return (bins, k) means of the defined values of (rows, k) from each start to the next; NaN
    without one."""
    is_defined = ~np.isnan(values)
    totals = np.add.reduceat(np.where(is_defined, values, 0.0), starts, axis=0)
    n = np.add.reduceat(is_defined.astype(np.int64), starts, axis=0)
    return np.divide(totals, n, out=np.full(totals.shape, np.nan), where=n > 0)


def bin_quartiles(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ((bins,), (bins,)) the lower and upper quartile (nearest rank) of the defined values
    (rows,) of each bin: a spread, not an interval, because rows stand in the order of what is
    shown."""
    bin_of_row = np.repeat(np.arange(starts.size), np.diff(np.append(starts, values.size)))
    # Ascending within a bin, with the undefined ones last.
    ordered = values[np.lexsort((values, bin_of_row))]
    n = np.bincount(bin_of_row[~np.isnan(values)], minlength=starts.size)
    low, high = (
        starts + np.floor(share * np.maximum(n - 1, 0) + 0.5).astype(int) for share in (0.25, 0.75)
    )
    return np.where(n > 0, ordered[low], np.nan), np.where(n > 0, ordered[high], np.nan)
