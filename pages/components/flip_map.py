"""The flip map: items × axes for several readouts side by side, on a canvas, with a click on a cell."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from flipcore.charts.theme import colours

_HTML = """
<div class="flipmap"><canvas aria-hidden="true"></canvas>
<div class="scroller" tabindex="0" role="grid" aria-label="Flip map: arrow keys move, Enter opens">
<div class="filler"></div></div>
<div class="tip" hidden></div></div>
<div class="legend"><span>no pair flips</span><i class="scale"></i><span>every pair flips</span>
<i class="hatch"></i><span>undefined</span><i class="dots">••</i><span>answers that could not be read</span>
<i class="cut"></i><span>answers that were cut off</span></div>
"""
_CSS = """
.flipmap { position: relative; width: 100%; font-family: var(--st-font); }
.flipmap canvas { position: absolute; inset: 0; pointer-events: none; }
.flipmap .scroller { position: absolute; inset: 0; overflow-y: auto; overflow-x: hidden; cursor: pointer; outline: none; }
.flipmap .scroller:focus-visible { box-shadow: 0 0 0 2px var(--st-primary-color); border-radius: 4px; }
.flipmap .tip { position: absolute; max-width: 270px; white-space: pre-wrap; pointer-events: none; padding: 6px 9px;
  background: var(--st-background-color); color: var(--st-text-color); border: 1px solid var(--st-border-color);
  border-radius: 6px; font-size: 13px; z-index: 5; overflow: hidden; max-height: 110px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; font: 13px var(--st-font); margin-top: 6px;
  color: var(--st-text-color); opacity: 0.85; }
.legend .scale { width: 120px; height: 12px; border-radius: 3px; }
.legend .hatch { width: 22px; height: 14px; margin-left: 12px; border: 1px solid var(--st-border-color); }
.legend .cut { width: 14px; height: 14px; margin-left: 12px;
  background: linear-gradient(225deg, var(--st-text-color) 50%, transparent 50%); }
.legend .dots { margin-left: 12px; font-style: normal; letter-spacing: 1px; }
"""
_component = st.components.v2.component(
    "flipscope_flip_map", html=_HTML, css=_CSS, js=Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
)


def flip_map(
    rows: list[dict], columns: list[dict], panels: list[dict], *, key: str, selected: dict | None = None, height: int = 520
) -> dict | None:
    """Draws the map; the cell that was clicked as {item, column, panel}, once, or None.

    `rows` and `columns` are {id, label}; a panel is {title, values, unreadable, cut, means, strip}: values, unreadable and
    cut (rows × columns) and means (rows) packed by `flipcore.boards.flip_map.permille`, strip [value, interval] per column."""
    c = colours(st.context.theme.type)
    palette = asdict(c) | {"on_dark": "#FFFFFF" if c.flip[2] < "#8" else "#10161D", "dots": c.text}
    result = _component(
        key=key,
        data={"rows": rows, "columns": columns, "panels": panels, "colours": palette, "selected": selected, "height": height},
        on_cell_change=lambda: None,
    )
    return result.cell
