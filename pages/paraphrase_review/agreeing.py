"""Agreement: do reviewers who did not see each other say the same, where do they differ, and what does the audit keep?"""

from collections.abc import Mapping, Sequence

import streamlit as st

from flipcore.annotation.paraphrases import ratings
from flipcore.annotation.paraphrases.verdicts import CHECKS, VOTES, keeps, settling_row
from flipcore.charts.interval_rows import interval_rows
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.retention import RULES
from flipcore.store.queries import review
from flipcore.store.queries.review import EVERY, sources_of_pairs, verdicts_of
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.differences import differences
from pages.common.identity import name_field
from pages.common.showing import plain, show_figure, show_table, shown_problem


def show() -> None:
    verdicts = verdicts_of(session.store(), EVERY)
    if not verdicts:
        st.info(
            "Nobody has judged a pair yet. Agreement can be measured once two people have judged the same pairs.",
            icon=":material/group:",
        )
        _offer_same_pairs()
        return
    only = _source(verdicts)
    verdicts = verdicts_of(session.store(), only)
    by_check = _agreements(session.store().revision(""), only)
    beside, by_people = ratings.models_sentence(verdicts), ratings.people(verdicts)
    st.markdown(f"## {plain(ratings.agreement_sentence(by_check[ratings.OVERALL]))}")
    n = len({row["pair_id"] for row in by_people})
    st.caption(plain(f"Counted here: {count_of(n, 'stored pair')} of {only} that a person has judged."))
    for text in ratings.agreement_warnings(by_check):
        st.warning(plain(text), icon=":material/warning:")
    if beside:
        st.caption(plain(beside))
    if ratings.is_too_few(by_check[ratings.OVERALL]):
        _offer_same_pairs()
    if any(one.alpha.n_items for one in by_check.values()):
        _coefficients(by_check)
    if by_people:
        _retention(by_people)
    _settling(ratings.disagreements(by_people))


def _offer_same_pairs() -> None:
    st.button(
        "Give two reviewers the same pairs",
        key="same-pairs",
        icon=":material/group_add:",
        help="Opens Review with every pair shared: each judges under their own name, and none sees what the other said.",
        on_click=_share_pairs,
    )


def _share_pairs() -> None:
    st.session_state["part"], st.session_state["shared"] = "Review", 100


def _coefficients(by_check: dict[str, ratings.CheckAgreement]) -> None:
    rows = [(ratings.RATED[check].capitalize(), one.alpha.estimate) for check, one in by_check.items()]
    show_figure("alphas", lambda c: interval_rows(rows, c))
    show_table(
        "agreement",
        [
            {
                "asked": ratings.RATED[check].capitalize(),
                "pairs judged by two or more": one.alpha.n_items,
                "raw agreement": percent_text(one.alpha.raw),
                "Krippendorff's alpha": one.alpha.estimate.text(),
                "Fleiss' kappa": one.fleiss.estimate.text(),
                "on pairs": one.fleiss.n_items,
            }
            for check, one in by_check.items()
        ],
    )
    st.caption(
        "The picture shows Krippendorff's alpha with its interval over pairs: 1 is full agreement, 0 what chance alone "
        "would give. Fleiss' kappa needs equally many reviewers a pair and is taken on the largest such group. A dash "
        "is undefined: everybody gave the same one answer, or nobody judged together."
    )
    if len(by_check[ratings.OVERALL].pairwise) > 0:
        with st.expander("Two by two: Cohen's kappa"):
            show_table(
                "agreement-by-pair",
                [
                    {
                        "reviewer": a,
                        "and": b,
                        "asked": ratings.RATED[check],
                        "pairs": one.n_items,
                        "raw agreement": percent_text(one.raw),
                        "Cohen's kappa": one.estimate.text(),
                    }
                    for check, whole in by_check.items()
                    for a, b, one in whole.pairwise
                ],
            )


def _source(verdicts: list[dict]) -> str:
    """Which pairs the page looks at, chosen where more than one source was judged."""
    sources = sources_of_pairs(session.store())
    names = sorted({sources[row["pair_id"]] for row in verdicts})
    if len(names) == 1:
        return names[0]
    return st.selectbox("Pairs of", [EVERY, *names], key="agreement-of", bind="query-params", width=420)


@session.computed("Resampling the pairs")
@st.cache_resource(show_spinner=False, max_entries=4)
def _agreements(revision: int, only: str) -> dict[str, ratings.CheckAgreement]:
    verdicts = ratings.people(verdicts_of(session.store(), only))
    return {check: ratings.agreement(verdicts, check) for check in ratings.RATED}


def _retention(verdicts: Sequence[Mapping]) -> None:
    st.subheader("What the audit keeps", anchor=False)
    show_table(
        "sources",
        [
            {
                "rule": rule + (" (counts)" if rule == RULES[0] else ""),
                "checks": ", ".join(ratings.RATED[check] for check in checks),
                "kept": share.text_percent(),
                "of pairs": share.n,
            }
            for rule in RULES
            for checks in (ratings.SOURCE_CHECKS, tuple(CHECKS))
            for share in [ratings.retained(verdicts, rule, checks)]
        ],
    )
    st.caption(
        "Wilson's interval. The majority rule is the one stored with every verdict and decides what may be asked; an "
        "even split rejects. The source of the paraphrase test audits meaning and solution path, without saying by which rule."
    )


# Disagreements: what each reviewer said of a pair and why, and the third verdict that settles it.


def _settling(several: list[ratings.Disagreement]) -> None:
    """Which pairs are open, and the one that is being settled."""
    st.subheader("Disagreements to settle", anchor=False)
    open_pairs = [one for one in several if one.settled is None]
    if not several:
        st.caption("No pair is kept by one reviewer and struck by another.")
        return
    st.markdown(
        f"People differ on {len(several):,} of the pairs that two or more judged; "
        f"{len(open_pairs):,} {'is' if len(open_pairs) == 1 else 'are'} still to settle. A third person "
        "settles a pair: their verdict decides it, and does not count for agreement. A pair that they accept against its reviewers "
        "counts for the gate once no disagreement of its source is open."
    )
    names = {
        one.pair_id: f"{one.pair_id} · {', '.join(one.checks) or 'whole'}{'' if one.settled is None else ' · settled'}"
        for one in several
    }
    pair_id = st.selectbox("Pair", list(names), format_func=names.__getitem__, key="disagreement", label_visibility="collapsed")
    _settle(next(one for one in several if one.pair_id == pair_id))


def _settle(one: ratings.Disagreement) -> None:
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
                row = settling_row(pair, {row["reviewer"] for row in one.verdicts}, name, answers, why)
                review.keep_verdicts(session.store(), [row])
                st.rerun()


def _saying(row: Mapping, first: str) -> str:
    answers = ", ".join(f"{ratings.RATED[check]} {row[check]}" for check in CHECKS if row[check])
    does = "keeps" if keeps(row) else "strikes"
    return f"**{plain(row['reviewer'])}** {first}{does} it: {answers}. {plain(row['note'])}".strip()
