"""A study's headline, computed again only when something new was committed."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from flipcore.core.work import say_step
from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.memory import memory_headline as memory_computed
from flipcore.reports.ranking import accuracies_sentence, compares_models, ranking_report
from flipcore.stats.memory.rewritten import harness_accuracy
from flipcore.store.queries import pairs as pair_queries
from pages.common import cells, gates, session
from pages.common.computing import computed

COUNTING_TO_READING = 1.2  # how much longer flips are counted than their readouts are read, at any size


def tenth_of(study_id: str) -> int | None:
    """Of a running study how many tenths of its calls are done; None of one that does not run."""
    progress = session.registry().progress(study_id)
    if progress is None:
        return None
    return 10 * progress.n_done // progress.n_calls if progress.n_calls else 0


@st.cache_resource(show_spinner=False)
def _moments() -> dict[str, tuple[int, int]]:
    """Running study -> (tenth, the revision at which it began): what its card is computed from, once for all sessions."""
    return {}


def _revision(study_id: str) -> int:
    """The newest revision; of a running study that of its last tenth, because a card's sentences take seconds to compute."""
    newest, tenth = session.store().revision(study_id), tenth_of(study_id)
    if tenth is None:
        _moments().pop(study_id, None)
        return newest
    if study_id not in _moments() or _moments()[study_id][0] != tenth:
        _moments()[study_id] = tenth, newest
    return _moments()[study_id][1]


def headline(study_id: str) -> Headline:
    """What may be claimed of a study; what has not passed its gate is left out, and named."""
    study = session.declared(study_id)
    closed_gates = gates.closed_gates(study_id, (part.name for part in study.axes), (part.name for part in study.extractors))
    models = session.study_row(study_id)["models"]
    heat = session.temperature(study_id, models[0])
    return _headline(study_id, _revision(study_id), len(models), tuple(closed_gates), heat)


@computed("Reading the answers")
@st.cache_data(show_spinner=False, max_entries=64)
def _headline(study_id: str, revision: int, n_models: int, closed_gates: tuple[str, ...], heat: float | None) -> Headline:
    start = time.monotonic()
    frame = session.readouts(study_id, revision)
    say_step(f"Counting the flips in {len(frame):,} readouts", about_s=COUNTING_TO_READING * (time.monotonic() - start))
    return claimed_headline(frame, closed_gates, n_models, heat, partial(cells.estimates, study_id, revision))


def memory_headline(study_id: str) -> str:
    """What the detectors see, of a study that compares items with controls and is not running; else empty."""
    if tenth_of(study_id) is not None:
        return ""
    study = session.declared(study_id)
    closed_gates = gates.closed_gates(study_id, (part.name for part in study.axes), ())
    return _memory_headline(study_id, _revision(study_id), tuple(closed_gates.items()))


@computed("Testing for memory")
@st.cache_data(show_spinner=False, max_entries=64)
def _memory_headline(study_id: str, revision: int, closed_gates: tuple[tuple[str, str], ...]) -> str:
    frame, items = session.readouts(study_id, revision, everything=True), session.study_items(study_id)
    pairs = pair_queries.control_pairs(session.store(), study_id)
    claim = memory_computed(frame, session.declared(study_id), items, dict(closed_gates), pairs)
    return claim.text if claim else ""


def ranking_headline(study_id: str) -> tuple[str, str]:
    """Of a study with several models who is first, and each of them with its accuracy; ("", "") of any other."""
    study = session.declared(study_id)
    if not compares_models(study):
        return "", ""
    closed_gates = gates.closed_gates(study_id, (part.name for part in study.axes), (part.name for part in study.extractors))
    return _ranking_headline(study_id, _revision(study_id), tuple(closed_gates.items()))


@computed("Comparing the models")
@st.cache_data(show_spinner=False, max_entries=64)
def _ranking_headline(study_id: str, revision: int, closed_gates: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    report = ranking_report(session.readouts(study_id, revision), closed_gates=dict(closed_gates))
    return (report.claims[0].text, accuracies_sentence(report)) if report else ("", "")


def harness_headline(study_id: str) -> str:
    """What rotation adds to a single vote, of the first model of a study that was asked so; else empty."""
    if session.declared(study_id).protocol.name != "rotation":
        return ""
    return _harness_headline(study_id, _revision(study_id))


@computed("Counting the rotations")
@st.cache_data(show_spinner=False, max_entries=64)
def _harness_headline(study_id: str, revision: int) -> str:
    frame = session.readouts(study_id, revision, everything=True)
    accuracy = harness_accuracy(frame[frame["model"] == frame["model"].iloc[0]]) if len(frame) else None
    return accuracy.sentence() if accuracy else ""
