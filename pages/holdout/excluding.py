"""Entries that somebody took out of the sets on the map, and what that changes in the tests.

Only while exploring: what is taken out after a look at the map changes every test, so no band over
margins holds for what is left, and under a lock the sets are those that were locked.
"""

from collections.abc import Collection

import streamlit as st

from flipcore.claims.holdout import outcome_claim
from flipcore.reports.holdout_sets import Sets, without_ids
from flipcore.stats.holdout.units import TITLES, estimate_text
from pages.common.showing import plain, show_table
from pages.holdout import cached

# In the session: id of the full sets -> ids of the entries that are out.
PLACE = "entries-excluded"
NOT_RUN = "not run"


def may_exclude() -> bool:
    return st.session_state.get("mode", "explore") == "explore"


def excluded(whole_id: str) -> frozenset[str]:
    """Return the ids of the entries that are out of these sets; none in another mode."""
    # In another mode the sets are those that were locked, or all.
    return frozenset(st.session_state.get(PLACE, {}).get(whole_id, ()) if may_exclude() else ())


def exclude(whole_id: str, ids: Collection[str]) -> None:
    out = st.session_state.setdefault(PLACE, {})
    out[whole_id] = sorted(excluded(whole_id) | set(ids))


def put_back(whole_id: str) -> None:
    st.session_state.get(PLACE, {}).pop(whole_id, None)


def applied(full_sets: Sets | None) -> Sets | None:
    """Return the sets without what is out.

    What is decided on them is kept under what they hold, so no lock or decision on the full sets
    speaks for them.
    """
    out = excluded(full_sets.sets_id) if full_sets is not None else frozenset()
    if full_sets is None or not out:
        return full_sets
    target, retro = without_ids(full_sets.target, out), without_ids(full_sets.retro, out)
    # The name says it, because the name stands in records and versions.
    n = len(full_sets.target) + len(full_sets.retro) - len(target) - len(retro)
    name = f"{full_sets.name}, {n:,} excluded"
    return Sets.without_study(
        name,
        target,
        retro,
        study_ids=full_sets.study_ids,
        n_aside=full_sets.n_aside,
        notes=full_sets.notes,
    )


def effect(full_sets: Sets, sets: Sets, view: dict, tests: dict) -> None:
    """Say how many entries are out, and show each test with and without them.

    Nothing where none is out.
    """
    if full_sets is sets:
        return
    counts = [len(full_sets.target) - len(sets.target), len(full_sets.retro) - len(sets.retro)]
    with st.container(border=True, key="exclusion"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{sum(counts):,} {'entry' if sum(counts) == 1 else 'entries'} excluded by "
                f"hand: {counts[0]:,} benchmark, "
                f"{counts[1]:,} holdout.** Every number on this page leaves them out.",
                width="content",
            )
            st.button(
                "Put back",
                key="put-back",
                icon=":material/undo:",
                on_click=put_back,
                args=(full_sets.sets_id,),
            )
        before, _, _ = cached.four_tests(full_sets, view, confirmatory=False)
        show_table("without-excluded", _rows(before, tests))
        st.caption(
            "Chosen after seeing the map, so these results are exploratory: confirm them on "
            "entries that were set aside. Versions keeps the sets as they are now."
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
