"""Texts with their differing words marked.

Text is data: it reaches the browser as text and never as HTML or Markdown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.stats.base.estimate import percent_text
from flipcore.text.differences import ends_of, word_differences
from pages.components import component

_text = component("text")
_bars = component("bars")


def _palette() -> dict:
    return asdict(colours(st.context.theme.type))


def show_differences(
    original: str, changed: str, *, key: str, as_losses: bool = False, shorten: bool = False
) -> None:
    """Show `changed` with the words underlined that `original` does not have at that place.

    `as_losses` dots the words instead, for the side that lost them. `shorten` replaces long equal
    stretches by their length. It is off by default, because people judge whole texts.
    """
    runs = [
        [
            "gone" if as_losses and kind == "new" else kind,
            # Long equal stretches would push the differences out of sight.
            ends_of(text) if shorten and kind == "same" else text,
        ]
        for kind, text in word_differences(original, changed)
    ]
    _text(data={"runs": runs, "colours": _palette()}, key=key)


def show_spans(text: str, spans: Iterable[tuple[int, int] | None], *, key: str) -> None:
    """Show `text` with the spans [low, high) of its characters highlighted.

    Overlapping spans are highlighted as one; None among the spans is skipped.
    """
    runs, end = [], 0
    # Sorted, so that each span begins at or after the one before.
    for low, high in sorted(span for span in spans if span):
        runs += [["same", text[end:low]], ["span", text[max(low, end) : high]]]
        end = max(end, high)
    runs.append(["same", text[end:]])
    # An empty run would be an HTML element without text.
    _text(data={"runs": [run for run in runs if run[1]], "colours": _palette()}, key=key)


def show_share_bars(bars: Sequence[tuple[str, float, bool]], *, key: str) -> None:
    """Show small bars of (label, share, is chosen) on a scale from 0 to 1."""
    rows = [[label, share, percent_text(share), is_chosen] for label, share, is_chosen in bars]
    _bars(data={"bars": rows, "colours": _palette()}, key=key)
