"""The margin board: four tests, each interval against a margin that is dragged; verdict and sentences change as it moves."""

from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import part

_part = part("margin_board")
_component = st.components.v2.component("flipscope_margin_board", html=_part.html, css=_part.css, js=_part.js)


def margin_board(board: dict, *, key: str, locked: bool = False) -> tuple[dict | None, dict | None]:
    """Draws the board; (a released move, a decision to write), each once, or None.

    `board` is `flipcore.reports.browser_data.margins.board(...)`; both results carry the margin of every test by its name."""
    result = _component(
        key=key,
        data=board | {"board": f"margin {key}", "colours": asdict(colours(st.context.theme.type)), "locked": locked},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
    )
    return result.moved, result.decision
