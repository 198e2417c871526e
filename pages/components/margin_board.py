"""The margin board: four tests, each interval against a margin that is dragged; verdict and sentences change as it moves."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from flipcore.charts.theme import colours

_HTML = """
<div class="margins" tabindex="0">
  <div class="top">
    <div><div class="answer" aria-live="polite"></div><div class="under quiet"></div></div>
    <button type="button" title="Key: w">Write to record</button>
  </div>
  <div class="rows"></div>
</div>
"""
_CSS = """
.margins { font-family: var(--st-font); color: var(--st-text-color); outline: none; }
.margins .top { display: flex; gap: 20px; align-items: start; justify-content: space-between; margin-bottom: 12px; }
.margins .answer { font-size: 21px; line-height: 1.35; font-weight: 600; min-height: 28px; }
.margins button { font: inherit; font-size: 14px; padding: 5px 10px; border-radius: 6px; cursor: pointer; flex: none;
  border: 1px solid var(--st-primary-color); background: var(--st-background-color); color: var(--st-primary-color);
  font-weight: 600; }
.margins .row { display: grid; grid-template-columns: 34px minmax(0, 1.15fr) minmax(0, 1fr) 190px; gap: 2px 14px;
  align-items: center; padding: 8px 0 6px; border-top: 1px solid var(--st-border-color); }
.margins .row.absent { grid-template-columns: 34px 1fr; opacity: .82; }
.margins .sign { font-size: 26px; font-weight: 700; text-align: center; }
.margins .text b { font-size: 17px; }
.margins .sentence { font-size: 15px; line-height: 1.35; font-variant-numeric: tabular-nums; min-height: 20px; }
.margins .quiet { font-size: 13px; line-height: 1.35; opacity: .78; font-variant-numeric: tabular-nums; }
.margins .about { grid-column: 2 / -1; }
.margins svg { width: 100%; max-height: 60px; display: block; }
.margins .drag { display: flex; align-items: center; gap: 10px; font-size: 13.5px; font-variant-numeric: tabular-nums; }
.margins .drag .margin { flex: none; min-width: 9.6em; }
.margins .drag input { flex: 1; accent-color: var(--st-primary-color); height: 22px; min-width: 60px; }
.margins .estimate { font-size: 16px; font-weight: 600; font-variant-numeric: tabular-nums; }
.margins .numbers { text-align: right; }
@media (max-width: 1000px) {
  .margins .row { grid-template-columns: 26px minmax(0, 1fr) 150px; }
  .margins .picture { grid-column: 2 / -1; grid-row: 2; }
  .margins .answer { font-size: 18px; }
}
"""
_component = st.components.v2.component(
    "flipscope_margin_board", html=_HTML, css=_CSS, js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def margin_board(board: dict, *, key: str, locked: bool = False) -> tuple[dict | None, dict | None]:
    """Draws the board; (a released move, a decision to write), each once, or None.

    `board` is `flipcore.boards.margins.board(...)`; both results carry the margin of every test by its name."""
    result = _component(
        key=key,
        data=board | {"colours": asdict(colours(st.context.theme.type)), "locked": locked},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
    )
    return result.moved, result.decision
