"""The board of the four tests: at once with those that are quick, and whole when the cross-validation has been permuted."""

import streamlit as st

from flipcore.reports.browser_data.margins import board, waiting_board
from flipcore.reports.holdout_sets import Sets
from flipcore.reports.holdout_tests import START
from flipcore.stats.holdout.verdict import simultaneous
from pages.common import modes, record, screen
from pages.common.notes import plain
from pages.components.boards import margin_board
from pages.holdout import cached, next_step
from pages.holdout.prediction import SETTINGS, is_kept

PAGE = "holdout"
VERDICTS = "holdout-verdicts"  # sets and settings that had a verdict in this session, also where a test could not be run


class BoardPlace:
    """Where the board stands: a line that says how far the last test is, and the board under it."""

    def __init__(self) -> None:
        with screen.room("board", 520, 1050):
            self.progress, self.board, self.below = st.container(), st.empty(), st.container()

    def first(self, sets: Sets, view: dict, mode: str, *waiting: str) -> None:
        """The tests besides those `waiting`, without a verdict; nothing once there was one at these settings."""
        if is_kept(sets, view) or self._settings(sets, view) in st.session_state.setdefault(VERDICTS, set()):
            return
        with self.progress:
            tests, about, missing = cached.four_tests(sets, view, mode == "locked", waiting)
        key = f"first-{len(waiting)}-{sets.record_id}-{mode}"
        with self.board.container():
            margin_board(waiting_board(list(tests.values()), view, about, missing), key=key, locked=True)

    def _settings(self, sets: Sets, view: dict) -> tuple:
        return sets.sets_id, *(view[name] for name in SETTINGS)

    def verdict(self, sets: Sets, view: dict, mode: str, lock: dict | None) -> dict:
        """The four rows and what was made of them; returns the tests by name, and how or why not."""
        self.first(sets, view, mode, "prediction")
        with self.progress:
            tests, about, missing = cached.four_tests(sets, view, mode == "locked")
        if mode == "simultaneous":
            tests = {test.name: test for test in simultaneous(list(tests.values()))}
        with self.board.container():
            moved, decision = margin_board(
                board(list(tests.values()), view, about, missing), key=f"board-{sets.record_id}-{mode}", locked=lock is not None
            )
            st.caption(plain(next_step.what_next(sets, tests, view, mode == "locked")))
            record.log_move(sets.record_id, moved)
            modes.remember(sets.record_id, PAGE, START, moved and view | moved)
            record.offer(
                sets.record_id, PAGE, mode, decision and view | decision | {"sets": sets.name, "sets_id": sets.sets_id}
            )
            st.caption(modes.note(mode, sets.record_id, "for all four tests together, at whatever margins"))
        st.session_state.setdefault(VERDICTS, set()).add(self._settings(sets, view))
        return {"tests": tests, "about": about, "missing": missing}
