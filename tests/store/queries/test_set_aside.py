"""Items that a study set aside are read by nothing before a lock: every query is walked, found by looking into the modules.

A new query function without a call here fails `test_every_query_is_walked`, so that somebody decides what it may show.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import shutil

import pandas as pd
import pytest

from flipcore.annotation.judge_labels import label_row
from flipcore.annotation.key_review import key_verdict_row
from flipcore.annotation.paraphrases.verdicts import verdict_row
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, digest
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.store import packing, queries
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.judgements import KEY_VERDICTS, KINDS, OUTPUT_LABELS, PAIR_VERDICTS
from flipcore.store.queries import (
    audit,
    budgets,
    decisions,
    exchange,
    holdout,
    inspection,
    invitations,
    judgements,
    judges,
    locks,
    memory,
    packed_readouts,
    pairs,
    paraphrase_states,
    raters,
    readout_rows,
    review,
    scores,
    studies,
    vectors,
)
from flipcore.store.rows import now
from flipcore.store.schema import tables
from flipcore.store.visible import Sight
from tests.annotation.paraphrases.pairs import SAME
from tests.conftest import ROOT
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

READER = "tests.annotation.judging:reader"
STUDY = Study(
    name="half set aside",
    items=(ItemSource("flipscope_choice", role="target", n=16), ItemSource("flipscope_problems", role="retro", n=16)),
    axes=(Part("identity"), Part("paraphrase", {"unreviewed": True}), Part("numeric_resample")),
    extractors=(Part("regex"), Part("first_token"), Part("judge"), Part("judge_backwards")),
    models=(ModelUse(READER, n_samples=2),),
    judge=READER,
    confirmatory_share=0.5,
)
S = STUDY.study_id
WRITES = {"keep_survey", "keep_version", "keep_pairs", "keep", "keep_lock"}
WRITES |= {
    "mark_as_random",
    "delete_study",
    "set_budget",
    "store_pairs",
    "keep_decision",
    "keep_question",
    "keep_move",
    "keep_aside",
    "keep_invitation",
    "keep_event",
    "keep_first_use",
    "replace_name",
}
NOTE = "a note that quotes the item"


def hidden_ids(store):
    return [one for (one,) in store.rows("SELECT item_id FROM study_items WHERE confirmatory ORDER BY item_id")]


def hidden_calls(store):
    sql = "SELECT DISTINCT call_id FROM readout_sources WHERE item_id IN (SELECT unnest($ids)) ORDER BY call_id"
    return [one for (one,) in store.rows(sql, ids=hidden_ids(store))]


def open_ids(store):
    sql = "SELECT item_id FROM study_items GROUP BY item_id HAVING NOT bool_or(confirmatory) ORDER BY item_id"
    return [one for (one,) in store.rows(sql)]


# name -> the call; what each may show is in the two tests below
CALLS = {
    "studies.studies": lambda s: studies.studies(s),
    "studies.study": lambda s: studies.study(s, S),
    "pairs.control_pairs": lambda s: pairs.control_pairs(s),
    "pairs.reference_accuracies": lambda s: pairs.reference_accuracies(s, hidden_ids(s), [READER]),
    "pairs.models_with_answers": lambda s: pairs.models_with_answers(s, S),
    "studies.asks_stored_wordings": lambda s: studies.asks_stored_wordings(s, S, "paraphrase"),
    "studies.rewords_by_construction": lambda s: studies.rewords_by_construction(s, S),
    "studies.declared": lambda s: studies.declared(s, S),
    "studies.toml": lambda s: studies.toml(s, S),
    "studies.has_outputs": lambda s: studies.has_outputs(s, S),
    "studies.axes_and_extractors": lambda s: studies.axes_and_extractors(s, S),
    "studies.study_items": lambda s: studies.study_items(s, S),
    "studies.paraphrase_states": lambda s: studies.paraphrase_states(s),
    "studies.readouts": lambda s: studies.readouts(s, S, paraphrases="all", everything=True),
    "studies.without_graders": lambda s: studies.without_graders(s, S, studies.readouts(s, S)),
    "packed_readouts.readouts": lambda s: packing.pack(s, S) and packed_readouts.readouts(s, S, locks.sight(s, S, None), "all"),
    "readout_rows.readout_rows": lambda s: readout_rows.as_texts(
        readout_rows.readout_rows(s, S, Sight(), "all", everything=True)
    ),
    "readout_rows.all_and_comparable": lambda s: readout_rows.all_and_comparable(s, S, Sight(), "all"),
    "studies.rows_of": lambda s: [studies.rows_of(s, S, one.name) for one in tables().values() if "study_id" in one.names],
    "studies.reviewed": lambda s: studies.reviewed(s, S),
    "studies.base_first_tokens": lambda s: studies.base_first_tokens(s, S, READER),
    "studies.doses": lambda s: studies.doses(s, S),
    "studies.fresh_items": lambda s: studies.fresh_items(s, S),
    "studies.n_unreviewed": lambda s: studies.n_unreviewed(s, S),
    "decisions.decisions": lambda s: decisions.decisions(s, S),
    "decisions.record": lambda s: decisions.record(s),
    "decisions.settings_of": lambda s: decisions.settings_of(s, "no decision", S, "decomposition"),
    "decisions.open_questions": lambda s: decisions.open_questions(s),
    "decisions.data_state": lambda s: decisions.data_state(s, S),  # counts and a fingerprint
    "decisions.latest": lambda s: decisions.latest(s, S, "decomposition"),
    "paraphrase_states.verdict_state": lambda s: paraphrase_states.verdict_state(s),
    "paraphrase_states.current_states": lambda s: paraphrase_states.current_states(s),
    "decisions.n_moves": lambda s: decisions.n_moves(s, S),
    "studies.stored_ids": lambda s: studies.stored_ids(s, ["no call"]),  # tells which of the given ids are stored
    "studies.n_answers_of": lambda s: studies.n_answers_of(s, [READER]),
    "studies.n_stored_of": lambda s: studies.n_stored_of(s, S, READER),
    "audit.calls": lambda s: audit.calls(s, S),
    "audit.items": lambda s: audit.items(s, S),
    "audit.reported": lambda s: audit.reported(STUDY),
    "audit.notes": lambda s: audit.notes(STUDY),
    "audit.facts": lambda s: audit.facts(STUDY),
    "audit.prompts": lambda s: audit.prompts(s, S),
    "audit.files_of_outputs": lambda s: audit.files_of_outputs(s, S),
    "audit.output_tables": lambda s: audit.output_tables(s, S),
    "scores.scores": lambda s: scores.scores(s, S, ["regex", "first_token"]),
    "scores.with_failed_calls": lambda s: scores.with_failed_calls(scores.scores(s, S, ["regex", "first_token"]), s, S),
    "scores.settings": lambda s: scores.settings(s, S),
    "scores.graders": lambda s: scores.graders(s, S, [{"scorer": "regex"}]),
    "budgets.spent_usd": lambda s: budgets.spent_usd(s, S),
    "budgets.overbilling": lambda s: budgets.overbilling(s),
    "budgets.budget_usd": lambda s: budgets.budget_usd(s, STUDY),
    "exchange.rows_to_export": lambda s: list(exchange.rows_to_export(s, S)),
    "exchange.completions": lambda s: exchange.completions(s, S),
    "raters.raters": lambda s: raters.raters(s, S, ["annotator"]),
    "audit.endings": lambda s: audit.endings(s, S),
    "inspection.inspection": lambda s: [
        inspection.inspection(s, S, READER, item, axis) for item in hidden_ids(s) for axis in ("identity", "paraphrase")
    ],
    "inspection.source_of": lambda s: [
        inspection.source_of(s, S, READER, item, axis, variant, 0, "regex")
        for item, axis, variant in s.rows(
            "SELECT DISTINCT item_id, axis, variant_id FROM readouts WHERE item_id IN (SELECT unnest($ids))", ids=hidden_ids(s)
        )
    ],
    "judges.studies_with_judge": lambda s: judges.studies_with_judge(s),
    "judges.both_ways": lambda s: judges.both_ways(s, S, "same_meaning"),
    "judges.judged_texts": lambda s: judges.judged_texts(s, S),
    "judgements.standing": lambda s: [judgements.standing(s, kind) for kind in KINDS],
    "judges.outputs": lambda s: judges.outputs(s, S),
    "judges.pair_sides": lambda s: judges.pair_sides(s, S),
    "judges.output": lambda s: [judges.output(s, S, call) for call in hidden_calls(s)],
    "judges.readouts_of": lambda s: judges.readouts_of(s, S, hidden_calls(s)),
    "judgements.n_rows": lambda s: [judgements.n_rows(s, kind) for kind in KINDS],
    "locks.locks": lambda s: locks.locks(s, S),
    "locks.lock_of_page": lambda s: locks.lock_of_page(s, S, "decomposition"),
    "locks.lock_by_id": lambda s: locks.lock_by_id(s, S, "none"),
    "locks.sight": lambda s: locks.sight(s, S, None),
    "locks.n_verdicts_changed": lambda s: locks.n_verdicts_changed(s, {"settings": {}}),
    "locks.late_readouts_sentence": lambda s: locks.late_readouts_sentence(
        s, {"study_id": S, "settings": {"state": {"items": [[one, ""] for one in hidden_ids(s)]}}}
    ),
    "locks.is_before_answers": lambda s: locks.is_before_answers(locks._state(s, S)),
    "locks.n_answered_before": lambda s: locks.n_answered_before(
        s, {"study_id": S, "created_at": now(), "settings": {"state": {"items": [[one, ""] for one in hidden_ids(s)]}}}
    ),
    "locks.differences": lambda s: locks.differences(s, {"study_id": S, "settings": {}, "lock_id": "another"}),
    "locks.hidden_by": lambda s: locks.hidden_by(s, S),
    "locks.hidden_sentence": lambda s: locks.hidden_sentence(s, S),
    "locks.n_set_aside": lambda s: locks.n_set_aside(s, S),
    "memory.operands": lambda s: memory.operands(s, S, "numeric_resample"),
    "memory.refusals": lambda s: memory.refusals(s, S, "numeric_resample"),
    "memory.characters_touched": lambda s: memory.characters_touched(s, S),
    "memory.references": lambda s: memory.references(s, S, "bit_flip"),
    "holdout.studies_with_both": lambda s: holdout.studies_with_both(s),
    "holdout.studies_of": lambda s: holdout.studies_of(s, open_ids(s), hidden_ids(s)),
    "holdout.role_items": lambda s: holdout.role_items(s, S, "target") + holdout.role_items(s, S, "retro"),
    "holdout.entries_aside": lambda s: holdout.entries_aside(s, S),
    "holdout.hidden_items": lambda s: holdout.hidden_items(s, hidden_ids(s)),
    "holdout.items": lambda s: holdout.items(s, hidden_ids(s)),
    "holdout.accuracies": lambda s: holdout.accuracies(s, S),
    "holdout.surveys": lambda s: holdout.surveys(s),
    "holdout.versions": lambda s: holdout.versions(s),
    "review.pairs": lambda s: review.pairs(s) + review.pairs(s, [row["pair_id"] for row in all_pairs(s)]),
    "review.pairs_with_source": lambda s: review.pairs_with_source(s),
    "review.n_pairs": lambda s: review.n_pairs(s),
    "review.judged_by_others": lambda s: review.judged_by_others(s, "Bea"),
    "review.items": lambda s: review.items(s, hidden_ids(s)),
    "review.studies_with_paraphrases": lambda s: review.studies_with_paraphrases(s),
    "review.materials": lambda s: review.materials(s, S),
    "review.materials_by_axis": lambda s: review.materials_by_axis(s, S),
    "review.n_readouts_on_review_axes": lambda s: review.n_readouts_on_review_axes(s, S),
    "review.sources_of_pairs": lambda s: review.sources_of_pairs(s),
    "review.verdicts_of": lambda s: review.verdicts_of(s, review.ALL_SOURCES),
    "invitations.by_id": lambda s: invitations.by_id(s),
    "invitations.invitations": lambda s: invitations.invitations(s),
    "invitations.acts": lambda s: invitations.acts(s),
    "invitations.names": lambda s: invitations.names(s),
    "vectors.vectors": lambda s: vectors.vectors(s, "words", "1", ["hash"]),
    "vectors.accuracies": lambda s: vectors.accuracies(s, hidden_ids(s)),
}
NAMES_IDS = {
    "holdout.entries_aside",
    "holdout.hidden_items",
    "paraphrase_states.current_states",
    "studies.paraphrase_states",
    "review.judged_by_others",
}  # ids of hidden items or pairs, and no word of them
CONSTANT = {
    "packed_readouts.layouts_of",
    "raters.rater_name",
    "locks.lock_id",
    "budgets.purchase_row",
    "decisions.changes",
    "readout_rows.as_categories",
    "readout_rows.as_texts",
    "readout_rows.category",
    "readout_rows.texts_at",
    "readout_rows.texts_of",
    "review.source_of",
    "studies.plugins_text",
}  # made of what they are given


def all_pairs(store):
    return store.rows_of("SELECT * EXCLUDE (created_at) FROM paraphrases")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The study, run once; every test gets a copy of its own."""
    return store_with(tmp_path_factory.mktemp("aside"), STUDY, shipped=True)


