"""What was chosen on the map or in its histogram, as entries to read."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from flipcore.embeddings.comparison import Comparison
from pages.common.notes import plain
from pages.holdout.likeness import entry_rows

MAP, BARS = "entry-map", "closest-bars"
MOST_ROWS = 500


def _points(key: str) -> list[dict]:
    state = st.session_state.get(key)
    return list(state["selection"]["points"]) if state else []


def rows_on_map() -> list[int]:
    """Rows of the entries that are selected on the map; a point of a ring carries none."""
    return sorted({int(point["customdata"][0]) for point in _points(MAP) if point.get("customdata")})


def rows_in_bars(found: Comparison) -> list[int]:
    """Rows of the entries that the selected bars hold."""
    spans = [point["customdata"] for point in _points(BARS) if point.get("customdata")]
    return found.within([(float(low), float(high), int(label)) for low, high, label in spans])


def shown(found: Comparison, rows: Sequence[int]) -> None:
    """One entry with its neighbours, several as a list, or what to do."""
    rows = [row for row in rows if row < len(found.items)]
    if not rows:
        st.info("Click a point to read it with its neighbours in both sets, or draw around a patch to list what is in it.",
                icon=":material/lasso_select:")
    elif len(rows) == 1:
        _one(found, rows[0])
    else:
        n_retro = int(sum(found.labels[row] for row in rows))
        st.markdown(f"**{len(rows):,} entries: {len(rows) - n_retro:,} target, {n_retro:,} retro**")
        closest = [round(float(found.across[1][row, 0]), 2) for row in rows[:MOST_ROWS]]
        st.dataframe(entry_rows(found, rows[:MOST_ROWS], nearest_of_the_other_set=closest), hide_index=True, height=520,
                     column_config={"entry": st.column_config.TextColumn(width="large")})
        if len(rows) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} are listed; draw around fewer to see the others.")


def _one(found: Comparison, row: int) -> None:
    """The entry and its nearest entries, of the other set first."""
    item = found.items[row]
    st.markdown(f"**{'Retro' if found.labels[row] else 'Target'} entry** {plain(item.item_id.split('@')[0])}"
                f"{f' · {plain(item.category)}' if item.category else ''}")
    st.text(found.texts[row])
    own, other = ("retro", "target") if found.labels[row] else ("target", "retro")
    for title, rows, cosines in ((f"Nearest in the {other} set", found.across[0][row], found.across[1][row]),
                                 (f"Nearest in its own set ({own})", *found.nearest_own(row))):
        st.markdown(f"**{title}**")
        st.dataframe(entry_rows(found, rows[:5], cosine=[round(float(one), 3) for one in cosines[:5]]), hide_index=True,
                     column_config={"set": None, "entry": st.column_config.TextColumn(width="large")})


def loners(found: Comparison) -> None:
    """The entries with the farthest neighbours: typing errors, foreign topics, or what a set alone covers."""
    with st.expander("Which entries stand alone?"):
        rows = [int(row) for row in found.loneliest[:20]]
        st.caption(f"By the mean cosine with the {found.near[0].shape[1]} nearest entries of either set, loneliest first.")
        st.dataframe(entry_rows(found, rows, mean_cosine=[round(float(found.near[1][row].mean()), 3) for row in rows]),
                     hide_index=True, column_config={"entry": st.column_config.TextColumn(width="large")})
