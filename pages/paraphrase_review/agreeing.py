"""Agreement: do reviewers who did not see each other say the same, where do they differ, and what does the audit keep?"""

from collections.abc import Mapping, Sequence

import streamlit as st

from flipcore.annotation.paraphrases.ratings import (
    OVERALL,
    RATED,
    SOURCE_CHECKS,
    CheckAgreement,
    agreement,
    agreement_sentence,
    agreement_warnings,
    disagreements,
    models_sentence,
    people,
    retained,
)
from flipcore.annotation.paraphrases.verdicts import CHECKS
from flipcore.charts.interval_rows import interval_rows
from flipcore.charts.theme import colours
from flipcore.stats.base.estimate import number_text
from flipcore.stats.base.retention import RULES
from flipcore.store.queries.review import EVERY, sources_of_pairs, verdicts_of
from flipcore.text.counts import count_of
from pages.common import session
from pages.common.computing import computed
from pages.common.notes import plain
from pages.common.tables import show_table
from pages.paraphrase_review import settling


def show() -> None:
    verdicts = verdicts_of(session.store(), EVERY)
    if not verdicts:
        st.info(
            "Nobody has judged a pair yet. Agreement can be measured once two people have judged the same pairs.",
            icon=":material/group:",
        )
        return
    only = _source(verdicts)
    verdicts = verdicts_of(session.store(), only)
    by_check = _agreements(session.store().revision(""), only)
    beside, by_people = models_sentence(verdicts), people(verdicts)
    st.markdown(f"## {plain(agreement_sentence(by_check[OVERALL]))}")
    n = len({row["pair_id"] for row in by_people})
    st.caption(plain(f"Counted here: {count_of(n, 'stored pair')} of {only} that a person has judged."))
    for text in agreement_warnings(by_check):
        st.warning(plain(text), icon=":material/warning:")
    if beside:
        st.caption(plain(beside))
    if any(one.alpha.n_items for one in by_check.values()):
        _coefficients(by_check)
    else:
        st.info(
            "Agreement needs two people on the same pairs: let a second one judge under Review, where a share of the pairs "
            "goes to everybody.",
            icon=":material/group_add:",
        )
    if by_people:
        _retention(by_people)
    settling.show(disagreements(by_people))


def _coefficients(by_check: dict[str, CheckAgreement]) -> None:
    rows = [(RATED[check].capitalize(), one.alpha.estimate) for check, one in by_check.items()]
    st.plotly_chart(
        interval_rows(rows, colours(st.context.theme.type)), key="alphas", theme=None, config={"displayModeBar": False}
    )
    show_table(
        "agreement",
        [
            {
                "asked": RATED[check].capitalize(),
                "pairs judged by two or more": one.alpha.n_items,
                "raw agreement": number_text(one.alpha.raw),
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
    if len(by_check[OVERALL].pairwise) > 0:
        with st.expander("Two by two: Cohen's kappa"):
            show_table(
                "agreement-by-pair",
                [
                    {
                        "reviewer": a,
                        "and": b,
                        "asked": RATED[check],
                        "pairs": one.n_items,
                        "raw agreement": number_text(one.raw),
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


@computed("Resampling the pairs")
@st.cache_resource(show_spinner=False, max_entries=4)
def _agreements(revision: int, only: str) -> dict[str, CheckAgreement]:
    verdicts = people(verdicts_of(session.store(), only))
    return {check: agreement(verdicts, check) for check in RATED}


def _retention(verdicts: Sequence[Mapping]) -> None:
    st.subheader("What the audit keeps", anchor=False)
    show_table(
        "sources",
        [
            {
                "rule": rule + (" (counts)" if rule == RULES[0] else ""),
                "checks": ", ".join(RATED[check] for check in checks),
                "kept": share.text(3),
                "of pairs": share.n,
            }
            for rule in RULES
            for checks in (SOURCE_CHECKS, tuple(CHECKS))
            for share in [retained(verdicts, rule, checks)]
        ],
    )
    st.caption(
        "Wilson's interval. The majority rule is the one stored with every verdict and decides what may be asked; an "
        "even split rejects. The source of the paraphrase test audits meaning and solution path, without saying by which rule."
    )
