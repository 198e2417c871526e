"""The tables as code sees them are those that a fresh file has."""

import re

import pytest

from flipcore.store import schema
from flipcore.store.connection import Store


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
