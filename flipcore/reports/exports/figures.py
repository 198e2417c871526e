"""Figures of a report as SVG, in classes whose colours the style sheet picks for light, dark and
print."""

import math
from collections.abc import Sequence

from flipcore.reports.exports.markup import Markup, joined, tag
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.flips.decomposition import Decomposition

WIDTH, LABEL, NUMBER, ROW = 960, 310, 185, 34
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


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
    """A bar a cell in three parts, with the noise floors and the interval of T; the reference
    extractor's is all one part."""
    height = ROW * len(cells) + 34
    parts = _axis(height, TICKS, [f"{tick:g}" for tick in TICKS])
    for i, (one, label) in enumerate(zip(cells, labels, strict=True)):
        parts += _bar(one, label, ROW * i + 8)
    return svg(
        height, "Share of pairs that flip: compared extractor alone, both, reference alone", parts
    )


def _bar(one: Decomposition, label: str, y: int) -> list[Markup]:
    parts = [_label(0, y + 15, label)]
    if math.isnan(one.T.value):
        return [*parts, _label(_x(0), y + 15, "no item is read twice", "tick")]
    plus, shared, minus = 0.0, one.T.value, 0.0
    if not one.is_reference:
        plus, shared, minus = one.A_plus.value, one.both.value, one.A_minus.value
    ends = [_x(end) for end in (0.0, plus, plus + shared, plus + shared + minus)]
    for left, right, cls in zip(ends, ends[1:], ("artifact", "genuine", "reference"), strict=False):
        if right > left:
            parts.append(tag("rect", x=left, y=y, width=round(right - left, 2), height=18, cls=cls))
    floors = [one.W.value] if one.is_reference else [one.W.value, plus + one.W_ref.value]
    parts += [
        _line(_x(floor), y - 4, _x(floor), y + 22, "floor")
        for floor in floors
        if not math.isnan(floor)
    ]
    if one.T.has_interval:
        parts.append(_line(_x(one.T.low), y + 9, _x(one.T.high), y + 9, "whisker"))
    return [*parts, _label(WIDTH - NUMBER, y + 15, one.T.text_percent(), "value")]


def interval_rows(rows: Sequence[tuple[str, Estimate, str]], title: str, unit: str = "") -> Markup:
    """`rows` are (label, estimate of a share or a difference of shares, text); zero is marked where
    it lies within."""
    ends = [0.0]
    for _, estimate, _ in rows:
        limits = (estimate.value, estimate.low, estimate.high)
        ends += [end for end in limits if not math.isnan(end)]
    low, high = min(ends), max(ends)
    pad = 0.04 * (high - low) or 0.05
    low, high = low - (pad if low < 0 else 0.0), high + pad
    height = ROW * len(rows) + 34
    step = next(
        step
        for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 100)
        if (high - low) / step <= 8
    )
    ticks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    texts = [f"{100 * tick:.0f}{unit}".replace("-", "−") for tick in ticks]
    parts = _axis(height, ticks, texts, low, high)
    parts.append(_line(_x(0.0, low, high), 4, _x(0.0, low, high), height - 26, "zero"))
    for i, (label, one, words) in enumerate(rows):
        y = ROW * i + 17
        parts.append(_label(0, y + 6, label))
        if one.has_interval:
            parts.append(_line(_x(one.low, low, high), y, _x(one.high, low, high), y, "interval"))
        if not math.isnan(one.value):
            parts.append(tag("circle", cx=_x(one.value, low, high), cy=y, r=6, cls="dot"))
        parts.append(_label(WIDTH - NUMBER, y + 6, words, "value"))
    return svg(height, title, parts)


def legend(*entries: tuple[str, str]) -> Markup:
    """(class, words) of the colours of a figure."""
    return tag(
        "p",
        *(joined([tag("i", cls=f"key {cls}"), tag("span", words)]) for cls, words in entries),
        cls="legend",
    )
