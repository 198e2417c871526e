"""Explore, simultaneous, locked: what the intervals on this page may claim."""

from __future__ import annotations

import streamlit as st

from flipcore.records import digest
from flipcore.store import queries
from flipcore.store.rows import now
from pages.common import session
from pages.common.notes import plain

MODES = {"explore": "Explore", "simultaneous": "Simultaneous", "locked": "Locked"}
START = {"level": 0.95, "reference": "regex", "policy": "own_class", "kind": "default", "rule": "paired"}


def chosen() -> str:
    return st.segmented_control("Mode", list(MODES), default="explore", key="mode", bind="query-params", required=True,
                                format_func=MODES.get, label_visibility="collapsed")


def note(mode: str, store, study_id: str) -> str:
    moves = queries.n_moves(store, study_id)
    return {
        "explore": f"EXPLORATORY: these intervals hold for settings chosen beforehand. {moves:,} moves of a threshold were "
                   "logged on this study.",
        "simultaneous": "The band holds for every row, reference readout and null policy at once, at any one level: choose "
                        "freely after looking.",
        "locked": "LOCKED: computed on the items that were set aside, at the settings that were stored before they were read.",
    }[mode]


def lock_of(study_id: str, mode: str) -> dict | None:
    found = queries.locks(session.store(), study_id) if mode == "locked" else []
    return found[0] if found else None


def offer_lock(study_id: str) -> None:
    """What a lock would fix, and the button; or why there is nothing to lock."""
    if queries.study(session.store(), study_id).confirmatory_share == 0:
        st.info("This study set no items aside, so there is nothing to confirm on. Duplicate it with a share set aside for "
                "confirmation.", icon=":material/lock_open:")
        return
    settings = view_of(study_id, "", None)
    st.markdown("**Nothing is shown here until settings are stored.** They will be the ones that the board was left at:")
    st.json(settings)
    who = st.text_input("Your name", key="lock-name")
    if st.button("Lock these settings", type="primary", icon=":material/lock:", disabled=not who):
        fixed = settings | {"study": study_id, "models": session.study_row(study_id)["models"], "seed": 0, "n_boot": 9999}
        row = {"lock_id": digest(fixed), "study_id": study_id, "settings": fixed, "reviewer": who, "created_at": now()}
        session.store().writer.add("locks", [row]).result(10)
        st.rerun()


def view_of(study_id: str, model: str, lock: dict | None) -> dict:
    """The settings that the board was left at in this session; a lock's settings cannot be changed."""
    if lock:
        st.caption(plain(f"Locked by {lock['reviewer']} on {lock['created_at']:%Y-%m-%d %H:%M}, {lock['lock_id']}."))
        return {key: lock["settings"][key] for key in START}
    return START | st.session_state.get(f"view-{study_id}", {})


def remember(study_id: str, model: str, moved: dict | None) -> None:
    """Keeps the released position, so that table and bars follow the board."""
    if moved:
        st.session_state[f"view-{study_id}"] = {key: moved[key] for key in START}
        st.rerun()


def started(board: dict, view: dict) -> dict:
    """The board at the settings of `view`, where it has them."""
    levels = board["levels"]
    at = min(range(len(levels)), key=lambda i: abs(levels[i] - view["level"]))
    chosen = {key: view[key] if view[key] in [value for value, _ in board["options"][key]] else default
              for key, default in board["chosen"].items()}
    return board | {"start": at, "chosen": chosen}
