"""What people made of single flips, beside the measured G of the same axis and readout."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.flips.decomposition import Decomposition
from flipcore.stats.flips.human_share import human_share
from flipcore.store.queries import review
from pages.common import session
from pages.common.notes import plain
from pages.decomposition.cached import title_of


def summary(study_id: str, model: str, cells: list[Decomposition]) -> None:
    """One line for each axis and readout of which somebody marked a flip; nothing where nobody did."""
    lines = []
    for one in cells:
        share = human_share(review.flip_marks(session.store(), study_id, model, one.axis, one.extractor))
        if share.n:
            where = f"{one.axis.replace('_', ' ')}, {title_of(one.extractor).lower()}"
            lines.append(f"**{plain(where)}**: {plain(share.sentence(one.T, one.G))}")
    if lines:
        st.subheader("What people made of single flips", anchor=False)
        st.markdown("  \n".join(lines))
        st.caption(
            "Marked in the inspector: open a cell on Flip surface and press G (genuine), A (artifact) or U (unclear). "
            "The bounds take the marked flips for a fair sample of all; flips that were looked for are not."
        )
