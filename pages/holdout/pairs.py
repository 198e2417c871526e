"""Pairs of entries as a table; the chosen one below it, side by side, with the words marked that differ."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from pages.common.differences import differences
from pages.common.tables import show_table

MOST_ROWS = 500


def pair_table(
    pairs: Sequence[tuple[str, str]], values: dict[str, Sequence], *, key: str, height: int | Literal["auto"] = "auto"
) -> None:
    """`values` are the columns beside the two texts; the first pair is shown until another row is chosen."""
    rows = [
        {name: column[i] for name, column in values.items()} | {"first": one, "second": other}
        for i, (one, other) in enumerate(pairs[:MOST_ROWS])
    ]
    event = show_table(
        key,
        rows,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        height=height,
        column_config={name: st.column_config.TextColumn(width="medium") for name in ("first", "second")},
    )
    row_index = next((row for row in event.selection.rows if row < len(rows)), 0)
    if len(pairs) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} are listed.")
    one, other = pairs[row_index]
    with st.container(border=True):
        left, right = st.columns(2)
        with left:
            differences(other, one, key=f"{key}-one", as_losses=True)
        with right:
            differences(one, other, key=f"{key}-other")
