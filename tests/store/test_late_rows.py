"""Which readouts a lock keeps apart, row by row."""

import json

import duckdb
import pytest

from flipcore.store.late_readouts import fixed_items, separate_late
from flipcore.store.schema import tables

KEY = tables()["readouts"].key


@pytest.fixture
def connection():
    with duckdb.connect(":memory:") as opened:
        for name in ("locks", "readouts"):
            opened.execute(tables()[name].sql)
        yield opened


def row(item="i", extractor="regex", sample=0, study="s"):
    place = {"study_id": study, "model": "m", "item_id": item, "axis": "own", "variant_id": "v", "sample": sample}
    return place | {"extractor": extractor}


def insert(connection, table, values):
    fillers = {"BOOLEAN": False, "TIMESTAMP WITH TIME ZONE": "2026-01-01 00:00:00+00", "JSON": "[]"}
    for column in tables()[table].columns:
        if column.name not in values and not column.is_nullable and column.default is None:
            values[column.name] = fillers.get(column.kind, "")
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))


def lock(connection, n_readouts, extractors=("regex",), study="s"):
    """A lock over items i and j, of which so many readouts were stored when it was made."""
    state = {"readouts": [n_readouts, "hash"], "items": [["i", "hash"], ["j", "hash"]], "extractors": list(extractors)}
    insert(connection, "locks", {"lock_id": f"lock of {study}", "study_id": study, "settings": json.dumps({"state": state})})


@pytest.mark.parametrize(
    ("n_stored", "n_locked", "extractors"), [(1, 2, None), (2, 2, []), (3, 2, []), (0, 0, ["regex"]), (1, 0, ["regex"])]
)
def test_a_lock_fixes_its_items_once_all_their_readouts_are_here(connection, n_stored, n_locked, extractors):
    lock(connection, n_locked)
    for sample in range(n_stored):
        insert(connection, "readouts", row(sample=sample))
    places = {} if extractors is None else {("s", "i"): extractors, ("s", "j"): extractors}
    assert fixed_items(connection) == fixed_items(connection, ["s", "t"]) == places
    assert fixed_items(connection, ["t"]) == {}


@pytest.mark.parametrize(("n_locked", "late"), [(0, ["stored", "other extractor"]), (1, ["stored", "other extractor", "new"])])
def test_readouts_that_come_after_a_lock_stand_apart(connection, n_locked, late):
    """Under a lock that was made before any answer the first readout of its extractors counts."""
    lock(connection, n_locked)
    insert(connection, "readouts", row())
    rows = {
        "stored": row(),
        "other extractor": row("j", "pattern"),
        "new": row("j"),
        "elsewhere": row("k"),
        "of another": row(study="t"),
    }
    sources = {name: readout | {"call_id": name} for name, readout in rows.items()}
    calls = [{"call_id": "c"}]
    by_table = {"readouts": [*rows.values()], "readout_sources": [*sources.values()], "completions": calls}
    on_time = [name for name in rows if name not in late]
    assert separate_late(connection, by_table) == {
        "readouts": [rows[name] for name in on_time],
        "readout_sources": [sources[name] for name in on_time],
        "late_readouts": [rows[name] for name in late],
        "completions": calls,
    }


def test_rows_stay_where_no_lock_is_concerned(connection):
    by_table = {"readouts": [row()], "completions": []}
    assert separate_late(connection, by_table) is by_table and fixed_items(connection) == {}
    lock(connection, 0, study="t")
    assert separate_late(connection, by_table) is by_table
    assert separate_late(connection, {"completions": [{}]}) == {"completions": [{}]}
