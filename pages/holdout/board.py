"""The board of the four tests, the next step and the lock.

The quick tests come at once, the last when the cross-validation has been permuted.
"""

import streamlit as st

from flipcore.claims.next_steps import next_step
from flipcore.reports.browser_data.board import Board
from flipcore.reports.browser_data.margins import board, waiting_board
from flipcore.reports.holdout import START, prediction_key, set_facts
from flipcore.reports.holdout_sets import PAGE, Sets
from flipcore.stats.holdout.planning import StartingMargin, starting_margin
from flipcore.stats.holdout.verdict import simultaneous
from flipcore.store.queries import holdout, locks
from pages.common import modes, record, screen, session
from pages.common.showing import plain
from pages.components import boards
from pages.holdout import cached
from pages.holdout.cached import is_kept


@st.cache_data(show_spinner=False, max_entries=16)
def _start(content_id: str, embedding: str, _sets: Sets) -> StartingMargin | None:
    n = len(_sets.target)
    return starting_margin(
        cached.vectors(_sets, embedding)[0][:n], [item.category for item in _sets.target]
    )


def start_of(sets: Sets, view: dict) -> StartingMargin | None:
    """Return the margin that a lock starts from, as the benchmark's groups suggest it.

    It comes only from a part that the test will not read, so from entries that are not set aside.
    """
    # The entries in sight are not those that the test will read.
    return (
        _start(sets.content_id, view["embedding"], sets)
        if sets.share_aside and len(sets.target) >= 10
        else None
    )


def with_start(sets: Sets | None, view: dict) -> dict:
    """Return what a lock stores.

    Where no semantic margin was set, that is the one of the explored part, and what it means.
    """
    # A margin that somebody set stays; only a missing one is suggested.
    start = start_of(sets, view) if sets is not None and view["semantic"] is None else None
    return view | ({"semantic": start.margin, "semantic_margin_is": start.meaning} if start else {})


def what_next(sets: Sets, tests: dict, view: dict, *, confirmatory: bool) -> str:
    """Return the next step, with its cost."""
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
        start_of(sets, view),
        is_aside=bool(sets.share_aside),
        facts=facts,
    ).text


def offer_lock(sets: Sets, settings: dict) -> None:
    """Offer a lock before the entries that were set aside are read, or say why there is none."""
    if sets.share_aside == 0:
        how = (
            "Duplicate the study with a share set aside for confirmation."
            if sets.is_of_study
            else "Choose a share to set aside under View: it counts nowhere until you lock. What "
            "you saw of it before stays seen."
        )
        st.info(
            f"No entries were set aside, so there is nothing to confirm on. {how}",
            icon=":material/lock_open:",
        )
        return
    # Counted by the store, so that no page has read them before the lock.
    n_target, n_retro = (
        locks.n_set_aside(session.store(), sets.record_id, role) for role in ("target", "retro")
    )
    st.caption(f"{n_target:,} benchmark and {n_retro:,} holdout entries were set aside.")
    fixed = settings | {
        "sets": sets.name,
        "n_target": n_target,
        "n_retro": n_retro,
        "share_aside": sets.share_aside,
    }
    item_ids = None
    if not sets.is_of_study:
        item_ids = sorted(holdout.entries_aside(session.store(), sets.record_id))
    modes.offer_button(sets.record_id, PAGE, fixed, "lock-holdout", item_ids, sets.study_ids)


# Sets and settings that had a verdict in this session, also where a test could not be run.
VERDICTS = "holdout-verdicts"


class BoardPlace:
    """The place of the board: a line for the progress of the last test, and the board under it."""

    def __init__(self) -> None:
        with screen.reserved_space("board", 450, 800):
            self.progress, self.board, self.below = st.container(), st.empty(), st.container()

    def first(self, sets: Sets, view: dict, mode: str, *waiting: str) -> None:
        """Draw the tests besides those `waiting`, without a verdict.

        Nothing once there was a verdict at these settings.
        """
        seen = st.session_state.setdefault(VERDICTS, set())
        if is_kept(sets, view) or prediction_key(sets, view) in seen:
            return
        with self.progress:
            tests, about, missing = cached.four_tests(
                sets, view, confirmatory=mode == "locked", waiting=waiting
            )
        # A key of its own: Streamlit refuses the same key twice in one run.
        key = f"first-{len(waiting)}-{sets.record_id}-{mode}"
        with self.board.container():
            _drawing(waiting_board(list(tests.values()), view, about, missing), key, is_locked=True)

    def verdict(self, sets: Sets, view: dict, mode: str, lock: dict | None) -> dict:
        """Draw the four rows and the verdict; return the tests by name, and how or why not."""
        # The quick tests are drawn first, because the cross-validation may take a minute.
        self.first(sets, view, mode, "prediction")
        with self.progress:
            tests, about, missing = cached.four_tests(sets, view, confirmatory=mode == "locked")
        if mode == "simultaneous":
            tests = {test.name: test for test in simultaneous(list(tests.values()))}
        with self.board.container():
            board_data = board(list(tests.values()), view, about, missing)
            moved, decision, _ = _drawing(
                board_data, f"board-{sets.record_id}-{mode}", is_locked=lock is not None
            )
            st.caption(plain(what_next(sets, tests, view, confirmatory=mode == "locked")))
            record.log_move(sets.record_id, moved)
            modes.remember(sets.record_id, PAGE, START, moved and view | moved)
            record.offer(
                sets.record_id,
                PAGE,
                mode,
                decision and view | decision | {"sets": sets.name, "sets_id": sets.sets_id},
            )
            st.caption(
                modes.note(mode, sets.record_id, "for all four tests together, at whatever margins")
            )
        # From now on the quick board would only flicker.
        st.session_state.setdefault(VERDICTS, set()).add(prediction_key(sets, view))
        return {"tests": tests, "about": about, "missing": missing}


def _drawing(board_data: Board, key: str, *, is_locked: bool) -> tuple:
    """Draw the board, with room for its rows: those with an interval are the higher ones."""
    n = sum(row.control is not None for row in board_data.rows)
    n_missing = len(board_data.rows) - n
    # Room for the board, wide and narrow, before the browser has drawn it.
    with screen.reserved_space(
        "tests", 30 + 105 * n + 55 * n_missing, 90 + 210 * n + 90 * n_missing
    ):
        return boards.draw(board_data.data(), key=key, locked=is_locked)
