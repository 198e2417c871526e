"""Parts around every page: style, saving of charts, projector view, meeting, keys, tour.

The meeting's control opens or joins a meeting and takes everybody to the presenter's page. `?` or
its button opens the list of keys. The browser remembers whether the tour was seen.
"""

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.core.version import __version__
from pages.components import component

VIEWS = ("screen", "projector")
_screen = component("screen", "listening.js", "saving.js", isolate_styles=False)
_meeting = component("meeting")


def apply_style() -> None:
    """Mount the component that passes theme and view to the page's style (see `head_start`).

    `?view=projector` applies to this tab until a link says `?view=screen`.
    """
    # The session remembers the view, because links between pages do not carry it.
    view = st.query_params.get("view", "")
    if view in VIEWS:
        st.session_state["view"] = view
    theme = colours(st.context.theme.type)
    theme_colours = {"page": theme.page, "line": theme.grid, "muted": theme.muted}
    data = theme_colours | {"view": st.session_state.get("view", VIEWS[0]), "version": __version__}
    _screen(data=data, key="screen-style", height=0, on_theme_change=lambda: None)


def offer_meeting() -> None:
    """Draw the control of the meeting."""
    base = st.get_option("server.baseUrlPath") or ""
    projector = st.session_state.get("view") == "projector"
    _meeting(data={"base": base.strip("/"), "projector": projector}, key="meeting", height=0)


_keys = component("keys", "listening.js")
_tour = component("tour", "listening.js")

Keys = tuple[tuple[str, str], ...]  # (keys, what they do)

EVERY_PAGE: Keys = (
    ("?", "list the keys of this page"),
    ("Esc", "close this list"),
    ("Tab", "go to the next control"),
)
INSPECTOR: Keys = (
    ("J", "next item in the inspector"),
    ("K", "previous item in the inspector"),
    ("G", "mark the flip as genuine"),
    ("A", "mark the flip as artifact"),
    ("U", "mark the flip as unclear"),
)
MAP: Keys = (
    ("↑ ↓ ← →", "move on the map"),
    ("Enter", "open the cell, the group or the bin"),
    ("+ − 0", "fewer items a row, more, all in sight"),
    ("Space", "select the row, or let it go"),
    ("Shift ↑ ↓", "select rows"),
    ("O", "open or close the variants of the column"),
    ("S, P", "save what is seen as SVG, as PNG"),
)
RECORD: Keys = (
    ("W", "write the sentence to the record"),
    ("← →", "move the threshold by one step"),
)
REVIEW: Keys = (
    ("Y", "yes"),
    ("N", "no"),
    ("U", "unsure"),
    ("↑ ↓", "another question"),
    ("A", "show the answer"),
    ("M", "write a note"),
    ("Z", "undo"),
    ("F", "full screen"),
)
SURVEY: Keys = (
    ("1 2 3", "choose this one"),
    ("Enter", "begin"),
    ("Backspace", "back to the question before"),
)

# (folder of the page, title, text) of each step.
TOUR = [
    (
        "",
        "Three questions",
        "Does the answer flip? Is it memory? Is the holdout fair? The demo answers all three here "
        "once it has run.",
    ),
    (
        "flips",
        "Flips",
        "A row is an item, a column a harmless change. Click a cell to read the two outputs. "
        "Parts says whose flips they are.",
    ),
    (
        "memorization",
        "Memory",
        "Each row is a detector with its own control. Ground truth says which detector to trust.",
    ),
    (
        "holdout",
        "Holdout",
        "Four tests ask whether two sets could share a source. Drag a margin to see what decides.",
    ),
    (
        "new_study",
        "Your turn",
        "Drop a file of questions here, and a log or a table of outputs on Studies.",
    ),
]


def offer_keys(keys: Keys, *, is_start: bool) -> None:
    """Offer the list of keys and, on the start page, the tour to those who have not seen it.

    The list begins with the page's own `keys`.
    """
    _keys(data={"keys": [list(row) for row in (*keys, *EVERY_PAGE)]}, key="key-help", height=0)
    _tour(data={"steps": [list(step) for step in TOUR], "start": is_start}, key="tour", height=0)
