"""The part Do they agree?: which detector flags which item, and how far two detectors agree."""

import streamlit as st

from flipcore.detectors import opened_under
from flipcore.stats.memory.detectors import (
    flag_table,
    pair_rows,
    pairs,
    pairs_note,
    share_flagged_by_all,
)
from flipcore.text.counts import count_of
from pages.common import screen
from pages.common.showing import how_to_read, plain, show_table
from pages.memorization.cached import View, flags
from pages.memorization.items import show_item_table


def show(view: View, mode: str, settings: dict, controls: screen.Controls) -> None:
    """Show how far the detectors agree, per pair and per item."""
    by_detector = flags(view, settings)
    if len(by_detector) < 2:
        st.info(
            "Agreement needs two detectors on the same items. Add another loss, PEARL with a "
            "second similarity, or an axis that rewrites.",
            icon=":material/join_inner:",
        )
        return
    share, headline = share_flagged_by_all(by_detector), "No detector flags an item."
    if share.n:
        by_all = "none by all."
        if share.value:
            n_by_all = round(share.value * share.n)
            by_all = f"{n_by_all:,} of them by every detector that judged them."
        flagged = f"{count_of(share.n, 'item is', 'items are')} flagged by one or more"
        headline = f"{flagged} of {len(by_detector)} detectors, {by_all}"
    st.markdown(f"## {plain(headline)}")
    st.caption(
        "Flagged: beyond a detector's cut-off, or broken by its change; some by chance alone. "
        "What holds for the set stands under Summary."
    )
    overlaps = pairs(by_detector)
    show_table("detector-agreement", pair_rows(overlaps))
    st.caption(plain(pairs_note(overlaps)))
    st.markdown("**Items, those that most detectors flag first**")
    axis, readout = opened_under(view.frame)
    show_item_table(view, flag_table(by_detector), axis, readout, key="agreement-items")
    how_to_read(
        "κ is agreement beyond chance: 0 is what independent detectors show, 1 is perfect. "
        "Detectors measure different things. Losses see the wording; PEARL sees whether a damaged "
        "text can be continued; a broken answer sees whether the result depends on the published "
        "form. Where few items are flagged, κ is unstable, and its interval says so."
    )
