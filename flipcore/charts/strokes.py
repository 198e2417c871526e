"""Strokes that the glossary's small pictures are made of, as SVG."""

from __future__ import annotations

from flipcore.charts.theme import Colours


def words(c: Colours, *places: tuple[float, str], y: float, size: int = 12) -> str:
    """Words at (x, word) places on one line."""
    return "".join(
        f'<text x="{x}" y="{y}" font-size="{size}" font-family="sans-serif" text-anchor="middle" fill="{c.text}">{word}</text>'
        for x, word in places
    )


def bar(x: float, y: float, w: float, h: float, fill: str, opacity: float = 1) -> str:
    """A filled rectangle."""
    return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}" opacity="{opacity}"/>'


def box(x: float, y: float, w: float, h: float, stroke: str, dash: str = "none") -> str:
    """An outlined rectangle."""
    return (
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="3" fill="none" stroke="{stroke}" stroke-width="1.5" '
        f'stroke-dasharray="{dash}"/>'
    )


def path(d: str, stroke: str, width: float = 2, fill: str = "none", dash: str = "none") -> str:
    """A line of SVG's path data."""
    return f'<path d="{d}" stroke="{stroke}" stroke-width="{width}" fill="{fill}" stroke-dasharray="{dash}"/>'


def dot(x: float, y: float, fill: str, r: float = 5, stroke: str = "none") -> str:
    """A circle."""
    return f'<circle cx="{x}" cy="{y}" r="{r}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"/>'


def arrow(x: float, y: float, end: float, c: Colours) -> str:
    """From `x` to `end`."""
    return path(f"M{x} {y}H{end}M{end - 6} {y - 4}L{end} {y}L{end - 6} {y + 4}", c.muted)


def prompt(c: Colours, x: float, labels: str, right: str = "") -> str:
    """A question with three options under these labels; `right` is ticked."""
    options = "".join(
        words(c, (x + 12, label), y=38 + 17 * i) + path(f"M{x + 22} {34 + 17 * i}H{x + 44}", c.floor)
        for i, label in enumerate(labels)
    )
    at = 38 + 17 * labels.find(right) if right else 0
    tick = path(f"M{x + 36} {at - 6}l4 5l8 -10", c.fixed, 2.5) if right else ""
    return box(x, 8, 52, 72, c.muted) + path(f"M{x + 8} 20H{x + 44}", c.text) + options + tick
