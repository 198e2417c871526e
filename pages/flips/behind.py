"""Behind a row of the board: its items, those first on which the two extractors differ most, in the inspector."""

import streamlit as st

from flipcore.reports.browser_data.steps import Steps
from flipcore.stats.flips import surface
from pages.common import session
from pages.common.cached import cached
from pages.common.inspector import inspector_place, open_item


@cached(max_entries=64)
def _items(study_id: str, lock: str | None, model: str, extractor: str, reference: str, axis: str) -> list[str]:
    frame = session.readouts(study_id, lock=lock)
    frame = frame[frame["model"] == model]
    order = list(frame["item_id"].unique())
    first, second = surface.aligned(surface.opened(frame, axis, extractor), surface.opened(frame, axis, reference), order)
    return [first.items[i] for i in surface.order_of(first, second, "difference", first.items)]


def items(study_id: str, model: str, mode: str, row: str, reference: str) -> list[str]:
    """The items of a row ("axis|extractor"), those first on which the two extractors differ most."""
    axis, extractor = row.split("|")
    lock = session.lock_id(study_id, "decomposition") if mode == "locked" else None
    return _items(study_id, lock, model, extractor, reference, axis)


def opened_row() -> str:
    """The row that the link looks behind; "" without one."""
    return st.query_params.get("row", "") if st.query_params.get("item") else ""


def open_row(study_id: str, model: str, mode: str, row: str, reference: str) -> None:
    """Puts the row and its first item into the link."""
    axis, extractor = row.split("|")
    for item in items(study_id, model, mode, row, reference)[:1]:
        open_item(item, axis=axis, readout=extractor, row=row)


def show(study_id: str, model: str, mode: str, reference: str) -> None:
    """The inspector, at the item that the link opens behind its row."""
    inspector_place(study_id, model, Steps(items(study_id, model, mode, opened_row(), reference)))
