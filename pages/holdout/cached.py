"""Cached statistics of the Holdout page: embeddings, the four tests, duplicates. Keyed by the two sets and the settings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from flipcore.annotation.surveys.results import survey_results
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.reports.holdout import checked_models, difficulty_result
from flipcore.reports.holdout_sets import Sets
from flipcore.stats.holdout import verdict
from flipcore.stats.holdout.difficulty import TOP_K, Condition, conditions
from flipcore.stats.holdout.duplicates import duplicates as pairs_alike
from flipcore.store.queries import holdout
from flipcore.vectors import classifiers, embeddings
from flipcore.vectors.embeddings import entry_text
from pages.common import gates, session
from pages.holdout.prediction import prediction

START: dict[str, Any] = {
    "difficulty": verdict.DIFFICULTY_MARGIN,
    "semantic": None,
    "prediction": verdict.BALANCED_MARGIN,
    "odd one out": verdict.ODD_MARGIN,
    "embedding": embeddings.DEFAULT,
    "classifier": classifiers.DEFAULT,
    "seed": 0,
    "permutations": 199,
}
SEMANTIC_DRAWS = 9_999
STILL_RUNNING = {  # of the tests that take longest
    "semantic": "Running: the entries are regrouped, to see what chance alone would show.",
    "prediction": "Running: a classifier learns to tell the sets apart, with the right labels and with shuffled ones.",
}


@st.cache_resource(show_spinner="Embedding the entries …", max_entries=8)
def _vectors(sets_id: str, embedding: str, _sets: Sets):
    return embeddings.embedded(session.store(), [*_sets.target, *_sets.retro], embedding)


def vectors(sets: Sets, embedding: str):
    """((n, d) unit rows of target + retro, the words beside every figure made of them). Entries leave this machine only after
    somebody agreed to it on the map."""
    away = embeddings.embedding_by_name(embedding).sent_to
    if away and away not in st.session_state.get("sent-away", ()):
        raise BadInput(f"this embedding sends the entries to {away}; agree to that under Map, or choose another under View.")
    return _vectors(sets.sets_id, embedding, sets)


@st.cache_resource(show_spinner="Comparing the texts …", max_entries=8)
def _duplicates(sets_id: str, _sets: Sets):
    return pairs_alike([entry_text(item) for item in (*_sets.target, *_sets.retro)])


def duplicates(sets: Sets):
    return _duplicates(sets.sets_id, sets)


@st.cache_resource(show_spinner="Regrouping the entries …", max_entries=24)
def _semantic(sets_id: str, embedding: str, seed: int, _sets: Sets):
    rows, words = vectors(_sets, embedding)
    kept_target, kept_retro, left_out = classifiers.one_per_source(_sets.target, _sets.retro)
    if left_out:
        ids = {item.item_id for item in (*kept_target, *kept_retro)}
        rows = rows[[i for i, item in enumerate((*_sets.target, *_sets.retro)) if item.item_id in ids]]
    n = len(kept_target)
    paired = classifiers.paired_rows(kept_target, kept_retro)
    half = 0 if paired is None else len(paired) // 2
    target, retro = (rows[:n], rows[n:]) if paired is None else (rows[paired[:half]], rows[paired[half:]])
    test = verdict.semantic_test(target, retro, paired=paired is not None, m=SEMANTIC_DRAWS, seed=seed)
    how = "labels swapped within source pairs" if paired is not None else "labels shuffled"
    return test, (
        f"{words}; MMD² and both sets' mean pairwise cosine, Holm; {how}, {SEMANTIC_DRAWS:,} permutations, exact "
        f"centre; 90 % interval; n = {len(target):,} + {len(retro):,}; seed {seed}. {left_out}"
    ).strip()


@st.cache_data(show_spinner=False, max_entries=16)
def _accuracies(study_id: str, revision: int, confirmatory: bool):
    lock = session.lock_id(study_id, "holdout") if confirmatory else None
    return holdout.accuracies(session.store(), study_id, lock=lock)


def all_conditions(sets: Sets, confirmatory: bool, boosted: bool = True) -> list[Condition]:
    """What the studies of these sets measured; of equal conditions the newest study's."""
    sources = {item.item_id: item.source_id for item in (*sets.target, *sets.retro)}
    by_label: dict[str, Condition] = {}
    for study_id in sets.study_ids:
        frame = _accuracies(study_id, session.store().revision(study_id), confirmatory and sets.is_of_study)
        answers = frame[frame["item_id"].isin(sources)].assign(source_id=lambda rows: rows["item_id"].map(sources))
        for one in conditions(answers, TOP_K if boosted else ()):
            by_label.setdefault(one.label, one)
    return list(by_label.values())


def closed_gates(sets: Sets, conditions: Sequence[Condition]) -> dict[str, str]:
    """Of what the studies of these sets were read by, what may not be claimed: extractor -> what is missing."""
    names = {one.extractor for one in conditions}
    shut: dict[str, str] = {}
    for study_id in sets.study_ids:
        own = names & {part.name for part in session.declared(study_id).extractors}
        shut |= gates.closed_gates(study_id, (), own)
    return shut


def difficulty(sets: Sets, confirmatory: bool):
    """(test, how) by all models from before the target, or (None, why there is none)."""
    candidates = all_conditions(sets, confirmatory)
    states = checked_models(sets.target, list(dict.fromkeys(one.model for one in candidates)))
    return difficulty_result(candidates, states, closed_gates(sets, candidates))


def four_tests(sets: Sets, view: dict, confirmatory: bool, waiting: Collection[str] = ()):
    """(tests, how each was made, why the others were not run), each by name. Those in `waiting` are still running."""
    tests, about, missing = {}, {}, {}
    for name, run in (
        ("difficulty", lambda: difficulty(sets, confirmatory)),
        ("semantic", lambda: _semantic(sets.sets_id, view["embedding"], view["seed"], sets)),
        ("prediction", lambda: prediction(sets, view, vectors)),
        ("odd one out", lambda: _survey_test(sets)),
    ):
        try:
            test, words = (None, STILL_RUNNING[name]) if name in waiting else run()
        except FlipscopeError as error:
            test, words = None, f"Not run: {error}"
        if test is None:
            missing[name] = words
        else:
            tests[name], about[name] = test.against_margin(view[name]), words
    return {test.name: test for test in verdict.as_family(list(tests.values()))}, about, missing


def _survey_test(sets: Sets):
    outcome, words = survey_results(session.store(), sets.sets_id)
    return (None if outcome is None else verdict.odd_one_out_test(outcome)), words
