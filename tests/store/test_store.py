"""A real DuckDB file: what was acknowledged stays, one writer, one owner."""

import re
import subprocess
import sys
import threading

import pytest

from flipcore.core.errors import BadInput, StoreHeld
from flipcore.core.records import Call, Completion, Item, Request
from flipcore.store import rows, schema
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.merge import merge
from flipcore.store.queries import studies

pytestmark = pytest.mark.usefixtures("allowed_folders")


def item(key="1", question="Which is a metal?"):
    return Item.make(dataset="made", key=key, kind="choice", question=question, options=("tin", "oak"), target="0")


def completion_rows(prompt, status="ok", text="C"):
    call = Call("m", "r", Request("generate", prompt))
    return [rows.completion_row(call, Completion(call.call_id, status, text, top_logprobs={"A": -0.5}), False)]


def test_a_row_is_there_once_its_future_is_done(store):
    store.writer.add("items", [rows.item_row(item())]).result(10)
    assert store.rows("SELECT question, options FROM items") == [("Which is a metal?", ["tin", "oak"])]


def test_the_same_item_twice_is_kept_once(store):
    for _ in range(2):
        store.writer.add("items", [rows.item_row(item()), rows.item_row(item())]).result(10)
    assert store.rows("SELECT count(*) FROM items") == [(1,)]


def test_a_completion_survives_the_round_trip(store):
    store.writer.add("completions", completion_rows("p")).result(10)
    row = store.rows_of("SELECT * EXCLUDE (created_at) FROM completions")[0]
    found = rows.completion_of(row)
    assert (found.text, found.top_logprobs, found.tokens, found.cost_usd) == ("C", {"A": -0.5}, None, None)


def test_an_answer_replaces_the_failed_try_of_the_same_call(store):
    store.writer.add("completions", completion_rows("p", "failed", "")).result(10)
    store.writer.add("completions", completion_rows("p", "ok", "C")).result(10)
    assert store.rows("SELECT status, text FROM completions") == [("ok", "C")]


def test_a_bad_batch_fails_alone(store):
    bad = store.writer.add("items", [{"no_such_column": 1}])
    good = store.writer.add("items", [rows.item_row(item())])
    good.result(10)
    with pytest.raises(KeyError):
        bad.result(10)
    assert store.rows("SELECT count(*) FROM items") == [(1,)]


def test_lone_surrogates_and_null_bytes_are_kept_as_text(store):
    store.writer.add("items", [rows.item_row(item(question="a\ud800b <script>alert(1)</script>"))]).result(10)
    assert store.rows("SELECT question FROM items")[0][0] == "a?b <script>alert(1)</script>"


@pytest.mark.slow
def test_ten_threads_lose_nothing(store):
    def write(worker):
        for i in range(50):
            store.writer.add("items", [rows.item_row(item(f"{worker}-{i}", f"question {worker} {i}"))]).result(20)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(10)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert store.rows("SELECT count(*) FROM items") == [(500,)]


def test_a_study_keeps_its_start_when_its_state_changes(store):
    from tests.runs.test_runner import tiny_study

    study = tiny_study()
    store.writer.add("studies", [rows.study_row(study, "running", started_at=rows.now())]).result(10)
    store.writer.add("studies", [rows.study_row(study, "done", ended_at=rows.now())]).result(10)
    row = studies.studies(store).iloc[0]
    assert row["state"] == "done" and row["started_at"] is not None and row["ended_at"] is not None


