"""Agreement: do reviewers who did not see each other say the same, where do they differ, and what does the audit keep?"""

from __future__ import annotations

import math

import streamlit as st

from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.theme import colours
from flipcore.errors import BadInput
from flipcore.review.ratings import (
    KEPT,
    RATED,
    SOURCE_CHECKS,
    CheckAgreement,
    Disagreement,
    agreement,
    agreement_warnings,
    disagreements,
    retained,
)
from flipcore.review.verdicts import ADJUDICATION, CHECKS, SAID, keeps, reviewer_name, verdict_row
from flipcore.stats.estimate import number_text
from flipcore.stats.retention import RULES
from flipcore.store import review_queries
from pages.common import session
from pages.common.differences import differences
from pages.common.notes import plain, shown_problem

EVERY = "all sources"


def show() -> None:
    verdicts = _of(review_queries.verdicts(session.store()), EVERY)
    if not verdicts:
        st.info("Nobody has judged a pair yet. Agreement can be measured once two people have judged the same pairs.",
                icon=":material/group:")
        return
    only = _source(verdicts)
    verdicts = _of(verdicts, only)
    found = _agreements(session.store().revision(""), only)
    st.markdown(f"### {plain(_sentence(found[KEPT]))}")
    for text in agreement_warnings(found):
        st.warning(plain(text), icon=":material/warning:")
    if found[KEPT].alpha.n_items:
        rows = [(RATED[check].capitalize(), one.alpha.estimate) for check, one in found.items()]
        st.plotly_chart(interval_rows(rows, colours(st.context.theme.type)), key="alphas", theme=None,
                        config={"displayModeBar": False})
    st.dataframe([{"asked": RATED[check].capitalize(), "pairs judged by two or more": one.alpha.n_items,
                   "raw agreement": number_text(one.alpha.raw), "Krippendorff's alpha": one.alpha.estimate.text(),
                   "Fleiss' kappa": one.fleiss.estimate.text(), "on pairs": one.fleiss.n_items}
                  for check, one in found.items()], hide_index=True)
    st.caption("The picture shows Krippendorff's alpha with its interval over pairs: 1 is full agreement, 0 what chance alone "
               "would give. Fleiss' kappa needs equally many reviewers a pair and is taken on the largest such group. A dash "
               "is undefined: everybody gave the same one answer, or nobody judged together.")
    if len(found[KEPT].pairwise) > 0:
        with st.expander("Two by two: Cohen's kappa"):
            st.dataframe([{"reviewer": a, "and": b, "asked": RATED[check], "pairs": one.n_items,
                           "raw agreement": number_text(one.raw), "Cohen's kappa": one.estimate.text()}
                          for check, whole in found.items() for a, b, one in whole.pairwise], hide_index=True)
    _retention(verdicts)
    _adjudication(disagreements(verdicts))


def _source(verdicts: list[dict]) -> str:
    """Which pairs the page looks at, chosen where more than one source was judged."""
    sources = _sources()
    judged = sorted({sources[row["pair_id"]] for row in verdicts})
    if len(judged) == 1:
        return judged[0]
    return st.selectbox("Pairs of", [EVERY, *judged], key="agreement-of", bind="query-params", width=420)


def _sources() -> dict[str, str]:
    """Pair -> dataset and generator."""
    return {row["pair_id"]: f"{row['dataset']} · {row['generator']}" for row in review_queries.strata(session.store())}


def _of(verdicts: list[dict], only: str) -> list[dict]:
    sources = _sources()
    return [row for row in verdicts if row["pair_id"] in sources and only in (EVERY, sources[row["pair_id"]])]


@st.cache_resource(show_spinner="Resampling the pairs …", max_entries=4)
def _agreements(revision: int, only: str) -> dict[str, CheckAgreement]:
    verdicts = _of(review_queries.verdicts(session.store()), only)
    return {check: agreement(verdicts, check) for check in RATED}


