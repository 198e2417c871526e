"""The one place that picks colours, how every figure looks, and what stands under one that is
saved. Readable without telling red from green (Okabe and Ito's palette, dark and light); text from
data is escaped, because Plotly reads a little HTML in hover labels and ticks."""

import html
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.stats.base.estimate import Estimate

Figure = Any  # plotly.graph_objects.Figure, which knows no types
FONT = '"Source Sans", "Source Sans 3", sans-serif'


@dataclass(frozen=True)
class Colours:
    """One set a theme. `flip` runs from no flips to all flips in a single hue, so that it also
    reads in grey."""

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
    """The set for Streamlit's theme type, "dark" or anything else."""
    return DARK if base == "dark" else LIGHT


def on_scale(share: float, stops: Sequence[str]) -> tuple[float, float, float]:
    """Red, green and blue from 0 to 255 at a share from 0 to 1 of a scale of hex stops."""
    place = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    first = min(int(place), len(stops) - 2)
    low, high = (_rgb(stop) for stop in stops[first : first + 2])
    r, g, b = (a + (place - first) * (z - a) for a, z in zip(low, high, strict=True))
    return r, g, b


def _rgb(colour: str) -> list[int]:
    """Red, green and blue from 0 to 255 of "#rrggbb"."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def translucent(colour: str, share: float) -> str:
    """Return a hexadecimal colour of which so much covers what is behind."""
    red, green, blue = _rgb(colour)
    return f"rgba({red}, {green}, {blue}, {share:g})"


def luminance(rgb: Sequence[float]) -> float:
    """Relative luminance of red, green and blue from 0 to 255 (WCAG 2.2)."""
    linear = []
    for value in rgb:
        x = value / 255
        linear.append(x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4)
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def text_on(rgb: Sequence[float]) -> str:
    """Black or white, whichever is easier to read on a colour (a contrast of 4.5 at least)."""
    return "#000000" if luminance(rgb) > 0.179 else "#FFFFFF"


def new_figure() -> Figure:
    """An empty one. Plotly takes a second to import, which only a figure waits for."""
    import plotly.graph_objects as go

    return go.Figure()


def error_bars(
    up: Sequence[float], down: Sequence[float], colour: str, thickness: float, width: float
) -> dict:
    """Error bars that reach so far above and below each point."""
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
    """Intervals as error bars of points at `scale` times the estimates; none without one."""
    up = [
        scale * (estimate.high - estimate.value) if estimate.has_interval else 0.0
        for estimate in estimates
    ]
    down = [
        scale * (estimate.value - estimate.low) if estimate.has_interval else 0.0
        for estimate in estimates
    ]
    return error_bars(up, down, colour=colour, thickness=thickness, width=width)


def laid_out(
    figure, c: Colours, *, height: int, says: str, x_title: str = "", y_title: str = ""
) -> Figure:
    """The house's frame around a figure: quiet grid, readable type, transparent ground. `says` is
    the caption of a saved one."""
    figure.update_layout(
        height=height,
        meta={"caption": says},
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        font={"family": FONT, "size": 14, "color": c.text},
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
    figure.update_xaxes(title=title, gridcolor=c.grid, zerolinecolor=c.muted, automargin=True)
    title = {"text": y_title, "font": {"size": 14}}
    figure.update_yaxes(title=title, gridcolor=c.grid, zerolinecolor=c.muted, automargin=True)
    return figure


def caption(words: str, estimates: Iterable[Estimate] = ()) -> str:
    """Caption of a figure that is saved: what it shows in `words`, a sentence, and the level, kind,
    n and seed of its intervals; estimates that are missing do not count."""
    measured = [estimate for estimate in estimates if estimate.value == estimate.value]
    return f"{words} {_intervals(measured)}".strip()


def n_text(ns: Iterable[int]) -> str:
    """ "n = 20", or "n = 20 to 32" of several; "n = 0" of none."""
    sizes = sorted(set(ns)) or [0]
    return f"n = {sizes[0]:,}" if len(sizes) == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}"


def _intervals(estimates: list[Estimate]) -> str:
    """Say "95% intervals (bca, wilson), n = 20 to 32, seed 0."; "" without an estimate."""
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


MOST_CHARS = 280
WIDTH = 64


def as_text(text: str, width: int = WIDTH, most: int = MOST_CHARS) -> str:
    """`text` letter by letter, cut after `most` characters, in lines of `width`."""
    short = text if len(text) <= most else f"{text[:most].rstrip()} …"
    lines: list[str] = []
    for part in short.splitlines():
        lines += textwrap.wrap(part, width) or [""]
    return "<br>".join(html.escape(line, quote=False) for line in lines)
