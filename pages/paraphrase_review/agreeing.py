"""The part Agreement: where independent reviewers agree, and which paraphrases are kept."""

from collections.abc import Mapping, Sequence

import streamlit as st

from flipcore.annotation.paraphrases import ratings
from flipcore.annotation.paraphrases.verdicts import CHECKS, VOTES, keeps, settling_row
from flipcore.charts.interval_rows import interval_rows
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.base.retention import RULES
from flipcore.store.connection import ALL_STUDIES
from flipcore.store.judgements import PAIR_VERDICTS
from flipcore.store.queries import judgements, review
from flipcore.store.queries.review import ALL_SOURCES, sources_of_pairs, verdicts_of
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.differences import show_differences
from pages.common.identity import name_field
from pages.common.showing import plain, show_figure, show_table, shown_problem


def show() -> None:
    """Show how far reviewers agree, what is kept by which rule, and disagreements to settle."""
    verdicts = verdicts_of(session.store(), ALL_SOURCES)
    if not verdicts:
        st.info(
            "Nobody has judged a pair yet. Agreement can be measured once two people have judged "
            "the same pairs.",
            icon=":material/group:",
        )
        _offer_same_pairs()
        return
    source = _choose_source(verdicts)
    verdicts = verdicts_of(session.store(), source)
    by_check = _agreements(session.store().revision(ALL_STUDIES), source)
    # Models' verdicts are shown, but only people's verdicts count.
    model_note = ratings.models_sentence(verdicts)
    people_verdicts = ratings.verdicts_by_people(verdicts)
    st.markdown(f"## {plain(ratings.agreement_sentence(by_check[ratings.OVERALL]))}")
    n = len({row["pair_id"] for row in people_verdicts})
    st.caption(
        plain(f"Counted here: {count_of(n, 'stored pair')} of {source} that a person has judged.")
    )
    for text in ratings.agreement_warnings(by_check):
        st.warning(plain(text), icon=":material/warning:")
    if model_note:
        st.caption(plain(model_note))
    if ratings.is_too_few(by_check[ratings.OVERALL]):
        _offer_same_pairs()
    if any(agreement.alpha.n_items for agreement in by_check.values()):
        _show_coefficients(by_check)
    if people_verdicts:
        _show_retention(people_verdicts)
    _show_disagreements(ratings.disagreements(people_verdicts))


def _offer_same_pairs() -> None:
    st.button(
        "Give two reviewers the same pairs",
        key="same-pairs",
        icon=":material/group_add:",
        help="Opens Review with every pair shared: each judges under their own name, and none "
        "sees what the other said.",
        on_click=_share_pairs,
    )


def _share_pairs() -> None:
    # 100% of the pairs go to every reviewer.
    st.session_state["part"], st.session_state["shared"] = "Review", 100


def _show_coefficients(by_check: dict[str, ratings.CheckAgreement]) -> None:
    """Show agreement per check, and Cohen's kappa per pair of reviewers."""
    rows = [
        (ratings.LABELS[check].capitalize(), agreement.alpha.estimate)
        for check, agreement in by_check.items()
    ]
    show_figure("alphas", lambda colors: interval_rows(rows, colors))
    show_table(
        "agreement",
        [
            {
                "asked": ratings.LABELS[check].capitalize(),
                "pairs judged by two or more": agreement.alpha.n_items,
                "raw agreement": percent_text(agreement.alpha.raw),
                "Krippendorff's alpha": agreement.alpha.estimate.text(),
                "Fleiss' kappa": agreement.fleiss.estimate.text(),
                "on pairs": agreement.fleiss.n_items,
            }
            for check, agreement in by_check.items()
        ],
    )
    st.caption(
        "The picture shows Krippendorff's alpha with its interval over pairs: 1 is full agreement, "
        "0 what chance alone would give. Fleiss' kappa needs the same number of reviewers for each "
        "pair, so it is taken on the largest group of such pairs. A dash is undefined: everybody "
        "gave the same answer, or no two people judged the same pair."
    )
    if len(by_check[ratings.OVERALL].pairwise) > 0:
        pair_rows = []
        for check, agreement in by_check.items():
            for first, second, pairwise in agreement.pairwise:
                pair_rows.append(
                    {
                        "reviewer": first,
                        "and": second,
                        "asked": ratings.LABELS[check],
                        "pairs": pairwise.n_items,
                        "raw agreement": percent_text(pairwise.raw),
                        "Cohen's kappa": pairwise.estimate.text(),
                    }
                )
        with st.expander("Two by two: Cohen's kappa"):
            show_table("agreement-by-pair", pair_rows)


def _choose_source(verdicts: list[dict]) -> str:
    """Ask which source of pairs to show if several were judged; return it, or `ALL_SOURCES`."""
    sources = sources_of_pairs(session.store())
    names = sorted({sources[row["pair_id"]] for row in verdicts})
    if len(names) == 1:
        return names[0]
    return st.selectbox(
        "Pairs of", [ALL_SOURCES, *names], key="agreement-of", bind="query-params", width=420
    )


