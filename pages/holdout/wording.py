"""Words and tokens: what does one set say more often, and by what does a classifier know it?"""

from collections.abc import Sequence

import streamlit as st

from flipcore.charts.giveaways import giveaway_bars
from flipcore.charts.theme import colours
from flipcore.claims.likeness import words_claim
from flipcore.core.records import Item
from flipcore.stats.holdout.entries import entry_text, one_per_source, paired_rows
from flipcore.stats.holdout.ngrams import NgramTable, ngrams
from flipcore.vectors import classifiers
from pages.common.computing import computed
from pages.common.notes import plain
from pages.common.tables import show_table

N_SHOWN = 15


@computed("Counting words")
@st.cache_resource(show_spinner=False, max_entries=8)
def _ngram_table(key: str, _target, _retro) -> NgramTable:
    target, retro, _ = one_per_source(_target, _retro)
    pairs = paired_rows(target, retro)
    items = [*target, *retro]
    rows = range(len(items)) if pairs is None else pairs
    texts, half = [entry_text(items[row]) for row in rows], len(target) if pairs is None else len(rows) // 2
    return ngrams(texts[:half], texts[half:], paired=pairs is not None)


def words(key: str, target: Sequence[Item], retro: Sequence[Item]) -> None:
    table = _ngram_table(key, target, retro)
    st.subheader("Which words does one set use more?", anchor=False)
    claim = words_claim(table)
    st.markdown(f"**{plain(claim.text)}**")
    st.caption(plain(claim.detail))
    top = table.rows[:N_SHOWN]
    if top:
        st.plotly_chart(
            giveaway_bars(
                [row.text for row in top],
                [row.log_odds.value for row in top],
                [row.log_odds.low for row in top],
                [row.log_odds.high for row in top],
                colours(st.context.theme.type),
                title="log odds that an entry contains it, with 95 % interval",
            ),
            key="ngrams",
            theme=None,
            config={"displayModeBar": False},
            alt="The words and word pairs that differ most between the sets.",
        )
        show_table(
            "words",
            [
                {
                    "n-gram": row.text,
                    "target entries": row.entries_target,
                    "retro entries": row.entries_retro,
                    "target total": row.total_target,
                    "retro total": row.total_retro,
                    "log odds": row.log_odds.text(),
                    "p": row.p,
                    "q": row.q,
                }
                for row in table.rows[:1_000]
            ],
            height=320,
            column_config={name: st.column_config.NumberColumn(format="%.2g") for name in "pq"},
        )
    st.caption(
        f"{table.n_target:,} target entries with {table.n_words_target:,} words, {table.n_retro:,} retro entries with "
        f"{table.n_words_retro:,}; words and pairs in at least {table.fewest} entries. Totals count every occurrence, "
        "entries those with at least one. Only entries are tested (exactly), because one may repeat a word in every option. "
        "The bars are those with the smallest p; q is p at a false discovery rate over all of them."
    )


@computed("Running 5-fold cross-validation")
@st.cache_resource(show_spinner=False, max_entries=8)
def _giveaways(key: str, classifier: str, _target, _retro):
    return classifiers.giveaways(_target, _retro, classifier)


def tokens(key: str, target: Sequence[Item], retro: Sequence[Item]) -> None:
    st.subheader("What does the classifier rely on?", anchor=False)
    by_name = {one.name: one for one in classifiers.CLASSIFIERS if not one.needs_vectors}
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    classifier = by_name[
        right.selectbox(
            "Classifier",
            list(by_name),
            key="giveaway-classifier",
            bind="query-params",
            format_func=lambda name: by_name[name].title,
        )
    ]
    left.caption(
        f"{classifier.about} The pull of a token is measured on entries that the classifier was not trained on, and "
        "only tokens that pull the same way in every fold are shown. Whether the sets can be told apart is in Tests."
    )
    if classifier.why_not():
        st.info(plain(classifier.why_not()), icon=":material/extension_off:")
        return
    if classifier.name != classifiers.DEFAULT and not st.toggle("Fine-tune and attribute", key="giveaway-run"):
        return
    token_rows = _giveaways(key, classifier.name, target, retro)
    if not token_rows:
        st.info("No token pulls the same way in every fold, so there is none to list.")
        return
    _token_figure(token_rows[:N_SHOWN])
    _token_table(token_rows[:1_000])


def _token_figure(top: Sequence[classifiers.Giveaway]) -> None:
    st.plotly_chart(
        giveaway_bars(
            [one.token for one in top],
            [one.weight for one in top],
            [one.lowest for one in top],
            [one.highest for one in top],
            colours(st.context.theme.type),
            title="mean pull on held-out entries, with the range over five folds",
        ),
        key="giveaways",
        theme=None,
        config={"displayModeBar": False},
        alt="Tokens that speak for one set, strongest first.",
    )


def _token_table(rows: Sequence[classifiers.Giveaway]) -> None:
    show_table(
        "features",
        [
            {
                "token": one.token,
                "pull": round(one.weight, 3),
                "least": round(one.lowest, 3),
                "most": round(one.highest, 3),
                "target entries": one.n_target,
                "retro entries": one.n_retro,
            }
            for one in rows
        ],
        height=320,
    )
