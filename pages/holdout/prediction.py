"""Prediction accuracy of the Holdout page: minutes for thousands of entries, so it says how far it is and can be stopped."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from flipcore.reports import holdout_tests
from flipcore.reports.holdout_sets import Sets

MOST_KEPT = 24
SETTINGS = ("classifier", "embedding", "permutations", "seed")  # of a view, those that the test depends on


@st.cache_resource(show_spinner=False)
def _cache() -> dict[tuple, tuple]:
    return {}


def is_kept(sets: Sets, view: dict) -> bool:
    """Whether the test at these settings is there at once."""
    return (sets.sets_id, *(view[name] for name in SETTINGS)) in _cache()


def prediction(sets: Sets, view: dict, vectors: Callable):
    """(test, how) at the classifier, seed and permutations of `view`, kept like what is cached; `vectors(sets, embedding)`
    gives the rows for a classifier that reads them. Any other choice on the page ends it between two permutations."""
    cache, key = _cache(), (sets.sets_id, *(view[name] for name in SETTINGS))
    if key not in cache:
        rows = vectors(sets, view["embedding"])[0] if view["classifier"] == "vectors" else None
        with running("Telling the sets apart with shuffled labels") as watch:
            cache[key] = holdout_tests.prediction(sets, view, rows, watch)
        while len(cache) > MOST_KEPT:
            cache.pop(next(iter(cache)), None)
    return cache[key]


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
