"""What a card says of its study's state: how far it is, on what, at what cost; of a running one drawn again by itself."""

from __future__ import annotations

import streamlit as st

from flipcore.runs.cost import dollars
from flipcore.runs.progress import calls_text
from pages.common import session
from pages.common.header import badges, show_badges, show_progress
from pages.common.headline import tenth_of
from pages.common.notes import plain
from pages.common.tab_title import draw_again

STATES = {
    "planned": "Not started",
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "incomplete": "Incomplete",
    "cancelled": "Cancelled",
    "over_budget": "Stopped at its budget",
    "failed": "Failed",
}


@st.fragment(run_every=2.0)
def live(study_id: str) -> None:
    """State and progress of a running study: the part of the page that is drawn again every two seconds. When another tenth
    of the calls is done the cards are drawn again."""
    tenth = tenth_of(study_id)
    if tenth is None or tenth != st.session_state.setdefault(f"tenth-{study_id}", tenth):
        st.session_state.pop(f"tenth-{study_id}", None)
        draw_again()
    state(session.study_row(study_id))


def state(row: dict) -> None:
    progress = session.registry().progress(row["study_id"])
    now = progress.state if progress is not None else row["state"]
    st.markdown(f"**{STATES.get(now, now)}**")
    show_badges(badges(row))
    _progress(row)
    _facts(row)


def _progress(row: dict) -> None:
    progress = session.registry().progress(row["study_id"])
    if progress is None:
        message = session.registry().problem(row["study_id"]) or row["message"]
        if message:
            st.caption(plain(message))
        return
    show_progress(progress)


def _facts(row: dict) -> None:
    n_items = int(row["n_items"])
    unknown = row["cost_usd"] is None or row["cost_usd"] != row["cost_usd"]
    cost = "" if not row["n_calls_done"] else " · price unknown" if unknown else f" · {dollars(row['cost_usd'])}"
    failed = f" · {int(row['n_failed']):,} failed" if row["n_failed"] else ""
    st.caption(
        f"{', '.join(plain(model) for model in row['models'])} · {n_items:,} item{'s' * (n_items != 1)}{_set_aside(row)} · "
        f"{calls_text(int(row['n_calls_done']), int(row['n_reused']))}{failed}{cost}"
    )


def _set_aside(row: dict) -> str:
    share = session.declared(row["study_id"]).confirmatory_share
    return f", {100 * share:.0f} % of them set aside" if share else ""
