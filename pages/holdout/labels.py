"""Names that somebody gave to entries on the map; they colour the map, and leave as a file."""

from collections.abc import Sequence

import streamlit as st

from flipcore.annotation.surveys.files import file_text
from flipcore.stats.holdout.comparison import Comparison
from pages.common.files import offer_file

PLACE = "entry-labels"  # item id -> label
MOST_CHARS = 40


def labels() -> dict[str, str]:
    """Item id -> the label that it was given."""
    return st.session_state.setdefault(PLACE, {})


def label_form(comparison: Comparison, rows: Sequence[int]) -> None:
    """Gives the chosen entries a label, behind a button; an empty one takes theirs away."""
    with st.popover("Label", icon=":material/label:"), st.form("label-entries", border=False):
        name = st.text_input("Label of the selected entries", max_chars=MOST_CHARS, placeholder="empty: no label")
        if st.form_submit_button("Label them", type="primary"):
            for row in rows:
                item_id = comparison.items[row].item_id
                labels().pop(item_id, None)
                if name.strip():
                    labels()[item_id] = name.strip()
            st.session_state["map-colour-next"] = "label"
            st.rerun()


def label_file(comparison: Comparison) -> None:
    """The labels of these entries as a file: they last as long as the browser's page."""
    rows = [
        {"item_id": item.item_id, "set": "retro" if is_retro else "target", "label": labels()[item.item_id], "entry": text}
        for item, is_retro, text in zip(comparison.items, comparison.labels, comparison.texts, strict=True)
        if item.item_id in labels()
    ]
    if rows:
        offer_file(
            f"{len(rows):,} labels as CSV",
            file_text(rows),
            "entry-labels.csv",
            "text/csv",
            key="entry-labels-csv",
            help="Labels last until this page is closed.",
        )
