"""Figures of a report as SVG, in classes whose colours the style sheet picks for light, dark and
print."""

import math
from collections.abc import Sequence

from flipcore.reports.exports.markup import Markup, tag
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.decomposition import Decomposition

WIDTH, LABEL, NUMBER, ROW = 960, 310, 185, 34
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 100)


def figure(drawing: Markup, caption: str) -> Markup:
    """A drawing with what it shows and where it comes from."""
    return tag(
        "figure", tag("div", drawing, cls="scroll", tabindex="0"), tag("figcaption", caption)
    )


def svg(height: int, title: str, parts: Sequence[Markup]) -> Markup:
    """A drawing `WIDTH` wide; its title is what is read out instead of it."""
    return tag(
        "svg",
        tag("title", title),
        *parts,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
        cls="drawing",
    )


def _x(value: float, low: float = 0.0, high: float = 1.0) -> float:
    # Values beyond the axis are drawn at its end.
    share = (min(max(value, low), high) - low) / (high - low)
    return round(LABEL + (WIDTH - LABEL - NUMBER - 20) * share, 2)


def _line(x1: float, y1: float, x2: float, y2: float, cls: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, cls=cls)


def _label(x: float, y: float, words: str, cls: str = "label", anchor: str = "start") -> Markup:
    return tag("text", words, x=x, y=y, cls=cls, text_anchor=anchor)


def _axis(
    height: int, ticks: Sequence[float], texts: Sequence[str], low: float = 0.0, high: float = 1.0
) -> list[Markup]:
    floor = height - 26
    parts = []
    for tick, words in zip(ticks, texts, strict=True):
        parts += [
            _line(_x(tick, low, high), 4, _x(tick, low, high), floor, "grid"),
            _label(_x(tick, low, high), floor + 18, words, "tick", "middle"),
        ]
    return parts


def flip_bars(cells: Sequence[Decomposition], labels: Sequence[str]) -> Markup:
    """One bar per cell in three parts, with the noise floors and the interval of T; the reference
    extractor's is all one part."""
    height = ROW * len(cells) + 34
    parts = _axis(height, TICKS, [f"{tick:g}" for tick in TICKS])
    for i, (cell, label) in enumerate(zip(cells, labels, strict=True)):
        parts += _bar(cell, label, ROW * i + 8)
    title = "Share of pairs that flip: compared extractor alone, both, reference alone"
    return svg(height, title, parts)


def _bar(cell: Decomposition, label: str, y: int) -> list[Markup]:
    parts = [_label(0, y + 15, label)]
    if math.isnan(cell.T.value):
        return [*parts, _label(_x(0), y + 15, "no item is read twice", "tick")]
    plus, shared, minus = 0.0, cell.T.value, 0.0
    if not cell.is_reference:
        plus, shared, minus = cell.A_plus.value, cell.both.value, cell.A_minus.value
    ends = [_x(end) for end in (0.0, plus, plus + shared, plus + shared + minus)]
    for left, right, cls in zip(ends, ends[1:], ("artifact", "genuine", "reference"), strict=False):
        if right > left:
            parts.append(tag("rect", x=left, y=y, width=round(right - left, 2), height=18, cls=cls))
    floors = [cell.W.value]
    if not cell.is_reference:
        # The reference's flips begin where those of the compared extractor alone end.
        floors.append(plus + cell.W_ref.value)
    for floor in floors:
        if not math.isnan(floor):
            parts.append(_line(_x(floor), y - 4, _x(floor), y + 22, "floor"))
    if cell.T.has_interval:
        parts.append(_line(_x(cell.T.low), y + 9, _x(cell.T.high), y + 9, "whisker"))
    return [*parts, _label(WIDTH - NUMBER, y + 15, cell.T.text_percent(), "value")]


def interval_rows(rows: Sequence[tuple[str, Estimate, str]], title: str, unit: str = "") -> Markup:
    """`rows` are (label, estimate of a share or a difference of shares, text); zero is marked where
    it lies within."""
    ends = [0.0]
    for _, estimate, _ in rows:
        limits = (estimate.value, estimate.low, estimate.high)
        ends += [end for end in limits if not math.isnan(end)]
    low, high = min(ends), max(ends)
    # Room for the dots at both ends.
    pad = 0.04 * (high - low) or 0.05
    low, high = low - (pad if low < 0 else 0.0), high + pad
    height = ROW * len(rows) + 34
    # At most eight ticks, at round numbers.
    step = next(step for step in _STEPS if (high - low) / step <= 8)
    ticks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    texts = [f"{100 * tick:.0f}{unit}".replace("-", "−") for tick in ticks]
    parts = _axis(height, ticks, texts, low, high)
    parts.append(_line(_x(0.0, low, high), 4, _x(0.0, low, high), height - 26, "zero"))
    for i, (label, estimate, words) in enumerate(rows):
        y = ROW * i + 17
        parts.append(_label(0, y + 6, label))
        if estimate.has_interval:
            left, right = _x(estimate.low, low, high), _x(estimate.high, low, high)
            parts.append(_line(left, y, right, y, "interval"))
        if not math.isnan(estimate.value):
            parts.append(tag("circle", cx=_x(estimate.value, low, high), cy=y, r=6, cls="dot"))
        parts.append(_label(WIDTH - NUMBER, y + 6, words, "value"))
    return svg(height, title, parts)


def legend(*entries: tuple[str, str]) -> Markup:
    """(class, words) of the colours of a figure."""
    parts = []
    for cls, words in entries:
        parts += [tag("i", cls=f"key {cls}"), tag("span", words)]
    return tag("p", *parts, cls="legend")
