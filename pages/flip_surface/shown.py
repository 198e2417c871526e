"""Cells as the sentence, the rows and the arrays that the page shows."""

from __future__ import annotations

import streamlit as st

from flipcore.boards.packing import permille
from flipcore.claims.claim import Claim
from flipcore.reports.flips import surface_claim
from flipcore.stats.base.estimate import number_text
from flipcore.stats.flips import surface
from flipcore.stats.flips.surface import Cells
from pages.common import gates, session


def index_of(names: list[str], name: str, otherwise: int) -> int:
    return names.index(name) if name in names else otherwise % len(names)


def questions(study_id: str) -> dict[str, str]:
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items["question"], strict=True))


def families(study_id: str) -> dict[str, str]:
    """Item -> the template or source that it shares with others, or itself."""
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items["family"], strict=True))


def cells(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> tuple[Cells, Cells]:
    """Both readouts' cells on the same rows and columns, computed again only when something new came."""
    return _cells(study_id, session.store().revision(study_id), model, field, faithful, axis)


@st.cache_resource(show_spinner=False, max_entries=16)
def _cells(study_id: str, revision: int, model: str, field: str, faithful: str, axis: str | None) -> tuple[Cells, Cells]:
    frame = session.readouts(study_id, revision)
    frame = frame[frame["model"] == model]
    order = list(dict.fromkeys(frame["item_id"]))
    if axis is None:
        return surface.aligned(surface.surface(frame, field), surface.surface(frame, faithful), order)
    return surface.aligned(surface.opened(frame, axis, field), surface.opened(frame, axis, faithful), order)


def answer(study_id: str, model: str, field: str, faithful: str, axis: str | None) -> Claim:
    """The page's answer: which part of what flips is larger, with what qualifies it."""
    declared = session.declared(study_id)
    closed = gates.closed(study_id, (part.name for part in declared.axes), (part.name for part in declared.extractors))
    revision = session.store().revision(study_id)
    return _answer(study_id, revision, model, field, faithful, axis, tuple(closed.items()))


@st.cache_data(show_spinner=False, max_entries=32)
def _answer(study_id: str, revision: int, model: str, field: str, faithful: str, axis: str | None, closed: tuple) -> Claim:
    frame = session.readouts(study_id, revision)
    heat = session.temperature(study_id, model)
    return surface_claim(frame[frame["model"] == model], field, faithful, axis, dict(closed), heat)


def rows(first: Cells, second: Cells, sort: str, search: str, only: bool, questions: dict[str, str]) -> list[int]:
    """Indices of the items to show, in order."""
    keep = surface.flip_mask(first, second)
    words = search.lower().strip()
    return [
        i
        for i in surface.order_of(first, second, sort, first.items)
        if (not only or keep[i]) and words in f"{questions.get(first.items[i], '')} {first.items[i]}".lower()
    ]


def arrays(
    first: Cells, second: Cells, rows: list[int], questions: dict[str, str], titles: tuple[str, str], families: dict[str, str]
) -> tuple:
    """Rows, columns and panels as the flip map takes them."""
    map_rows = [
        {"id": first.items[i], "label": " ".join(questions.get(first.items[i], first.items[i])[:90].split())} for i in rows
    ]
    columns = [
        {"id": column, "label": "noise floor" if column == "identity" else column.replace("_", " ")} for column in first.columns
    ]
    panels = [_panel(cells, rows, title, families) for cells, title in zip((first, second), titles, strict=True)]
    return map_rows, columns, panels[:1] if titles[0] == titles[1] else panels


def _panel(cells: Cells, rows: list[int], title: str, families: dict[str, str]) -> dict:
    strip = [
        [number_text(one.value), f"{one.text().partition(' ')[2]} n {one.n:,}" if one.has_interval else f"n {one.n:,}"]
        for one in surface.column_means(cells, families)
    ]
    return {
        "title": title,
        "values": permille(cells.rate[rows]),
        "unreadable": permille(cells.unreadable[rows]),
        "cut": permille(cells.cut_shares[rows]),
        "means": permille(surface.row_means(cells)[rows]),
        "strip": strip,
    }
