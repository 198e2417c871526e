"""What was chosen on the map or in its histogram, as entries to read."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from flipcore.reports.holdout import entry_rows
from flipcore.vectors.comparison import Comparison
from pages.common.notes import plain

MAP, BARS, SELECTION = "entry-map", "closest-bars", "entries-chosen"
ROUND, MOST_ROWS = "entries-let-go", 500


def _points(key: str) -> list:
    """What the points of a selection carry; a point of a ring carries nothing."""
    points = st.session_state[chart_key(key)]["selection"]["points"]
    return [point["customdata"] for point in points if point.get("customdata")]


def chart_key(name: str) -> str:
    """A chart's key; another one after letting go, because only a new chart forgets the selection that it shows."""
    return f"{name}-{st.session_state.get(ROUND, 0)}"


def _let_go() -> None:
    st.session_state.pop(SELECTION, None)
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def from_map(sets_id: str) -> None:
    """Something was chosen on the map. Streamlit forgets a chart's selection when its figure changes, so it is kept here; and
    the map's own figure must not change by it."""
    rows = sorted({int(row) for (row,) in _points(MAP)})
    st.session_state[SELECTION] = {"sets": sets_id, "rows": rows, "spans": spans(sets_id)}


def from_bars(sets_id: str) -> None:
    """Bars were chosen: their entries are ringed on the map, and what was chosen there is let go."""
    bars = [(float(low), float(high), int(label)) for low, high, label in _points(BARS)]
    st.session_state[SELECTION] = {"sets": sets_id, "rows": [], "spans": bars}


def _choice(sets_id: str) -> dict:
    """What was chosen in these sets; a choice in others means nothing here."""
    choice = st.session_state.get(SELECTION, {})
    return choice if choice.get("sets") == sets_id else {"rows": [], "spans": []}


def rows_on_map(sets_id: str) -> list[int]:
    """Rows of the entries that are chosen on the map."""
    return _choice(sets_id)["rows"]


def spans(sets_id: str) -> list[tuple[float, float, int]]:
    """The (low, high, label) of the chosen bars."""
    return _choice(sets_id)["spans"]


def panel(comparison: Comparison, rows: Sequence[int]) -> None:
    """One entry with its neighbours, several as a list, or what to do."""
    if rows:
        st.button("Let go", key="let-go", icon=":material/deselect:", on_click=_let_go)
    if not rows:
        st.info(
            "Click a point to read it with its neighbours in both sets. With the pointer set to lasso, draw around a patch "
            "to list what is in it.",
            icon=":material/lasso_select:",
        )
    elif len(rows) == 1:
        _one(comparison, rows[0])
    else:
        n_retro = int(sum(comparison.labels[row] for row in rows))
        st.markdown(f"**{len(rows):,} entries: {len(rows) - n_retro:,} target, {n_retro:,} retro**")
        closest = [round(float(comparison.across[1][row, 0]), 2) for row in rows[:MOST_ROWS]]
        st.dataframe(
            entry_rows(comparison, rows[:MOST_ROWS], nearest_of_the_other_set=closest),
            hide_index=True,
            height=520,
            column_config={"entry": st.column_config.TextColumn(width="large")},
        )
        if len(rows) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} are listed; draw around fewer to see the others.")


def _one(comparison: Comparison, row: int) -> None:
    """The entry and its nearest entries, of the other set first."""
    item = comparison.items[row]
    st.markdown(
        f"**{'Retro' if comparison.labels[row] else 'Target'} entry** {plain(item.item_id.split('@')[0])}"
        f"{f' · {plain(item.category)}' if item.category else ''}"
    )
    st.text(comparison.texts[row])
    own, other = ("retro", "target") if comparison.labels[row] else ("target", "retro")
    for title, rows, cosines in (
        (f"Nearest in the {other} set", comparison.across[0][row], comparison.across[1][row]),
        (f"Nearest in its own set ({own})", *comparison.nearest_own(row)),
    ):
        st.markdown(f"**{title}**")
        st.dataframe(
            entry_rows(comparison, rows[:5].tolist(), cosine=[round(float(one), 3) for one in cosines[:5]]),
            hide_index=True,
            column_config={"set": None, "entry": st.column_config.TextColumn(width="large")},
        )


def loners(comparison: Comparison) -> None:
    """The entries with the farthest neighbours: typing errors, foreign topics, or what a set alone covers."""
    with st.expander("Which entries stand alone?"):
        rows = [int(row) for row in comparison.loneliest[:20]]
        st.caption(f"By the mean cosine with the {comparison.near[0].shape[1]} nearest entries of either set, loneliest first.")
        st.dataframe(
            entry_rows(comparison, rows, mean_cosine=[round(float(comparison.near[1][row].mean()), 3) for row in rows]),
            hide_index=True,
            column_config={"entry": st.column_config.TextColumn(width="large")},
        )
