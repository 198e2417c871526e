"""The next step on two sets, and the margin that a lock starts from: both computed in the core, kept here."""

import streamlit as st

from flipcore.claims.next_steps import next_step
from flipcore.reports.holdout import set_facts
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.starting_margin import StartingMargin, starting_margin
from flipcore.store.queries import holdout, locks
from pages.common import modes, session
from pages.holdout import cached


@st.cache_data(show_spinner=False, max_entries=16)
def _start(sets_id: str, embedding: str, _sets: Sets) -> StartingMargin | None:
    n = len(_sets.target)
    return starting_margin(cached.vectors(_sets, embedding)[0][:n], [item.category for item in _sets.target])


def start_of(sets: Sets, view: dict) -> StartingMargin | None:
    """The margin that the target's groups suggest; only of a part that the test will not read, so of entries beside those that
    are set aside."""
    return _start(sets.sets_id, view["embedding"], sets) if sets.share_aside and len(sets.target) >= 10 else None


def with_start(sets: Sets | None, view: dict) -> dict:
    """What a lock stores: where no semantic margin was set, the one of the explored part, and what it means."""
    start = start_of(sets, view) if sets is not None and view["semantic"] is None else None
    return view | ({"semantic": start.margin, "semantic_margin_is": start.meaning} if start else {})


def what_next(sets: Sets, tests: dict, view: dict, confirmatory: bool) -> str:
    """The next step, with its cost."""
    has_survey = bool(holdout.surveys(session.store(), sets.sets_id))
    facts = set_facts(sets.target, cached.all_conditions(sets, confirmatory, boosted=False), has_survey)
    return next_step(tests, len(sets.target), len(sets.retro), start_of(sets, view), bool(sets.share_aside), facts).text


# A lock on two sets: margins, embedding, classifier and seed are stored before the entries that were set aside are read.


def offer_lock(sets: Sets, settings: dict) -> None:
    """What a lock would fix, and the button; or why there is nothing to lock."""
    if sets.share_aside == 0:
        how = (
            "Duplicate the study with a share set aside for confirmation."
            if sets.is_of_study
            else "Choose a share to set aside under View: it counts nowhere until you lock. What you saw of it before stays seen."
        )
        st.info(f"No entries were set aside, so there is nothing to confirm on. {how}", icon=":material/lock_open:")
        return
    n_target, n_retro = n_aside(sets)
    st.caption(f"{n_target:,} target and {n_retro:,} retro entries were set aside.")
    fixed = settings | {"sets": sets.name, "n_target": n_target, "n_retro": n_retro, "share_aside": sets.share_aside}
    own = None if sets.is_of_study else [item.item_id for item in (*sets.target, *sets.retro)]
    modes.offer_button(sets.record_id, "holdout", fixed, "lock-holdout", own)


def n_aside(sets: Sets) -> tuple[int, int]:
    """How many target and retro entries were set aside; a study's are counted without being read."""
    if not sets.is_of_study:
        return len(sets.target), len(sets.retro)
    target, retro = (locks.n_set_aside(session.store(), sets.record_id, role) for role in ("target", "retro"))
    return target, retro
