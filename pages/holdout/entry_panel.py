"""Beside the map: the entries that were chosen on it, to read, to label, to take out."""

from collections.abc import Sequence

import streamlit as st

from flipcore.annotation.surveys.results import pick_column, picks
from flipcore.reports.holdout import FEWEST, entry_rows
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.projection import on_top_of
from flipcore.store.connection import Store
from flipcore.text.counts import count_of
from pages.common.notes import plain
from pages.common.tables import show_table
from pages.holdout import excluding, labels, selection

MOST_ROWS, MOST_HERE = 500, 20


def panel(comparison: Comparison, rows: Sequence[int], places, store: Store, whole_id: str) -> None:
    """One entry with its neighbours, several as a list, or what to do; `whole_id` names the sets before anything is taken
    out."""
    if rows:
        selection.name_entries([comparison.items[row].item_id for row in rows])
        _actions(comparison, rows, whole_id)
    if not rows:
        st.info(
            "Click a point to read it with its neighbours in both sets. With the pointer set to lasso, draw around a patch "
            "to list what is in it.",
            icon=":material/lasso_select:",
        )
    elif len(rows) == 1:
        _others_here(comparison, rows[0], places)
        _one(comparison, rows[0], picks(store, whole_id))
    else:
        n_retro = int(sum(comparison.labels[row] for row in rows))
        st.markdown(f"**{count_of(len(rows), 'entry', 'entries')}: {len(rows) - n_retro:,} target, {n_retro:,} retro**")
        closest = [round(float(comparison.across[1][row, 0]), 2) for row in rows[:MOST_ROWS]]
        show_table(
            "answers-to-entry",
            entry_rows(
                comparison,
                rows[:MOST_ROWS],
                nearest_of_the_other_set=closest,
                **pick_column([comparison.items[row].item_id for row in rows[:MOST_ROWS]], picks(store, whole_id)),
            ),
            height=520,
            column_config={"entry": st.column_config.TextColumn(width="large")},
        )
        if len(rows) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} are listed; draw around fewer to see the others.")


def _actions(comparison: Comparison, rows: Sequence[int], whole_id: str) -> None:
    """What can be done with the chosen entries."""
    ids = [comparison.items[row].item_id for row in rows]
    out = excluding.excluded(whole_id) | set(ids)
    rest = [int(label) for item, label in zip(comparison.items, comparison.labels, strict=True) if item.item_id not in out]
    too_few = min(rest.count(0), rest.count(1)) < FEWEST
    with st.container(horizontal=True, gap="small"):
        st.button("Let go", key="let-go", icon=":material/deselect:", on_click=selection.let_go)
        labels.label_form(comparison, rows)
        if excluding.may_exclude() and st.button(
            "Exclude",
            key="exclude-entries",
            icon=":material/block:",
            disabled=too_few or out == excluding.excluded(whole_id),
            help=f"Each set must keep {FEWEST} entries"
            if too_few
            else "Takes them out of both sets on this page and shows what that changes in the tests",
        ):
            excluding.exclude(whole_id, ids)
            st.rerun()
        labels.label_file(comparison)


def _others_here(comparison: Comparison, row: int, places) -> None:
    """A click takes one of several entries whose marks cover each other: which one, and the others to choose."""
    here = [row, *(int(one) for one in on_top_of(places, row)[:MOST_HERE])]
    if len(here) == 1:
        return
    here.sort()

    def turn() -> None:
        choice = st.session_state[f"entries-here-{row}"]
        if choice is not None:
            selection.turn_to(choice)

    st.selectbox(
        f"{len(here):,} entries lie at this place; shown is",
        here,
        index=here.index(row),
        key=f"entries-here-{row}",
        format_func=lambda one: f"{'◇ retro' if comparison.labels[one] else '● target'}: {comparison.texts[one][:70]}",
        on_change=turn,
    )


def _one(comparison: Comparison, row: int, counts: dict[str, tuple[int, int]]) -> None:
    """The entry, what the survey said of it and its nearest entries, of the other set first."""
    item = comparison.items[row]
    st.markdown(
        f"**{'Retro' if comparison.labels[row] else 'Target'} entry** {plain(item.item_id.split('@')[0])}"
        f"{f' · {plain(item.category)}' if item.category else ''}"
    )
    st.text(comparison.texts[row])
    if pair := counts.get(item.item_id):
        st.caption(f"Survey: {pair[0]} of {pair[1]} answers picked it as the odd one out; one in three is chance.")
    own, other = ("retro", "target") if comparison.labels[row] else ("target", "retro")
    for title, rows, cosines in (
        (f"Nearest in the {other} set", comparison.across[0][row], comparison.across[1][row]),
        (f"Nearest in its own set ({own})", *comparison.nearest_own(row)),
    ):
        st.markdown(f"**{title}**")
        show_table(
            f"{title.split(' (')[0].lower().replace(' ', '-')}",
            entry_rows(comparison, rows[:5].tolist(), cosine=[round(float(one), 3) for one in cosines[:5]]),
            column_config={"set": None, "entry": st.column_config.TextColumn(width="large")},
        )


def loners(comparison: Comparison) -> None:
    """The entries with the farthest neighbours: typing errors, foreign topics, or what a set alone covers."""
    with st.expander("Which entries stand alone?"):
        rows = [int(row) for row in comparison.loneliest[:20]]
        st.caption(f"By the mean cosine with the {comparison.near[0].shape[1]} nearest entries of either set, loneliest first.")
        means = [round(float(comparison.near[1][row].mean()), 3) for row in rows]
        show_table(
            "loneliest-entries",
            entry_rows(comparison, rows, mean_cosine=means),
            column_config={"entry": st.column_config.TextColumn(width="large")},
        )
