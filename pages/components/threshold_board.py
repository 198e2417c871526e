"""The threshold board: level, reference, null policy, interval kind and rule move live; verdict sentences change as they do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from flipcore.charts.theme import colours

_HTML = """
<div class="board" tabindex="0">
  <div class="headline" role="heading" aria-level="3" aria-live="polite"></div>
  <div class="controls">
    <label class="drag"><span>Confidence level <b class="level"></b></span>
      <input type="range" aria-label="Confidence level"></label>
    <button type="button" title="Key: w">Write to record</button>
    <details class="view"><summary>View: <span class="set"></span></summary><div>
      <label><span>Reference extractor</span><select name="reference"></select></label>
      <label><span>Unreadable answers</span><select name="policy"></select></label>
      <label><span>Interval</span><select name="kind"></select></label>
      <label><span>Rule</span><select name="rule"></select></label></div></details>
  </div>
  <div class="tally"></div>
  <div class="rows" aria-live="polite"></div>
</div>
"""
_CSS = """
.board { font-family: var(--st-font); color: var(--st-text-color); outline: none; }
.board .headline { font-size: 20px; font-weight: 600; line-height: 1.3; margin-bottom: 8px; }
.board .view { flex: 1 1 100%; font-size: 14px; }
.board .view summary { cursor: pointer; opacity: 0.8; }
.board .view > div { display: flex; flex-wrap: wrap; gap: 8px 16px; padding: 8px 0 4px; }
.board .row .text { cursor: pointer; }
.board .row .text:hover b, .board .row.opened .text b { text-decoration: underline; }
.board .row.opened { background: color-mix(in srgb, var(--st-primary-color) 8%, transparent); }
.board .row .text:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.board .tally { font-size: 14px; opacity: 0.75; margin-bottom: 6px; }
.board .controls { display: flex; flex-wrap: wrap; gap: 10px 18px; align-items: end; margin-bottom: 10px; }
.board label { display: flex; flex-direction: column; gap: 3px; font-size: 14px; }
.board label[hidden] { display: none; }
.board .drag { flex: 1 1 240px; }
.board .drag input { width: 100%; accent-color: var(--st-primary-color); height: 26px; }
.board .level { font-size: 20px; font-variant-numeric: tabular-nums; display: inline-block; min-width: 4.2em; }
.board select, .board button { font: inherit; font-size: 14px; padding: 5px 8px; border-radius: 6px; color: inherit;
  border: 1px solid var(--st-border-color); background: var(--st-background-color); }
.board button { cursor: pointer; border-color: var(--st-primary-color); color: var(--st-primary-color); font-weight: 600; }
.board .row { display: grid; grid-template-columns: 76px minmax(0, 1.75fr) minmax(0, 1fr); gap: 8px; align-items: center;
  padding: 2px 0; border-top: 1px solid var(--st-border-color); min-height: 46px; }
.board .sign { font-size: 15px; font-weight: 700; text-align: center; white-space: nowrap; border-radius: 6px; padding: 3px 0; }
.board .sign[data-verdict="yes"] { background: color-mix(in srgb, var(--artifact) 28%, transparent); }
.board .sign[data-verdict="no"] { background: color-mix(in srgb, var(--genuine) 28%, transparent); }
.board .size { font-size: 13px; opacity: 0.7; margin-left: 8px; }
.board .text { line-height: 1.3; }
.board .text b { font-size: 16px; }
.board .sentence { font-size: 15px; font-variant-numeric: tabular-nums; }
.board svg { width: 100%; height: 42px; display: block; }
@media (max-width: 760px) { .board .row { grid-template-columns: 72px 1fr; } .board svg { grid-column: 2; } }
"""
_component = st.components.v2.component(
    "flipscope_threshold_board", html=_HTML, css=_CSS, js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def threshold_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, str | None]:
    """Draws the board; (a released move, a decision to write, the id of a row to look behind), each once, or None. `opened` is
    the row that is looked behind.

    `board` is `flipcore.boards.levels.board(...)`: levels, rows, tables, wording, options, start, chosen."""
    result = _component(
        key=key,
        data=board | {"colours": asdict(colours(st.context.theme.type)), "locked": locked, "opened": opened},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
        on_row_change=lambda: None,
    )
    return result.moved, result.decision, result.row
