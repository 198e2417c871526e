"""Components that the browser draws and that send messages back: boards, flip map, review."""

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
from flipcore.reports.browser_data.quoted_sentences import sentences_at
from pages.components import component

_board = component("board", *BOARD)
# Kind of message -> whether a message has the right shape.
_RESULTS = {"moved": is_move, "decision": is_decision, "opened": is_opened}


def draw(
    board: dict, *, key: str, locked: bool = False, opened: str = "", has_own_words: bool = False
) -> tuple[Any, ...]:
    """Draw a board, given as `Board.data`; return its messages (moved, decision, opened).

    A message comes once and is None otherwise: a level, margin or cut-off that was moved; a
    decision to store; a row or mark that was clicked. `opened` names the one that is open now.

    The sentences of a decision are made here from the settings that the browser sends, because a
    browser may send any sentence. With `has_own_words` the page makes them itself.
    """
    # In a meeting all sessions must know the board by the same name.
    name = f"{board['kind']} {board.get('shared_as', key)}"
    style = {"colours": asdict(colours(st.context.theme.type)), "locked": locked}
    # With a listener, the result has an attribute even before the browser sends a message.
    listeners: dict[str, Any] = {f"on_{kind}_change": lambda: None for kind in _RESULTS}
    data = board | {"board": name, "opened": opened} | style
    result = _board(key=key, data=data, **listeners)
    messages = {}
    for kind, has_right_shape in _RESULTS.items():
        message = getattr(result, kind)
        messages[kind] = message if has_right_shape(message) else None
    if messages["decision"] and not has_own_words:
        decision = messages["decision"]
        sentences = sentences_at(board, decision)
        messages["decision"] = {**decision, "sentences": sentences} if sentences else None
    return tuple(messages.values())


# The map holds up to 100,000 rows. So a second component, the relay, sends what was done on the map
# to Python: a click then runs the relay's small fragment again, and the map is not sent once more.

_map = component("flip_map", "numbers.js", "listening.js", "flip_map_pen.js")
_relay = component("flip_map_relay", "listening.js")


def flip_map(
    arrays: dict, *, version: str, key: str, caption: str, name: str, height: int = 520
) -> None:
    """Draw the flip map; its events come from `map_events`.

    `arrays` is the result of `reports.browser_data.flip_map.map_arrays`, and `version` identifies
    it. `caption` and `name` are those of a saved picture. `height` is in pixels.
    """
    theme = colours(st.context.theme.type)
    # By its first hex digit, the strongest color is dark and needs light text, or the reverse.
    text_on_strongest = "#FFFFFF" if theme.flip[2] < "#8" else "#10161D"
    palette = asdict(theme) | {"on_dark": text_on_strongest, "dots": theme.text}
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
    """Mark the open cell on the map, and handle events of the map before the page is drawn.

    `selected` is the open cell (item, column, model). With `n_selected` 0 the map clears its
    selection of rows. `on_cell` gets a clicked cell, `on_brush` selected rows, `on_column` a
    clicked column name.
    """

    def handle(
        kind: str, has_right_shape: Callable[[Any], bool], on_event: Callable[[dict], None]
    ) -> None:
        # In a callback the event is in the session state; the component's result comes later.
        event: Any = (st.session_state.get(key) or {}).get(kind)
        if has_right_shape(event):
            on_event(event)

    _relay(
        key=key,
        data={"selected": selected, "n_selected": n_selected},
        height=0,
        on_cell_change=lambda: handle("cell", is_cell, on_cell),
        on_brush_change=lambda: handle("brush", is_brush, on_brush),
        on_column_change=lambda: handle("column", is_column, on_column),
    )


_review = component("pair_review", "numbers.js", "listening.js")
_kept_verdicts = component("kept_verdicts")


def pair_review(view: dict, *, key: str, on_sent: Callable[[], None]) -> None:
    """Draw the review of a pair, with shortcuts; `view` is the data of `random_order.review_view`.

    `on_sent` runs when the browser has sent verdicts, which are then in
    `st.session_state[key]["outbox"]["messages"]`.
    """
    style = {"colours": asdict(colours(st.context.theme.type))}
    _review(key=key, data=view | style, on_outbox_change=on_sent)


def kept_verdicts(*, key: str) -> str:
    """Offer to go on with verdicts that the browser could not send yet, if there are any.

    Returns the reviewer's name once they press the button, and "" before.
    """
    return str(_kept_verdicts(key=key, on_name_change=lambda: None).name or "")
