"""Rows of the flip map, made from cells: variants of opened axes, several models, differences of
two extractors, groups and bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate, missing, without_interval
from flipcore.stats.flips.surface import Cells, column_means, expand, row_means

SEPARATOR = "\x1f"  # between axis and variant in a column's id; no name contains it
MAX_WITH_INTERVALS = 60  # with more groups in a map, a group has its mean and n only
BIN_SIZE = 5  # number of rows that become one row when the map is zoomed out by one step


def column_id(axis: str, variant: str = "") -> str:
    """Return the id of an axis's column, or of one of its variants."""
    return f"{axis}{SEPARATOR}{variant}" if variant else axis


def column_parts(column: str) -> tuple[str, str]:
    """Return (axis, variant) of a column's id; the variant is "" for the column of an axis."""
    axis, _, variant = column.partition(SEPARATOR)
    return axis, variant


def row_values(cells: Cells) -> np.ndarray:
    """Return (rows,) means over the axes of a row, without the noise floor and without columns of
    variants; NaN if no axis is defined."""
    axes = [c for c, column in enumerate(cells.columns) if SEPARATOR not in column]
    names = [cells.columns[c] for c in axes]
    return row_means(Cells(cells.items, names, cells.rate[:, axes], cells.unreadable[:, axes]))


def with_variants(cells: Cells, opened: Mapping[str, Cells]) -> Cells:
    """Return the same rows with the columns of variants after their axis. `opened` is axis -> cells
    with its variants as columns."""
    columns: list[str] = []
    rate, unreadable, cut = [], [], []
    for c, axis in enumerate(cells.columns):
        columns.append(axis)
        rate.append(cells.rate[:, [c]])
        unreadable.append(cells.unreadable[:, [c]])
        cut.append(cells.cut_shares[:, [c]])
        if axis in opened:
            variants = expand(opened[axis], cells.items, opened[axis].columns)
            columns += [column_id(axis, variant) for variant in variants.columns]
            rate.append(variants.rate)
            unreadable.append(variants.unreadable)
            cut.append(variants.cut_shares)
    if not columns:
        return cells
    return Cells(cells.items, columns, np.hstack(rate), np.hstack(unreadable), np.hstack(cut))


def stack(parts: Sequence[Cells]) -> Cells:
    """Stack the rows of several cells (one per model); the columns are those that any of them
    has. Raises BadInput without cells."""
    if not len(parts):
        raise BadInput("The map of several models needs the cells of at least one, and got none.")
    items: list[str] = []
    columns: list[str] = []
    for part in parts:
        items += part.items
        columns += [column for column in part.columns if column not in columns]
    expanded = [expand(part, part.items, columns) for part in parts]
    return Cells(
        items,
        columns,
        np.vstack([part.rate for part in expanded]),
        np.vstack([part.unreadable for part in expanded]),
        np.vstack([part.cut_shares for part in expanded]),
    )


def difference(first: Cells, second: Cells) -> Cells:
    """Return the rates of `first` minus those of `second` (-1 to 1), NaN where either is NaN. The
    unreadable and cut shares are the larger of the two."""
    return Cells(
        first.items,
        first.columns,
        first.rate - second.rate,
        np.maximum(first.unreadable, second.unreadable),
        np.maximum(first.cut_shares, second.cut_shares),
    )


@dataclass(frozen=True)
class Group:
    """Rows of a map under one header: rows `start` to `end` (excluded) in the order of the map."""

    label: str
    start: int
    end: int


def group_rows(
    first: Cells, second: Cells, rows: Sequence[int], names: Sequence[str], sort: str
) -> tuple[list[int], list[Group]]:
    """Return the order of `rows` by group, and the groups.

    Rows with equal `names` (one per row of the cells) form a group and keep their order. `sort` is
    an order of `surface.order_of`: groups are sorted by their mean of it, for "study" by their
    first row.
    """
    rows_of_group: dict[str, list[int]] = {}
    for row in rows:
        rows_of_group.setdefault(names[row], []).append(row)
    means = {
        "field": row_values(first),
        "faithful": row_values(second),
        "difference": row_values(first) - row_values(second),
    }
    labels = list(rows_of_group)
    if sort in means:
        labels.sort(key=lambda label: (-_mean(means[sort][rows_of_group[label]]), label))
    order: list[int] = []
    groups: list[Group] = []
    for label in labels:
        groups.append(Group(label, len(order), len(order) + len(rows_of_group[label])))
        order += rows_of_group[label]
    return order, groups


def _mean(values: np.ndarray) -> float:
    defined = values[~np.isnan(values)]
    # -1 is below any mean rate, so that a group without a rate comes last.
    return float(defined.mean()) if defined.size else -1.0


def means_with_intervals(
    cells: Cells, family_of: Mapping[str, str], *, signed: bool = False
) -> list[Estimate]:
    """Return `surface.column_means` of each column; the last is that of the means of the rows."""
    return column_means(
        cells, family_of, np.column_stack([cells.rate, row_values(cells)]), signed=signed
    )


def means_alone(cells: Cells) -> list[Estimate]:
    """Return the means of `means_with_intervals` without intervals, which are slow to compute."""
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
    """Return the rows at which bins of `size` rows begin; no bin has rows of two groups."""
    starts = [np.arange(group.start, group.end, size) for group in groups]
    return np.concatenate(starts or [np.arange(0)]).astype(int)


def bin_means(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return (bins, k) means of `values` (rows, k) from each start to the next, without NaN; NaN if
    a bin has no value."""
    is_defined = ~np.isnan(values)
    totals = np.add.reduceat(np.where(is_defined, values, 0.0), starts, axis=0)
    n = np.add.reduceat(is_defined.astype(np.int64), starts, axis=0)
    return np.divide(totals, n, out=np.full(totals.shape, np.nan), where=n > 0)


def bin_quartiles(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper quartiles (bins,) of `values` (rows,) in each bin, by nearest rank
    and without NaN.

    They show a spread and are no interval, because rows are sorted by what is shown.
    """
    bin_of_row = np.repeat(np.arange(starts.size), np.diff(np.append(starts, values.size)))
    # Sorted within each bin; `lexsort` puts NaN last.
    ordered = values[np.lexsort((values, bin_of_row))]
    n = np.bincount(bin_of_row[~np.isnan(values)], minlength=starts.size)
    # + 0.5 and floor round to the nearest rank.
    low, high = (
        starts + np.floor(share * np.maximum(n - 1, 0) + 0.5).astype(int) for share in (0.25, 0.75)
    )
    return np.where(n > 0, ordered[low], np.nan), np.where(n > 0, ordered[high], np.nan)