@pytest.mark.slow
def test_another_process_is_told_who_holds_the_file(store):
    code = (
        "import sys; from flipcore.store.connection import Store; from flipcore.core.errors import StoreHeld\n"
        "try:\n    Store.open(sys.argv[1])\nexcept StoreHeld as held:\n    print(held)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(store.path)], capture_output=True, text=True, timeout=60).stdout
    assert "is held by process" in said and "FLIPSCOPE_DB" in said
    assert issubclass(StoreHeld, Exception)


@pytest.mark.slow
def test_merging_is_a_union_and_an_answer_beats_a_failure(tmp_path, store):
    other = Store.open(tmp_path / "other.duckdb")
    other.writer.add("completions", completion_rows("shared") + completion_rows("theirs")).result(10)
    other.close()
    store.writer.add("completions", completion_rows("shared", "failed", "") + completion_rows("ours")).result(10)
    report = merge([tmp_path / "other.duckdb"], store)
    assert (+report.added, report.replaced) == ({"completions": 1}, 1)
    assert sorted(store.rows("SELECT status FROM completions")) == [("ok",)] * 3


@pytest.mark.parametrize("content", [b"", b"no database at all" * 400])
def test_merging_something_else_is_refused_with_its_name(tmp_path, store, content):
    (tmp_path / "wrong.duckdb").write_bytes(content)
    with pytest.raises(BadInput, match="wrong.duckdb"):
        merge([tmp_path / "wrong.duckdb"], store)


def test_exporting_an_unknown_study_says_so(tmp_path, store):
    with pytest.raises(BadInput, match="no study"):
        export(store, "nothing", tmp_path)


@pytest.mark.slow
def test_a_rejected_rewording_is_derived_from_the_latest_verdicts(store):
    pair = {
        "pair_id": "p",
        "dataset": "made",
        "item_id": "i",
        "original": "a",
        "paraphrase": "b",
        "generator": "us",
        "created_at": rows.now(),
    }
    store.writer.add("paraphrases", [pair]).result(10)

    def judge(verdict_id, reviewer, meaning, undoes=None):
        store.writer.add(
            "verdicts",
            [
                {
                    "verdict_id": verdict_id,
                    "pair_id": "p",
                    "reviewer": reviewer,
                    "meaning": meaning,
                    "difficulty": "yes",
                    "solution_path": None,
                    "note": "",
                    "original_hash": "",
                    "paraphrase_hash": "",
                    "rule_version": "majority-1",
                    "undoes": undoes,
                    "created_at": rows.now(),
                }
            ],
        ).result(10)
        return studies.paraphrase_states(store)["state"].tolist()

    assert studies.paraphrase_states(store)["state"].tolist() == ["unreviewed"]
    assert judge("v1", "Ada", "yes") == ["accepted"]
    assert judge("v2", "Ben", "no") == ["rejected"]  # one of two is no majority
    assert judge("v3", "Ben", "yes", undoes="v2") == ["accepted"]  # the undoing row itself is no verdict
    assert judge("v4", "Ada", "no") == ["rejected"]  # her later word counts


def test_reasoning_has_a_column_and_an_older_text_that_holds_it_is_parted_when_read(store):
    call = Call("m", "r", Request("generate", "p"))
    made = Completion(call.call_id, "ok", "B", "stop", reasoning="A, or B?", spread=((-1.5, 0.25),))
    store.writer.add("completions", [rows.completion_row(call, made, False)]).result(10)
    assert rows.completion_of(store.rows_of("SELECT * EXCLUDE (created_at) FROM completions")[0]) == made
    old = rows.completion_row(call, Completion(call.call_id, "ok", "<think>A is it", "max_tokens"), False)
    assert rows.completion_of({key: value for key, value in old.items() if key != "reasoning"}) == Completion(
        call.call_id, "ok", "", "length", reasoning="A is it"
    )


# The tables as code sees them are those that a fresh file has.


def test_every_table_of_the_file_is_known_in_its_order():
    declared = re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", schema.schema_sql())
    assert list(schema.tables()) == declared


def test_columns_stand_in_the_order_of_the_file_with_types_and_key():
    readouts = schema.tables()["readouts"]
    assert readouts.key == ("study_id", "model", "item_id", "axis", "variant_id", "sample", "extractor")
    assert readouts.names[: len(readouts.key)] == readouts.key
    assert readouts.kinds["value"] == "DOUBLE" and readouts.kinds["probabilities"] == "JSON"
    assert not {column.name: column for column in readouts.columns}["status"].is_nullable


@pytest.mark.parametrize("name", schema.tables())
def test_every_table_has_a_key_so_that_files_merge_as_a_union(name):
    table = schema.tables()[name]
    assert table.key and set(table.key) <= set(table.names)


def test_an_open_store_has_exactly_these_columns(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    rows = store.rows(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main' ORDER BY table_oid, column_index"
    )
    store.close()
    there: dict[str, list[str]] = {}
    for table, column in rows:
        there.setdefault(table, []).append(column)
    assert {name: list(table.names) for name, table in schema.tables().items()} == there
