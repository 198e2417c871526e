"""Cached statistics of the Decomposition page, and their tables."""

from __future__ import annotations

import streamlit as st

from flipcore.boards.levels import banded, resamples
from flipcore.boards.levels import board as arrays
from flipcore.extractors import EXTRACTORS
from flipcore.reports.study import table as rows
from flipcore.stats.flips import decomposition
from flipcore.stats.flips.coding import coded_answers
from flipcore.stats.flips.decomposition import Decomposition
from pages.common import session
from pages.common.notes import plain

START = {"level": 0.95, "reference": "regex", "policy": "own_class", "kind": "default", "rule": "paired"}


def started(board: dict, view: dict) -> dict:
    """The board at the settings of `view`, where it has them."""
    levels = board["levels"]
    at = min(range(len(levels)), key=lambda i: abs(levels[i] - view["level"]))
    chosen = {
        key: view[key] if view[key] in [value for value, _ in board["options"][key]] else default
        for key, default in board["chosen"].items()
    }
    return board | {"start": at, "chosen": chosen}


def title_of(extractor: str) -> str:
    return EXTRACTORS[extractor].title if extractor in EXTRACTORS else extractor


@st.cache_resource(show_spinner=False, max_entries=12)
def _answers(study_id: str, model: str, mode: str, revision: int):
    lock = session.lock_id(study_id, "decomposition") if mode == "locked" else None
    frame = session.readouts(study_id, revision, lock=lock)
    return coded_answers(frame[frame["model"] == model])


def answers(study_id: str, model: str, mode: str):
    return _answers(study_id, model, mode, session.store().revision(study_id))


def decompositions(study_id: str, model: str, mode: str, view: dict) -> list[Decomposition]:
    """All cells at the settings that the board was left at."""
    return _decompositions(
        study_id,
        model,
        mode,
        session.store().revision(study_id),
        view["reference"],
        view["policy"],
        view["kind"],
        view["level"],
        view["rule"],
    )


@st.cache_resource(show_spinner="Resampling the items …", max_entries=24)
def _decompositions(study_id, model, mode, revision, reference, policy, kind, level, rule):
    """In simultaneous mode with the band's limits, as the board has them."""
    coded = answers(study_id, model, mode)
    reference = reference if reference in coded.extractors else coded.extractors[-1]
    kind = kind if kind in ("default", "percentile", "studentized") else "default"
    rule = "source_nonoverlap" if rule == "nonoverlap" else "paired"
    found = decomposition.decompositions(
        coded, reference, policy=policy, kind=kind, level=level, rule=rule, n_boot=resamples(coded)
    )
    return banded(found, _board(study_id, model, mode, revision), level, policy) if mode == "simultaneous" else found


def board(study_id: str, model: str, mode: str) -> dict:
    """The arrays that the threshold board looks up."""
    return _board(study_id, model, mode, session.store().revision(study_id))


@st.cache_resource(show_spinner="Preparing the board …", max_entries=12)
def _board(study_id: str, model: str, mode: str, revision: int) -> dict:
    return arrays(answers(study_id, model, mode), title_of, simultaneous=mode == "simultaneous")


def answer(found: list[Decomposition], closed: dict[str, str]) -> str:
    """The page's answer: the largest artifact that is shown to be more than what is genuine, otherwise the
    largest artifact. What has not passed its gate enters no claim."""
    field = _claimable(found, closed)
    if not field and _claimable(found, {}):
        return "Nothing here may be claimed yet: what flips has not passed its gate."
    if not field:
        return "No readout besides the reference has a flip rate yet."
    shown = [one for one in field if one.established]
    one = max(shown or field, key=lambda cell: (cell.A.value, cell.T.value))
    return one.sentence(readout_title=title_of(one.extractor).lower())


def _claimable(found: list[Decomposition], closed: dict[str, str]) -> list[Decomposition]:
    return [
        one
        for one in found
        if not one.is_reference and one.T.value == one.T.value and one.axis not in closed and one.extractor not in closed
    ]


def tally(found: list[Decomposition], closed: dict[str, str]) -> str:
    """How many pairings of axis and readout hold more artifact, how many less, how many are open; empty for a single one."""
    field = _claimable(found, closed)
    if len(field) < 2:
        return ""
    more = sum(one.established is True for one in field)
    less = sum(one.A_minus_G.has_interval and one.A_minus_G.high < 0 for one in field)
    few = sum(not one.A_minus_G.has_interval for one in field)
    return (
        f"Of {len(field)} pairings of axis and readout: more artifact than genuine in {more}, less in {less}, "
        f"open in {len(field) - more - less - few}{f', too few items in {few}' if few else ''}."
    )


def table(found: list[Decomposition], study_id: str) -> None:
    frame = rows(found, title_of)
    estimates = [name for name in frame.columns if name not in ("axis", "readout") and frame[name].dtype.kind not in "if"]
    st.dataframe(
        frame,
        hide_index=True,
        column_config={name: st.column_config.TextColumn(width=150, alignment="right") for name in estimates},
    )
    with st.popover("The same as sentences", icon=":material/notes:"):
        for one in found:
            st.markdown(plain(f"• {one.sentence(readout_title=title_of(one.extractor).lower())} {one.noise_sentence()}"))


def warnings(found: list[Decomposition]) -> None:
    """Red flags about unreadable answers, each once."""
    for one in found:
        for flag in one.nulls.flags:
            st.warning(
                plain(f"{one.axis.replace('_', ' ')}, {title_of(one.extractor).lower()}: {flag}"), icon=":material/warning:"
            )
