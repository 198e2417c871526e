"""The next step on two sets, and the margin that a lock starts from: both computed in the core, kept here."""

import streamlit as st

from flipcore.claims.next_steps import next_step
from flipcore.reports.holdout import set_facts
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.starting_margin import StartingMargin, starting_margin
from flipcore.store.queries import holdout
from pages.common import session
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
