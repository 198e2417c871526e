"""Judging pairs with the keyboard: one pair in large type, three questions, a note, undo; nothing else on the page. And the
verdicts that the browser's window still keeps, because the server was away."""

from collections.abc import Callable
from dataclasses import asdict

import streamlit as st

from flipcore.charts.theme import colours
from pages.components import component

_review = component("pair_review", "numbers.js", "listening.js")
_waiting = component("kept_verdicts")


def pair_review(view: dict, *, key: str, on_sent: Callable[[], None]) -> None:
    """Draws the view: reviewer, checks, the next pairs, the latest verdicts, counts, acknowledged ids, what to say at the end.

    `on_sent` runs when the browser has sent messages; they lie in `st.session_state[key]["outbox"]["messages"]`."""
    style = {"colours": asdict(colours(st.context.theme.type))}
    _review(key=key, data=view | style, on_outbox_change=on_sent)


def kept_verdicts(*, key: str) -> str:
    """The name under which somebody goes on, once they press its button; "" until then. Nothing is shown where nothing waits."""
    return str(_waiting(key=key, on_name_change=lambda: None).name or "")
