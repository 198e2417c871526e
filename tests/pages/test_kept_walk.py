"""Every kept result against every kind of write: none stays that would be another now.

A study is written to in each way there is, one after the other. After each write every result is
read three times: in the server that was open, in a fresh one that finds the kept files, and in one
that finds none. All three must say the same.
"""

import importlib
import logging
import re
import shutil
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from flipcore.annotation.judge_labels import label_row
from flipcore.annotation.key_review import key_verdict_row
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.annotation.surveys.sheets import answer_row, new_survey
from flipcore.core.errors import FlipscopeError
from flipcore.core.paths import own_models_toml
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.answer import Question, Settings
from flipcore.reports.holdout_sets import sets_of_study
from flipcore.runs import demo, rereading, runner
from flipcore.stats.flips.per_readout import flip_summaries
from flipcore.stats.flips.predictor import flip_prediction
from flipcore.store import kept_results, packing
from flipcore.store.connection import Store, results_folder
from flipcore.store.judgements import FLIP_MARKS, KEY_VERDICTS, OUTPUT_LABELS, PAIR_VERDICTS, SURVEY_ANSWERS
from flipcore.store.merge import merge
from flipcore.store.queries import budgets, decisions, holdout, judgements, judges, locks, pairs, review, studies
from pages.common import gates, session
from pages.common.answers import answer_of
from pages.common.headline import headline, leading_sentences
from pages.common.scores import Choices
from pages.flips import map_data
from tests.annotation.paraphrases.pairs import OTHER
from tests.conftest import ROOT
from tests.pages.opening import clear_caches, quiet
from tests.stores import empty_store

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("allowed_callables")]
ONE_STORE = True
MISSING_CONTEXT = "streamlit.runtime.scriptrunner_utils.script_run_context"
MODEL = "simulated-artifact-prone"
ITEMS = (
    ItemSource("flipscope_choice", role="target", n=14, categories=("logic", "science")),
    ItemSource("flipscope_choice", role="retro", n=14, categories=("ethics", "ideas")),
    ItemSource("flipscope_problems", role="benchmark", n=6),
    ItemSource("flipscope_choice", role="control", n=6, categories=("measure", "language")),
)
STUDY = Study(
    "walked",
    ITEMS,
    (Part("option_order", {"n": 2}), Part("paraphrase", {"unreviewed": True})),
    (Part("regex"), Part("first_token"), Part("judge"), Part("answer_loss")),
    (ModelUse(MODEL, n_samples=2), ModelUse("simulated-noisy")),
    judge="tests.annotation.judging:reader",
    confirmatory_share=0.2,
)
S = STUDY.study_id
IDENTITY = (Part("identity"),)
REGEX = (Part("regex"),)
# Declared before `STUDY` in another file, it holds items against it once both are merged.
EARLIER = Study("earlier", ITEMS[2:3], IDENTITY, REGEX, (ModelUse(MODEL),), confirmatory_share=0.5)
ANOTHER = Study("another", ITEMS[:2], IDENTITY, REGEX, (ModelUse("simulated-clean"),))
VIEW = ("regex", "own_class", "default", 0.95, "parts")


def at(function: str, *settings: Any) -> Callable[[], Any]:
    """Return a call of a page's function by its place: imported late, after the store is set."""
    module, _, name = function.rpartition(".")
    return lambda: getattr(importlib.import_module(module), name)(*settings)


def answers() -> dict[str, Any]:
    """Return the answers to all questions, also of what a lock opened."""
    lock = (locks.lock_of_page(session.store(), S, "decomposition") or {"lock_id": None})["lock_id"]
    said = {}
    for question in (Question.SCORE, Question.RANKING, Question.MEMORY, Question.HOLDOUT):
        said[question] = answer_of(S, question)
        if question is not Question.HOLDOUT:
            said[question, "locked"] = answer_of(S, question, lock=lock)
    return said


