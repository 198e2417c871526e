"""What people said of single flips (marked in the inspector), and what that says of G."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.flips.human_share import human_share
from flipcore.store.queries import review
from pages.common import session
from pages.common.notes import plain


def show(study_id: str, model: str, readout: str, decomposition: Decomposition) -> None:
    """Beside the measured G of `decomposition`; the flips of its axis under its readout."""
    marks = review.flip_marks(session.store(), study_id, model, decomposition.axis, readout)
    st.subheader("What people made of single flips", anchor=False)
    st.markdown(plain(human_share(marks).sentence(decomposition.T, decomposition.G)))
    st.caption(
        "Flips are marked in the inspector: open a cell on Flip surface and press G (genuine), A (artifact) or U "
        "(unclear). The bounds take the marked flips for a fair sample of all; flips that were looked for are not."
    )
