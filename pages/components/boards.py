"""The parts of pages that a browser draws and answers from.

First the boards whose level, margin or cut-off is dragged. Results (a released move, a decision to
write, what to look behind) come once each, or None.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.core.browser_messages import (
    is_brush,
    is_cell,
    is_column,
    is_decision,
    is_move,
    is_opened,
)
from flipcore.reports.browser_data.parts import BOARD
from flipcore.reports.browser_data.said import sentences_at
from pages.components import component

_board = component("board", *BOARD)


_RESULTS = {"moved": is_move, "decision": is_decision, "opened": is_opened}


def draw(
    board: dict, *, key: str, locked: bool = False, opened: str = "", has_own_words: bool = False
) -> tuple[Any, ...]:
    """Draw a `Board.data`; return its (moved, decision, opened).

    `opened` is what is looked behind. The sentences of a decision are made here, as the board says
    them at the settings that the browser sends: its own words are not believed. A page that makes
    them itself `has_own_words`.
    """
    # In a meeting a board is known by a name that it has in every session.
    name = f"{board['kind']} {board.get('shared_as', key)}"
    style = {"colours": asdict(colours(st.context.theme.type)), "locked": locked}
    # A name with a listener is in the result even before the browser has sent it.
    listeners: dict[str, Any] = {f"on_{kind}_change": lambda: None for kind in _RESULTS}
    data = board | {"board": name, "opened": opened} | style
    result = _board(key=key, data=data, **listeners)
    # A message of another shape comes from no script of ours.
    sent = {}
    for kind, fits in _RESULTS.items():
        message = getattr(result, kind)
        sent[kind] = message if fits(message) else None
    if sent["decision"] and not has_own_words:
        sentences = sentences_at(board, sent["decision"])
        sent["decision"] = {**sent["decision"], "sentences": sentences} if sentences else None
    return tuple(sent.values())


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

    def hand_on(kind: str, fits: Callable[[Any], bool], take: Callable[[dict], None]) -> None:
        # A callback finds the event in the session; the component's own result comes later.
        event: Any = (st.session_state.get(key) or {}).get(kind)
        if fits(event):
            take(event)

    _relay(
        key=key,
        data={"selected": selected, "n_selected": n_selected},
        height=0,
        on_cell_change=lambda: hand_on("cell", is_cell, on_cell),
        on_brush_change=lambda: hand_on("brush", is_brush, on_brush),
        on_column_change=lambda: hand_on("column", is_column, on_column),
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
