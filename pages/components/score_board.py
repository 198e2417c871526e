"""The score board: each model's score on one axis, its intervals in one another, and a level that is dragged."""

from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import part

_part = part("score_board")
_component = st.components.v2.component("flipscope_score_board", html=_part.html, css=_part.css, js=_part.js)


def score_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, dict | None]:
    """Draws the board; (a released move, a decision to write, a dot to look behind), each once, or None.

    `board` is `flipcore.reports.browser_data.score.board(...)`; `opened` the wording that is looked behind."""
    result = _component(
        key=key,
        data=board
        | {"board": f"score {key}", "colours": asdict(colours(st.context.theme.type)), "locked": locked, "opened": opened},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
        on_dot_change=lambda: None,
    )
    return result.moved, result.decision, result.dot
