"""The record for people: filtered, with what changed since, and the two outputs that were looked at."""

import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.reports.decision_record import UNCHANGED, count_sentence, entries, outputs_in_view
from flipcore.store.connection import Store
from flipcore.store.queries.decisions import UNKNOWN, keep_decision
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "recorded",
    (ItemSource("flipscope_choice", n=4),),
    (Part("identity"), Part("option_order", {"n": 2})),
    (Part("first_token"),),
    (ModelUse("simulated-artifact-prone"),),
)
S, MODEL = STUDY.study_id, "simulated-artifact-prone"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("record"), STUDY)


@pytest.fixture
def store(path, tmp_path):
    copy = tmp_path / "flips.duckdb"
    copy.write_bytes(path.read_bytes())
    opened = Store.open(copy)
    yield opened
    opened.close()


@pytest.mark.slow
def test_the_outputs_in_sight_are_named_by_the_completions_they_were_read_from(store):
    item = store.rows("SELECT min(item_id) FROM items")[0][0]
    evidence = outputs_in_view(store, S, MODEL, f"study={S}&item={item}&axis=option_order&readout=first_token&variant=rotate-1")
    known = {call for (call,) in store.rows("SELECT call_id FROM completions")}
    variants = store.rows(
        "SELECT DISTINCT key FROM readout_sources r JOIN study_variants v USING (study_id, item_id, axis, variant_id) "
        "WHERE axis = 'option_order' AND call_id IN (SELECT unnest($ids))",
        ids=evidence["calls"],
    )
    assert len(set(evidence["calls"])) == 2 and set(evidence["calls"]) <= known
    assert {key for (key,) in variants} >= {evidence["variant"]}


@pytest.mark.parametrize("query", ["", "item=none&axis=identity&readout=regex", "item=x", "axis=identity&readout=first_token"])
def test_without_outputs_in_sight_there_are_none(store, query):
    assert outputs_in_view(store, S, MODEL, query) == {}


@pytest.mark.slow
def test_the_record_is_filtered_and_says_what_a_later_decision_replaced(store):
    keep_decision(store, S, "decomposition", "explore", "Undecided at 95%.", {"level": 0.95}, "Ada")
    keep_decision(store, S, "decomposition", "explore", "More artifact at 80%.", {"level": 0.8}, "Bea", query="study=x")
    keep_decision(store, "other", "holdout", "explore", "The sets differ.", {}, "Ada")
    assert [one.page for one in entries(store)] == ["holdout", "decomposition", "decomposition"]
    assert [one.sentence for one in entries(store, study_id="other")] == ["The sets differ."]
    later, first = entries(store, page="decomposition")
    assert first.is_replaced and not later.is_replaced and later.before == "Undecided at 95%." and later.query == "study=x"
    assert [one.reviewer for one in entries(store, words="BEA artifact")] == ["Bea"] and entries(store, words="nobody") == []
    assert later.row()["study"] == "recorded" and "level 0.8" in later.row()["settings"]


def test_a_decision_says_when_the_data_behind_it_changed(store):
    keep_decision(store, S, "decomposition", "explore", "More artifact.", {}, "Ada")
    (current,) = entries(store)
    assert (current.is_current, current.since) == (True, UNCHANGED)
    store.rows("DELETE FROM readouts WHERE sample = 0 AND axis = 'option_order'")
    (changed,) = entries(store)
    assert not changed.is_current and changed.since.startswith("The data changed:") and "now" in changed.row()["since"]
    assert count_sentence([current]) == "1 decision, still current"
    assert count_sentence([current, changed]) == "2 decisions: 1 still current, 1 on data that has changed"
    assert count_sentence([changed]) == "1 decision, on data that has changed"


def test_two_sets_that_are_no_study_are_called_by_their_name(store):
    keep_decision(store, "sets-1", "holdout", "explore", "Undecided.", {"sets": "TruthfulQA and ours"}, "Mia")
    (one,) = entries(store, study_id="sets-1")
    assert one.subject == one.row()["study"] == "TruthfulQA and ours"


def test_a_row_of_a_strange_file_is_shown_as_far_as_it_goes(store):
    keep_decision(store, S, "decomposition", "explore", "More artifact.", {}, "Ada")
    store.rows("UPDATE decisions SET page = '../x', basis = '[1]', evidence = '{\"item\": 3}', place = '7', settings = '[]'")
    (one,) = entries(store)
    assert (one.page, one.since, one.outputs, one.query, one.is_changed) == ("../x", UNKNOWN, "", "", False)
    assert count_sentence([one, one]) == "2 decisions, all on data that nobody can compare"
