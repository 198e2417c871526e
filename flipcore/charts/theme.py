"""Colours, layout and captions of all figures.

The colours can be told apart without telling red from green (Okabe and Ito's palette, dark and
light). Text from data is escaped, because Plotly interprets some HTML in hover labels and ticks.
"""

import html
import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.stats.base.estimate import Estimate

Figure = Any  # plotly.graph_objects.Figure, which knows no types
FONT = '"Source Sans", "Source Sans 3", sans-serif'


@dataclass(frozen=True)
class Colours:
    """The colours of one theme, named by what they show. `flip` is a scale from no flips to all
    flips in a single hue, which also works in grey."""

    genuine: str
    artifact: str
    behind: str
    floor: str
    broken: str
    fixed: str
    benchmark: str
    control: str
    target: str
    retro: str
    undefined: str
    text: str
    muted: str
    grid: str
    page: str
    flip: tuple[str, str, str]


LIGHT = Colours(
    genuine="#0072B2",
    artifact="#E69F00",
    behind="#C2410C",
    floor="#6B7480",
    broken="#8E5BA6",
    fixed="#009E8E",
    benchmark="#1F4E79",
    control="#9DB8D2",
    target="#0072B2",
    retro="#CC79A7",
    undefined="#B8C0CA",
    text="#1B2430",
    muted="#5B6673",
    grid="#E3E7EC",
    page="#FFFFFF",
    flip=("#EEF3F8", "#6AA5CC", "#08306B"),
)
DARK = Colours(
    genuine="#3D9BD9",
    artifact="#F0B94B",
    behind="#F58A5B",
    floor="#9BA6B2",
    broken="#C39BD3",
    fixed="#3FC8B8",
    benchmark="#7FB2E5",
    control="#41607F",
    target="#3D9BD9",
    retro="#E39AC4",
    undefined="#566171",
    text="#E6EBF2",
    muted="#9BA6B2",
    grid="#2B3440",
    page="#12171E",
    flip=("#1E2732", "#3D7FB0", "#D6ECFF"),
)


def colours(base: str | None) -> Colours:
    """Return the colours of Streamlit's theme type: those for "dark", or else the light ones."""
    return DARK if base == "dark" else LIGHT


def on_scale(share: float, stops: Sequence[str]) -> tuple[float, float, float]:
    """Return (red, green, blue), 0 to 255, at a share (0 to 1) of a scale of hex colours."""
    position = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(position), len(stops) - 2)
    low, high = _rgb(stops[first]), _rgb(stops[first + 1])
    weight = position - first
    red, green, blue = (a + weight * (b - a) for a, b in zip(low, high, strict=True))
    return red, green, blue


def _rgb(colour: str) -> list[int]:
    """Return red, green and blue, 0 to 255, of "#rrggbb"."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def translucent(colour: str, share: float) -> str:
    """Return a hex colour as CSS with the opacity `share` (0 to 1)."""
    red, green, blue = _rgb(colour)
    return f"rgba({red}, {green}, {blue}, {share:g})"


def luminance(rgb: Sequence[float]) -> float:
    """Return the relative luminance, 0 to 1, of red, green and blue from 0 to 255 (WCAG 2.2)."""
    linear = []
    for value in rgb:
        x = value / 255
        linear.append(x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_on(rgb: Sequence[float]) -> str:
    """Return black or white, whichever has a contrast of at least 4.5 with a colour."""
    return "#000000" if luminance(rgb) > 0.179 else "#FFFFFF"


def new_figure() -> Figure:
    """Return an empty figure."""
    # Plotly takes a second to import, so it is imported only when a figure is drawn.
    import plotly.graph_objects as go

    return go.Figure()


def error_bars(
    up: Sequence[float], down: Sequence[float], colour: str, thickness: float, width: float
) -> dict:
    """Return Plotly error bars that reach `up` above and `down` below each point."""
    return {
        "type": "data",
        "symmetric": False,
        "array": up,
        "arrayminus": down,
        "color": colour,
        "thickness": thickness,
        "width": width,
    }


def whiskers(
    estimates: Sequence[Estimate], colour: str, thickness: float, width: float, scale: float = 1
) -> dict:
    """Return intervals as error bars of points at `scale` times the estimates; 0 without one."""
    up, down = [], []
    for estimate in estimates:
        has_interval = estimate.has_interval
        up.append(scale * (estimate.high - estimate.value) if has_interval else 0.0)
        down.append(scale * (estimate.value - estimate.low) if has_interval else 0.0)
    return error_bars(up, down, colour=colour, thickness=thickness, width=width)


def laid_out(
    figure, theme: Colours, *, height: int, says: str, x_title: str = "", y_title: str = ""
) -> Figure:
    """Apply the common layout: light grid, readable type, transparent background. `says` is the
    caption of a saved figure."""
    figure.update_layout(
        height=height,
        meta={"caption": says},
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        font={"family": FONT, "size": 14, "color": theme.text},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hoverlabel={"font_size": 13},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.0,
            "xanchor": "left",
            "x": 0,
            "title": None,
            "traceorder": "normal",
        },
    )
    title = {"text": x_title, "font": {"size": 14}}
    figure.update_xaxes(
        title=title, gridcolor=theme.grid, zerolinecolor=theme.muted, automargin=True
    )
    title = {"text": y_title, "font": {"size": 14}}
    figure.update_yaxes(
        title=title, gridcolor=theme.grid, zerolinecolor=theme.muted, automargin=True
    )
    return figure


def caption(words: str, estimates: Iterable[Estimate] = ()) -> str:
    """Return the caption of a saved figure: `words`, then level, kind, n and seed of its intervals.
    Missing estimates do not count."""
    measured = [estimate for estimate in estimates if not math.isnan(estimate.value)]
    return f"{words} {_intervals(measured)}".strip()


def n_text(ns: Iterable[int]) -> str:
    """Return "n = 20", or "n = 20 to 32" for several; "n = 0" for none."""
    sizes = sorted(set(ns)) or [0]
    return f"n = {sizes[0]:,}" if len(sizes) == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}"


def _intervals(estimates: list[Estimate]) -> str:
    """Return "95% intervals (bca, wilson), n = 20 to 32, seed 0."; "" without an estimate."""
    if not estimates:
        return ""
    n = n_text(estimate.n for estimate in estimates)
    with_interval = [estimate for estimate in estimates if estimate.has_interval]
    if not with_interval:
        return f"No interval, {n}."
    levels = sorted({estimate.level for estimate in with_interval})
    level_text = ", ".join(f"{100 * level:g}" for level in levels)
    methods = ", ".join(sorted({estimate.method.replace("_", " ") for estimate in with_interval}))
    seeds = sorted({estimate.seed for estimate in with_interval if estimate.seed is not None})
    seed_text = f", seed {', '.join(map(str, seeds))}" if seeds else ""
    return f"{level_text}% intervals ({methods}), {n}{seed_text}."


MAX_CHARS = 280  # of a text in a figure
WIDTH = 64  # characters per line


def as_text(text: str, width: int = WIDTH, limit: int = MAX_CHARS) -> str:
    """Return escaped text for Plotly, cut after `limit` characters, in lines of `width`."""
    short = text if len(text) <= limit else f"{text[:limit].rstrip()} …"
    lines: list[str] = []
    for part in short.splitlines():
        lines += textwrap.wrap(part, width) or [""]
    return "<br>".join(html.escape(line, quote=False) for line in lines)
