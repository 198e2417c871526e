"""A cut-off that moves live: a line dragged over two histograms or over intervals, with the sentences that it decides."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from flipcore.charts.theme import colours

_HTML = """
<div class="cutoff" tabindex="0">
  <div class="head"><label class="drag"><span><span class="name"></span> <b class="value"></b></span>
    <input type="range" aria-label="Cut-off"></label>
    <span class="groups"></span><button type="button" title="Key: w">Write to record</button></div>
  <svg viewBox="0 0 1000 256" role="img" aria-label="Cut-off over the distributions"></svg>
  <div class="told" aria-live="polite"></div>
</div>
"""
_CSS = """
.cutoff { font-family: var(--st-font); color: var(--st-text-color); outline: none; }
.cutoff .head { display: flex; flex-wrap: wrap; gap: 8px 20px; align-items: end; margin-bottom: 6px; }
.cutoff .drag { flex: 1 1 260px; display: flex; flex-direction: column; gap: 3px; font-size: 15px; }
.cutoff .drag input { width: 100%; accent-color: var(--st-primary-color); height: 26px; }
.cutoff .value { font-size: 20px; font-variant-numeric: tabular-nums; }
.cutoff .groups { display: flex; gap: 14px; font-size: 14px; }
.cutoff .groups i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 6px; }
.cutoff button { font: inherit; font-size: 14px; padding: 5px 8px; border-radius: 6px; cursor: pointer; font-weight: 600;
  border: 1px solid var(--st-primary-color); color: var(--st-primary-color); background: var(--st-background-color); }
.cutoff svg { width: 100%; height: auto; touch-action: none; cursor: ew-resize; display: block; font-family: var(--st-font); }
.cutoff .told { min-height: 76px; font-variant-numeric: tabular-nums; }
.cutoff .line { font-size: 16px; line-height: 1.45; }
.cutoff .line.first { font-size: 20px; font-weight: 600; }
"""
_component = st.components.v2.component(
    "flipscope_cutoff_line", html=_HTML, css=_CSS, js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def cutoff_line(line: dict, *, key: str, locked: bool = False) -> tuple[dict | None, dict | None]:
    """Draws the line; (a released move, a decision to write), each once, or None.

    `line` is what `flipcore.boards.cutoffs` makes: positions and tables packed, templates of the sentences, the picture."""
    result = _component(
        key=key,
        data=line | {"colours": asdict(colours(st.context.theme.type)), "locked": locked},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
    )
    return result.moved, result.decision
