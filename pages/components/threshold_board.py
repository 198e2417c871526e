"""The threshold board: level, reference, null policy, interval kind and rule move live; verdict sentences change as they do."""

from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import part

_part = part("threshold_board")
_component = st.components.v2.component("flipscope_threshold_board", html=_part.html, css=_part.css, js=_part.js)


def threshold_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, str | None]:
    """Draws the board; (a released move, a decision to write, the id of a row to look behind), each once, or None. `opened` is
    the row that is looked behind.

    `board` is `flipcore.reports.browser_data.levels.board(...)`: levels, rows, tables, wording, options, start, chosen."""
    result = _component(
        key=key,
        data=board
        | {"board": f"threshold {key}", "colours": asdict(colours(st.context.theme.type)), "locked": locked, "opened": opened},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
        on_row_change=lambda: None,
    )
    return result.moved, result.decision, result.row
