"""Marking one flip genuine, artifact or unclear (g, a, u): an appended row, never an overwritten one.
Beside the measured G stands how people judged single flips."""

import streamlit as st

from flipcore.annotation.flip_marks import mark_flip, own_mark
from flipcore.extractors import title_of
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.flips.human_share import human_share
from flipcore.store.queries import review
from pages.common import session
from pages.common.identity import name_field
from pages.common.showing import plain, shown_problem

KEYS = {"genuine": "g", "artifact": "a", "ambiguous": "u"}
WORDS = {"genuine": "Genuine", "artifact": "Artifact", "ambiguous": "Unclear"}

HOW_MARKED = (
    "Flips are marked in the inspector: open a cell of the map on Flips and press G (genuine), A (artifact) or U (unclear). The bounds "
    "assume that the marked flips are a random sample of all; flips that you searched for are not."
)


def flip_verdict_bar(
    study_id: str, model: str, item_id: str, axis: str, variant_id: str, other_variant_id: str, extractor: str
) -> None:
    """Asks whose this flip is and keeps the answer; says what this person said of it before, and how many were marked.
    Others' words are not shown."""
    flip = {
        "study_id": study_id,
        "model": model,
        "item_id": item_id,
        "axis": axis,
        "variant_id": variant_id,
        "other_variant_id": other_variant_id,
        "extractor": extractor,
    }
    st.markdown("**Is this flip genuine, or an artifact of the extractor?**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = name_field("Your name", key="flip-reviewer", placeholder="for the record", max_chars=80, width=180)
        pressed = [
            verdict
            for verdict, letter in KEYS.items()
            if st.button(WORDS[verdict], key=f"verdict-{verdict}", shortcut=letter, disabled=not name.strip())
        ]
    if not name.strip():
        st.caption("Give your name first, so that others can weigh your verdict.")
    for verdict in pressed:
        with shown_problem():
            mark_flip(session.store(), flip, verdict, name)
            st.toast(f"Recorded: {WORDS[verdict].lower()}.")
    marks = review.flip_marks(session.store(), study_id, model, axis, extractor)
    mine = own_mark(marks, flip, name)
    share = human_share(marks)
    own_note = f"You marked it {WORDS[mine].split(':')[0].lower()}. " if mine else ""
    st.caption(
        f"{own_note}Marked so far on this axis and extractor: {share.n:,} ({share.n_genuine:,} genuine, {share.n_artifact:,} "
        f"artifact, {share.n_ambiguous:,} unclear)."
    )


def marked_flips(study_id: str, model: str, readout: str, decomposition: Decomposition) -> None:
    """Beside the measured G of `decomposition`; the flips of its axis under its readout."""
    marks = review.flip_marks(session.store(), study_id, model, decomposition.axis, readout)
    st.subheader("How people judged single flips", anchor=False)
    st.markdown(plain(human_share(marks).sentence(decomposition.T, decomposition.G)))
    st.caption(HOW_MARKED)


def marked_flips_by_readout(study_id: str, model: str, cells: list[Decomposition]) -> None:
    """One line for each axis and readout of which somebody marked a flip; nothing where nobody did."""
    lines = []
    for one in cells:
        share = human_share(review.flip_marks(session.store(), study_id, model, one.axis, one.extractor))
        if share.n:
            where = f"{one.axis.replace('_', ' ')}, {title_of(one.extractor).lower()}"
            lines.append(f"**{plain(where)}**: {plain(share.sentence(one.T, one.G))}")
    if lines:
        st.subheader("How people judged single flips", anchor=False)
        st.markdown("  \n".join(lines))
        st.caption(HOW_MARKED)
