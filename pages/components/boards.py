"""The boards whose level, margin or cut-off is dragged: verdicts, ranks and sentences follow in the browser, from arrays that the core
computed. Each function draws one; its results (a released move, a decision to write, what to look behind) come once each, or None."""

from dataclasses import asdict
from typing import Any

import streamlit as st

from flipcore.charts.theme import colours
from flipcore.reports.browser_data.parts import BOARD
from pages.components import component

# part -> what is clicked to look behind it, where anything is
_BEHIND = {"cutoff_line": "", "margin_board": "", "ranking_board": "way", "score_board": "dot", "threshold_board": "row"}
_COMPONENTS = {name: component(name, *BOARD) for name in _BEHIND}


def _board(part_name: str, board: dict, of: str, key: str, locked: bool, **further: str) -> tuple:
    results = ["moved", "decision", *filter(None, [_BEHIND[part_name]])]
    listeners: dict[str, Any] = {f"on_{name}_change": lambda: None for name in results}
    style = {"colours": asdict(colours(st.context.theme.type)), "locked": locked}
    result = _COMPONENTS[part_name](key=key, data=board | {"board": of} | style | further, **listeners)
    return tuple(getattr(result, name) for name in results)


def cutoff_line(line: dict, *, key: str, locked: bool = False) -> tuple[dict | None, dict | None]:
    """A cut-off dragged over two histograms or over intervals. `line` is what `flipcore.reports.browser_data.cutoffs` makes: positions
    and tables packed, templates of the sentences, the picture."""
    return _board("cutoff_line", line, f"cutoff {line['id']}", key, locked)


def margin_board(board: dict, *, key: str, locked: bool = False) -> tuple[dict | None, dict | None]:
    """Four tests, each interval against a margin (`flipcore.reports.browser_data.margins.board`); both results carry the margin of
    every test by its name."""
    return _board("margin_board", board, f"margin {key}", key, locked)


def ranking_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, str | None]:
    """A row a way of asking and reading, each model's rank in it (`flipcore.reports.browser_data.ranking.board`); last, the id of the
    way to look behind. `opened` is the one that is looked behind."""
    return _board("ranking_board", board, f"ranking {key}", key, locked, opened=opened)


def score_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, dict | None]:
    """Each model's score on one axis, its intervals in one another (`flipcore.reports.browser_data.score.board`); last, the dot to look
    behind. `opened` is the wording that is looked behind."""
    return _board("score_board", board, f"score {key}", key, locked, opened=opened)


def threshold_board(
    board: dict, *, key: str, locked: bool = False, opened: str = ""
) -> tuple[dict | None, dict | None, str | None]:
    """Level, reference, null policy, interval kind and rule (`flipcore.reports.browser_data.levels.board`); last, the id of the row to
    look behind. `opened` is the one that is looked behind."""
    return _board("threshold_board", board, f"threshold {key}", key, locked, opened=opened)
