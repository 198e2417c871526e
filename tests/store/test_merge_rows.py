"""What a merge adds, replaces and leaves out, row by row, in this process."""

from collections import Counter
from contextlib import closing
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Completion, Item, Prompt, Reading, Readout, Request, Variant
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.store import merge as merge_module
from flipcore.store import rows
from flipcore.store.merge import Merged, _merge_one
from flipcore.store.merge_source import _write
from flipcore.store.schema import tables
from tests.stores import empty_store

STUDY = Study("s", (ItemSource("d"),), (Part("identity"),), (Part("regex"),), (ModelUse("m"),))
S = STUDY.study_id
FILLED = (
    *("studies", "items", "study_items", "variants", "study_variants"),
    *("completions", "study_calls", "readouts", "readout_sources", "item_runs"),
)
ITEM = Item.make(dataset="d", key="1", kind="choice", question="Which?", options=("oak", "tin"), target="0")
VARIANT = Variant(ITEM.item_id, "identity", "base", Prompt((("stem", "Which?"),)), "0", (0, 1), ("A", "B"))


def fill(store, answers):
    """One prompt, with an answer per sample: "" for a call that failed, None for one that was not made, and an answer in lower case
    is one that was not read."""
    completions, readouts = [], []
    for sample, answer in enumerate(answers):
        if answer is None:
            continue
        call = Call("m", "r", Request("generate", "Which?"), sample)
        status, text = ("ok", answer.upper()) if answer else ("failed", "")
        completions.append(rows.completion_row(call, Completion(call.call_id, status, text=text), simulated=False))
        if answer.isupper():
            readouts.append(
                Readout(
                    "m",
                    ITEM.item_id,
                    "identity",
                    VARIANT.variant_id,
                    sample,
                    "regex",
                    Reading("ok", answer),
                    True,
                    (call.call_id,),
                )
            )
        elif not answer:
            readouts.append(
                Readout(
                    "m", ITEM.item_id, "identity", VARIANT.variant_id, sample, "regex", Reading("absent"), None, (call.call_id,)
                )
            )
    readout_rows, sources = rows.readout_rows(S, readouts)
    run = {"study_id": S, "model": "m", "item_id": ITEM.item_id, "plan_hash": "h"}
    run |= dict.fromkeys(("n_calls", "n_readouts", "n_answers", "n_cut"), 1)
    parts = {
        "studies": [rows.study_row(STUDY, "done")],
        "items": [rows.item_row(ITEM)],
        "study_items": [{"study_id": S, "item_id": ITEM.item_id, "role": "benchmark", "position": 0, "confirmatory": False}],
        "variants": [rows.variant_row(VARIANT)],
        "study_variants": rows.study_variant_rows(S, [VARIANT]),
        "completions": completions,
        "study_calls": [{"study_id": S, "call_id": row["call_id"]} for row in completions],
        "readouts": readout_rows,
        "readout_sources": sources,
        "item_runs": [run],
    }
    store.writer.add_together(parts.items()).result()


def test_answers_come_with_their_readouts_and_none_is_replaced(tmp_path):
    """In turn: an answer that is here, one that failed here, another one, one that is not here, one that failed there, and one that
    was read there alone, of another text."""
    with closing(empty_store(tmp_path / "there.duckdb")) as other:
        fill(other, ["A", "B", "C", "D", "", "A"])
    _write(str(tmp_path / "there.duckdb"), tmp_path, {name: list(tables()[name].names) for name in FILLED})
    files = {name: tmp_path / f"{name}.arrow" for name in FILLED}
    with closing(empty_store(tmp_path / "here.duckdb")) as store:
        fill(store, ["A", "", "A", None, None, "b"])
        report = Merged()
        _merge_one("there.duckdb", files, store, report)
        sql = "SELECT c.sample, c.text, r.answer FROM completions c LEFT JOIN readouts r USING (sample) ORDER BY ALL"
        answers = [("A", "A"), ("B", "B"), ("A", "A"), ("D", "D"), ("", None), ("B", None)]
        assert [tuple(row) for _, *row in store.rows(sql)] == answers
        assert report.replaced == 1 and (report.added["completions"], report.added["readouts"]) == (2, 3)
        assert (report.duplicates["completions"], report.duplicates["readouts"]) == (3, 2)
        assert (report.duplicates["items"], report.added["items"], report.added["study_calls"]) == (1, 0, 2)
        said = "1 readout was skipped: its completion here is another one; Resume reads the one that is kept."
        assert report.sentences()[-1] == said and len(+report.skipped) == 1
        # One of its answers is not read, so neither the study nor its item is at its end.
        assert store.rows("SELECT (SELECT state FROM studies), (SELECT count(*) FROM item_runs)") == [("incomplete", 0)]
        again = Merged()
        _merge_one("there.duckdb", files, store, again)
        assert [tuple(row) for _, *row in store.rows(sql)] == answers and +again.added == {"item_runs": 1}


def staged(rows, table="store_info"):
    """What of these rows may be merged, and how many were skipped."""
    report = SimpleNamespace(skipped=Counter())
    with duckdb.connect(":memory:") as connection:
        merge_module._stage(connection, tables()[table], pa.table(rows), report)
        kept = connection.execute(f"SELECT * FROM theirs_{table} ORDER BY ALL").fetchall()
    (n_skipped,) = report.skipped.values()
    return kept, n_skipped


def test_rows_are_merged_that_are_complete_and_have_a_key_of_their_own():
    kept, n_skipped = staged({"key": ["a", None, "b", "b", "c"], "value": ["1", "2", "3", "3", "4"]})
    assert kept == [("a", "1"), ("b", "3"), ("c", "4")] and n_skipped == 2
    assert staged({"key": ["a"], "value": ["1"], "unknown": ["x"]}) == ([("a", "1")], 0)
    with pytest.raises(BadInput, match="Its table store_info lacks the column 'key'."):
        staged({"value": ["1"]})


def test_rows_of_another_type_are_skipped():
    columns = {name: ["s", "t"] for name in tables()["study_calls"].names}
    assert staged(columns, "study_calls") == ([("s", "s"), ("t", "t")], 0)
    name = next(column.name for column in tables()["study_items"].columns if column.kind.startswith("INT"))
    row = {"study_id": ["s", "s"], "item_id": ["i", "j"], "role": ["control", "control"], "confirmatory": [False, True]}
    kept, n_skipped = staged(row | {name: ["1", "one"]}, "study_items")
    assert len(kept) == 1 and n_skipped == 1
