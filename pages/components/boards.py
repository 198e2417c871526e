"""The parts of pages that a browser draws and answers from.

First the boards whose level, margin or cut-off is dragged: verdicts, ranks and sentences follow in
the browser, from arrays that the core computed. Results (a released move, a decision to write, what
to look behind) come once each, or None.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import BOARD
from pages.components import component

# part -> what is clicked to look behind it, where anything is; its data are made in
# `flipcore.reports.browser_data`
_BEHIND = {
    # over two histograms or over intervals: positions and tables packed, templates of the sentences
    "cutoff_line": "",
    # four tests, each interval against a margin; both results carry the margin of every test by its
    # name
    "margin_board": "",
    "ranking_board": "way",  # a row a way of asking and reading, each model's rank in it
    "score_board": "dot",  # each model's score on one axis, its intervals in one another
    "threshold_board": "row",  # level, reference, null policy, interval kind and rule
}
_COMPONENTS = {name: component(name, *BOARD) for name in _BEHIND}


def draw(
    part: str, board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[Any, ...]:
    """Draw a board; return (moved, decision), and last what to look behind where something can be.

    `opened` is what is looked behind.
    """
    results = ["moved", "decision", *filter(None, [_BEHIND[part]])]
    # A name with a listener is in the result even before the browser has sent it.
    listeners: dict[str, Any] = {f"on_{name}_change": lambda: None for name in results}
    style = {"colours": asdict(colours(st.context.theme.type)), "locked": locked}
    # In a meeting a board is known by its name, a line by what it is drawn of, which has the same
    # name in every session.
    board_name = f"{part.partition('_')[0]} {board['id'] if part == 'cutoff_line' else key}"
    result = _COMPONENTS[part](
        key=key, data=board | {"board": board_name, "opened": opened} | style, **listeners
    )
    return tuple(getattr(result, name) for name in results)


# The flip map on a canvas, and the relay that tells Python what was done on it. The map holds every
# row of a study, the relay next to nothing: a click runs the relay's fragment again, so that an
# answer never waits for 100,000 rows to be sent once more.

_map = component("flip_map", "numbers.js", "listening.js", "flip_map_pen.js")
_relay = component("flip_map_relay", "listening.js")


def flip_map(
    arrays: dict, *, version: str, key: str, caption: str, name: str, height: int = 520
) -> None:
    """Draw the map.

    `arrays` is what `reports.browser_data.flip_map.map_arrays` made, `version` names it, `caption`
    and `name` are a saved picture's. What is done on it comes from `map_events`.
    """
    c = colours(st.context.theme.type)
    # The first hex digit tells whether the strongest color is dark and needs light text on it.
    palette = asdict(c) | {"on_dark": "#FFFFFF" if c.flip[2] < "#8" else "#10161D", "dots": c.text}
    _map(
        key=key,
        data={
            "map": arrays,
            "version": version,
            "colours": palette,
            "height": height,
            "caption": caption,
            "name": name,
        },
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
    """Show `selected` (item, column, model) as opened; with `n_selected` 0 let the selection go.

    A cell that was clicked, a brush that was let go and a column that was opened or closed are
    handed on before the page is drawn, so that it is drawn once.
    """

    def hand_on(kind: str, take: Callable[[dict], None]) -> None:
        # A callback finds the event in the session; the component's own result comes later.
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


# Judging pairs with the keyboard: one pair in large type, three questions, a note, undo; nothing
# else on the page. And the verdicts that the browser's window still keeps, because the server was
# away.

_review = component("pair_review", "numbers.js", "listening.js")
_waiting = component("kept_verdicts")


def pair_review(view: dict, *, key: str, on_sent: Callable[[], None]) -> None:
    """Draw the view: reviewer, checks, the next pairs, the latest verdicts, counts, acknowledged
    ids, what to say at the end.

    `on_sent` runs when the browser has sent messages; they lie in
    `st.session_state[key]["outbox"]["messages"]`.
    """
    style = {"colours": asdict(colours(st.context.theme.type))}
    _review(key=key, data=view | style, on_outbox_change=on_sent)


def kept_verdicts(*, key: str) -> str:
    """The name under which somebody goes on, once they press its button; "" until then.

    Nothing is shown where nothing waits.
    """
    return str(_waiting(key=key, on_name_change=lambda: None).name or "")