def _sentence(found: CheckAgreement) -> str:
    if not found.alpha.n_items:
        return "No pair has been judged by two people yet, so agreement is not measured."
    said = (f"On {found.alpha.n_items:,} pair{'s' * (found.alpha.n_items > 1)} judged by two or more, {found.alpha.raw:.0%} of "
            "the judgements agree about keeping the pair")
    if math.isnan(found.alpha.estimate.value):
        return f"{said}. All say the same one thing, so agreement beyond chance is undefined."
    return f"{said}; beyond chance that is {found.alpha.estimate.text()} (Krippendorff's alpha)."


def _retention(verdicts: list[dict]) -> None:
    st.subheader("What the audit keeps", anchor=False)
    st.dataframe([{"rule": rule + (" (counts)" if rule == RULES[0] else ""),
                   "checks": ", ".join(RATED[check] for check in checks), "kept": found.text(3), "of pairs": found.n}
                  for rule in RULES for checks in (SOURCE_CHECKS, tuple(CHECKS))
                  for found in [retained(verdicts, rule, checks)]], hide_index=True)
    st.caption("Wilson's interval. The majority rule is the one stored with every verdict and decides what may be asked; an "
               "even split rejects. Source 001 audits meaning and solution path, without saying by which rule.")


def _adjudication(found: list[Disagreement]) -> None:
    st.subheader("Disagreements to settle", anchor=False)
    left = [one for one in found if one.settled is None]
    if not found:
        st.caption("No pair is kept by one reviewer and struck by another.")
        return
    st.markdown(f"{len(left):,} of {len(found):,} are open. A third person settles one with a verdict and a reason, having "
                "seen both; such a verdict counts for the pair, not for agreement.")
    names = {one.pair_id: f"{one.pair_id} · {', '.join(one.checks) or 'whole'}{'' if one.settled is None else ' · settled'}"
             for one in found}
    chosen = st.selectbox("Pair", list(names), format_func=names.get, key="disagreement", label_visibility="collapsed")
    _settle(next(one for one in found if one.pair_id == chosen))


def _settle(one: Disagreement) -> None:
    pair = review_queries.pairs(session.store(), [one.pair_id])[0]
    left, right = st.columns(2)
    with left.container(border=True):
        st.caption("Original")
        differences(pair["paraphrase"], pair["original"], key=f"settle-a-{one.pair_id}", gone=True)
    with right.container(border=True):
        st.caption("Paraphrase")
        differences(pair["original"], pair["paraphrase"], key=f"settle-b-{one.pair_id}")
    if pair["options"]:
        st.caption("Options: " + plain(" · ".join(pair["options"])))
    rows = [*one.verdicts, *([one.settled] if one.settled else [])]
    st.markdown("  \n".join(_saying(row, "settles it and " if row is one.settled else "") for row in rows))
    with st.form(f"settle-{one.pair_id}", border=False):
        columns = st.columns(len(CHECKS))
        said = {check: column.radio(question, SAID, index=None, horizontal=True, key=f"settle-{check}-{one.pair_id}")
                for column, (check, question) in zip(columns, CHECKS.items(), strict=True)}
        name = st.text_input("Your name", max_chars=80, key=f"settle-name-{one.pair_id}", width=320)
        why = st.text_input("Reason", max_chars=2000, key=f"settle-why-{one.pair_id}")
        if st.form_submit_button("Settle it", type="primary", icon=":material/gavel:"):
            with shown_problem():
                _keep(pair, one, name, said, why)
                st.rerun()


def _saying(row: dict, first: str) -> str:
    """One reviewer's verdict and reason on a line."""
    said = ", ".join(f"{RATED[check]} {row[check]}" for check in CHECKS if row[check])
    does = "keeps" if keeps(row) else "strikes"
    return f"**{plain(row['reviewer'])}** {first}{does} it: {said}. {plain(row['note'])}".strip()


def _keep(pair: dict, one: Disagreement, name: str, said: dict, why: str) -> None:
    name = reviewer_name(name)
    if name in {row["reviewer"] for row in one.verdicts}:
        raise BadInput(f"{name} has judged this pair already: somebody else has to settle it.")
    if None in said.values() or not why.strip():
        raise BadInput("To settle a pair, answer all three questions and give the reason.")
    row = verdict_row(pair, name, said, why, rule_version=ADJUDICATION)
    review_queries.keep_verdicts(session.store(), [row])
