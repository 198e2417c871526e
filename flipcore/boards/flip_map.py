"""What the flip map is handed: which items in which order, and both extractors' cells as packed arrays.

Shares travel as thousandths in 16 bits, so that 12,000 items × 8 cells are 200 kB.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

import numpy as np

from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips.surface import Cells, column_means, flip_mask, order_of, row_means

UNDEFINED = -1
LABEL_CHARS = 90


def permille(shares: np.ndarray) -> str:
    """Shares in 0..1 of any shape, row-major, as base64 of little-endian int16; NaN becomes `UNDEFINED`."""
    flat = np.asarray(shares, dtype=float).ravel()
    whole = np.where(np.isnan(flat), UNDEFINED, np.round(1000 * np.nan_to_num(flat)))
    return base64.b64encode(whole.astype("<i2").tobytes()).decode()


def map_rows(first: Cells, second: Cells, sort: str, search: str, flips_only: bool, questions: Mapping[str, str]) -> list[int]:
    """Indices of the items to show, in order: those whose question or id holds `search`, and with `flips_only` those that flip
    somewhere under either extractor."""
    flips = flip_mask(first, second)
    words = search.lower().strip()
    return [
        i
        for i in order_of(first, second, sort, first.items)
        if (not flips_only or flips[i]) and words in f"{questions.get(first.items[i], '')} {first.items[i]}".lower()
    ]


def map_arrays(
    first: Cells,
    second: Cells,
    rows: Sequence[int],
    questions: Mapping[str, str],
    titles: tuple[str, str],
    families: Mapping[str, str],
) -> tuple[list[dict], list[dict], list[dict]]:
    """Rows, columns and panels as the browser part takes them; one panel where both extractors are the same.
    `families` is item -> what it was made from, which counts once."""
    labels = [
        {"id": first.items[i], "label": " ".join(questions.get(first.items[i], first.items[i])[:LABEL_CHARS].split())}
        for i in rows
    ]
    columns = [
        {"id": column, "label": "noise floor" if column == "identity" else column.replace("_", " ")} for column in first.columns
    ]
    panels = [_panel(cells, rows, title, families) for cells, title in zip((first, second), titles, strict=True)]
    return labels, columns, panels[:1] if titles[0] == titles[1] else panels


def _panel(cells: Cells, rows: Sequence[int], title: str, families: Mapping[str, str]) -> dict:
    strip = [
        [number_text(one.value), f"{one.text().partition(' ')[2]} n {one.n:,}" if one.has_interval else f"n {one.n:,}"]
        for one in column_means(cells, families)
    ]
    subset = list(rows)
    return {
        "title": title,
        "values": permille(cells.rate[subset]),
        "unreadable": permille(cells.unreadable[subset]),
        "cut": permille(cells.cut_shares[subset]),
        "means": permille(row_means(cells)[subset]),
        "strip": strip,
    }
