"""The flip map on a canvas, and the relay that tells Python what was done on it.

The map holds every row of a study, the relay next to nothing: a click runs the relay's fragment again, so that an answer never
waits for 100,000 rows to be sent once more.
"""

from collections.abc import Callable
from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from pages.components import component

_map = component("flip_map", "numbers.js", "listening.js", "flip_map_pen.js")
_relay = component("flip_map_relay", "listening.js")


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
