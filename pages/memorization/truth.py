"""Ground truth: what each detector sees of items that the model read a known number of times."""

from __future__ import annotations

import streamlit as st

from pages.common import session
from pages.memorization import ground_truth
from pages.memorization.cached import View, scores


def show(view: View, mode: str, settings: dict, controls) -> None:
    by_detector = {name.split(" (")[0]: mine for name, mine in scores(view).items()}  # units would only lengthen the sentence
    doses = session.doses(view.study_id)
    items = {item for mine in by_detector.values() for item in mine}
    ground_truth.show(by_detector, {item: doses.get(item) for item in items}, session.fresh_items(view.study_id) & items)
    st.caption(
        "The same with all doses, 150 controls and 400 fresh items a family: `python -m flipcore run "
        "data/ground_truth.toml`, some ten minutes on two cores."
    )
