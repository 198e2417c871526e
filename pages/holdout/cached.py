"""Cached statistics of the Holdout page: embeddings, the four tests and duplicates."""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import streamlit as st

from flipcore.reports import holdout as tests_of_sets
from flipcore.reports.holdout import HoldoutReport
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout.difficulty import Condition
from flipcore.stats.holdout.duplicates import duplicates as pairs_alike
from flipcore.stats.holdout.entries import entry_text
from flipcore.store import kept_results
from flipcore.store.queries import holdout as queries
from flipcore.vectors import embeddings
from pages.common import gates, session

MAX_PREDICTIONS = 24


# The page must know before it draws whether a prediction is cached. Streamlit's caches cannot tell,
# so this is a dictionary.
@st.cache_resource(show_spinner=False)
def _predictions() -> dict[tuple, tuple]:
    return {}


def is_prediction_cached(sets: Sets, view: dict) -> bool:
    return tests_of_sets.prediction_key(sets, view) in _predictions()


def prediction(sets: Sets, view: dict, vectors: Callable):
    """Return (test, how it was made) of the classifier, cached per sets and settings.

    `vectors` is the function of that name below. Another choice on the page stops the computation
    between two permutations.
    """
    cache, key = _predictions(), tests_of_sets.prediction_key(sets, view)
    if key not in cache:
        # Other classifiers read the texts, so they need no embedding.
        rows = vectors(sets, view["embedding"])[0] if view["classifier"] == "vectors" else None
        with running("Telling the sets apart with shuffled labels") as watch:
            names = ["prediction", *_names(sets, view["embedding"]), *map(repr, key)]
            make = partial(tests_of_sets.prediction, sets, view, rows, watch)
            cache[key] = kept_results.kept_of_content(session.store(), names, make)
        # A dictionary keeps the order of insertion, so this removes the oldest results.
        while len(cache) > MAX_PREDICTIONS:
            cache.pop(next(iter(cache)), None)
    return cache[key]


def _names(sets: Sets, embedding: str) -> list[str]:
    """Return the parts of a cache key that identify these sets and their vectors on any server."""
    return [sets.content_id, embedding, str(embeddings.embedding_by_name(embedding).revision)]


REDRAW_S = 0.3  # seconds between two redraws of a progress bar


@contextmanager
def running(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar with the time left; yield its function `watch(step, n_steps)`.

    Streamlit can stop the script whenever the bar is redrawn.
    """
    bar, start = st.progress(0.0, text=f"{title} …"), time.monotonic()
    last_redraw = start

    def watch(step: int, n_steps: int) -> None:
        nonlocal last_redraw
        now = time.monotonic()
        # Each redraw sends a message to the browser, so not every step is drawn.
        if step and now - last_redraw >= REDRAW_S:
            last_redraw = now
            eta_s = (now - start) / step * (n_steps - step)
            bar.progress(
                step / n_steps,
                text=f"{title}: {step:,} of {n_steps:,}, about {eta_s:,.0f} s left. Choosing "
                "anything "
                "else stops it.",
            )

    try:
        yield watch
    finally:
        # Remove the bar even if another choice on the page stops the work.
        bar.empty()


# Only these tests take so long that they are drawn as running.
STILL_RUNNING = {
    "semantic": "Running: the entries are regrouped, to see what chance alone would show.",
    "prediction": "Running: a classifier learns to tell the sets apart, with the right labels and "
    "with shuffled ones.",
}


def cached_by_content(step: str, max_entries: int = 8):
    """Decorate a function of two sets and of hashable settings: cache it in memory.

    The page shows `step` while the function runs. Sets with equal entries share a result, even
    under different names.
    """
    hash_funcs: dict[str | type, Callable] = {Sets: lambda sets: sets.content_id}

    def decorate(make: Callable) -> Callable:
        cache = st.cache_resource(
            show_spinner=False, max_entries=max_entries, hash_funcs=hash_funcs
        )
        return session.computed(step)(cache(make))

    return decorate


@cached_by_content("Embedding the entries")
def _vectors(sets: Sets, embedding: str):
    return embeddings.embedded(session.store(), [*sets.target, *sets.retro], embedding)


def vectors(sets: Sets, embedding: str):
    """Return the unit vectors of benchmark and then holdout entries, (n, d), and their description.

    Raises BadInput for an embedding that sends entries away, unless somebody agreed to that.
    """
    tests_of_sets.refuse_sending(embedding, st.session_state.get("sent-away", ()))
    return _vectors(sets, embedding)


@cached_by_content("Comparing the texts")
def duplicates(sets: Sets):
    """Return the pairs of near-duplicate entries; indices count benchmark and then holdout."""

    def make():
        return pairs_alike([entry_text(item) for item in (*sets.target, *sets.retro)])

    return kept_results.kept_of_content(session.store(), ["duplicates", sets.content_id], make)


@cached_by_content("Regrouping the entries", 24)
def _semantic(sets: Sets, embedding: str, seed: int):
    names = ["semantic", *_names(sets, embedding), str(seed)]

    def make():
        return tests_of_sets.semantic(sets, vectors(sets, embedding), seed)

    return kept_results.kept_of_content(session.store(), names, make)


@session.cached(max_entries=16)
def _accuracies(study_id: str, confirmatory: bool):
    # Without a lock its id is "", and the store refuses to read under it.
    lock = session.lock_id(study_id, "holdout") if confirmatory else None
    return queries.accuracies(session.store(), study_id, lock=lock)


def all_conditions(sets: Sets, *, confirmatory: bool, boosted: bool = True) -> list[Condition]:
    """Return the accuracies that studies measured on both sets, per model and way of asking.

    Of several equal conditions the newest counts. `boosted` includes prompts that help a model.
    """

    def answers(study_id: str):
        return _accuracies(study_id, confirmatory and sets.is_of_study)

    return tests_of_sets.all_conditions(session.store(), sets, answers, boosted=boosted)


def closed_gates(
    sets: Sets, conditions: Sequence[Condition], *, confirmatory: bool
) -> dict[str, str]:
    """Return the extractors that allow no claim on these conditions: name -> what is missing."""
    return tests_of_sets.closed_gates_of(
        session.store(), sets, conditions, _gates_of(sets, confirmatory=confirmatory)
    )


def _gates_of(
    sets: Sets, *, confirmatory: bool
) -> Callable[[str, Collection[str]], dict[str, str]]:
    """Return a function of a study and its extractors that returns the closed gates.

    With `confirmatory` they are as they were at the lock.
    """
    lock = session.lock_id(sets.record_id, "holdout") if confirmatory else None
    return lambda study_id, extractors: gates.closed_gates(
        study_id, (), extractors, lock, sets.record_id
    )


def four_tests(
    sets: Sets, view: dict, *, confirmatory: bool, waiting: Collection[str] = ()
) -> HoldoutReport:
    """Run the tests at the settings of `view`.

    Tests in `waiting` are not run; their reason says that they are still running.
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
    return tests_of_sets.four_tests(runs, view, {name: STILL_RUNNING[name] for name in waiting})
