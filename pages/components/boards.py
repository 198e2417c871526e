"""The boards whose level, margin or cut-off is dragged: verdicts, ranks and sentences follow in the browser, from arrays that the core
computed. Results (a released move, a decision to write, what to look behind) come once each, or None."""

from dataclasses import asdict
from typing import Any

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import BOARD
from pages.components import component

_BEHIND = {  # part -> what is clicked to look behind it, where anything is; its data are made in `flipcore.reports.browser_data`
    "cutoff_line": "",  # over two histograms or over intervals: positions and tables packed, templates of the sentences
    "margin_board": "",  # four tests, each interval against a margin; both results carry the margin of every test by its name
    "ranking_board": "way",  # a row a way of asking and reading, each model's rank in it
    "score_board": "dot",  # each model's score on one axis, its intervals in one another
    "threshold_board": "row",  # level, reference, null policy, interval kind and rule
}
_COMPONENTS = {name: component(name, *BOARD) for name in _BEHIND}


def draw(part: str, board: dict, *, key: str, locked: bool = False, opened: str = "") -> tuple[Any, ...]:
    """(moved, decision), and last what to look behind where something can be; `opened` is what is looked behind."""
    results = ["moved", "decision", *filter(None, [_BEHIND[part]])]
    listeners: dict[str, Any] = {f"on_{name}_change": lambda: None for name in results}
    style = {"colours": asdict(colours(st.context.theme.type)), "locked": locked}
    # in a meeting a board is known by its name, a line by what it is drawn of, which has one name in every session
    of = f"{part.partition('_')[0]} {board['id'] if part == 'cutoff_line' else key}"
    result = _COMPONENTS[part](key=key, data=board | {"board": of, "opened": opened} | style, **listeners)
    return tuple(getattr(result, name) for name in results)
