"""Disagreements: what each reviewer said of a pair and why, and the third verdict that settles it."""

from collections.abc import Mapping

import streamlit as st

from flipcore.annotation.paraphrases.ratings import RATED, Disagreement
from flipcore.annotation.paraphrases.verdicts import CHECKS, VOTES, keeps, settling_row
from flipcore.store.queries import review
from pages.common import session
from pages.common.differences import differences
from pages.common.identity import name_field
from pages.common.notes import plain, shown_problem


def show(disagreements: list[Disagreement]) -> None:
    """Which pairs are open, and the one that is being settled."""
    st.subheader("Disagreements to settle", anchor=False)
    open_pairs = [one for one in disagreements if one.settled is None]
    if not disagreements:
        st.caption("No pair is kept by one reviewer and struck by another.")
        return
    st.markdown(
        f"People differ on {len(disagreements):,} of the pairs that two or more judged; "
        f"{len(open_pairs):,} {'is' if len(open_pairs) == 1 else 'are'} still to settle. A third person "
        "settles a pair: their verdict decides it, and does not count for agreement. A pair that they accept against its reviewers "
        "counts for the gate once no disagreement of its source is open."
    )
    names = {
        one.pair_id: f"{one.pair_id} · {', '.join(one.checks) or 'whole'}{'' if one.settled is None else ' · settled'}"
        for one in disagreements
    }
    pair_id = st.selectbox("Pair", list(names), format_func=names.__getitem__, key="disagreement", label_visibility="collapsed")
    _settle(next(one for one in disagreements if one.pair_id == pair_id))


def _settle(one: Disagreement) -> None:
    pair = review.pairs(session.store(), [one.pair_id])[0]
    left, right = st.columns(2)
    with left.container(border=True):
        st.caption("Original")
        differences(pair["paraphrase"], pair["original"], key=f"settle-a-{one.pair_id}", as_losses=True)
    with right.container(border=True):
        st.caption("Paraphrase")
        differences(pair["original"], pair["paraphrase"], key=f"settle-b-{one.pair_id}")
    if pair["options"]:
        st.caption("Options: " + plain(" · ".join(pair["options"])))
    rows = [*one.verdicts, *([one.settled] if one.settled else [])]
    st.markdown("  \n".join(_saying(row, "settles it and " if row is one.settled else "") for row in rows))
    with st.form(f"settle-{one.pair_id}", border=False):
        columns = st.columns(len(CHECKS))
        answers = {
            check: column.radio(question, VOTES, index=None, horizontal=True, key=f"settle-{check}-{one.pair_id}")
            for column, (check, question) in zip(columns, CHECKS.items(), strict=True)
        }
        name = name_field("Your name", key=f"settle-name-{one.pair_id}", max_chars=80, width=320)
        why = st.text_input("Reason", max_chars=2000, key=f"settle-why-{one.pair_id}")
        if st.form_submit_button("Settle it", type="primary", icon=":material/gavel:"):
            with shown_problem():
                _keep(pair, one, name, answers, why)
                st.rerun()


def _saying(row: Mapping, first: str) -> str:
    """One reviewer's verdict and reason on a line."""
    answers = ", ".join(f"{RATED[check]} {row[check]}" for check in CHECKS if row[check])
    does = "keeps" if keeps(row) else "strikes"
    return f"**{plain(row['reviewer'])}** {first}{does} it: {answers}. {plain(row['note'])}".strip()


def _keep(pair: dict, one: Disagreement, name: str, answers: dict, why: str) -> None:
    review.keep_verdicts(session.store(), [settling_row(pair, {row["reviewer"] for row in one.verdicts}, name, answers, why)])
