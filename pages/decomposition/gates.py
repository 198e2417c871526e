"""Gates on the Decomposition page: what may not be claimed, and what would open it."""

from __future__ import annotations

import streamlit as st

from flipcore.stats.flips.decomposition import Decomposition
from pages.common import gates
from pages.common.notes import plain


def closed(study_id: str, cells: list[Decomposition]) -> dict[str, str]:
    """Axis or readout -> the sentence that says what is missing; empty when everything here may be claimed."""
    return gates.closed(study_id, {one.axis for one in cells}, {one.extractor for one in cells})


def notice(closed: dict[str, str]) -> None:
    """Each reason once, with all that it closes."""
    for why in dict.fromkeys(closed.values()):
        names = [name.replace("_", " ") for name in closed if closed[name] == why]
        st.warning(plain(f"Not claimed: {' and '.join(names)}. {why}"), icon=":material/door_front:")
