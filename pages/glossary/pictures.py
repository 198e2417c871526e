"""Small pictures of terms, drawn as SVG in the colours of the theme."""

from __future__ import annotations

from flipcore.charts.theme import Colours, colours

WIDTH, HEIGHT = 220, 90


def _split(c: Colours) -> str:
    return (
        f'<rect x="10" y="30" width="90" height="26" fill="{c.artifact}"/><rect x="100" y="30" width="40" height="26" '
        f'fill="{c.genuine}"/><rect x="140" y="30" width="30" height="26" fill="{c.genuine}" opacity="0.45"/>'
        + _words(c, (55, "A+"), (120, "both"), (155, "A−"), y=24)
        + f'<path d="M10 64H140" stroke="{c.text}"/>'
        + _words(c, (75, "T"), y=80)
    )


def _floor(c: Colours) -> str:
    return (
        f'<rect x="10" y="30" width="120" height="26" fill="{c.artifact}"/><path d="M50 24V62" stroke="{c.floor}" '
        f'stroke-width="3"/>' + _words(c, (50, "floor"), y=18) + _words(c, (90, "beyond the floor"), y=76)
    )


def _slopes(c: Colours) -> str:
    return (
        f'<path d="M30 14L180 70" stroke="{c.benchmark}" stroke-width="4"/><path d="M30 34L180 46" stroke="{c.control}" '
        f'stroke-width="4"/>' + _words(c, (36, "original"), (180, "rewritten"), y=88)
    )


def _curve(c: Colours) -> str:
    return (
        f'<path d="M15 18L70 20L90 70L205 74" fill="none" stroke="{c.benchmark}" stroke-width="3"/>'
        f'<path d="M15 22L205 60" stroke="{c.control}" stroke-width="3"/>' + _words(c, (110, "bits flipped"), y=88)
    )


def _margin(c: Colours) -> str:
    return (
        f'<rect x="60" y="8" width="100" height="60" fill="{c.genuine}" opacity="0.18"/><path d="M110 8V68" stroke="{c.grid}"/>'
        f'<path d="M80 28H135" stroke="{c.text}" stroke-width="4"/><path d="M120 52H195" stroke="{c.floor}" stroke-width="4"/>'
        + _words(c, (60, "−margin"), (160, "+margin"), y=84)
    )


PICTURES = {"split": _split, "floor": _floor, "slopes": _slopes, "curve": _curve, "margin": _margin}

ALT_TEXTS = {  # what each shows, for who cannot see it
    "split": "A bar of pairs that flip: under the compared extractor alone, under both, under the reference alone",
    "floor": "A bar of pairs that flip, with the noise floor marked: what lies to its right is beyond the floor",
    "slopes": "Accuracy from original to rewritten: it falls steeply on the benchmark and hardly on the control",
    "curve": "Similarity as bits are flipped: a memorized text breaks off at once, another one fades",
    "margin": "Two intervals and a margin: one lies inside it, the other reaches past it",
}


def picture(name: str, theme: str | None) -> str:
    """The picture as an SVG document."""
    c = colours(theme)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"{PICTURES[name](c)}</svg>"
    )


def _words(c: Colours, *places: tuple[int, str], y: int) -> str:
    return "".join(
        f'<text x="{x}" y="{y}" font-size="12" font-family="sans-serif" text-anchor="middle" fill="{c.text}">{word}</text>'
        for x, word in places
    )
