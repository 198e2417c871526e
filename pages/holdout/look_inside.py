"""Look inside: what would give a set away to somebody who reads closely? Duplicates first, then likeness, words, tokens."""

from collections.abc import Sequence

import streamlit as st

from flipcore.charts.likeness import pair_likeness
from flipcore.charts.theme import colours
from flipcore.claims.likeness import compared_claims
from flipcore.core.records import Item, digest
from flipcore.stats.holdout.duplicates import NEAR, duplicates
from flipcore.stats.holdout.entries import entry_text
from flipcore.store.connection import Store
from flipcore.text.counts import count_of
from pages.common.computing import computed
from pages.common.notes import plain, shown_problem
from pages.holdout import wording
from pages.holdout.likeness import comparison_of, embedding_choice
from pages.holdout.pairs import pair_table
from pages.holdout.selection import item_ids as selected_ids


@st.fragment
def show(target: Sequence[Item], retro: Sequence[Item], store: Store) -> None:
    """The tab, drawn again on its own when a setting of it changes."""
    key = digest([item.item_id for item in target], [item.item_id for item in retro])
    with shown_problem():
        _duplicates(key, target, retro)
    with shown_problem():
        _likeness(target, retro, store)
    with shown_problem():
        wording.words(key, target, retro)
    with shown_problem():
        wording.tokens(key, target, retro)


@computed("Looking for duplicates")
@st.cache_resource(show_spinner=False, max_entries=8)
def _pairs(key: str, near: float, _target, _retro):
    return duplicates([entry_text(item) for item in (*_target, *_retro)], near)


def _duplicates(key: str, target: Sequence[Item], retro: Sequence[Item]) -> None:
    st.subheader("Does an entry come twice?", anchor=False)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    near = right.slider(
        "Alike from",
        0.5,
        1.0,
        NEAR,
        0.05,
        key="near",
        bind="query-params",
        help="Share of the words that two entries have in common, in order.",
    )
    pairs, n = _pairs(key, near, target, retro), len(target)
    ids = [item.item_id for item in (*target, *retro)]
    rows = _only_selected(ids, "duplicates")
    pairs = [pair for pair in pairs if rows is None or {pair.first, pair.second} & rows]
    across = sum(pair.first < n <= pair.second for pair in pairs)
    if not pairs:
        left.markdown(f"No two of {n + len(retro):,} entries share {near:.0%} of their words in order.".replace("%", " %"))
        return
    exact = sum(pair.exact for pair in pairs)
    left.markdown(
        f"**{count_of(len(pairs), 'pair shares', 'pairs share')} {near:.0%} of their words in order: {across:,} across the sets, "
        f"{len(pairs) - across:,} within one; {exact:,} are word for word the same.** An entry that stands in both "
        "sets is no holdout, and one that stands twice in a set counts twice.".replace("%", " %")
    )
    texts = [entry_text(item) for item in (*target, *retro)]
    pair_table(
        [(texts[pair.first], texts[pair.second]) for pair in pairs],
        {
            "where": [
                "across" if pair.first < n <= pair.second else "target" if pair.second < n else "retro" for pair in pairs
            ],
            "words in common (%)": [round(100 * pair.similarity, 1) for pair in pairs],
        },
        key="duplicate-pairs",
        height=200,
    )


def _only_selected(ids: Sequence[str], key: str) -> set[int] | None:
    """Rows of the entries that were selected on the map, where only their pairs are wanted; None for all."""
    selection = set(selected_ids())
    rows = {row for row, item_id in enumerate(ids) if item_id in selection}
    if rows and st.toggle(f"Only pairs with the {len(rows):,} entries selected on the map", key=f"only-selected-{key}"):
        return rows
    return None


def _likeness(target: Sequence[Item], retro: Sequence[Item], store: Store) -> None:
    st.subheader("Are the entries of one set more alike than those of the other?", anchor=False)
    embedding = embedding_choice(len(target) + len(retro), "inside")
    if embedding is None:
        return
    comparison = comparison_of(target, retro, store, embedding)
    claim = compared_claims(comparison)[1]
    st.markdown(f"**{plain(claim.text)}**")
    st.caption(plain(claim.detail))
    st.plotly_chart(
        pair_likeness(*comparison.likeness_counts, colours(st.context.theme.type)),
        key="pair-likeness",
        theme=None,
        config={"displayModeBar": False},
        alt="Share of the pairs of either set by their cosine.",
    )
    st.caption(
        plain(
            f"{comparison.described}; all pairs within {len(target):,} target and within {len(retro):,} retro entries. "
            "Intervals from the entries' own means. The scale of the shares is a square "
            "root, so that the few very alike pairs at the right end show."
        )
    )
    st.markdown("**The ten most alike pairs of each set**")
    selection = _only_selected([item.item_id for item in comparison.items], "alike")
    for column, name, pairs in zip(st.columns(2), ("target", "retro"), comparison.most_alike(), strict=True):
        with column:
            if not pairs:
                st.info(f"The {name} set has no two entries.")
                continue
            pairs = [pair for pair in pairs if selection is None or set(pair[:2]) & selection]
            if not pairs:
                st.info("None of the ten holds a selected entry.")
                continue
            st.caption(f"Inside the {name}: the highest cosine is {pairs[0][2]:.3f}. Choose a row to see its pair.")
            pair_table(
                [(comparison.texts[i], comparison.texts[j]) for i, j, _ in pairs],
                {"cosine": [round(cosine, 3) for _, _, cosine in pairs]},
                key=f"alike-{name}",
            )