@pytest.fixture
def store(filled, tmp_path):
    opened = Store.open(shutil.copy(filled, tmp_path / "flips.duckdb"))
    hidden = set(hidden_ids(opened))
    pairs = [row for row in all_pairs(opened) if row["item_id"] in hidden]
    judgements.keep(opened, PAIR_VERDICTS, [verdict_row(pair, "Ada", SAME, NOTE) for pair in pairs])
    sql = "SELECT call_id, item_id FROM readout_sources WHERE extractor = 'regex' AND item_id IN (SELECT unnest($ids))"
    texts = [
        {"call_id": call, "item_id": item, "kind": "number", "options": (), "text": "5"}
        for call, item in opened.rows(sql, ids=sorted(hidden))
    ]
    judgements.keep(opened, OUTPUT_LABELS, [label_row(one, "Ada", "5") for one in texts])
    asked = review_items(opened, sorted(hidden))
    judgements.keep(opened, KEY_VERDICTS, [key_verdict_row(one, "Ada", "ambiguous") for one in asked])
    mark = {
        "study_id": S,
        "model": READER,
        "axis": "paraphrase",
        "extractor": "regex",
        "verdict": "genuine",
        "variant_id": "a",
        "other_variant_id": "b",
        "reviewer": "Ada",
        "created_at": now(),
    }
    opened.writer.add(
        "flip_verdicts", [mark | {"item_id": item, "flip_verdict_id": digest(item)} for item in sorted(hidden)]
    ).result(10)
    yield opened
    opened.close()


