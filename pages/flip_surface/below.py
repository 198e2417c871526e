"""Under the map: how often readouts disagree with each other, and the items that flip most."""

from __future__ import annotations

import streamlit as st

from flipcore.charts.matrix import matrix
from flipcore.charts.theme import colours
from flipcore.stats import surface
from flipcore.stats.readouts import disagreements
from pages.common import session


@st.cache_resource(show_spinner=False, max_entries=16)
def _disagreements(study_id: str, model: str, revision: int):
    frame = session.readouts(study_id, revision)
    return disagreements(frame[frame["model"] == model])


def disagreement(study_id: str, model: str, title_of) -> None:
    """The same completion read in two ways: how often do they differ?"""
    st.subheader("Do the readouts agree with each other?", anchor=False)
    found = _disagreements(study_id, model, session.store().revision(study_id))
    if len(found.extractors) < 2:
        st.info("This study has one readout, so there is nothing to compare. Add another one and run it again: what was "
                "asked is not asked twice.")
        return
    st.markdown(found.sentence(title_of))
    left, right = st.columns([3, 2])
    left.plotly_chart(matrix(found.share, [title_of(name) for name in found.extractors], colours(st.context.theme.type)),
                      key="disagreement", theme=None, config={"displayModeBar": False})
    right.dataframe(found.table(title_of), hide_index=True)
    right.caption("Share of answers to the same variant and sample that differ; unreadable against an answer counts as "
                  "different, absent readouts are left out.")


def most_flips(first, second, rows: list[int], questions: dict[str, str], titles: tuple[str, str]) -> None:
    st.subheader("Which items flip most?", anchor=False)
    order = [i for i in surface.order_of(first, second, "field", first.items) if i in set(rows)][:25]
    table = [{"item": first.items[i].split("@")[0], "question": questions.get(first.items[i], ""),
              f"{title} (% of pairs)": None if share != share else round(100 * share, 1)}
             | {f"{titles[1]} (% of pairs)": None if other != other else round(100 * other, 1)}
             for i in order for title, share, other in [(titles[0], surface.row_mean(first, i), surface.row_mean(second, i))]]
    st.dataframe(table, hide_index=True)