RESULTS: dict[str, Callable[[], Any]] = {
    "audit/cached.py _audit": at("pages.audit.cached.audit_of", S),
    "common/answers.py _cached_answer": answers,
    "common/answers.py measurements": at("pages.common.answers.measurements", S, None),
    "common/headline.py _headline": lambda: headline(S),
    "common/headline.py _leading_sentences": lambda: leading_sentences(S),
    "common/repeats.py _warning": at("pages.common.repeats._warning", S),
    "common/scores.py _choices": lambda: Choices.load(S, None),
    "common/scores.py board": at("pages.common.scores.board", S, Settings(), None, True),
    "flips/map.py _disagreements": at("pages.flips.map._disagreements", S, MODEL),
    "flips/map_data.py _map_claim": lambda: map_data.map_claim(S, MODEL, "first_token", "regex", None),
    "flips/map_data.py _kept_map_content": lambda: map_data._kept_map_content(
        map_data.View(S, MODEL, "first_token", "regex", ("First token", "Regex"))
    ),
    "flips/map_data.py asked_once": at("pages.flips.map_data.asked_once", S),
    "flips/map_data.py cells": at("pages.flips.map_data.cells", S, MODEL, "first_token", "regex"),
    "flips/map_data.py choices": at("pages.flips.map_data.choices", S),
    "flips/map_data.py label_warnings": at("pages.flips.map_data.label_warnings", S, MODEL),
    "flips/map_data.py most_disputed": at("pages.flips.map_data.most_disputed", S, MODEL),
    "flips/map_data.py why_nothing_was_read": at("pages.flips.map_data.why_nothing_was_read", S),
    "flips/parts.py _alone": at("pages.flips.parts._alone", S, MODEL, "explore", "own_class"),
    "flips/parts.py _arriving": at("pages.flips.parts._arriving", S, MODEL, "explore", "option_order", "own_class"),
    "flips/parts.py _board": at("pages.flips.parts._board", S, MODEL, "simultaneous", ()),
    "flips/parts.py _decompositions": at("pages.flips.parts._decompositions", S, MODEL, "explore", *VIEW),
    "flips/parts.py _every_pairing": at("pages.flips.parts._every_pairing", S, MODEL, "simultaneous"),
    "flips/parts.py _predicted": at("pages.flips.parts._predicted", S, MODEL, "explore"),
    "paraphrase_review/keys.py _suspects": at("pages.paraphrase_review.keys._suspects", S),
    "ranking/cached.py board": at("pages.ranking.cached.board", S, Settings(), None),
    "ranking/cached.py flips": at("pages.ranking.cached.flips", S, None, "regex"),
    "ranking/cached.py panels": at("pages.ranking.cached.panels", S, None, "regex"),
    "studies/questions.py _break_to_open": at("pages.studies.questions._break_to_open", S),
    "studies/questions.py _flip_to_open": at("pages.studies.questions._flip_to_open", S, "first_token"),
}


def label_an_output(store: Store, folder: Path) -> None:
    text = judges.judged_texts(store, S)[0]
    judgements.keep(store, OUTPUT_LABELS, [label_row(text, "Ada", text["judged"])])


def judge_a_key(store: Store, folder: Path) -> None:
    item = review.items(store, [_item(store, "target")])[_item(store, "target")]
    row = key_verdict_row(item, "Ada", "ambiguous", by_choice=False)
    judgements.keep(store, KEY_VERDICTS, [row])


def reject_a_paraphrase(store: Store, folder: Path) -> None:
    sql = "SELECT material_id FROM study_variants WHERE study_id = $id AND material_id IS NOT NULL"
    ((pair_id,), *_) = store.rows(f"{sql} ORDER BY ALL", id=S)
    (pair,) = review.pairs(store, [pair_id])
    judgements.keep(store, PAIR_VERDICTS, [verdict_row(pair, "Ada", OTHER)])


def mark_a_flip(store: Store, folder: Path) -> None:
    place = dict(zip(FLIP_MARKS.subject, (S, MODEL, "i", "a", "v", "w", "regex"), strict=True))
    judgements.keep(store, FLIP_MARKS, [FLIP_MARKS.row(place | {"verdict": "genuine", "reviewer": "Ada"})])


