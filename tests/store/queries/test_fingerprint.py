"""A decision's basis changes when a value behind it does, and for nothing else."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.store.connection import Store
from flipcore.store.queries.decisions import UNKNOWN, changes, data_state
from flipcore.store.queries.locks import keep_lock
from tests.stores import store_with

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "basis",
    (ItemSource("flipscope_choice", n=6),),
    (Part("identity"),),
    (Part("first_token"),),
    (ModelUse("simulated-clean"),),
    confirmatory_share=0.5,
)
S = STUDY.study_id


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return store_with(tmp_path_factory.mktemp("basis"), STUDY)


@pytest.fixture
def store(path, tmp_path):
    copy = tmp_path / "flips.duckdb"
    copy.write_bytes(path.read_bytes())
    opened = Store.open(copy)
    yield opened
    opened.close()


@pytest.mark.slow
def test_the_same_rows_give_the_same_basis(store):
    before = data_state(store, S)
    assert 0 < before["items"][0] < 6 and before["readouts"][0] > 0 and before["readouts"][1] != "0"
    assert data_state(store, S) == before and changes(before, data_state(store, S)) == ""


@pytest.mark.parametrize("change", ["answer = 'other'", "status = 'cut'", "value = 0.5"])
def test_one_changed_value_changes_it(store, change):
    before = data_state(store, S)
    sql = f"UPDATE readouts SET {change} WHERE item_id = (SELECT min(item_id) FROM study_items WHERE NOT confirmatory)"
    store.rows(f"{sql} AND sample = 0")
    after = data_state(store, S)
    assert changes(before, after) == f"The data changed: {before['readouts'][0]} readouts, with other content."


def test_more_rows_are_counted(store):
    before = data_state(store, S)
    store.rows("DELETE FROM readouts WHERE item_id = (SELECT min(item_id) FROM study_items WHERE NOT confirmatory)")
    n, n_after = before["readouts"][0], data_state(store, S)["readouts"][0]
    assert n_after < n and changes(before, data_state(store, S)) == f"The data changed: {n} readouts then, {n_after} now."


def test_what_is_set_aside_counts_under_its_lock_alone(store):
    keep_lock(store, S, "decomposition", {"level": 0.95}, "Ada")
    open_rows, locked_rows = data_state(store, S), data_state(store, S, "decomposition")
    assert locked_rows["items"][0] + open_rows["items"][0] == 6 and locked_rows["items"][1] != open_rows["items"][1]
    store.rows("UPDATE readouts SET answer = 'other' WHERE item_id IN (SELECT item_id FROM study_items WHERE confirmatory)")
    assert data_state(store, S) == open_rows
    with pytest.raises(
        BadInput, match="not those that it was stored over"
    ):  # a lock fixes its readouts: nothing is shown of others
        data_state(store, S, "decomposition")


def test_verdicts_that_moved_are_named():
    before = {"items": [1, "a"], "readouts": [2, "b"], "verdicts": {"unreviewed": 3}}
    after = before | {"verdicts": {"accepted": 2, "unreviewed": 1}}
    said = changes(before, after)
    assert said == "The data changed: 0 accepted paraphrases then, 2 now; 3 unreviewed paraphrases then, 1 now."


@pytest.mark.parametrize(
    "before",
    [None, {}, {"items": 3}, {"items": [1], "readouts": [1, "a"], "verdicts": {}},
     {"items": ["x", "a"], "readouts": [1, "a"], "verdicts": {}}, {"items": [1, "a"], "readouts": [1, "a"], "verdicts": ["x"]}],
)  # fmt: skip
def test_what_an_earlier_release_or_a_strange_file_holds_is_not_known(before):
    assert changes(before, {"items": [1, "a"], "readouts": [1, "a"], "verdicts": {}}) == UNKNOWN