def review_items(store, ids):
    sql = "SELECT item_id, dataset, kind, question, options FROM items WHERE item_id IN (SELECT unnest($ids)) ORDER BY item_id"
    return [Item(*row[:4], tuple(row[4])) for row in store.rows(sql, ids=ids)]


def modules():
    names = [name for _, name, _ in pkgutil.iter_modules(queries.__path__)]
    return {name: importlib.import_module(f"flipcore.store.queries.{name}") for name in names}


def written(value):
    if isinstance(value, pd.DataFrame):
        return value.to_csv()
    if isinstance(value, dict):
        return json.dumps({str(key): str(one) for key, one in value.items()}, ensure_ascii=False)
    return str(value)


def secrets(store):
    """(texts, ids) of what was set aside: questions, paraphrases, completions, prompts; item, pair and call ids."""
    ids = hidden_ids(store)
    assert ids and open_ids(store)
    texts = [text for (text,) in store.rows("SELECT question FROM items WHERE item_id IN (SELECT unnest($ids))", ids=ids)]
    pairs = [row for row in all_pairs(store) if row["item_id"] in set(ids)]
    assert pairs
    texts += [row["paraphrase"] for row in pairs] + [NOTE]
    calls = "SELECT DISTINCT call_id FROM readout_sources WHERE item_id IN (SELECT unnest($ids))"
    return texts, [*ids, *(row["pair_id"] for row in pairs), *(one for (one,) in store.rows(calls, ids=ids))]


