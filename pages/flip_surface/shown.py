"""Cells as the sentence, the rows and the arrays that the page shows."""

from __future__ import annotations

import streamlit as st

from flipcore.boards.packing import permille
from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.base.joint import joint_means
from flipcore.stats.flips import surface
from flipcore.stats.flips.surface import Cells
from pages.common import session
from pages.common.notes import plain


def index_of(names: list[str], wanted: str, otherwise: int) -> int:
    return names.index(wanted) if wanted in names else otherwise % len(names)


def questions(study_id: str) -> dict[str, str]:
    items = session.study_items(study_id)
    return dict(zip(items["item_id"], items["question"], strict=True))


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


def percent(estimate: Estimate) -> str:
    """ "22 % [15, 30]"."""
    if not estimate.has_interval:
        return f"{100 * estimate.value:.0f} %"
    return f"{100 * estimate.value:.0f} % [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"


def sentence(first: Cells, second: Cells, field: str, faithful: str, axis: str | None) -> str:
    """ "38 % [30, 46] of variant pairs flip under first token, 9 % [5, 15] under written answer; 41 items flip only …"."""
    t, g = joint_means(surface.shared_means(first, second))
    what = "of variant pairs flip" if axis is None else f"of {axis.replace('_', ' ')} variants are answered unlike the original"
    if not t.n:
        return "Nothing can be compared yet."
    said = f"{percent(t)} {what} under {field.lower()}"
    if field == faithful:
        return plain(f"{said} ({t.n:,} items).")
    return plain(
        f"{said}, {percent(g)} under {faithful.lower()}, on the {t.n:,} items that both read; "
        f"{surface.only_in_first(first, second):,} flip only under {field.lower()}."
    )


def rows(first: Cells, second: Cells, sort: str, search: str, only: bool, questions: dict[str, str]) -> list[int]:
    """Indices of the items to show, in order."""
    keep = surface.kept(first, second)
    words = search.lower().strip()
    return [
        i
        for i in surface.order_of(first, second, sort, first.items)
        if (not only or keep[i]) and words in f"{questions.get(first.items[i], '')} {first.items[i]}".lower()
    ]


def arrays(first: Cells, second: Cells, rows: list[int], questions: dict[str, str], titles: tuple[str, str]) -> tuple:
    """Rows, columns and panels as the flip map takes them."""
    shown = [
        {"id": first.items[i], "label": " ".join(questions.get(first.items[i], first.items[i])[:90].split())} for i in rows
    ]
    columns = [
        {"id": column, "label": "asked again" if column == "identity" else column.replace("_", " ")} for column in first.columns
    ]
    panels = [_panel(cells, rows, title) for cells, title in zip((first, second), titles, strict=True)]
    return shown, columns, panels[:1] if titles[0] == titles[1] else panels


def _panel(cells: Cells, rows: list[int], title: str) -> dict:
    strip = [
        [number_text(one.value), f"{one.text().partition(' ')[2]} n {one.n:,}" if one.has_interval else f"n {one.n:,}"]
        for one in joint_means(cells.rate)
    ]
    return {
        "title": title,
        "values": permille(cells.rate[rows]),
        "unreadable": permille(cells.unreadable[rows]),
        "cut": permille(cells.cut_shares[rows]),
        "means": permille(surface.row_means(cells)[rows]),
        "strip": strip,
    }
