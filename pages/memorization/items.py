"""A table of items that open in the inspector, and the titles of the page's parts."""

import pandas as pd
import streamlit as st

from flipcore.reports.memory import KIND_PLURALS
from flipcore.text.counts import with_capital
from pages.common import session
from pages.common.inspector import open_item
from pages.common.showing import show_table
from pages.memorization.cached import View

# Links name a part by its title, so a changed title breaks links.
PARTS = {
    "summary": "Summary",
    "gap": "Drop gap",
    "loss": "Losses, completion",
    "pearl": "PEARL",
    "agreement": "Do they agree?",
    "truth": "Ground truth",
}
KIND_TITLES = {kind: with_capital(name) for kind, name in KIND_PLURALS.items()}


def set_title(kind: str) -> str:
    """Return the title of a kind of items, or of a task of a recording."""
    return KIND_TITLES.get(kind, kind)


def detector_title(title: str) -> str:
    return with_capital(title)


COLUMN_TITLES = {
    "original": "as published, nats",
    "reworded": "paraphrased, nats",
    "d": "D, nats",
    "before": "right before",
    "after": "right after",
    "drop": "drop, points",
}
FORMATS = {"right before": "percent", "right after": "percent", "drop, points": "%.1f"}


def show_item_table(view: View, rows: pd.DataFrame, axis: str, readout: str, key: str) -> None:
    """List items; a click on a row opens the item in the inspector, on this axis and readout.

    `rows` has a column item_id, and numbers or texts to show.
    """
    questions = session.study_items(view.study_id).set_index("item_id")["question"]
    if "drop" in rows:
        rows = rows.assign(drop=100 * rows["drop"])
    rows = rows.rename(columns=COLUMN_TITLES)
    table = rows.assign(
        question=rows["item_id"].map(questions), item=rows["item_id"].str.split("@").str[0]
    )
    columns = ["item", *(name for name in rows.columns if name != "item_id"), "question"]
    formats = {
        name: st.column_config.NumberColumn(format=FORMATS.get(name, "%.3f"))
        for name in rows.columns
        if name != "item_id" and rows[name].dtype.kind == "f"
    }
    event = show_table(
        key,
        table[columns],
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        height=260,
        column_config=formats,
    )
    positions = event["selection"]["rows"]
    if positions:
        item_id = rows["item_id"].iloc[positions[0]]
        # For the open item leave the link alone, so that its chosen variant stays.
        if st.query_params.get("item") != item_id:
            open_item(item_id, axis=axis, readout=readout)
    st.caption("Choose a row to read the item and its outputs below.")
