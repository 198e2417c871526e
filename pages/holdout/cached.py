"""Cached statistics of the Holdout page: embeddings, the four tests, duplicates.

Keyed by the two sets and the settings.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import streamlit as st

from flipcore.reports import holdout as tests_of_sets
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.duplicates import duplicates as pairs_alike
from flipcore.stats.holdout.entries import entry_text
from flipcore.store import kept_results
from flipcore.store.queries import holdout as queries
from flipcore.vectors import embeddings
from pages.common import gates, session

MOST_KEPT = 24


# A dictionary and not a cached function: Streamlit's caches hide what they hold, and the page must
# know before it draws whether a result is there.
@st.cache_resource(show_spinner=False)
def _cache() -> dict[tuple, tuple]:
    return {}


def is_kept(sets: Sets, view: dict) -> bool:
    return tests_of_sets.prediction_key(sets, view) in _cache()


def prediction(sets: Sets, view: dict, vectors: Callable):
    """Return (test, how) at the classifier, seed and permutations of `view`, kept like a cache.

    `vectors(sets, embedding)` gives the rows for a classifier that reads them. Any other choice on
    the page ends it between two permutations.
    """
    cache, key = _cache(), tests_of_sets.prediction_key(sets, view)
    if key not in cache:
        # Only the classifier of vectors needs an embedding.
        rows = vectors(sets, view["embedding"])[0] if view["classifier"] == "vectors" else None
        with running("Telling the sets apart with shuffled labels") as watch:
            names = ["prediction", *_names(sets, view["embedding"]), *map(repr, key)]
            make = partial(tests_of_sets.prediction, sets, view, rows, watch)
            cache[key] = kept_results.kept_of_content(session.store(), names, make)
        # A dictionary keeps the order of insertion, so the oldest results go first.
        while len(cache) > MOST_KEPT:
            cache.pop(next(iter(cache)), None)
    return cache[key]


def _names(sets: Sets, embedding: str) -> list[str]:
    """Return what tells these sets and the vectors of their entries from others, on any server."""
    return [sets.content_id, embedding, str(embeddings.embedding_by_name(embedding).revision)]


EVERY_S = 0.3


@contextmanager
def running(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with an estimate; yield `watch(step, n_steps)`.

    Every redraw of it is a place where the script can be stopped.
    """
    bar, began = st.progress(0.0, text=f"{title} …"), time.monotonic()
    last_redraw = began

    def watch(step: int, n_steps: int) -> None:
        nonlocal last_redraw
        now = time.monotonic()
        # Each redraw sends a message to the browser, so not every step is one.
        if now - last_redraw >= EVERY_S:
            last_redraw = now
            eta_s = (now - began) / step * (n_steps - step)
            bar.progress(
                step / n_steps,
                text=f"{title}: {step:,} of {n_steps:,}, about {eta_s:,.0f} s left. Choosing "
                "anything "
                "else stops it.",
            )

    try:
        # The bar goes even where a choice on the page ends the work.
        yield watch
    finally:
        bar.empty()


# Only the tests that take longest are ever drawn as running.
STILL_RUNNING = {
    "semantic": "Running: the entries are regrouped, to see what chance alone would show.",
    "prediction": "Running: a classifier learns to tell the sets apart, with the right labels and "
    "with shuffled ones.",
}


def of_sets(step: str, max_entries: int = 8):
    """Remember a function of two sets and of hashable settings.

    It runs once for what both sets hold, whatever they are called.
    """
    # Equal sets under two names share a result: the id comes from what they hold.
    by_content: dict[str | type, Callable] = {Sets: lambda sets: sets.content_id}
    return lambda make: session.computed(step)(
        st.cache_resource(show_spinner=False, max_entries=max_entries, hash_funcs=by_content)(make)
    )


@of_sets("Embedding the entries")
def _vectors(sets: Sets, embedding: str):
    return embeddings.embedded(session.store(), [*sets.target, *sets.retro], embedding)


def vectors(sets: Sets, embedding: str):
    """Return ((n, d) unit rows of benchmark + holdout, the words next to every figure of them).

    Entries leave this machine only after somebody agreed to it on the map.
    """
    tests_of_sets.refuse_sending(embedding, st.session_state.get("sent-away", ()))
    return _vectors(sets, embedding)


@of_sets("Comparing the texts")
def duplicates(sets: Sets):
    def make():
        return pairs_alike([entry_text(item) for item in (*sets.target, *sets.retro)])

    return kept_results.kept_of_content(session.store(), ["duplicates", sets.content_id], make)


@of_sets("Regrouping the entries", 24)
def _semantic(sets: Sets, embedding: str, seed: int):
    names = ["semantic", *_names(sets, embedding), str(seed)]

    def make():
        return tests_of_sets.semantic(sets, vectors(sets, embedding), seed)

    return kept_results.kept_of_content(session.store(), names, make)


@session.cached(max_entries=16)
def _accuracies(study_id: str, confirmatory: bool):
    # Before a lock this is empty, and the store refuses to read.
    lock = session.lock_id(study_id, "holdout") if confirmatory else None
    return queries.accuracies(session.store(), study_id, lock=lock)


def all_conditions(sets: Sets, *, confirmatory: bool, boosted: bool = True) -> list[Condition]:
    """Return the conditions that studies of these sets measured, of equal ones the newest."""

    def answers(study_id: str):
        return _accuracies(study_id, confirmatory and sets.is_of_study)

    return tests_of_sets.all_conditions(session.store(), sets, answers, boosted=boosted)


def closed_gates(
    sets: Sets, conditions: Sequence[Condition], *, confirmatory: bool
) -> dict[str, str]:
    """Return what may not be claimed of these studies: extractor -> what is missing."""
    return tests_of_sets.shut_gates(
        session.store(), sets, conditions, _gates_of(sets, confirmatory=confirmatory)
    )


def _gates_of(
    sets: Sets, *, confirmatory: bool
) -> Callable[[str, Collection[str]], dict[str, str]]:
    """Return a function: a study and its extractors -> the closed gates, now or at the lock."""
    lock = session.lock_id(sets.record_id, "holdout") if confirmatory else None
    return lambda study_id, extractors: gates.closed_gates(
        study_id, (), extractors, lock, sets.record_id
    )


def four_tests(sets: Sets, view: dict, *, confirmatory: bool, waiting: Collection[str] = ()):
    """Return (tests, how each was made, why the others were not run), each by name.

    Those in `waiting` are still running.
    """
    store = session.store()
    runs = {
        "difficulty": lambda: tests_of_sets.difficulty_of(
            sets,
            all_conditions(sets, confirmatory=confirmatory),
            _gates_of(sets, confirmatory=confirmatory),
            store,
        ),
        "semantic": lambda: _semantic(sets, view["embedding"], view["seed"]),
        "prediction": lambda: prediction(sets, view, vectors),
        "odd one out": lambda: tests_of_sets.odd_one_out(store, sets),
    }
    report = tests_of_sets.four_tests(runs, view, {name: STILL_RUNNING[name] for name in waiting})
    return report.tests, report.about, report.missing