def answer_a_survey(store: Store, folder: Path) -> None:
    sets = sets_of_study(store, S)
    survey = new_survey("Which?", sets.target, sets.retro, n_examples=1, n_triples=2, n_checks=0, seed=1)
    holdout.keep_survey(store, survey.row(sets.sets_id), [*sets.target, *sets.retro])
    rows = [answer_row(survey, "Ada", position, 0) for position in range(2)]
    judgements.keep(store, SURVEY_ANSWERS, rows)


def answer_it_once_more(store: Store, folder: Path) -> None:
    ((survey_id,),) = store.rows("SELECT survey_id FROM surveys")
    row = {"survey_id": survey_id, "annotator": "Bo", "position": 0, "kind": "triple"}
    row |= {"is_model": False, "odd": _item(store, "retro"), "chosen": _item(store, "retro")}
    judgements.keep(store, SURVEY_ANSWERS, [row | {"is_correct": True, "call_id": None}])


def pair_with_controls(store: Store, folder: Path) -> None:
    pairs.store_pairs(store, {_item(store, "benchmark"): _item(store, "control")}, {"by": "hand"}, "Ada").result(60)


def read_again(store: Store, folder: Path) -> None:
    rereading.reread(store, S, "pattern", {"expression": r"(\d+)"})


def run_another_study(store: Store, folder: Path) -> None:
    assert runner.run(ANOTHER, store).state == "done"


def merge_an_earlier_study(store: Store, folder: Path) -> None:
    merge([folder / "earlier.duckdb"], store)


def lock_and_delete_the_earlier_study(store: Store, folder: Path) -> None:
    locks.keep_lock(store, EARLIER.study_id, "decomposition", {}, "Ada")
    studies.delete_study(store, EARLIER.study_id)


def lock_the_study(store: Store, folder: Path) -> None:
    locks.keep_lock(store, S, "decomposition", {"level": 0.95}, "Ada")


def keep_a_version(store: Store, folder: Path) -> None:
    sets = sets_of_study(store, S)
    row = {"name": "v", "note": "", "parent_id": None, "sets_id": sets.sets_id, "author": "Ada"}
    row |= {"target_ids": [], "retro_ids": [], "results": {}, "settings": {}}
    holdout.keep_version(store, row, [])
    holdout.keep_aside(store, sets.record_id, [_item(store, "target")], [], 1.0)


def write_what_changes_no_number(store: Store, folder: Path) -> None:
    budgets.set_budget(store, S, 2.0)
    decisions.keep_question(store, S, "score", "Why?", "Ada")
    decisions.keep_decision(store, S, "score", "explore", "So.", {}, "Ada")


def get_an_answer_to_a_failed_call(store: Store, folder: Path) -> None:
    """As a run of another study does that asks the same call."""
    ((call_id,),) = store.rows("SELECT call_id FROM completions WHERE status = 'failed'")
    answered = "SELECT * REPLACE ('ok' AS status, now() AS created_at) FROM completions"
    rows = store.arrow(f"{answered} WHERE call_id = $id", id=call_id).to_pylist()
    member = {"study_id": ANOTHER.study_id, "call_id": call_id}
    store.writer.add_together([("completions", rows), ("study_calls", [member])]).result(60)


def change_a_card(store: Store, folder: Path) -> None:
    """The training of a model ended before the items were published."""
    own_models_toml().write_text(
        '[simulated-noisy]\nbackend = "simulated"\noptions = { profile = "noisy" }\ncutoff = "2026-01-01"\n', encoding="utf-8"
    )


def write_what_no_study_is_named_by(store: Store, folder: Path) -> None:
    """What touches no revision of the study, all at once."""
    judge_a_key(store, folder)
    run_another_study(store, folder)
    get_an_answer_to_a_failed_call(store, folder)
    keep_a_version(store, folder)


WRITES = (
    write_what_no_study_is_named_by,
    answer_a_survey,
    answer_it_once_more,
    label_an_output,
    change_a_card,
    write_what_changes_no_number,
    mark_a_flip,
    reject_a_paraphrase,
    pair_with_controls,
    merge_an_earlier_study,
    lock_and_delete_the_earlier_study,
    read_again,
    lock_the_study,
)


