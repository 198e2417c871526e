"""The flip map's data: the rows in their order, every panel's cells at every zoom, and the groups.

Shares travel as thousandths in 16 bits, so that 12,000 items × 8 cells are 200 kB.
"""

import base64
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.flips import map_cells
from flipcore.stats.flips.map_cells import Group
from flipcore.stats.flips.surface import Cells, flip_mask, most_flipping_column, order_of, row_means

# An integer of 16 bits that no share becomes.
UNDEFINED = -32_768
LABEL_CHARS = 90
FEW_ROWS = 20  # the zoom ends where a map has no more rows than this
MOST_LISTED = 25  # items of the table under a map


def permille(shares: np.ndarray) -> str:
    """Shares or differences of shares (-1..1) of any shape, row-major, as base64 of little-endian
    int16; NaN becomes `UNDEFINED`."""
    flat = np.asarray(shares, dtype=float).ravel()
    thousandths = np.where(np.isnan(flat), UNDEFINED, np.round(1000 * np.nan_to_num(flat)))
    return base64.b64encode(thousandths.astype("<i2").tobytes()).decode()


def permille_or_none(shares: np.ndarray) -> str:
    """The same, or "" where every share is 0: most maps have no unreadable and no cut answer."""
    return permille(shares) if np.nan_to_num(shares).any() else ""


@dataclass(frozen=True)
class MapRows:
    """The rows of a map in their order: `rows` are indices into the cells, `groups` lie one behind
    the other (one, without a name, where rows are not grouped)."""

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
    """Indices of the items to show, in order: those whose question or id holds `search`, and with
    `flips_only` those that flip somewhere under either extractor."""
    flips = flip_mask(first, second)
    words = search.lower().strip()
    order = order_of(first, second, sort, first.items)
    if not words and not flips_only:
        return order
    rows = []
    for i in order:
        text = f"{questions.get(first.items[i], '')} {first.items[i]}".lower()
        if words in text and (flips[i] or not flips_only):
            rows.append(i)
    return rows


def in_groups(
    first: Cells, second: Cells, rows: list[int], names: Sequence[str] | None, sort: str
) -> MapRows:
    """`rows` as they are, or under headers of equal `names` (one for each row of the cells)."""
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
    """The map as the browser part takes it. `panels` are (title, cells) over the same rows and
    columns; with `signed` the one panel holds differences. `families` is item -> what it was made
    from, which counts once; `models` names each group's model where a group is one."""
    cells = panels[0][1]
    ids = [cells.items[i] for i in rows.rows]
    groups = []
    for group, model in zip(rows.groups, models or [""] * len(rows.groups), strict=True):
        place = {"start": group.start, "end": group.end, "model": model}
        groups.append({"label": _label(group.label), **place})
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
        "starts": [_packed_integers(of_step) for of_step in starts],
        "signed": signed,
        "panels": drawn,
    }


def _packed_integers(numbers: np.ndarray) -> str:
    return base64.b64encode(np.asarray(numbers).astype("<i4").tobytes()).decode()


def zoom_sizes(rows: MapRows) -> list[int]:
    """The number of items in a row at each step of the zoom, single items first; the last step
    has a screenful."""
    # A bin never holds items of two groups, so that the largest group ends the zoom, too.
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


def _part(cells: Cells, rows: Sequence[int]) -> Cells:
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
    ordered = _part(cells, rows.rows)
    values = map_cells.row_values(ordered)
    means = map_cells.means_with_intervals(ordered, families, signed=signed)
    levels = [_level(ordered, values, of_step, step) for step, of_step in enumerate(starts)]
    return {
        "title": title,
        "levels": levels,
        "strip": [_texts(mean, signed=signed) for mean in means],
        "groups": _groups(ordered, rows, families, signed=signed) if rows.is_grouped else [],
    }


def _level(cells: Cells, values: np.ndarray, starts: np.ndarray, step: int) -> dict:
    """The cells of one step of the zoom; a bin's mean with the quartiles of its items."""
    if step == 0:
        return _packed(cells.rate, cells.unreadable, cells.cut_shares) | {"means": permille(values)}
    low, high = map_cells.bin_quartiles(values, starts)
    parts = (cells.rate, cells.unreadable, cells.cut_shares)
    packed = _packed(*(map_cells.bin_means(part, starts) for part in parts))
    means = map_cells.bin_means(values[:, None], starts)[:, 0]
    return packed | {"means": permille(means), "low": permille(low), "high": permille(high)}


def _packed(rate: np.ndarray, unreadable: np.ndarray, cut: np.ndarray) -> dict:
    return {
        "values": permille(rate),
        "unreadable": permille_or_none(unreadable),
        "cut": permille_or_none(cut),
    }


def _groups(
    cells: Cells, rows: MapRows, families: Mapping[str, str], *, signed: bool
) -> list[dict]:
    """Estimates per group, the rows' own last, with its unreadable and cut shares."""
    # Intervals of hundreds of groups take too long to wait for.
    with_intervals = len(rows.groups) <= map_cells.MAX_WITH_INTERVALS
    groups = []
    for group in rows.groups:
        part = _part(cells, range(group.start, group.end))
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
    """[value, low, high, value as text, interval and n as text]; missing is None."""
    value, low, high = estimate.value, estimate.low, estimate.high
    numbers = [None if math.isnan(end) else round(end, 4) for end in (value, low, high)]
    if signed:
        points = replace(estimate, value=100 * value, low=100 * low, high=100 * high)
        text, interval = number_text(points.value, 0, sign=True), points.text(0).partition(" ")[2]
    else:
        text, _, interval = estimate.text_percent().partition(" ")
    return [*numbers, text, f"{interval} n {estimate.n:,}".strip()]


def caption(study: str, study_id: str, parts: Sequence[str], version: str, day: str) -> str:
    """The caption of a saved picture; the browser adds the rows in sight."""
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
    """The 25 of the items on the map that flip most, each with the column where it flips most."""
    item_set = set(items)
    # One extractor beside itself has one title, and one column.
    cells_of = dict(zip(titles, (first, second), strict=True))
    means = {title: row_means(cells) for title, cells in cells_of.items()}
    rows: list[dict] = []
    for i in order_of(first, second, "field", first.items):
        item = first.items[i]
        if len(rows) == MOST_LISTED:
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
