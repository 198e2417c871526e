"""Are the controls like the benchmark? What the loss test's p-values rest on, looked at in three ways."""

import streamlit as st

from flipcore.stats.memory.loss_analysis import LossTest
from flipcore.stats.memory.loss_diagnostics import Diagnosis, diagnosis
from pages.common import session
from pages.common.cached import cached
from pages.common.notes import plain, shown_problem
from pages.common.tables import show_table
from pages.memorization.cached import View, loss, losses


def show(view: View, measure: str, test: LossTest) -> None:
    """Computed on request: it trains a small classifier a few hundred times."""
    if not st.toggle("Check that controls and benchmark are exchangeable", key="exchange", bind="query-params"):
        st.caption("The p-values are valid only if a control could have been an item: same length, topics and difficulty.")
        return
    with shown_problem():
        report = _diagnosis(view, measure)
        st.markdown(plain(report.exchangeability.sentence()))
        show_table(
            "flagged-by-p",
            [
                {"p-values": name, "flagged after Benjamini-Hochberg": n, "without a p": missing}
                for name, n, missing in report.rows
            ],
        )


@cached("Comparing the texts", 16)
def _diagnosis(view: View, measure: str) -> Diagnosis:
    items = session.study_items(view.study_id).set_index("item_id")
    rows, control_rows = losses(view, measure)
    texts, topics = (
        [items.loc[frame["item_id"], column].tolist() for frame in (rows, control_rows)] for column in ("question", "category")
    )
    base = [frame["reworded"] if frame["reworded"].notna().all() else frame["original"] for frame in (rows, control_rows)]
    return diagnosis(loss(view, measure), texts, base, topics)
