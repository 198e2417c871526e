"""Do they agree? Which detector flags which item, and how far any two say the same."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.memory.detectors import Pair, flag_table, pairs, share_flagged_by_all
from pages.common.notes import how_to_read, plain
from pages.memorization.cached import View, flags
from pages.memorization.items import item_table


def show(view: View, mode: str, settings: dict, controls) -> None:
    by_detector = flags(view, settings)
    if len(by_detector) < 2:
        st.info(
            "Agreement needs two detectors on the same items. Add another loss, PEARL with a second similarity, or an axis "
            "that rewrites.",
            icon=":material/join_inner:",
        )
        return
    share = share_flagged_by_all(by_detector)
    st.markdown(
        "### "
        + plain(
            "No item lies beyond any detector's cut-off."
            if not share.n
            else f"{share.n:,} items lie beyond the cut-off of one or more of {len(by_detector)} detectors; {share.text()} of them "
            "beyond every one that judged them."
        )
    )
    st.caption("Some items lie beyond a cut-off by chance alone. What holds for the set stands under Summary.")
    compared = pairs(by_detector)
    st.dataframe([_row(one) for one in compared], hide_index=True)
    st.caption(plain(_distrust(compared)))
    st.markdown("**Items, those that most detectors flag first**")
    item_table(
        view,
        flag_table(by_detector),
        "paraphrase" if view.kind != "completion" else "bit_flip",
        "question_loss",
        key="agreement-items",
    )
    how_to_read(
        "κ is agreement beyond chance: 0 is what independent detectors show, 1 is perfect. Detectors measure different "
        "things. Losses see the wording; PEARL sees whether a damaged text can be continued; a broken answer sees whether "
        "the result depends on the published form. Where few items are flagged, κ is unstable, and its interval says so."
    )


def _row(one: Pair) -> dict:
    return {
        "detector": one.first,
        "and": one.second,
        "κ": "–" if _is_silent(one) else one.agreement.estimate.text(),
        "same verdict, %": round(100 * one.agreement.raw, 1),
        "both flag": one.both,
        "first only": one.first_only,
        "second only": one.second_only,
        "items": one.agreement.n_items,
    }


def _is_silent(one: Pair) -> bool:
    """One of the two flags nothing: κ is then 0 whatever the other does, or undefined."""
    return min(one.both + one.first_only, one.both + one.second_only) == 0


def _distrust(compared: list[Pair]) -> str:
    """Why some κ mean little: one verdict prevails, or two detectors never differ."""
    rare = sum(map(_is_silent, compared))
    same = [f"{one.first} and {one.second}" for one in compared if one.both and not one.first_only and not one.second_only]
    sentences = [f"In {rare} of {len(compared)} pairs one detector flags nothing, so κ says nothing there."] if rare else []
    sentences += [f"{', '.join(same)} flag the very same items."] if same else []
    return " ".join(sentences)
