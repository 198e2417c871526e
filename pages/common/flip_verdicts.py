"""People's marks on single flips: genuine, artifact or unclear (keys g, a, u).

Marks are appended, never overwritten. The page shows their shares next to the measured G.
"""

import streamlit as st

from flipcore.annotation.flip_marks import flip_marks, mark_flip, own_mark
from flipcore.extractors import title_of
from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.flips.human_share import human_share
from flipcore.store.judgements import FLIP_MARKS
from pages.common import session
from pages.common.identity import name_field
from pages.common.showing import plain, shown_problem

KEYS = {"genuine": "g", "artifact": "a", "ambiguous": "u"}
WORDS = {"genuine": "Genuine", "artifact": "Artifact", "ambiguous": "Unclear"}

HOW_MARKED = (
    "Flips are marked in the inspector: open a cell of the map on Flips and press G (genuine), A "
    "(artifact) or U (unclear). The bounds "
    "assume that the marked flips are a random sample of all; flips that you searched for are not."
)


def ask_flip_verdict(
    study_id: str,
    model: str,
    item_id: str,
    axis: str,
    variant_id: str,
    other_variant_id: str,
    extractor: str,
) -> None:
    """Ask whether the flip is genuine and store the mark.

    Show this person's earlier mark of the flip, and how many flips were marked so far. Marks of
    other people are counted but not shown, because they would influence this one.
    """
    flip = {
        "study_id": study_id,
        "model": model,
        "item_id": item_id,
        "axis": axis,
        "variant_id": variant_id,
        "other_variant_id": other_variant_id,
        "extractor": extractor,
    }
    st.markdown(f"**{FLIP_MARKS.question}**")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = name_field(
            "Your name", key="flip-reviewer", placeholder="for the record", max_chars=80, width=180
        )
        pressed = [
            verdict
            for verdict, letter in KEYS.items()
            if st.button(
                WORDS[verdict], key=f"verdict-{verdict}", shortcut=letter, disabled=not name.strip()
            )
        ]
    if not name.strip():
        st.caption("Give your name first, so that others can weigh your verdict.")
    for verdict in pressed:
        with shown_problem():
            mark_flip(session.store(), flip, verdict, name)
            st.toast(f"Recorded: {WORDS[verdict].lower()}.")
    # Read after the new mark was stored, so that the count includes it.
    marks = flip_marks(session.store(), study_id, model, axis, extractor)
    own_verdict = own_mark(marks, flip, name)
    share = human_share(marks)
    own_note = f"You marked it {WORDS[own_verdict].split(':')[0].lower()}. " if own_verdict else ""
    st.caption(
        f"{own_note}Marked so far on this axis and extractor: {share.n:,} ({share.n_genuine:,} "
        f"genuine, {share.n_artifact:,} artifact, {share.n_ambiguous:,} unclear)."
    )


def show_marked_flips(study_id: str, model: str, readout: str, cell: Decomposition) -> None:
    """Show the shares of marks on the flips of one axis and extractor, next to the measured G."""
    marks = flip_marks(session.store(), study_id, model, cell.axis, readout)
    st.subheader("How people judged single flips", anchor=False)
    st.markdown(plain(human_share(marks).sentence(cell.T, cell.G)))
    st.caption(HOW_MARKED)


def show_marked_flips_by_extractor(study_id: str, model: str, cells: list[Decomposition]) -> None:
    """Show one line per axis and extractor that has a marked flip; nothing without marks."""
    lines = []
    for cell in cells:
        share = human_share(flip_marks(session.store(), study_id, model, cell.axis, cell.extractor))
        if share.n:
            where = f"{cell.axis.replace('_', ' ')}, {title_of(cell.extractor).lower()}"
            lines.append(f"**{plain(where)}**: {plain(share.sentence(cell.T, cell.G))}")
    if lines:
        st.subheader("How people judged single flips", anchor=False)
        st.markdown("  \n".join(lines))
        st.caption(HOW_MARKED)
