"""The flip map on a canvas, and the relay that tells Python what was done on it.

The map holds every row of a study, the relay next to nothing: a click runs the relay's fragment again, so that an answer never
waits for 100,000 rows to be sent once more.
"""

from collections.abc import Callable
from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import script

_HTML = """
<div class="whole">
<div class="tools"><span class="size" aria-live="polite"></span><span class="buttons">
<button type="button" class="out" aria-label="More items a row" title="More items a row. Key: -">−</button>
<button type="button" class="in" aria-label="Fewer items a row" title="Fewer items a row. Key: +">+</button>
<button type="button" class="svg" title="Save what is seen as SVG. Key: s">SVG</button>
<button type="button" class="png" title="Save what is seen as PNG. Key: p">PNG</button></span></div>
<div class="flipmap"><canvas class="map" aria-hidden="true"></canvas>
<div class="scroller" tabindex="0" role="grid" aria-label="Flip map: arrow keys move, Enter opens, Space selects">
<div class="filler"></div></div><canvas class="overview" aria-hidden="true" hidden></canvas>
<div class="tip" hidden></div></div>
<div class="live" aria-live="polite"></div>
<div class="legend"><span class="end"></span><i class="scale"></i><span class="end"></span>
<i class="hatch"></i><span>undefined</span><i class="dots">••</i><span>unreadable</span>
<i class="cut"></i><span>cut off</span></div></div>
"""
_CSS = """
.whole { position: relative; font-family: var(--st-font); color: var(--st-text-color); }
.tools { position: absolute; left: 0; top: 0; z-index: 4; width: min(24%, 300px); display: flex; flex-direction: column; gap: 7px;
  font-size: 13px; }
.tools .buttons { display: flex; flex-wrap: wrap; gap: 5px; }
.tools button { font: inherit; font-weight: 600; min-width: 30px; height: 28px; padding: 0 8px; border-radius: 6px; cursor: pointer;
  color: inherit; background: var(--st-background-color); border: 1px solid var(--st-border-color); }
.tools button:disabled { opacity: 0.4; cursor: default; }
.tools button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.flipmap { position: relative; width: 100%; }
.flipmap .map { position: absolute; inset: 0; pointer-events: none; }
.flipmap .overview { position: absolute; cursor: ns-resize; z-index: 3; touch-action: none; }
.flipmap .overview[hidden] { display: none; }
.flipmap .scroller { position: absolute; inset: 0; overflow-y: auto; overflow-x: hidden; cursor: pointer; outline: none;
  user-select: none; }
.flipmap .scroller:focus-visible { box-shadow: 0 0 0 2px var(--st-primary-color); border-radius: 4px; }
.flipmap .tip { position: absolute; max-width: 270px; white-space: pre-wrap; pointer-events: none; padding: 6px 9px;
  background: var(--st-background-color); color: var(--st-text-color); border: 1px solid var(--st-border-color);
  border-radius: 6px; font-size: 13px; z-index: 5; overflow: hidden; max-height: 130px; }
.live { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; font-size: 13px; margin-top: 6px; }
.legend .scale { width: 120px; height: 12px; border-radius: 3px; }
.legend .hatch { width: 22px; height: 14px; margin-left: 12px; border: 1px solid var(--st-border-color); }
.legend .cut { width: 14px; height: 14px; margin-left: 12px;
  background: linear-gradient(225deg, var(--st-text-color) 50%, transparent 50%); }
.legend .dots { margin-left: 12px; font-style: normal; letter-spacing: 1px; }
@media (max-width: 760px) {
  .tools { position: static; width: auto; flex-direction: row; align-items: center; justify-content: space-between;
    margin-bottom: 6px; }
}
"""
_map = st.components.v2.component(
    "flipscope_flip_map", html=_HTML, css=_CSS, js=script("numbers.js", "listening.js", "flip_map_pen.js", "flip_map.js")
)
_RELAY_JS = """
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const pass = (event) => setTriggerValue(event.detail.kind, event.detail);
  const leave = onlyLast(parentElement, () => window.removeEventListener("flipscope-map", pass));
  window.addEventListener("flipscope-map", pass);
  window.flipscopeMapSelected = data.selected;
  window.dispatchEvent(new Event("flipscope-map-selected"));
  if (!data.n_selected) window.dispatchEvent(new Event("flipscope-map-cleared"));
  return () => { leave(); window.flipscopeMapSelected = null; };
}
"""
_relay = st.components.v2.component(
    "flipscope_flip_map_relay", html="<span hidden></span>", js=f"{script('listening.js')}\n{_RELAY_JS}"
)


def flip_map(arrays: dict, *, version: str, key: str, caption: str, name: str, height: int = 520) -> None:
    """Draws the map. `arrays` is what `reports.browser_data.flip_map.map_arrays` made, `version` names it, `caption` and `name` are a
    saved picture's. What is done on it comes from `map_events`."""
    c = colours(st.context.theme.type)
    palette = asdict(c) | {"on_dark": "#FFFFFF" if c.flip[2] < "#8" else "#10161D", "dots": c.text}
    _map(
        key=key,
        data={"map": arrays, "version": version, "colours": palette, "height": height, "caption": caption, "name": name},
    )


def map_events(
    *,
    key: str,
    selected: dict | None,
    n_selected: int,
    on_cell: Callable[[dict], None],
    on_brush: Callable[[dict], None],
    on_column: Callable[[dict], None],
) -> None:
    """The map shows `selected` (item, column, model) as opened; with `n_selected` 0 it lets its selection go. A cell that was
    clicked, a brush that was let go and a column that was opened or closed are handed on before the page is drawn, so that it is
    drawn once."""

    def hand_on(kind: str, take: Callable[[dict], None]) -> None:
        event = (st.session_state.get(key) or {}).get(kind)
        if event:
            take(event)

    _relay(
        key=key,
        data={"selected": selected, "n_selected": n_selected},
        height=0,
        on_cell_change=lambda: hand_on("cell", on_cell),
        on_brush_change=lambda: hand_on("brush", on_brush),
        on_column_change=lambda: hand_on("column", on_column),
    )
