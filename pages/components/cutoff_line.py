"""A cut-off that moves live: a line dragged over two histograms or over intervals, with the sentences that it decides."""

from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import part

_part = part("cutoff_line")
_component = st.components.v2.component("flipscope_cutoff_line", html=_part.html, css=_part.css, js=_part.js)


def cutoff_line(line: dict, *, key: str, locked: bool = False) -> tuple[dict | None, dict | None]:
    """Draws the line; (a released move, a decision to write), each once, or None.

    `line` is what `flipcore.reports.browser_data.cutoffs` makes: positions and tables packed, templates of the sentences, the picture."""
    result = _component(
        key=key,
        data=line | {"board": f"cutoff {line['id']}", "colours": asdict(colours(st.context.theme.type)), "locked": locked},
        on_moved_change=lambda: None,
        on_decision_change=lambda: None,
    )
    return result.moved, result.decision
