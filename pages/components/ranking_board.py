"""The ranking board: a row a way of asking and reading, each model's rank in it, and a level that is dragged."""

from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import part

_part = part("ranking_board")
_component = st.components.v2.component("flipscope_ranking_board", html=_part.html, css=_part.css, js=_part.js)


def ranking_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, str | None]:
    """Draws the board; (a released move, a decision to write, the id of a way to look behind), each once, or None.

    `board` is `flipcore.reports.browser_data.ranking.board(...)`; `opened` the id of the way that is looked behind."""
    result = _component(
        key=key,
        data=board
        | {"board": f"ranking {key}", "colours": asdict(colours(st.context.theme.type)), "locked": locked, "opened": opened},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
        on_way_change=lambda: None,
    )
    return result.moved, result.decision, result.way