def _item(store: Store, role: str) -> str:
    sql = "SELECT min(item_id) FROM study_items WHERE study_id = $id AND role = $role AND NOT confirmatory"
    return store.rows(sql, id=S, role=role)[0][0]


def plain(value: Any) -> Any:
    """Return a value as nested lists whose text tells it from every other."""
    if isinstance(value, pd.DataFrame):
        return plain(value.to_dict("list"))
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if is_dataclass(value) and not isinstance(value, type):
        names = [one_field.name for one_field in fields(value)]
        return [type(value).__name__, *(plain(getattr(value, name)) for name in names)]
    if isinstance(value, dict):
        return [[plain(key), plain(content)] for key, content in value.items()]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if hasattr(value, "__dict__") and not callable(value):
        return [type(value).__name__, plain(vars(value))]
    return repr(value)


def everything() -> dict[str, str]:
    """Return every kept result as text; of one that is refused the sentence."""
    said = {}
    for name, result in RESULTS.items():
        try:
            said[name] = repr(plain(result()))
        except FlipscopeError as error:
            said[name] = str(error)
    return said


def as_a_fresh_server() -> None:
    session.store().close()
    clear_caches()


@pytest.fixture(scope="module")
def patch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def fail_a_call(connection) -> None:
    call = "SELECT min(call_id) FROM completions"
    connection.execute(f"UPDATE completions SET status = 'failed' WHERE call_id = ({call})")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, allowed_callables, patch):
    folder = tmp_path_factory.mktemp("walk")
    patch.setenv("FLIPSCOPE_HOME", str(folder / "home"))
    for name, study in (("earlier", EARLIER), ("flips", STUDY)):
        store = empty_store(folder / f"{name}.duckdb")
        demo.fill_store(store)
        assert runner.run(study, store).state == "done"
        store.writer.transact(fail_a_call, changes=()).result(60)
        store.close()
    quiet(patch, folder / "flips.duckdb")
    patch.setattr("pages.common.session._in_thread", lambda step, call: call())
    for name, few in (("flip_prediction", flip_prediction), ("flip_summaries", flip_summaries)):
        patch.setattr(f"pages.flips.parts.{name}", partial(few, n_permutations=9))
    logging.getLogger(MISSING_CONTEXT).disabled = True
    clear_caches()
    yield folder
    as_a_fresh_server()


def test_every_function_whose_result_is_kept_is_walked():
    kept = set()
    for path in sorted((ROOT / "pages").rglob("*.py")):
        for name in re.findall(r"is_kept=True\s*\)\ndef (\w+)", path.read_text(encoding="utf-8")):
            kept.add(f"{path.parent.name}/{path.name} {name}")
    assert kept == {*RESULTS}


def keys() -> tuple[str, tuple]:
    """Return what kept files, and what the memory of a server, are known by."""
    return kept_results.state_of(session.store(), S), gates.revision_with_labels(S)


@pytest.mark.timeout(3_600)
def test_no_write_leaves_a_result_that_would_be_another_now(folder):
    stale, changed = [], set()
    assert packing.pack(session.store(), S)
    before, (state, revision) = everything(), keys()
    for write in WRITES:
        write(session.store(), folder)
        new_state, new_revision = keys()
        is_other_state, is_touched = new_state != state, new_revision[0] != revision[0]
        state, revision = new_state, new_revision
        if is_other_state and is_touched:
            # Nothing that was kept or remembered is found again: every result is computed.
            before = None
            assert packing.is_packed(session.store(), S) or packing.pack(session.store(), S)
            state, revision = keys()
            continue
        assert before is not None, "such writes come first"
        running = everything()
        as_a_fresh_server()
        fresh = everything() if not is_other_state else {}
        as_a_fresh_server()
        shutil.rmtree(results_folder(folder / "flips.duckdb"), ignore_errors=True)
        now = everything()
        changed |= {write} if now != before else set()
        for said in (running, fresh):
            stale += [(write.__name__, said is fresh, name) for name in said if said[name] != now[name]]
        before, (state, revision) = now, keys()
    assert stale == []
    assert {label_an_output, answer_a_survey, answer_it_once_more, change_a_card} <= changed