def leaks(store, value, names_ids=False):
    texts, ids = secrets(store)
    said = written(value)
    found = [one for one in texts if one in said or str([one])[2:-2] in said]
    return found + ([] if names_ids else [one for one in ids if one in said])


def test_every_query_is_walked():
    found = {
        f"{name}.{function}"
        for name, module in modules().items()
        if name != "planning"
        for function, one in inspect.getmembers(module, inspect.isfunction)
        if one.__module__ == module.__name__ and not function.startswith("_") and function not in WRITES
    }
    assert found - set(CALLS) - CONSTANT == set(), "decide what the new query may show, and call it above"
    assert set(CALLS) <= found


@pytest.mark.slow
def test_no_query_shows_what_is_set_aside_before_a_lock(store):
    found = {name: leaks(store, call(store), name in NAMES_IDS) for name, call in CALLS.items()}
    assert {name: what[:2] for name, what in found.items() if what} == {}


@pytest.mark.slow
def test_the_walk_would_see_a_leak(store):
    item = hidden_ids(store)[0]
    assert leaks(store, store.rows("SELECT question FROM items WHERE item_id = $one", one=item))
    assert leaks(store, pd.DataFrame({"item_id": [item]})) and not leaks(store, pd.DataFrame({"item_id": [item]}), True)


