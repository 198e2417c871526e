"""Positions of the parts of a report's figures, in pixels.

`templates/pieces.html` draws them as SVG. The style sheet picks the colours of their classes for
light, dark and print.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from flipcore.charts.flips import parts as flip_parts
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.decomposition import Decomposition

WIDTH, ROW = 960, 34  # of a drawing, and the height of a row
LABEL, NUMBER = 310, 185  # widths of the labels on the left and of the numbers on the right
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 100)


@dataclass(frozen=True)
class Bar:
    """The bar of one cell of flips.

    `parts` are (x, width, class), and `floors` the x of the noise floors of both extractors. A cell
    without a number has a `note` instead.
    """

    y: int
    label: str
    value: str
    note: str = ""
    parts: tuple[tuple[float, float, str], ...] = ()
    floors: tuple[float, ...] = ()
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Dot:
    """One row with a dot and an interval; each of them is None if there is none."""

    y: int
    label: str
    value: str
    dot: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Drawing:
    """Rows under one another on one axis. `ticks` are (x, text), and `zero` is the x of 0. Screen
    readers read the title out instead of the drawing."""

    title: str
    rows: tuple[Bar, ...] | tuple[Dot, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float
    width = WIDTH
    left, right = LABEL, WIDTH - NUMBER

    @property
    def height(self) -> int:
        return ROW * len(self.rows) + 34

    @property
    def axis_y(self) -> int:
        """The y position of the axis."""
        return self.height - 26


def _x(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return the x of a value on an axis from `low` to `high`, within its ends."""
    share = (min(max(value, low), high) - low) / (high - low)
    return round(LABEL + (WIDTH - LABEL - NUMBER - 20) * share, 2)


def flip_bars(cells: Sequence[Decomposition], labels: Sequence[str]) -> Drawing:
    """Return one bar per cell in three parts, with noise floors and the interval of T, the share of
    pairs that flip. The reference extractor's bar has one part."""
    bars = []
    for i, (cell, label) in enumerate(zip(cells, labels, strict=True)):
        bars.append(_bar(cell, label, ROW * i + 8))
    ticks = [(_x(tick), f"{tick:g}") for tick in TICKS]
    title = "Share of pairs that flip: compared extractor alone, both, reference alone"
    return Drawing(title, tuple(bars), tuple(ticks), _x(0.0))


def _bar(cell: Decomposition, label: str, y: int) -> Bar:
    if math.isnan(cell.T.value):
        return Bar(y, label, "", note="no item is read twice")
    compared_alone, under_both, reference_alone = flip_parts(cell)
    compared_end, both_end = compared_alone, compared_alone + under_both
    ends = [_x(end) for end in (0.0, compared_end, both_end, both_end + reference_alone)]
    parts = []
    classes = ("artifact", "genuine", "reference")
    for (left, right), class_name in zip(pairwise(ends), classes, strict=True):
        if right > left:
            parts.append((left, round(right - left, 2), class_name))
    floors = [cell.W.value]
    if not cell.is_reference:
        # The reference's flips begin where those of the compared extractor alone end.
        floors.append(compared_alone + cell.W_ref.value)
    return Bar(
        y,
        label,
        cell.T.text_percent(),
        parts=tuple(parts),
        floors=tuple(_x(floor) for floor in floors if not math.isnan(floor)),
        interval=(_x(cell.T.low), _x(cell.T.high)) if cell.T.has_interval else None,
    )


def interval_rows(rows: Sequence[tuple[str, Estimate, str]], title: str, unit: str = "") -> Drawing:
    """Return a dot with its interval per row. `rows` are (label, estimate, text); the estimate is a
    share or a difference of shares."""
    ends = [0.0]
    for _, estimate, _ in rows:
        limits = (estimate.value, estimate.low, estimate.high)
        ends += [end for end in limits if not math.isnan(end)]
    low, high = min(ends), max(ends)
    # A margin keeps the dots at both ends within the drawing.
    pad = 0.04 * (high - low) or 0.05
    low, high = low - (pad if low < 0 else 0.0), high + pad
    # At most eight ticks, at round numbers.
    step = next(step for step in _STEPS if (high - low) / step <= 8)
    ticks = []
    for i in range(math.ceil(low / step), math.floor(high / step) + 1):
        text = f"{100 * step * i:.0f}{unit}".replace("-", "−")
        ticks.append((_x(step * i, low, high), text))
    dots = []
    for i, (label, estimate, text) in enumerate(rows):
        interval, dot = None, None
        if estimate.has_interval:
            interval = (_x(estimate.low, low, high), _x(estimate.high, low, high))
        if not math.isnan(estimate.value):
            dot = _x(estimate.value, low, high)
        dots.append(Dot(ROW * i + 17, label, text, dot, interval))
    return Drawing(title, tuple(dots), tuple(ticks), _x(0.0, low, high))
