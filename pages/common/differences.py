"""Texts with what differs marked by word. Text is data: it reaches the browser as text and never as HTML or Markdown."""

from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.stats.base.estimate import number_text
from flipcore.text.differences import word_differences

_TEXT_JS = """
export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".text");
  box.style.setProperty("--genuine", data.colours.genuine);
  box.style.setProperty("--artifact", data.colours.artifact);
  box.replaceChildren();
  const tags = { same: "span", span: "mark", new: "ins", gone: "del" };
  for (const [kind, text] of data.runs) {
    const run = document.createElement(tags[kind]);
    run.textContent = text;
    box.appendChild(run);
  }
}
"""
_TEXT_CSS = """
.text { white-space: pre-wrap; overflow-wrap: anywhere; font: 0.95rem/1.5 var(--st-font); color: var(--st-text-color);
        max-height: 26rem; overflow-y: auto; }
.text ins, .text del { text-decoration: none; font-weight: 600; border-bottom: 3px solid var(--genuine);
        background: color-mix(in srgb, var(--genuine) 14%, transparent); }
.text del { border-bottom-style: dotted; background: none; }
.text mark { color: inherit; border-radius: 3px; background: color-mix(in srgb, var(--artifact) 42%, transparent); }
"""
_BARS_JS = """
export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".bars");
  box.replaceChildren();
  for (const [label, share, written, chosen] of data.bars) {
    const row = document.createElement("div");
    const name = document.createElement("span");
    name.textContent = label;
    const track = document.createElement("i");
    const bar = document.createElement("b");
    bar.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    bar.style.background = chosen ? data.colours.genuine : data.colours.undefined;
    track.appendChild(bar);
    const value = document.createElement("em");
    value.textContent = written;
    row.append(name, track, value);
    box.appendChild(row);
  }
}
"""
_BARS_CSS = """
.bars { font: 0.85rem/1.5 var(--st-font); color: var(--st-text-color); }
.bars div { display: grid; grid-template-columns: minmax(0, 1fr) 42% 2.6em; gap: 8px; align-items: center; }
.bars span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.bars i { height: 9px; background: var(--st-secondary-background-color); border-radius: 2px; overflow: hidden; }
.bars b { display: block; height: 100%; }
.bars em { font-style: normal; text-align: right; font-variant-numeric: tabular-nums; }
"""

_text = st.components.v2.component("flipscope_text", html='<div class="text"></div>', css=_TEXT_CSS, js=_TEXT_JS)
_bars = st.components.v2.component("flipscope_bars", html='<div class="bars"></div>', css=_BARS_CSS, js=_BARS_JS)


def _palette() -> dict:
    return asdict(colours(st.context.theme.type))


def differences(original: str, changed: str, *, key: str, as_losses: bool = False) -> None:
    """`changed`, with the words that `original` does not have at that place underlined; `as_losses` dots them instead, for the
    side that lost them."""
    runs = [["gone" if as_losses and kind == "new" else kind, text] for kind, text in word_differences(original, changed)]
    _text(data={"runs": runs, "colours": _palette()}, key=key)


def marked_span(text: str, span: tuple[int, int] | None, *, key: str) -> None:
    """`text` with the characters of `span` highlighted."""
    low, high = span if span else (0, 0)
    runs = [["same", text[:low]], ["span", text[low:high]], ["same", text[high:]]]
    _text(data={"runs": [run for run in runs if run[1]], "colours": _palette()}, key=key)


def share_bars(bars: Sequence[tuple[str, float, bool]], *, key: str) -> None:
    """Small bars of (label, share, is chosen) on a scale from 0 to 1."""
    rows = [[label, share, number_text(share), is_chosen] for label, share, is_chosen in bars]
    _bars(data={"bars": rows, "colours": _palette()}, key=key)
