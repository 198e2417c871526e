"""Long computations on a page: how far, how long still, and gone when done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

EVERY_S = 0.3


@contextmanager
def running(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with an estimate; yields `watch(done, of)`. Every redraw of it is a place where the script can be stopped."""
    bar, began = st.progress(0.0, text=f"{what} …"), time.monotonic()
    drawn = began

    def watch(done: int, of: int) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= EVERY_S:
            drawn = now
            left = (now - began) / done * (of - done)
            bar.progress(
                done / of, text=f"{what}: {done:,} of {of:,}, about {left:,.0f} s left. Choosing anything else stops it."
            )

    try:
        yield watch
    finally:
        bar.empty()
