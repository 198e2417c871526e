"""A file of an earlier release opens after a copy was put aside; one of a newer release is refused with a sentence."""

import json
from pathlib import Path

import duckdb
import pytest

from flipcore.store import migrations, schema
from flipcore.store.connection import Store

FIRST = (Path(__file__).parent / "schemas" / "1.sql").read_text(encoding="utf-8")


@pytest.fixture
def old_file(tmp_path):
    """A database as the first release wrote it, with one version of a retro set."""
    path = tmp_path / "flips.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(FIRST)
        connection.execute("INSERT INTO store_info VALUES ('schema', '1')")
        connection.execute(
            "INSERT INTO holdout_versions VALUES ('v', 'n', '', NULL, 's', ['a'], ['b'], $results, '{}', 'Ada', now())",
            {"results": json.dumps({"semantic": {"p": 0.5, "p_seed": [0.25]}})},
        )
        connection.execute("INSERT INTO studies VALUES ('id', 'kept', '', '0.1.0', 'done', '', 3, now(), NULL, NULL)")
    return path


def test_an_old_file_opens_with_its_rows_and_the_new_names(old_file):
    store = Store.open(old_file)
    assert store.rows("SELECT name, n_calls FROM studies") == [("kept", 3)]
    assert json.loads(store.rows("SELECT results FROM holdout_versions")[0][0]) == {"semantic": {"p": 0.5, "p_source": [0.25]}}
    assert store.rows("SELECT value FROM store_info WHERE key = 'schema'") == [(str(migrations.SCHEMA_VERSION),)]
    store.close()


def test_the_file_as_it_was_is_put_aside_once(old_file):
    Store.open(old_file).close()
    Store.open(old_file).close()
    copies = sorted(path.name for path in old_file.parent.glob("flips.schema-*"))
    assert copies == ["flips.schema-1.duckdb"]
    with duckdb.connect(str(old_file.parent / copies[0])) as connection:
        assert connection.execute("SELECT value FROM store_info").fetchall() == [("1",)]
        assert "p_seed" in connection.execute("SELECT results FROM holdout_versions").fetchone()[0]


@pytest.mark.slow
def test_a_column_that_the_file_lacks_is_added_with_its_default(tmp_path, monkeypatch):
    path = tmp_path / "flips.duckdb"
    Store.open(path).close()
    wider = tmp_path / "wider.sql"
    here = schema.SCHEMA_SQL.read_text(encoding="utf-8")
    wider.write_text(
        here.replace("    name         TEXT NOT NULL,", "    name TEXT NOT NULL,\n    colour TEXT DEFAULT 'blue',", 1)
    )
    assert wider.read_text() != here
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "INSERT INTO studies (study_id, name, toml, code_version, state, message, created_at) "
            "VALUES ('id', 'n', '', '', 'done', '', now())"
        )
    monkeypatch.setattr(schema, "SCHEMA_SQL", wider)
    store = Store.open(path)
    assert store.rows("SELECT colour FROM studies") == [("blue",)]
    store.close()


@pytest.mark.slow
def test_every_schema_of_the_past_ends_in_the_present_one(old_file, tmp_path):
    Store.open(old_file).close()
    Store.open(tmp_path / "fresh.duckdb").close()
    columns = "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"
    tables = []
    for path in (old_file, tmp_path / "fresh.duckdb"):
        with duckdb.connect(str(path)) as connection:
            tables.append(connection.execute(columns).fetchall())
    assert tables[0] == tables[1] and set(migrations.STEPS) == set(range(2, migrations.SCHEMA_VERSION + 1))


def test_a_file_without_the_number_of_its_schema_is_one_of_unknown_age(tmp_path):
    with duckdb.connect(str(tmp_path / "flips.duckdb")) as connection:
        connection.execute("CREATE TABLE store_info (key TEXT, value TEXT)")
        assert migrations._version(connection, {"store_info": ""}) is None
        connection.execute("INSERT INTO store_info VALUES ('schema', 'odd')")
        assert migrations._version(connection, {"store_info": ""}) is None
        connection.execute("UPDATE store_info SET value = '7'")
        assert migrations._version(connection, {"store_info": ""}) == 7
        assert migrations._version(connection, {}) is None


def test_a_file_that_was_put_aside_before_is_not_overwritten(old_file):
    for name in ("flips.schema-1.duckdb", "flips.schema-1-1.duckdb"):
        (old_file.parent / name).write_text("an earlier copy")
    Store.open(old_file).close()
    copies = {path.name: path.stat().st_size > 15 for path in old_file.parent.glob("flips.schema-*")}
    assert copies == {"flips.schema-1.duckdb": False, "flips.schema-1-1.duckdb": False, "flips.schema-1-2.duckdb": True}
