"""Long computations on a page: how far, how long still, and gone when done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

EVERY_S = 0.3


@contextmanager
def running(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with an estimate; yields `watch(step, of)`. Every redraw of it is a place where the script can be stopped."""
    bar, began = st.progress(0.0, text=f"{what} …"), time.monotonic()
    last_redraw = began

    def watch(step: int, of: int) -> None:
        nonlocal last_redraw
        now = time.monotonic()
        if now - last_redraw >= EVERY_S:
            last_redraw = now
            eta_s = (now - began) / step * (of - step)
            bar.progress(
                step / of, text=f"{what}: {step:,} of {of:,}, about {eta_s:,.0f} s left. Choosing anything else stops it."
            )

    try:
        yield watch
    finally:
        bar.empty()
