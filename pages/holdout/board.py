"""The board of the four tests, the next step and the lock.

Quick tests are drawn at once. The test by a classifier follows, because it takes up to a minute.
"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from flipcore.claims.next_steps import next_step
from flipcore.reports.browser_data.board import Board
from flipcore.reports.browser_data.margins import board, waiting_board
from flipcore.reports.holdout import START, HoldoutReport, prediction_key, set_facts
from flipcore.reports.holdout_sets import PAGE, Sets
from flipcore.stats.holdout.planning import StartingMargin, starting_margin
from flipcore.stats.holdout.verdict import simultaneous
from flipcore.store.queries import holdout, locks
from pages.common import modes, record, screen, session
from pages.common.showing import plain
from pages.components import boards
from pages.holdout import cached
from pages.holdout.cached import is_prediction_cached


@st.cache_data(show_spinner=False, max_entries=16)
def _cached_margin(content_id: str, embedding: str, _sets: Sets) -> StartingMargin | None:
    rows = cached.vectors(_sets, embedding)[0][: len(_sets.target)]
    return starting_margin(rows, [item.category for item in _sets.target])


def suggested_margin(sets: Sets, view: dict) -> StartingMargin | None:
    """Return the semantic margin that the benchmark's categories suggest.

    The locked test reads the entries that were set aside. The margin comes from the others, so it
    is None if none were set aside, and for fewer than 10 benchmark entries.
    """
    if not sets.share_aside or len(sets.target) < 10:
        return None
    return _cached_margin(sets.content_id, view["embedding"], sets)


def with_margin(sets: Sets | None, view: dict) -> dict:
    """Return the settings for a lock: `view`, with the suggested semantic margin if it has none."""
    if sets is None or view["semantic"] is not None:
        return view
    margin = suggested_margin(sets, view)
    if margin is None:
        return view
    return view | {"semantic": margin.margin, "semantic_margin_is": margin.meaning}


def next_step_sentence(sets: Sets, tests: Mapping, view: dict, *, confirmatory: bool) -> str:
    """Return the sentence on what to do next, with its cost; `tests` are the tests by name."""
    has_survey = bool(holdout.surveys(session.store(), sets.sets_id))
    facts = set_facts(
        sets.target,
        cached.all_conditions(sets, confirmatory=confirmatory, boosted=False),
        has_survey=has_survey,
    )
    return next_step(
        tests,
        len(sets.target),
        len(sets.retro),
        suggested_margin(sets, view),
        is_aside=bool(sets.share_aside),
        facts=facts,
    ).text


def offer_lock(sets: Sets, settings: dict) -> None:
    """Offer to lock the settings, or say how to set entries aside first."""
    if sets.share_aside == 0:
        advice = (
            "Duplicate the study with a share set aside for confirmation."
            if sets.is_of_study
            else "Choose a share to set aside under View: it counts nowhere until you lock. What "
            "you saw of it before stays seen."
        )
        st.info(
            f"No entries were set aside, so there is nothing to confirm on. {advice}",
            icon=":material/lock_open:",
        )
        return
    # The store counts them, because no page may read these entries before the lock.
    n_target, n_retro = (
        locks.n_set_aside(session.store(), sets.record_id, role) for role in ("target", "retro")
    )
    st.caption(f"{n_target:,} benchmark and {n_retro:,} holdout entries were set aside.")
    locked_settings = settings | {
        "sets": sets.name,
        "n_target": n_target,
        "n_retro": n_retro,
        "share_aside": sets.share_aside,
    }
    item_ids = None
    if not sets.is_of_study:
        item_ids = sorted(holdout.entries_aside(session.store(), sets.record_id))
    modes.offer_lock_button(
        sets.record_id, PAGE, locked_settings, "lock-holdout", item_ids, sets.study_ids
    )


# Key of the session state: keys of the sets and settings for which a verdict was drawn.
VERDICTS_KEY = "holdout-verdicts"


class BoardPlace:
    """The container of the board, with those of a progress line above it and of texts below it."""

    def __init__(self) -> None:
        with screen.reserved_space("board", 450, 800):
            self.progress, self.board, self.below = st.container(), st.empty(), st.container()

    def draw_quick_tests(self, sets: Sets, view: dict, mode: str, *waiting: str) -> None:
        """Draw the board without the tests in `waiting` and without a verdict.

        Nothing if the verdict at these settings is cached or was drawn before.
        """
        keys_with_verdict = st.session_state.setdefault(VERDICTS_KEY, set())
        if is_prediction_cached(sets, view) or prediction_key(sets, view) in keys_with_verdict:
            return
        with self.progress:
            report = cached.four_tests(sets, view, confirmatory=mode == "locked", waiting=waiting)
        # Streamlit refuses the same key twice in one run, and the final board comes later.
        key = f"first-{len(waiting)}-{sets.record_id}-{mode}"
        with self.board.container():
            board_data = waiting_board(
                list(report.tests.values()), view, report.about, report.missing
            )
            _draw_board(board_data, key, is_locked=True)

    def draw_verdict(self, sets: Sets, view: dict, mode: str, lock: dict | None) -> HoldoutReport:
        """Draw the board with all tests and the verdict; return the tests."""
        # The cross-validation may take a minute, so draw the other tests first.
        self.draw_quick_tests(sets, view, mode, "prediction")
        with self.progress:
            report = cached.four_tests(sets, view, confirmatory=mode == "locked")
        if mode == "simultaneous":
            tests = simultaneous(list(report.tests.values()))
            report = replace(report, tests={test.name: test for test in tests})
        with self.board.container():
            board_data = board(list(report.tests.values()), view, report.about, report.missing)
            moved, decision, _ = _draw_board(
                board_data, f"board-{sets.record_id}-{mode}", is_locked=lock is not None
            )
            sentence = next_step_sentence(sets, report.tests, view, confirmatory=mode == "locked")
            st.caption(plain(sentence))
            record.log_move(sets.record_id, moved)
            modes.remember(sets.record_id, PAGE, START, moved and view | moved)
            record.offer_decision(
                sets.record_id,
                PAGE,
                mode,
                decision and view | decision | {"sets": sets.name, "sets_id": sets.sets_id},
            )
            band = "for all four tests together, at whatever margins"
            st.caption(modes.note_text(mode, sets.record_id, band))
        # In later runs the quick board would only flicker.
        st.session_state.setdefault(VERDICTS_KEY, set()).add(prediction_key(sets, view))
        return report


def _draw_board(board_data: Board, key: str, *, is_locked: bool) -> tuple:
    """Draw the board in reserved space; rows with an interval are higher than missing tests."""
    n = sum(row.control is not None for row in board_data.rows)
    n_missing = len(board_data.rows) - n
    # The height of the drawn board, wide and narrow.
    with screen.reserved_space(
        "tests", 30 + 105 * n + 55 * n_missing, 90 + 210 * n + 90 * n_missing
    ):
        return boards.draw(board_data.data(), key=key, locked=is_locked)
