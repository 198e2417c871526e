"""Cached statistics of the board, and their tables."""

import streamlit as st

from flipcore.claims.claim import Claim
from flipcore.extractors import title_of
from flipcore.reports.browser_data import verdicts
from flipcore.reports.browser_data.levels import MANY_ITEMS, Board, banded, level_board, readable, resamples
from flipcore.reports.study import table as rows
from flipcore.stats.flips import decomposition
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import Decomposition
from pages.common import headline, session
from pages.common.showing import plain, show_table


def answers(study_id: str, model: str, mode: str) -> CodedAnswers:
    lock = session.lock_id(study_id, "decomposition") if mode == "locked" else None
    return headline.answers(study_id, model, lock)


def decompositions(study_id: str, model: str, mode: str, view: dict) -> list[Decomposition]:
    """All cells at the settings that the board was left at."""
    return _decompositions(study_id, model, mode, *(view[name] for name in ("reference", "policy", "kind", "level", "rule")))


@session.cached("Resampling the items")
def _decompositions(study_id, model, mode, reference, policy, kind, level, rule):
    """In simultaneous mode with the band's limits, as the board has them."""
    coded = answers(study_id, model, mode)
    if reference not in coded.extractors:
        return []
    kind = kind if kind in ("default", "percentile", "studentized") else "default"
    rule = "source_nonoverlap" if rule == "nonoverlap" else rule
    cells = decomposition.decompositions(
        coded, reference, policy=policy, kind=kind, level=level, rule=rule, n_boot=resamples(coded)
    )
    if mode != "simultaneous" or not cells:  # nothing but the same prompts again: there is nothing that a band could hold
        return cells
    return banded(cells, _board(study_id, model, mode, ()), level, policy)


def board(study_id: str, model: str, mode: str, closed_gates: dict[str, str], view: dict) -> dict:
    """The arrays and sentences that the threshold board looks up. Of many items those of `view` alone: all of them take a processor
    half a minute at 12,000, and a move that chooses others draws the page again anyway."""
    at: tuple = ()
    if mode != "simultaneous" and len(answers(study_id, model, mode).items) > MANY_ITEMS:
        at = tuple((name, view[name]) for name in ("reference", "policy", "kind", "rule"))
    return _board(study_id, model, mode, tuple(closed_gates.items()), at).arrays


@session.cached("Preparing the board", 12)
def _board(study_id: str, model: str, mode: str, closed_gates: tuple, at: tuple = ()) -> Board:
    simultaneous, heat = mode == "simultaneous", session.temperature(study_id, model)
    coded = answers(study_id, model, mode)
    choices = dict(at) or None
    return level_board(
        coded, title_of, simultaneous=simultaneous, closed_gates=dict(closed_gates), temperature=heat, at=choices
    )


@session.cached("Preparing the board", 12)
def every_pairing(study_id: str, model: str, mode: str) -> list[Decomposition] | None:
    """The cells that are claimed together in simultaneous mode; None in the others, where those on the page are."""
    coded = answers(study_id, model, mode)
    return verdicts.every_pairing(coded, readable(coded)) if mode == "simultaneous" else None


def table(cells: list[Decomposition], claims: list[Claim], temperature: float | None) -> None:
    frame = rows(cells, temperature)
    estimates = [name for name in frame.columns if name not in ("axis", "extractor") and frame[name].dtype.kind not in "if"]
    show_table(
        "decomposition",
        frame,
        column_config={name: st.column_config.TextColumn(width=150, alignment="right") for name in estimates},
    )
    with st.popover("The same as sentences", icon=":material/notes:"):
        for claim in claims:
            st.markdown(plain(f"• {claim.text} {claim.detail}"))


def warnings(cells: list[Decomposition]) -> None:
    """Red flags about unreadable answers, each once."""
    for one in cells:
        for flag in one.nulls.flags:
            st.warning(
                plain(f"{one.axis.replace('_', ' ')}, {title_of(one.extractor).lower()}: {flag}"), icon=":material/warning:"
            )
