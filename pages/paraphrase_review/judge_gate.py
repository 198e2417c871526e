"""The gate of a study's judge: agreement with people, the order of the options, and itself when asked again."""

import streamlit as st

from flipcore.annotation.judge_labels import gate_rows
from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.theme import colours
from flipcore.claims.gates import judge_claim
from pages.common import gates
from pages.common.header import show_badges
from pages.common.notes import plain
from pages.common.tables import show_table


def judge_gate(study_id: str) -> None:
    """Verdict, progress, figure and table of the gate."""
    report = gates.judge_report_of(study_id)
    _, position, again = report.sentences
    st.markdown(f"## {plain(judge_claim(report.gate).text)}")
    if not report.gate.is_open:
        show_badges([("JUDGE NOT PASSED", "JUDGE NOT PASSED")])
    st.progress(
        min(1.0, report.gate.agreement.n_items / report.gate.fewest),
        text=f"{report.gate.agreement.n_items:,} of at least {report.gate.fewest} texts labelled; {report.n_texts:,} were judged",
    )
    for text in report.gate.agreement.warnings:
        st.warning(plain(text), icon=":material/warning:")
    if report.gate.agreement.n_items:
        rows = [("Kappa against people", report.gate.agreement.estimate)]
        st.plotly_chart(
            interval_rows(rows, colours(st.context.theme.type), report.gate.threshold, "lower bound wanted"),
            key="judge-kappa",
            theme=None,
            config={"displayModeBar": False},
        )
    show_table("judge-gate", gate_rows(report))
    st.markdown(plain(position))
    st.markdown(plain(again))
    if report.n_even:
        st.caption(f"On {report.n_even} texts people are evenly divided; they have no label until one more person reads them.")
    st.caption(
        "An unreadable reply counts as an answer of its own. A judge that has not passed is shown on every page and "
        "excluded from all conclusions. Whoever labels sees the text and the options, not what the judge said."
    )
