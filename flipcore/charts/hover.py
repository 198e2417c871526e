"""Text from data in a Plotly figure: Plotly reads a little HTML in hover labels and ticks, so the text is escaped."""

from __future__ import annotations

import html
import textwrap

MOST_CHARS = 280
WIDTH = 64


def as_text(text: str, width: int = WIDTH, most: int = MOST_CHARS) -> str:
    """`text` letter by letter, cut after `most` characters, in lines of `width`."""
    short = text if len(text) <= most else f"{text[:most].rstrip()} …"
    lines = [line for part in short.splitlines() for line in textwrap.wrap(part, width) or [""]]
    return "<br>".join(html.escape(line, quote=False) for line in lines)
