"""The flip map's data: the ordered rows, each panel's cells at every zoom, and the groups.

Shares are sent as thousandths in 16 bits, so that 12,000 items × 8 cells take 200 kB.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data.board import packed
from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.flips import map_cells
from flipcore.stats.flips.map_cells import Group
from flipcore.stats.flips.surface import Cells, flip_mask, most_flipping_column, order_of, row_means

UNDEFINED = -32_768  # stands for NaN among the 16-bit integers of shares
LABEL_CHARS = 90  # most characters of a row's label
FEW_ROWS = 20  # the zoom ends where a map has at most so many rows
MAX_LISTED = 25  # most items of the table under a map


def permille(shares: np.ndarray) -> str:
    """Return shares or their differences (-1..1), row by row, as base64 of 16-bit thousandths. NaN
    becomes `UNDEFINED`."""
    flat = np.asarray(shares, dtype=float).ravel()
    thousandths = np.where(np.isnan(flat), UNDEFINED, np.round(1000 * np.nan_to_num(flat)))
    return packed(thousandths.astype("<i2"), "<i2")


def permille_or_none(shares: np.ndarray) -> str:
    """Return `permille` of the shares, or "" if all are 0, as in most maps."""
    return permille(shares) if np.nan_to_num(shares).any() else ""


@dataclass(frozen=True)
class MapRows:
    """The ordered rows of a map: indices into the cells, and the groups that divide them. Rows that
    are not grouped are one group with the label ""."""

    rows: list[int]
    groups: list[Group]

    @property
    def is_grouped(self) -> bool:
        return bool(self.groups) and self.groups[0].label != ""


def map_rows(
    first: Cells,
    second: Cells,
    sort: str,
    search: str,
    questions: Mapping[str, str],
    *,
    flips_only: bool,
) -> list[int]:
    """Return the indices of the items to show, in order. They have `search` in their question or
    id. With `flips_only` they flip under an extractor."""
    flips = flip_mask(first, second)
    searched_text = search.lower().strip()
    order = order_of(first, second, sort, first.items)
    if not searched_text and not flips_only:
        return order
    rows = []
    for i in order:
        text = f"{questions.get(first.items[i], '')} {first.items[i]}".lower()
        if searched_text in text and (flips[i] or not flips_only):
            rows.append(i)
    return rows


def in_groups(
    first: Cells, second: Cells, rows: list[int], names: Sequence[str] | None, sort: str
) -> MapRows:
    """Group rows by `names`, which has a name per row of the cells; None leaves them ungrouped."""
    if names is None:
        return MapRows(rows, [Group("", 0, len(rows))])
    return MapRows(*map_cells.group_rows(first, second, rows, names, sort))


def map_arrays(
    panels: Sequence[tuple[str, Cells]],
    rows: MapRows,
    questions: Mapping[str, str],
    families: Mapping[str, str],
    *,
    signed: bool = False,
    models: Sequence[str] = (),
) -> dict:
    """Return the map's data for the browser.

    `panels` are (title, cells) over the same rows and columns. With `signed` there is one panel, of
    differences. `families` is item -> its cluster. `models` has the model of each group where
    groups are models.
    """
    _, cells = panels[0]
    ids = [cells.items[i] for i in rows.rows]
    groups = []
    for group, model in zip(rows.groups, models or [""] * len(rows.groups), strict=True):
        label = _label(group.label)
        groups.append({"label": label, "start": group.start, "end": group.end, "model": model})
    sizes = zoom_sizes(rows)
    starts = [map_cells.bin_starts(rows.groups, size) for size in sizes]
    drawn = [_panel(title, part, rows, starts, families, signed=signed) for title, part in panels]
    return {
        "ids": ids,
        "labels": [_label(questions.get(item, item)) for item in ids],
        "columns": [_column(column, cells.columns) for column in cells.columns],
        "groups": groups,
        "grouped": rows.is_grouped,
        "sizes": sizes,
        "starts": [packed(step_starts, "<i4") for step_starts in starts],
        "signed": signed,
        "panels": drawn,
    }


def zoom_sizes(rows: MapRows) -> list[int]:
    """Return the number of items per row at each step of the zoom, single items first."""
    # A bin has items of one group only, so the zoom also ends at the size of the largest group.
    largest = max((group.end - group.start for group in rows.groups), default=0)
    sizes = [1]
    while len(rows.rows) > FEW_ROWS * sizes[-1] and largest > sizes[-1]:
        sizes.append(sizes[-1] * map_cells.BIN_SIZE)
    return sizes


def _label(text: str) -> str:
    return " ".join(text[:LABEL_CHARS].split())


def _column(column: str, columns: Sequence[str]) -> dict:
    axis, variant = map_cells.column_parts(column)
    label = variant or ("noise floor" if axis == IDENTITY else axis.replace("_", " "))
    is_open = any(map_cells.column_parts(name)[0] == axis and name != axis for name in columns)
    return {
        "id": column,
        "axis": axis,
        "variant": variant,
        "label": label,
        "opened": is_open,
        "opens": axis != IDENTITY,
    }


def _select_rows(cells: Cells, rows: Sequence[int]) -> Cells:
    subset = list(rows)
    return Cells(
        [cells.items[i] for i in subset],
        cells.columns,
        cells.rate[subset],
        cells.unreadable[subset],
        cells.cut_shares[subset],
    )


def _panel(
    title: str,
    cells: Cells,
    rows: MapRows,
    starts: Sequence[np.ndarray],
    families: Mapping[str, str],
    *,
    signed: bool,
) -> dict:
    ordered = _select_rows(cells, rows.rows)
    values = map_cells.row_values(ordered)
    means = map_cells.means_with_intervals(ordered, families, signed=signed)
    levels = []
    for step, step_starts in enumerate(starts):
        levels.append(_level(ordered, values, step_starts, step))
    return {
        "title": title,
        "levels": levels,
        "strip": [_texts(mean, signed=signed) for mean in means],
        "groups": _groups(ordered, rows, families, signed=signed) if rows.is_grouped else [],
    }


def _level(cells: Cells, values: np.ndarray, starts: np.ndarray, step: int) -> dict:
    """Return the cells at one step of the zoom: means per bin with the quartiles of its items."""
    if step == 0:
        shares = _packed_shares(cells.rate, cells.unreadable, cells.cut_shares)
        return shares | {"means": permille(values)}
    low, high = map_cells.bin_quartiles(values, starts)
    parts = (cells.rate, cells.unreadable, cells.cut_shares)
    shares = _packed_shares(*(map_cells.bin_means(part, starts) for part in parts))
    means = map_cells.bin_means(values[:, None], starts)[:, 0]
    return shares | {"means": permille(means), "low": permille(low), "high": permille(high)}


def _packed_shares(rate: np.ndarray, unreadable: np.ndarray, cut: np.ndarray) -> dict:
    return {
        "values": permille(rate),
        "unreadable": permille_or_none(unreadable),
        "cut": permille_or_none(cut),
    }


def _groups(
    cells: Cells, rows: MapRows, families: Mapping[str, str], *, signed: bool
) -> list[dict]:
    """Return per group the estimate of each column, then of its rows, and unread shares."""
    # Intervals for hundreds of groups would take too long.
    with_intervals = len(rows.groups) <= map_cells.MAX_WITH_INTERVALS
    groups = []
    for group in rows.groups:
        part = _select_rows(cells, range(group.start, group.end))
        # An item without a family is one of its own.
        clusters = {item: families.get(item, item) for item in part.items}
        means = map_cells.means_alone(part)
        if with_intervals:
            means = map_cells.means_with_intervals(part, clusters, signed=signed)
        row = {
            "cells": [_texts(mean, signed=signed) for mean in means],
            "unreadable": _mean_shares(part.unreadable),
            "cut": _mean_shares(part.cut_shares),
        }
        groups.append(row)
    return groups


def _mean_shares(shares: np.ndarray) -> list[float]:
    return [round(float(share), 3) for share in shares.mean(axis=0)]


def _texts(estimate: Estimate, *, signed: bool) -> list:
    """Return [value, low, high, value as text, interval and n as text]; None if missing."""
    value, low, high = estimate.value, estimate.low, estimate.high
    numbers = [None if math.isnan(x) else round(x, 4) for x in (value, low, high)]
    if signed:
        points = replace(estimate, value=100 * value, low=100 * low, high=100 * high)
        text, interval = number_text(points.value, 0, sign=True), points.text(0).partition(" ")[2]
    else:
        text, _, interval = estimate.text_percent().partition(" ")
    return [*numbers, text, f"{interval} n {estimate.n:,}".strip()]


def caption(study: str, study_id: str, parts: Sequence[str], version: str, day: str) -> str:
    """Return the caption of a saved picture; the browser adds the visible rows."""
    return (
        f"Flip map of {study} ({study_id}): {'; '.join(filter(None, parts))}. Flipscope {version},"
        f" {day}."
    )


def flip_table(
    first: Cells,
    second: Cells,
    items: Collection[str],
    questions: Mapping[str, str],
    titles: tuple[str, str],
) -> list[dict]:
    """Return the items on the map that flip most, each with the column where it flips most."""
    item_set = set(items)
    # Where both extractors are the same, the dict keeps one title and one column.
    cells_of = dict(zip(titles, (first, second), strict=True))
    means = {title: row_means(cells) for title, cells in cells_of.items()}
    rows: list[dict] = []
    for i in order_of(first, second, "field", first.items):
        item = first.items[i]
        if len(rows) == MAX_LISTED:
            break
        if item in item_set:
            question = questions.get(item, item.split("@")[0])
            row: dict[str, Any] = {
                "id": item,
                "column": most_flipping_column(first, i),
                "question": question,
            }
            for title, mean in means.items():
                share = None if math.isnan(mean[i]) else round(float(mean[i]), 2)
                row[f"{title}, share"] = share
            rows.append(row)
    return rows
