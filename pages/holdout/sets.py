"""Which share of two sets is set aside, chosen on the page and kept in the link; reading both sets once."""

import streamlit as st

from flipcore.core.records import digest
from flipcore.core.study import ItemSource
from flipcore.reports.holdout_sets import Sets, divided_sets, sets_of_sources
from pages.common import screen, session
from pages.common.computing import computed

SHARES = (0.0, 0.3, 0.5)


def read_sets(name: str, sources: list[ItemSource]) -> Sets:
    """Both sets, kept for as long as their sources are the same."""
    return _read(name, tuple(digest(source.__dict__) for source in sources), sources)


@computed("Reading both sets")
@st.cache_resource(show_spinner=False, max_entries=16)
def _read(name: str, keys: tuple[str, ...], _sources: list[ItemSource]) -> Sets:
    return sets_of_sources(name, _sources)


def divided(sets: Sets, confirmatory: bool) -> Sets:
    """The part of the sets that may be shown, at the share that the page or its link sets aside."""
    share = float(st.session_state.get("aside", share_in_link()) or 0.0)
    return divided_sets(session.store(), sets, share, confirmatory)


def share_in_link() -> float:
    """The share that the link sets aside, so that a reload never shows what was hidden."""
    text = st.query_params.get("aside", "")
    return next((share for share in SHARES if text == f"{share:g}"), 0.0)


def keep_in_link(share: float | None) -> None:
    """Puts the chosen share into the link, or takes it out."""
    if share:
        st.query_params["aside"] = f"{share:g}"
    else:
        st.query_params.pop("aside", None)


def choose_share_aside(sets: Sets, is_locked: bool) -> None:
    """The share of entries that only a lock opens: chosen here, or said where the study declares it."""
    if sets.is_of_study:
        st.caption(
            f"Set aside for confirmation: {100 * sets.share_aside:.0f} %, as the study declares. Duplicate it to "
            "have another share."
        )
    else:
        keep_in_link(
            screen.segments(
                "Set aside for confirmation",
                SHARES,
                "aside",
                default=share_in_link(),
                bind=None,
                label_visibility="visible",
                disabled=is_locked or sets.share_aside > 0,
                format_func=lambda share: f"about {100 * share:.0f} %" if share else "nothing",
                help="For good: no page shows these entries until margins are stored in Locked mode. "
                "Assignment depends only on the entry's own text.",
            )
        )
