"""A column or a table that schema.sql gains is written, merged and exported, and no other line is changed for it."""

import shutil

import pandas as pd
import pytest

from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store import rows, schema
from flipcore.store.connection import Store
from flipcore.store.export import export
from flipcore.store.merge import merge
from flipcore.store.queries import studies

pytestmark = pytest.mark.usefixtures("allowed_folders")

STUDY = Study(
    "wider",
    (ItemSource("flipscope_choice", n=4),),
    (Part("option_order", {"n": 2}),),
    (Part("regex"),),
    (ModelUse("simulated-noisy"),),
)
MOODS = """
CREATE TABLE IF NOT EXISTS moods (
    study_id TEXT, item_id TEXT, mood TEXT NOT NULL, strength DOUBLE DEFAULT 0.5, PRIMARY KEY (study_id, item_id)
);
"""


@pytest.fixture(scope="module", autouse=True)
def wider(tmp_path_factory):
    """A copy of the schema with a column in four tables, and a table of its own."""
    text = schema.SCHEMA_SQL.read_text(encoding="utf-8")
    for column in (
        "label_mass    DOUBLE,",
        "raw_reply    TEXT NOT NULL,",
        "solution  TEXT NOT NULL,",
        "message      TEXT NOT NULL,",
    ):
        assert text.count(column) == 1, column
        text = text.replace(column, f"{column} colour TEXT DEFAULT 'none',")
    path = tmp_path_factory.mktemp("schema") / "wider.sql"
    path.write_text(text + MOODS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "SCHEMA_SQL", path)
        yield


@pytest.fixture(scope="module")
def filled(wider, tmp_path_factory):
    """A file of another machine, with values in everything that is new."""
    path = tmp_path_factory.mktemp("wider") / "there.duckdb"
    store = Store.open(path)
    assert runner.run(STUDY, store).state == "done"
    for table, n in (("items", 4), ("completions", 8), ("readouts", 8), ("studies", 1)):
        assert store.rows(f"SELECT colour, count(*) FROM {table} GROUP BY ALL") == [("none", n)], table
    for table in ("completions", "readouts"):  # rows with a known key: the last one wins, in what is new too
        store.writer.add(table, [row | {"colour": "red"} for row in _rows(store, table)]).result(10)
    blue = rows.study_row(STUDY, "done") | {"colour": "blue"}
    store.writer.add("studies", [blue]).result(10)
    store.writer.add("moods", [{"study_id": STUDY.study_id, "item_id": i, "mood": "calm"} for i in _items(store)]).result(10)
    store.close()
    return path


@pytest.fixture
def there(filled, tmp_path):
    """A copy of it, open."""
    store = Store.open(shutil.copy(filled, tmp_path / "there.duckdb"))
    yield store
    store.close()


def _rows(store, table):
    names = schema.tables()[table].names
    return [dict(zip(names, row, strict=True)) for row in store.rows(f"SELECT {', '.join(_plain(table))} FROM {table}")]


def _plain(table):
    """Times as they are written: DuckDB hands them out in a way that wants another package."""
    return [
        f"{one.name}::TIMESTAMP" if one.kind.startswith("TIMESTAMP") else one.name for one in schema.tables()[table].columns
    ]


def _items(store):
    return [one for (one,) in store.rows("SELECT item_id FROM study_items ORDER BY position")]


@pytest.mark.slow
def test_what_is_new_is_written(there):
    assert there.rows("SELECT DISTINCT colour FROM completions") == [("red",)]
    assert there.rows("SELECT DISTINCT colour FROM readouts") == [("red",)]
    assert there.rows("SELECT colour, name FROM studies") == [("blue", "wider")]
    assert there.rows("SELECT DISTINCT mood, strength FROM moods") == [("calm", 0.5)]


def test_rows_that_name_different_columns_lose_nothing(there):
    first, second = _items(there)[:2]
    mood = {"study_id": "s", "mood": "glad"}
    there.writer.add("moods", [mood | {"item_id": first}, mood | {"item_id": second, "strength": 0.9}]).result(10)
    assert there.rows("SELECT strength FROM moods WHERE study_id = 's' ORDER BY strength") == [(0.5,), (0.9,)]


@pytest.mark.slow
def test_what_is_new_is_merged_and_deleted_with_its_study(there, tmp_path):
    there.close()
    here = Store.open(tmp_path / "here.duckdb")
    report = merge([tmp_path / "there.duckdb"], here)
    assert report.added["moods"] == 4
    for table in ("completions", "readouts", "studies"):
        assert here.rows(f"SELECT DISTINCT colour FROM {table}") == [("blue" if table == "studies" else "red",)], table
    assert here.rows("SELECT count(*) FROM moods WHERE strength = 0.5") == [(4,)]
    studies.delete_study(here, STUDY.study_id)
    assert here.rows("SELECT count(*) FROM moods") == [(0,)]
    here.close()


@pytest.mark.slow
def test_an_answer_to_a_failed_call_brings_what_is_new_with_it(there, tmp_path):
    there.close()
    here = Store.open(tmp_path / "here.duckdb")
    runner.run(STUDY, here)
    failed = [row | {"status": "failed", "colour": "grey"} for row in _rows(here, "completions")]
    here.writer.add("completions", failed).result(10)
    assert merge([tmp_path / "there.duckdb"], here).replaced == 8
    assert here.rows("SELECT DISTINCT status, colour FROM completions") == [("ok", "red")]
    here.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_new_is_exported(there, tmp_path, kind):
    frames = {
        path.stem.removeprefix(f"{STUDY.study_id}-"): pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
        for path in export(there, STUDY.study_id, tmp_path / kind, kind)
    }
    assert set(frames["readouts"]["colour"]) == {"red"} and len(frames["readouts"]) == 8
    assert set(frames["items"]["colour"]) == {"none"} and "solution" in frames["items"]
    assert frames["moods"][["mood", "strength"]].drop_duplicates().values.tolist() == [["calm", 0.5]]
    declared = [
        one for one in schema.tables().values() if "study_id" in one.names and one.name not in ("studies", "study_items")
    ]
    assert set(frames) - {"items", "study", "completions"} == {
        one.name for one in declared if there.rows(f"SELECT 1 FROM {one.name} LIMIT 1")
    }
