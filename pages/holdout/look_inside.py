"""The part Look inside: duplicates, alike entries, words and tokens that tell the sets apart."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from flipcore.charts.entry_map import SETS
from flipcore.charts.holdout import giveaway_bars, pair_likeness
from flipcore.claims.likeness import embedding_claims, words_claim
from flipcore.core.records import Item, digest
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.duplicates import NEAR, duplicates
from flipcore.stats.holdout.entries import entry_text, one_per_source, paired_rows
from flipcore.stats.holdout.ngrams import NgramTable, ngrams
from flipcore.store.connection import Store
from flipcore.text.counts import count_of
from flipcore.vectors import classifiers
from pages.common import screen
from pages.common.differences import show_differences
from pages.common.session import computed
from pages.common.showing import plain, show_figure, show_table, shown_problem
from pages.holdout.likeness import comparison_of, embedding_choice, selected_ids


@st.fragment
def show(target: Sequence[Item], retro: Sequence[Item], store: Store) -> None:
    """Draw the part. As a fragment, it is drawn again alone when one of its settings changes."""
    key = digest([item.item_id for item in target], [item.item_id for item in retro])
    # Separate, so that an error in one section does not hide the others.
    with shown_problem():
        _show_duplicates(key, target, retro)
    with shown_problem():
        _show_likeness(target, retro, store)
    with shown_problem():
        _show_words(key, target, retro)
    with shown_problem():
        _show_tokens(key, target, retro)


@computed("Looking for duplicates")
@st.cache_resource(show_spinner=False, max_entries=8)
def _duplicate_pairs(key: str, near: float, _target, _retro):
    return duplicates([entry_text(item) for item in (*_target, *_retro)], near)


def _show_duplicates(key: str, target: Sequence[Item], retro: Sequence[Item]) -> None:
    """Show pairs of entries with nearly the same words, within and across the sets."""
    st.subheader("Does an entry come twice?", anchor=False)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    near = right.slider(
        "Alike from",
        min_value=0.5,
        max_value=1.0,
        value=NEAR,
        step=0.05,
        key="near",
        bind="query-params",
        help="Share of the words that two entries have in common, in order.",
    )
    # Pairs hold indices that count benchmark and then holdout entries.
    pairs, n = _duplicate_pairs(key, near, target, retro), len(target)
    ids = [item.item_id for item in (*target, *retro)]
    rows = _choose_rows(ids, "duplicates")
    pairs = [pair for pair in pairs if rows is None or {pair.first, pair.second} & rows]
    n_across = sum(pair.first < n <= pair.second for pair in pairs)
    if not pairs:
        left.markdown(
            f"No two of {n + len(retro):,} entries share {near:.0%} of their words in order."
        )
        return
    n_exact = sum(pair.exact for pair in pairs)
    left.markdown(
        f"**{count_of(len(pairs), 'pair shares', 'pairs share')} {near:.0%} of their words in "
        f"order: {n_across:,} across the sets, {len(pairs) - n_across:,} within one; "
        f"{n_exact:,} are word for word the same.** An entry that stands in both sets is no "
        "holdout, and one that stands twice in a set counts twice."
    )
    texts = [entry_text(item) for item in (*target, *retro)]
    show_pair_table(
        [(texts[pair.first], texts[pair.second]) for pair in pairs],
        {
            "where": [
                "across" if pair.first < n <= pair.second else SETS[pair.first >= n]
                for pair in pairs
            ],
            "words in common (%)": [round(100 * pair.similarity, 1) for pair in pairs],
        },
        key="duplicate-pairs",
        height=200,
    )


def _choose_rows(ids: Sequence[str], key: str) -> set[int] | None:
    """Offer to limit pairs to entries selected on the map; return their indices, None for all."""
    selection = set(selected_ids())
    rows = {row for row, item_id in enumerate(ids) if item_id in selection}
    if rows and st.toggle(
        f"Only pairs with the {len(rows):,} entries selected on the map", key=f"only-selected-{key}"
    ):
        return rows
    return None


def _show_likeness(target: Sequence[Item], retro: Sequence[Item], store: Store) -> None:
    """Show how alike the entries of each set are, by the cosine of their embeddings."""
    st.subheader("Are the entries of one set more alike than those of the other?", anchor=False)
    embedding = embedding_choice(len(target) + len(retro), "inside")
    if embedding is None:
        return
    comparison = comparison_of(target, retro, store, embedding)
    claim = embedding_claims(comparison)[1]
    st.markdown(f"**{plain(claim.text)}**")
    st.caption(plain(claim.detail))
    alt = "Share of the pairs of either set by their cosine."
    show_figure("pair-likeness", lambda c: pair_likeness(*comparison.likeness_counts, c), alt=alt)
    st.caption(
        plain(
            f"{comparison.described}; all pairs within {len(target):,} benchmark and within "
            f"{len(retro):,} holdout entries. Intervals from the entries' own means. The scale of "
            "the shares is a square root, so that the few very alike pairs at the right end show."
        )
    )
    _show_alike_across(comparison)
    st.markdown("**The ten most alike pairs of each set**")
    selection = _choose_rows([item.item_id for item in comparison.items], "alike")
    for column, name, pairs in zip(st.columns(2), SETS, comparison.most_alike(), strict=True):
        with column:
            if not pairs:
                st.info(f"The {name} has no two entries.")
                continue
            # A pair is (index, index, cosine).
            pairs = [pair for pair in pairs if selection is None or set(pair[:2]) & selection]
            if not pairs:
                st.info("None of the ten holds a selected entry.")
                continue
            st.caption(
                f"Inside the {name}: the highest cosine is {pairs[0][2]:.3f}. Choose a row to see "
                "its pair."
            )
            show_pair_table(
                [(comparison.texts[i], comparison.texts[j]) for i, j, _ in pairs],
                {"cosine": [round(cosine, 3) for _, _, cosine in pairs]},
                key=f"alike-{name}",
            )


def _show_alike_across(comparison: Comparison) -> None:
    """Show the most alike pairs of a benchmark and a holdout entry, which may be copies."""
    st.markdown("**The most alike pairs across the sets**")
    pairs = comparison.alike_across
    st.caption(
        "By embedding (cosine) and by the words that both have in common, in order. A holdout that "
        "copies its benchmark shows here, while no test of the whole sets finds one copied entry. "
        "Choose a row to see its pair."
    )
    show_pair_table(
        [(comparison.texts[pair.target], comparison.texts[pair.retro]) for pair in pairs],
        {
            "cosine": [round(pair.cosine, 3) for pair in pairs],
            "words in common (%)": [round(100 * pair.words, 1) for pair in pairs],
            "declared source": ["yes" if pair.is_declared else "" for pair in pairs],
        },
        key="alike-across",
        height=240,
    )


MAX_ROWS = 500


def show_pair_table(
    pairs: Sequence[tuple[str, str]],
    values: dict[str, Sequence],
    *,
    key: str,
    height: int | Literal["auto"] = "auto",
) -> None:
    """List pairs of texts; show the chosen pair below, with the differing words marked.

    The first pair is shown until another is chosen. `values` are further columns: name -> values.
    """
    rows = [
        {name: column[i] for name, column in values.items()} | {"first": first, "second": second}
        for i, (first, second) in enumerate(pairs[:MAX_ROWS])
    ]
    event = show_table(
        key,
        rows,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        height=height,
        column_config={
            name: st.column_config.TextColumn(width="medium") for name in ("first", "second")
        },
    )
    row_index = next((row for row in event.selection.rows if row < len(rows)), 0)
    if len(pairs) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS} are listed.")
    first, second = pairs[row_index]
    with st.container(border=True):
        left, right = st.columns(2)
        with left:
            show_differences(second, first, key=f"{key}-one", as_losses=True)
        with right:
            show_differences(first, second, key=f"{key}-other")


N_BARS = 15


@computed("Counting words")
@st.cache_resource(show_spinner=False, max_entries=8)
def _ngram_table(key: str, _target, _retro) -> NgramTable:
    target, retro, _ = one_per_source(_target, _retro)
    pairs = paired_rows(target, retro)
    items = [*target, *retro]
    # Entries written from the same source are compared in pairs.
    rows = range(len(items)) if pairs is None else pairs
    texts = [entry_text(items[row]) for row in rows]
    half = len(target) if pairs is None else len(rows) // 2
    return ngrams(texts[:half], texts[half:], paired=pairs is not None)


def _show_words(key: str, target: Sequence[Item], retro: Sequence[Item]) -> None:
    """Show the words and word pairs that one set uses more often than the other."""
    table = _ngram_table(key, target, retro)
    st.subheader("Which words does one set use more?", anchor=False)
    claim = words_claim(table)
    st.markdown(f"**{plain(claim.text)}**")
    st.caption(plain(claim.detail))
    # More bars than these are illegible. The table below has up to 1,000 rows.
    top = table.rows[:N_BARS]
    if top:
        show_figure(
            "ngrams",
            lambda c: giveaway_bars(
                [row.text for row in top],
                [row.log_odds.value for row in top],
                [row.log_odds.low for row in top],
                [row.log_odds.high for row in top],
                c,
                title="log odds that an entry contains it, with 95% interval",
            ),
            alt="The words and word pairs that differ most between the sets.",
        )
        show_table(
            "words",
            [
                {
                    "n-gram": row.text,
                    "benchmark entries": row.entries_target,
                    "holdout entries": row.entries_retro,
                    "benchmark total": row.total_target,
                    "holdout total": row.total_retro,
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
        f"{table.n_target:,} benchmark entries with {table.n_words_target:,} words, "
        f"{table.n_retro:,} holdout entries with {table.n_words_retro:,}; words and pairs in at "
        f"least {table.fewest} entries. Totals count every occurrence, entries those with at least "
        "one. Only entries are tested (exactly), because one may repeat a word in every option. "
        "The bars are those with the smallest p; q is p at a false discovery rate over all of "
        "them."
    )


@computed("Running 5-fold cross-validation")
@st.cache_resource(show_spinner=False, max_entries=8)
def _giveaways(key: str, classifier: str, _target, _retro):
    return classifiers.giveaways(_target, _retro, classifier)


def _show_tokens(key: str, target: Sequence[Item], retro: Sequence[Item]) -> None:
    """Show the tokens by which a classifier tells the sets apart."""
    st.subheader("What does the classifier rely on?", anchor=False)
    by_name = {kind.name: kind for kind in classifiers.CLASSIFIERS if not kind.needs_vectors}
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    classifier_name = screen.select(
        "Classifier",
        list(by_name),
        "giveaway-classifier",
        place=right,
        format_func=lambda name: by_name[name].title,
    )
    classifier = by_name[classifier_name]
    left.caption(
        f"{classifier.about} The pull of a token is measured on entries that the classifier was "
        "not trained on, and only tokens that pull the same way in every fold are shown. Whether "
        "the sets can be told apart is in Tests."
    )
    if classifier.why_not():
        st.info(plain(classifier.why_not()), icon=":material/extension_off:")
        return
    # Fine-tuning takes long, so it runs only on request.
    if classifier.name != classifiers.DEFAULT and not st.toggle(
        "Fine-tune and attribute", key="giveaway-run"
    ):
        return
    token_rows = _giveaways(key, classifier.name, target, retro)
    if not token_rows:
        st.info("No token pulls the same way in every fold, so there is none to list.")
        return
    top = token_rows[:N_BARS]
    show_figure(
        "giveaways",
        lambda c: giveaway_bars(
            [row.token for row in top],
            [row.weight for row in top],
            [row.lowest for row in top],
            [row.highest for row in top],
            c,
            title="mean pull on held-out entries, with the range over five folds",
        ),
        alt="Tokens that speak for one set, strongest first.",
    )
    show_table(
        "features",
        [
            {
                "token": row.token,
                "pull": round(row.weight, 3),
                "least": round(row.lowest, 3),
                "most": round(row.highest, 3),
                "benchmark entries": row.n_target,
                "holdout entries": row.n_retro,
            }
            for row in token_rows[:1_000]
        ],
        height=320,
    )
