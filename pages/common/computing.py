"""What takes long is computed in a thread of its own, and the page says meanwhile what it is and for how long."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import in_cached_function

from flipcore.access.acting import acting, acting_as
from flipcore.core.work import Work, at_work
from pages.common.notes import plain

P = ParamSpec("P")
T = TypeVar("T")
FIRST_LINE_S, NEXT_LINE_S = 0.3, 0.5  # what is quicker says nothing


def computed(step: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Above a function that Streamlit remembers: it is called in a thread, for the same person, and the page shows `step` until it
    has returned. Whoever leaves the page leaves the thread at work, and the next who looks finds what it made. Streamlit lets one
    thread compute what several ask for. The function must not draw, nor ask what the session holds."""

    def of(remembered: Callable[P, T]) -> Callable[P, T]:
        @wraps(remembered)
        def waited(*args: P.args, **kwargs: P.kwargs) -> T:
            if at_work() or in_cached_function.get():  # part of something that is being computed
                return remembered(*args, **kwargs)
            person = acting()

            def make() -> T:
                with acting_as(person):
                    return remembered(*args, **kwargs)

            return _waiting(Work(step, make))

        return waited

    return of


def _waiting(work: Work[T]) -> T:
    """What the work returns; until then its line stands where this is called."""
    place, wait_s = st.empty(), FIRST_LINE_S
    while not work.has_ended:
        try:
            work.result(wait_s)
        except TimeoutError:
            place.caption(f":material/hourglass_top: {plain(work.line)}")
            wait_s = NEXT_LINE_S
    place.empty()
    return work.result(0)