@pytest.mark.slow
def test_an_export_holds_nothing_that_is_set_aside_and_all_else(store, tmp_path):
    for kind in ("csv", "parquet"):
        for path in export(store, S, tmp_path / kind, kind):
            frame = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
            assert leaks(store, frame) == [] and len(frame)
            assert "item_id" not in frame or set(frame["item_id"]) <= set(open_ids(store))


@pytest.mark.slow
def test_files_for_other_harnesses_and_a_reading_again_hold_nothing_that_is_set_aside(store, tmp_path):
    from flipcore.reports.exports.every_eval_ever import write_every_eval_ever
    from flipcore.reports.rereading import changes
    from flipcore.runs.harnesses.writing import HARNESSES, write_variants
    from flipcore.runs.rereading import reread

    paths = [path for kind in HARNESSES for path in write_variants(store, STUDY, kind, tmp_path / kind, READER).files]
    paths += write_every_eval_ever(store, S, tmp_path / "eee")
    for path in paths:
        assert leaks(store, path.read_text(encoding="utf-8").replace("\\n", "\n").replace('\\"', '"')) == [], path.name
    name = reread(store, S, "pattern", {"expression": r"(\d)"})
    said = changes(store, S, "regex", name)
    assert leaks(store, said) == [] and said[0].items


@pytest.mark.slow
def test_under_a_lock_the_items_are_there_and_only_under_one_of_this_study(store):
    for lock in ("", "0" * 20, "readouts"):
        for read in (
            lambda lock=lock: studies.readouts(store, S, lock=lock),
            lambda lock=lock: holdout.role_items(store, S, "target", lock=lock),
            lambda lock=lock: holdout.accuracies(store, S, lock=lock),
            lambda lock=lock: studies.base_first_tokens(store, S, READER, lock=lock),
        ):
            with pytest.raises(BadInput, match="has no lock"):
                read()
    lock = locks.keep_lock(store, S, "decomposition", {"level": 0.95}, "Ada")
    assert set(studies.readouts(store, S, lock=lock)["item_id"]) == set(hidden_ids(store))
    assert set(studies.readouts(store, S)["item_id"]) == set(open_ids(store))  # without it the open ones, as before
    assert {one.item_id for one in holdout.role_items(store, S, "target", lock=lock)} <= set(hidden_ids(store))
    assert inspection.inspection(store, S, READER, hidden_ids(store)[0], "identity") is not None
    assert len(studies.study_items(store, S)) == 32 and holdout.items(store, hidden_ids(store))


READERS_FOR_RUNS = {"runs", "annotation"}  # folders that ask models or take files in


def test_only_code_that_asks_or_takes_in_reads_what_a_run_needs():
    users = set()
    for path in [*(ROOT / "flipcore").rglob("*.py"), *(ROOT / "pages").rglob("*.py"), ROOT / "app.py"]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "planning" in text else ():
            names = [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any("queries.planning" in name for name in names):
                users.add(path.relative_to(ROOT).parts[:2])
    assert users and {folder for _, folder in users} <= READERS_FOR_RUNS and {top for top, _ in users} == {"flipcore"}


def test_no_other_module_reads_the_store_by_sql():
    """A query outside the queries would not be walked."""
    allowed = {"store", "runs"}
    for path in [*(ROOT / "flipcore").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        parts = path.relative_to(ROOT).parts
        text = path.read_text(encoding="utf-8")
        if parts[0] == "pages" or parts[1] not in allowed:
            assert "FROM items" not in text and "FROM study_items" not in text and "FROM readouts" not in text, path
