"""Under the board: what another wording would give, whose the uncertainty is, where the next call goes, and every number."""

import streamlit as st

from flipcore.claims.score import share_words
from flipcore.reports.score import (
    ModelScore,
    ScoreReport,
    axis_rows,
    best_sentence,
    next_rows,
    reader_rows,
    score_rows,
    share_rows,
    wording_rows,
)
from pages.common.notes import plain
from pages.common.tables import show_table


def under_board(report: ScoreReport) -> None:
    """The parts of one model; of several the chosen one."""
    for one in report.models:
        if one.elsewhere.text:
            st.markdown(plain(one.elsewhere.text))
    for difference in report.differences:
        st.markdown(plain(difference.claim.text))
        st.caption(plain(difference.claim.detail))
    names = [one.model for one in report.models]
    name = st.selectbox("Model", names, key="score-model", bind="query-params", width=330) if len(names) > 1 else names[0]
    one = report.of(name) or report.models[0]
    left, right = st.columns(2, gap="large")
    with left:
        _shares(one)
    with right:
        _next(one)
    if rows := axis_rows(one):
        st.subheader("One change at a time", anchor=False)
        show_table("score-axes", rows)
    _numbers(one)


def _shares(one: ModelScore) -> None:
    st.subheader("Whose is the uncertainty?", anchor=False)
    if not one.shares:
        st.markdown(plain(one.bar.by_wordings.note))
        return
    st.markdown(plain(share_words(one.shares)))
    show_table("score-shares", share_rows(one))


def _next(one: ModelScore) -> None:
    st.subheader("Where does the next call go?", anchor=False)
    if not one.gains:
        st.markdown("Known once there are 10 questions in three ways drawn at random.")
        return
    st.markdown(plain(one.next_sentence))
    show_table("score-next", next_rows(one))
    n_calls = st.number_input(
        "Calls to spend in all", 6, 10_000_000, one.n_calls, key="score-budget", bind="query-params", width=220
    )
    st.caption(plain(best_sentence(one, int(n_calls))))


def _numbers(one: ModelScore) -> None:
    st.subheader("Every number", anchor=False)
    show_table("score-intervals", score_rows(one))
    left, right = st.columns(2, gap="large")
    if rows := wording_rows(one):
        show_table("score-wordings", rows, place=left)
    if len(one.readers) > 1:
        show_table("score-readers", reader_rows(one), place=right)
