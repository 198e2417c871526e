"""Under the map: how often readouts disagree with each other, and the items that flip most."""

import streamlit as st

from flipcore.charts.matrix import matrix
from flipcore.stats.flips.readout_mismatch import disagreements
from pages.common.cached import cached
from pages.common.inspector import open_item
from pages.common.notes import plain
from pages.common.tables import show_figure, show_table
from pages.flips.map_data import of_model


@cached("Comparing the extractors", 16)
def _disagreements(study_id: str, model: str):
    return disagreements(of_model(study_id, model))


def disagreement(study_id: str, model: str, title_of) -> None:
    """The same completion read in two ways: how often do they differ?"""
    st.subheader("Do the extractors agree with each other?", anchor=False)
    agreement = _disagreements(study_id, model)
    if len(agreement.extractors) < 2:
        st.info(
            "This study has one extractor, so there is nothing to compare. Add another and run it again: calls "
            "that were answered are not repeated."
        )
        return
    st.markdown(plain(agreement.sentence(title_of)))
    left, right = st.columns([3, 2])
    show_figure(
        "disagreement", lambda c: matrix(agreement.share, [title_of(name) for name in agreement.extractors], c), place=left
    )
    show_table("disagreement", place=right, rows=agreement.table(title_of))
    right.caption(
        "Share of answers to the same variant and sample that differ. First with an unreadable answer as an answer of its "
        "own, then where both read one. Absent readouts and answers that were cut off are left out."
    )


def most_flips(table: list[dict]) -> None:
    """Beside the map while nothing is opened; a row opens in the inspector where it flips most."""
    st.markdown("**Which items flip most?** Click a cell of the map, or choose a row here, to read the two outputs behind it.")

    def opened() -> None:
        for row in st.session_state["most-flips"].selection.rows:
            open_item(table[row]["id"], axis=table[row]["column"])

    show_table(
        "most-flips",
        table,
        key="most-flips",
        on_select=opened,
        selection_mode="single-row",
        height=480,
        column_config={
            "id": None,
            "column": None,
            "question": st.column_config.TextColumn(width="medium"),
            **{name: st.column_config.NumberColumn(format="%.2f") for name in table[0] if name.endswith(", share")},
        },
    )
