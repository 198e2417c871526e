"""Two trials of an agent beside each other: their turns folded, the ones at which they part open."""

import streamlit as st

from flipcore.reports.compared_pairs import Side
from flipcore.reports.trajectories import Turn, trials, turns_of
from flipcore.text.counts import count_of
from pages.common.showing import plain

MOST_LETTERS, MOST_TURNS, MOST_TEXT = 160, 80, 8_000


def show(pair: tuple[Side, Side]) -> None:
    """Nothing where neither side was stored with its turns."""
    first, second = (turns_of(samples[0].raw_reply) if samples else () for _, samples in pair)
    if max(len(first), len(second)) < 3:
        return
    is_one = first == second
    both = trials(first, second)
    st.markdown("**What was done, turn by turn**")
    if not is_one:
        st.caption(plain(both.sentence))
    sides = ((first, both.first_at),) if is_one else ((first, both.first_at), (second, both.second_at))
    for column, (turns, at) in zip(st.columns(len(sides)), sides, strict=True):
        with column:
            _turns(turns, at)


def _turns(turns: tuple[Turn, ...], at: int | None) -> None:
    """Those before the parting are folded together, so that both sides begin with the action that differs."""
    if at:
        with st.expander(f"{count_of(at, 'turn')} before"):
            for number, turn in list(enumerate(turns[:at], 1))[-MOST_TURNS:]:
                st.caption(plain(f"{number} · {turn.role}"))
                _body(turn)
    for number, turn in enumerate(turns[at or 0 :][:MOST_TURNS], (at or 0) + 1):
        title = f"{number} · {turn.title[:MOST_LETTERS]}{'…' * (len(turn.title) > MOST_LETTERS)}"
        with st.expander(plain(title), expanded=number - 1 == at):
            _body(turn)
    if left := len(turns) - (at or 0) - MOST_TURNS:
        if left > 0:
            st.caption(f"{count_of(left, 'further turn')} in the raw reply.")


def _body(turn: Turn) -> None:
    for text in (turn.text, *turn.calls):
        if text:
            st.code(text[:MOST_TEXT] + "…" * (len(text) > MOST_TEXT), language=None, wrap_lines=True)
