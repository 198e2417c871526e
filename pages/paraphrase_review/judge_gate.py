"""The gate of a study's judge: agreement with people, the order of the options, and itself when asked again."""

from __future__ import annotations

import streamlit as st

from flipcore.annotation.judge_labels import gate_rows
from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.theme import colours
from pages.common import judging
from pages.common.header import show_badges
from pages.common.notes import plain


def judge_gate(study_id: str) -> None:
    """Verdict, progress, figure and table of the gate."""
    found = judging.report(study_id)
    gate, position, again = found.sentences
    st.markdown(f"### {plain(gate)}")
    if not found.gate.is_open:
        show_badges([("JUDGE NOT PASSED", "JUDGE NOT PASSED")])
    st.progress(
        min(1.0, found.gate.agreement.n_items / found.gate.fewest),
        text=f"{found.gate.agreement.n_items:,} of at least {found.gate.fewest} texts labelled; {found.n_texts:,} were judged",
    )
    for text in found.gate.agreement.warnings:
        st.warning(plain(text), icon=":material/warning:")
    if found.gate.agreement.n_items:
        rows = [("Kappa against people", found.gate.agreement.estimate)]
        st.plotly_chart(
            interval_rows(rows, colours(st.context.theme.type), found.gate.threshold, "lower bound wanted"),
            key="judge-kappa",
            theme=None,
            config={"displayModeBar": False},
        )
    st.dataframe(gate_rows(found), hide_index=True)
    st.markdown(plain(position))
    st.markdown(plain(again))
    if found.n_even:
        st.caption(
            f"{found.n_even} texts were read differently by as many people as agreed; they have no label until one more "
            "person reads them."
        )
    st.caption(
        "An unreadable reply counts as a reading of its own. A judge that has not passed is shown on every page and "
        "excluded from all conclusions. Whoever labels sees the text and the options, not what the judge said."
    )
