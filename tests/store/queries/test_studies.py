"""Counts of the calls that are answered, of a study and over all studies."""

from types import SimpleNamespace

import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.runs.origins import study_row
from flipcore.store import rows
from flipcore.store.queries import studies
from tests.runs.test_runner import tiny_study

ASKED = ("answered", "failed", "of another model", "never asked", "of no study")


@pytest.fixture
def call_ids(store):
    """Ids by name; the study "s" has all calls but the last, and one of them has no completion."""
    ids, completions, calls = {}, [], []
    for name in ASKED:
        model = "n" if name == "of another model" else "m"
        call = Call(model, "r", Request("generate", name))
        ids[name] = call.call_id
        if name != "never asked":
            status = "failed" if name == "failed" else "ok"
            completion = Completion(call.call_id, status, text="A")
            completions.append(rows.completion_row(call, completion, simulated=True))
        if name != "of no study":
            calls.append({"study_id": "s", "call_id": call.call_id})
    store.writer.add_together([("completions", completions), ("study_calls", calls)]).result()
    return ids


def test_calls_are_stored_once_they_are_answered(store, call_ids):
    asked = [call_ids[name] for name in ASKED[:4]]
    assert studies.stored_ids(store, asked) == {call_ids["answered"], call_ids["of another model"]}
    assert studies.stored_ids(store, [call_ids["failed"]]) == set()


def test_answers_are_counted_by_model_and_study(store, call_ids):
    assert studies.n_answers_of(store, ["m"]) == 2 and studies.n_answers_of(store, ["m", "n"]) == 3
    assert studies.n_answers_of(store, ["x"]) == 0
    n_stored = [studies.n_stored_of(store, "s", model) for model in ("m", "n", "x")]
    assert n_stored == [1, 1, 0] and studies.n_stored_of(store, "t", "m") == 0


def test_a_stored_study_is_read_from_its_declaration_and_an_unknown_one_is_none():
    declared = tiny_study()
    store = SimpleNamespace(value=lambda sql, study_id: declared.to_toml() if study_id == "known" else None)
    assert studies.study(store, "known") == declared and studies.study(store, "unknown") is None
    assert studies.toml(store, "known") == declared.to_toml() and studies.toml(store, "unknown") == ""


@pytest.mark.parametrize("is_set_aside", [True, False])
def test_calls_and_readouts_of_items_that_are_set_aside_are_not_shown(store, is_set_aside):
    """The study has no lock; item j may be set aside."""
    member = {"study_id": "s", "role": "benchmark", "position": 0}
    source = {"study_id": "s", "model": "m", "axis": "own", "variant_id": "v", "sample": 0, "extractor": "regex", "position": 0}
    parts = [
        ("study_items", [member | {"item_id": item, "confirmatory": is_set_aside and item == "j"} for item in "ij"]),
        ("study_calls", [{"study_id": study, "call_id": f"call of {item}"} for study, item in ("si", "sj", "ti")]),
        ("readout_sources", [source | {"item_id": item, "call_id": f"call of {item}"} for item in "ij"]),
    ]
    store.writer.add_together(parts).result()
    shown = ["i"] if is_set_aside else ["i", "j"]
    assert studies.rows_of(store, "s", "readout_sources")["item_id"].tolist() == shown
    calls = studies.rows_of(store, "s", "study_calls")
    assert calls["call_id"].tolist() == [f"call of {item}" for item in shown] and set(calls["study_id"]) == {"s"}


def test_a_study_of_unknown_plugins_is_listed_with_those_that_name_theirs(store):
    """NULL is NaN in a frame beside texts, which is no JSON: the list of studies failed."""
    named = '[{"kind": "axis", "name": "shout", "package": "flip-shout", "version": "1.0"}]'
    for name in ("named", "unknown", "none"):
        study = tiny_study(name=name)
        store.writer.add("studies", [study_row(study, "planned")]).result()
    store.writer.transact(lambda connection: set_plugins(connection, named=named, unknown=None)).result()
    listed = studies.studies(store).set_index("name")["plugins"]
    assert listed.to_dict() == {"named": "axis shout of flip-shout 1.0", "unknown": "", "none": ""}


def set_plugins(connection, **plugins):
    for name, text in plugins.items():
        connection.execute("UPDATE studies SET plugins = $text WHERE name = $name", {"text": text, "name": name})
