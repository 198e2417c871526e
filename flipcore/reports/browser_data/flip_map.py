"""What the flip map is handed: which rows in which order, every panel's cells at every zoom, and
what is known of groups.

Shares travel as thousandths in 16 bits, so that 12,000 items × 8 cells are 200 kB.
"""

import base64
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.flips import map_cells
from flipcore.stats.flips.map_cells import Group
from flipcore.stats.flips.surface import Cells, flip_mask, most_flipping, order_of, row_means

UNDEFINED = -32_768
LABEL_CHARS = 90
FEW_ROWS = 20  # the zoom ends where a map has no more rows than this


def permille(shares: np.ndarray) -> str:
    """Shares or differences of shares (-1..1) of any shape, row-major, as base64 of little-endian
    int16; NaN becomes `UNDEFINED`."""
    flat = np.asarray(shares, dtype=float).ravel()
    whole = np.where(np.isnan(flat), UNDEFINED, np.round(1000 * np.nan_to_num(flat)))
    return base64.b64encode(whole.astype("<i2").tobytes()).decode()


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
    rows = []
    for i in order_of(first, second, sort, first.items):
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
    sizes = zoom_sizes(rows)
    starts = [map_cells.bin_starts(rows.groups, size) for size in sizes]
    return {
        "ids": [cells.items[i] for i in rows.rows],
        "labels": [_label(questions.get(cells.items[i], cells.items[i])) for i in rows.rows],
        "columns": [_column(column, cells.columns) for column in cells.columns],
        "groups": [
            {"label": _label(group.label), "start": group.start, "end": group.end, "model": model}
            for group, model in zip(rows.groups, models or [""] * len(rows.groups), strict=True)
        ],
        "grouped": rows.is_grouped,
        "sizes": sizes,
        "starts": [
            base64.b64encode(np.asarray(one).astype("<i4").tobytes()).decode() for one in starts
        ],
        "signed": signed,
        "panels": [
            _panel(title, part, rows, starts, families, signed=signed) for title, part in panels
        ],
    }


def zoom_sizes(rows: MapRows) -> list[int]:
    """How many items a row stands for at each step of the zoom, single items first; the last step
    has a screenful."""
    sizes = [1]
    while (
        len(rows.rows) > FEW_ROWS * sizes[-1]
        and max(group.end - group.start for group in rows.groups) > sizes[-1]
    ):
        sizes.append(sizes[-1] * map_cells.BIN)
    return sizes


def _label(text: str) -> str:
    return " ".join(text[:LABEL_CHARS].split())


def _column(column: str, columns: Sequence[str]) -> dict:
    axis, variant = map_cells.column_parts(column)
    label = variant or ("noise floor" if axis == IDENTITY else axis.replace("_", " "))
    is_open = any(map_cells.column_parts(one)[0] == axis and one != axis for one in columns)
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
    return {
        "title": title,
        "levels": [
            _level(ordered, values, level_starts, step) for step, level_starts in enumerate(starts)
        ],
        "strip": [_texts(mean, signed=signed) for mean in means],
        "groups": _groups(ordered, rows, families, signed=signed) if rows.is_grouped else [],
    }


def _level(cells: Cells, values: np.ndarray, starts: np.ndarray, step: int) -> dict:
    """The cells of one step of the zoom; a bin's mean with the quartiles of its items."""
    if step == 0:
        return _packed(cells.rate, cells.unreadable, cells.cut_shares) | {"means": permille(values)}
    low, high = map_cells.bin_quartiles(values, starts)
    shares = (
        map_cells.bin_means(part, starts)
        for part in (cells.rate, cells.unreadable, cells.cut_shares)
    )
    means = map_cells.bin_means(values[:, None], starts)[:, 0]
    return _packed(*shares) | {
        "means": permille(means),
        "low": permille(low),
        "high": permille(high),
    }


def _packed(rate: np.ndarray, unreadable: np.ndarray, cut: np.ndarray) -> dict:
    return {
        "values": permille(rate),
        "unreadable": permille_or_none(unreadable),
        "cut": permille_or_none(cut),
    }


def _groups(
    cells: Cells, rows: MapRows, families: Mapping[str, str], *, signed: bool
) -> list[dict]:
    """Each group's estimates, one a column and last the rows' own, with its unreadable and cut
    shares."""
    with_intervals = len(rows.groups) <= map_cells.MOST_WITH_INTERVALS
    groups = []
    for group in rows.groups:
        part = _part(cells, range(group.start, group.end))
        group_families = {item: families.get(item, item) for item in part.items}
        means = map_cells.means_alone(part)
        if with_intervals:
            means = map_cells.means_with_intervals(part, group_families, signed=signed)
        texts = {"cells": [_texts(mean, signed=signed) for mean in means]}
        groups.append(
            texts
            | {"unreadable": _mean_shares(part.unreadable), "cut": _mean_shares(part.cut_shares)}
        )
    return groups


def _mean_shares(shares: np.ndarray) -> list[float]:
    return [round(float(share), 3) for share in shares.mean(axis=0)]


def _texts(estimate: Estimate, *, signed: bool) -> list:
    """[value, low, high, the value as text, its interval and n as text]; what is missing is
    None."""
    numbers = [
        None if math.isnan(one) else round(one, 4)
        for one in (estimate.value, estimate.low, estimate.high)
    ]
    if signed:
        points = replace(
            estimate, value=100 * estimate.value, low=100 * estimate.low, high=100 * estimate.high
        )
        text, interval = number_text(points.value, 0, sign=True), points.text(0).partition(" ")[2]
    else:
        text, _, interval = estimate.text_percent().partition(" ")
    return [*numbers, text, f"{interval} n {estimate.n:,}".strip()]


def caption(study: str, study_id: str, parts: Sequence[str], version: str, day: str) -> str:
    """What stands under a saved picture, before what the browser adds of the rows in sight."""
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
    order = [
        i for i in order_of(first, second, "field", first.items) if first.items[i] in item_set
    ][:25]
    means = [
        (title, row_means(cells))
        for title, cells in dict(zip(titles, (first, second), strict=True)).items()
    ]
    return [
        {
            "id": first.items[i],
            "column": most_flipping(first, i),
            "question": questions.get(first.items[i], first.items[i].split("@")[0]),
        }
        | {
            f"{title}, share": None if mean[i] != mean[i] else round(float(mean[i]), 3)
            for title, mean in means
        }
        for i in order
    ]
