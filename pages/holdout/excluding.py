"""Entries that somebody excluded on the map, and how that changes the tests.

This is possible in explore mode only. An exclusion after a look at the map changes every test, so
simultaneous intervals would not hold for the rest. A lock fixes the sets.
"""

from collections.abc import Collection, Mapping

import streamlit as st

from flipcore.claims.holdout import outcome_claim
from flipcore.reports.holdout_sets import Sets, without_ids
from flipcore.stats.holdout.units import TITLES, estimate_text
from pages.common.showing import plain, show_table
from pages.holdout import cached

# Key of the session state: id of the full sets -> ids of the excluded entries.
EXCLUDED_KEY = "entries-excluded"
NOT_RUN = "not run"


def may_exclude() -> bool:
    return st.session_state.get("mode", "explore") == "explore"


def excluded_ids(whole_id: str) -> frozenset[str]:
    """Return the ids that are excluded from the full sets with this id; none in other modes."""
    if not may_exclude():
        return frozenset()
    return frozenset(st.session_state.get(EXCLUDED_KEY, {}).get(whole_id, ()))


def exclude(whole_id: str, ids: Collection[str]) -> None:
    ids_by_sets = st.session_state.setdefault(EXCLUDED_KEY, {})
    ids_by_sets[whole_id] = sorted(excluded_ids(whole_id) | set(ids))


def put_back(whole_id: str) -> None:
    st.session_state.get(EXCLUDED_KEY, {}).pop(whole_id, None)


def without_excluded(full_sets: Sets | None) -> Sets | None:
    """Return the sets without the excluded entries; the same object if none is excluded.

    The smaller sets have an id of their own, so no lock or decision on the full sets applies.
    """
    ids = excluded_ids(full_sets.sets_id) if full_sets is not None else frozenset()
    if full_sets is None or not ids:
        return full_sets
    target, retro = without_ids(full_sets.target, ids), without_ids(full_sets.retro, ids)
    # The number is part of the name, because records and versions show the name.
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


def show_effect(full_sets: Sets, sets: Sets, view: dict, tests: Mapping) -> None:
    """Show how many entries are excluded, and each test with and without them; nothing if none."""
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
        full_report = cached.four_tests(full_sets, view, confirmatory=False)
        show_table("without-excluded", _rows(full_report.tests, tests))
        st.caption(
            "Chosen after seeing the map, so these results are exploratory: confirm them on "
            "entries that were set aside. Versions keeps the sets as they are now."
        )


def _rows(full_tests: Mapping, remaining_tests: Mapping) -> list[dict]:
    rows = []
    for name in dict.fromkeys([*full_tests, *remaining_tests]):
        row = {"test": TITLES[name]}
        for tests, column in ((full_tests, "all entries"), (remaining_tests, "without them")):
            test = tests.get(name)
            row[column] = plain(estimate_text(test)) if test else NOT_RUN
            row[f"verdict, {column}"] = outcome_claim(test).text if test else NOT_RUN
        rows.append(row)
    return rows
