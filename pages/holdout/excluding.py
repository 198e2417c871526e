"""Entries that somebody took out of the sets on the map: the sets without them, and what that changes in the tests.

Only while exploring: what is taken out after a look at the map changes every test, so no band over margins holds for what is left,
and under a lock the sets are those that were locked.
"""

from collections.abc import Collection

import streamlit as st

from flipcore.claims.holdout import outcome_claim
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.units import TITLES, estimate_text
from pages.common.showing import plain, show_table
from pages.holdout import cached

PLACE = "entries-excluded"  # the whole sets' id -> the ids of the entries that are out
NOT_RUN = "not run"


def may_exclude() -> bool:
    """Whether the page explores."""
    return st.session_state.get("mode", "explore") == "explore"


def excluded(whole_id: str) -> frozenset[str]:
    """Ids of the entries that are out of these sets; none in another mode."""
    return frozenset(st.session_state.get(PLACE, {}).get(whole_id, ()) if may_exclude() else ())


def exclude(whole_id: str, ids: Collection[str]) -> None:
    """Takes more entries out."""
    out = st.session_state.setdefault(PLACE, {})
    out[whole_id] = sorted(excluded(whole_id) | set(ids))


def put_back(whole_id: str) -> None:
    st.session_state.get(PLACE, {}).pop(whole_id, None)


def applied(whole: Sets | None) -> Sets | None:
    """The sets without what is out. What is decided on them is kept under what they hold, so no lock or
    decision on the whole sets speaks for them."""
    out = excluded(whole.sets_id) if whole is not None else frozenset()
    if whole is None or not out:
        return whole
    target, retro = (tuple(item for item in items if item.item_id not in out) for items in (whole.target, whole.retro))
    n = len(whole.target) + len(whole.retro) - len(target) - len(retro)
    name = f"{whole.name}, {n:,} excluded"
    return Sets.without_study(name, target, retro, study_ids=whole.study_ids, n_aside=whole.n_aside, notes=whole.notes)


def effect(whole: Sets, sets: Sets, view: dict, tests: dict) -> None:
    """How many entries are out, and each test with and without them; nothing where none is out."""
    if whole is sets:
        return
    counts = [len(whole.target) - len(sets.target), len(whole.retro) - len(sets.retro)]
    with st.container(border=True, key="exclusion"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{sum(counts):,} {'entry' if sum(counts) == 1 else 'entries'} excluded by hand: {counts[0]:,} benchmark, "
                f"{counts[1]:,} holdout.** Every number on this page leaves them out.",
                width="content",
            )
            st.button("Put back", key="put-back", icon=":material/undo:", on_click=put_back, args=(whole.sets_id,))
        before, _, _ = cached.four_tests(whole, view, False)
        show_table("without-excluded", _rows(before, tests))
        st.caption(
            "Chosen after seeing the map, so these results are exploratory: confirm them on entries that were set aside. "
            "Versions keeps the sets as they are now."
        )


def _rows(before: dict, after: dict) -> list[dict]:
    rows = []
    for name in dict.fromkeys([*before, *after]):
        row = {"test": TITLES[name]}
        for tests, words in ((before, "all entries"), (after, "without them")):
            test = tests.get(name)
            row[words] = plain(estimate_text(test)) if test else NOT_RUN
            row[f"verdict, {words}"] = outcome_claim(test).text if test else NOT_RUN
        rows.append(row)
    return rows