# `revision` is an argument so that a new verdict invalidates the cached result.
@session.computed("Resampling the pairs")
@st.cache_resource(show_spinner=False, max_entries=4)
def _agreements(revision: int, source: str) -> dict[str, ratings.CheckAgreement]:
    verdicts = ratings.verdicts_by_people(verdicts_of(session.store(), source))
    return {check: ratings.agreement(verdicts, check) for check in ratings.LABELS}


def _show_retention(verdicts: Sequence[Mapping]) -> None:
    """Show the share of pairs that each rule keeps."""
    st.subheader("What the audit keeps", anchor=False)
    rows = []
    for rule in RULES:
        # The paper of the paraphrase test (source 001) audits two checks, so show these, and all.
        for checks in (ratings.SOURCE_CHECKS, tuple(CHECKS)):
            share = ratings.retained(verdicts, rule, checks)
            rows.append(
                {
                    "rule": rule + (" (counts)" if rule == RULES[0] else ""),
                    "checks": ", ".join(ratings.LABELS[check] for check in checks),
                    "kept": share.text_percent(),
                    "of pairs": share.n,
                }
            )
    show_table("retention", rows)
    st.caption(
        "Wilson's interval. The majority rule is the one stored with every verdict and decides "
        "what may be asked; an even split rejects. The source of the paraphrase test audits "
        "meaning and solution path, without saying by which rule."
    )


def _show_disagreements(disagreements: list[ratings.Disagreement]) -> None:
    """List the pairs on which reviewers disagree, and show the chosen one with a form."""
    st.subheader("Disagreements to settle", anchor=False)
    open_pairs = [pair for pair in disagreements if pair.settled is None]
    if not disagreements:
        st.caption("No pair is kept by one reviewer and struck by another.")
        return
    st.markdown(
        f"People differ on {len(disagreements):,} of the pairs that two or more judged; "
        f"{len(open_pairs):,} {'is' if len(open_pairs) == 1 else 'are'} still to settle. A third "
        "person settles a pair: their verdict decides it, and does not count for agreement. A "
        "pair that they accept against its reviewers counts for the gate once no disagreement of "
        "its source is open."
    )
    names = {}
    for pair in disagreements:
        state = "" if pair.settled is None else " · settled"
        names[pair.pair_id] = f"{pair.pair_id} · {', '.join(pair.checks) or 'whole'}{state}"
    pair_id = st.selectbox(
        "Pair",
        list(names),
        format_func=names.__getitem__,
        key="disagreement",
        label_visibility="collapsed",
    )
    _show_disagreement(next(pair for pair in disagreements if pair.pair_id == pair_id))


def _show_disagreement(disagreement: ratings.Disagreement) -> None:
    """Show both texts, what each reviewer said, and the form for the verdict that settles it."""
    pair = review.pairs(session.store(), [disagreement.pair_id])[0]
    left, right = st.columns(2)
    with left.container(border=True):
        st.caption("Original")
        key = f"settle-a-{disagreement.pair_id}"
        show_differences(pair["paraphrase"], pair["original"], key=key, as_losses=True)
    with right.container(border=True):
        st.caption("Paraphrase")
        key = f"settle-b-{disagreement.pair_id}"
        show_differences(pair["original"], pair["paraphrase"], key=key)
    if pair["options"]:
        st.caption("Options: " + plain(" · ".join(pair["options"])))
    rows = [*disagreement.verdicts, *([disagreement.settled] if disagreement.settled else [])]
    st.markdown(
        "  \n".join(
            _verdict_line(row, "settles it and " if row is disagreement.settled else "")
            for row in rows
        )
    )
    with st.form(f"settle-{disagreement.pair_id}", border=False):
        columns = st.columns(len(CHECKS))
        answers = {
            check: column.radio(
                question,
                VOTES,
                index=None,
                horizontal=True,
                key=f"settle-{check}-{disagreement.pair_id}",
            )
            for column, (check, question) in zip(columns, CHECKS.items(), strict=True)
        }
        name = name_field(
            "Your name", key=f"settle-name-{disagreement.pair_id}", max_chars=80, width=320
        )
        reason = st.text_input("Reason", max_chars=2000, key=f"settle-why-{disagreement.pair_id}")
        if st.form_submit_button("Settle it", type="primary", icon=":material/gavel:"):
            with shown_problem():
                reviewers = {row["reviewer"] for row in disagreement.verdicts}
                row = settling_row(pair, reviewers, name, answers, reason)
                judgements.keep(session.store(), PAIR_VERDICTS, [row])
                st.rerun()


def _verdict_line(row: Mapping, prefix: str) -> str:
    answers = ", ".join(f"{ratings.LABELS[check]} {row[check]}" for check in CHECKS if row[check])
    action = "keeps" if keeps(row) else "strikes"
    return (
        f"**{plain(row['reviewer'])}** {prefix}{action} it: {answers}. {plain(row['note'])}".strip()
    )
