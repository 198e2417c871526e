"""Small tables share one database in memory, and none of them sees another's rows."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from flipcore.datasets.tables import load

pytestmark = pytest.mark.usefixtures("allowed_folders")


def write_table(folder, name):
    path = folder / f"{name}.csv"
    path.write_text(f"id,said\n1,{name}\n2,{name}\n", encoding="utf-8")
    return path


def test_tables_that_are_open_at_once_keep_their_own_rows(tmp_path):
    tables = {name: load.load(write_table(tmp_path, name)) for name in ("oak", "elm")}
    tables["elm"].connection.execute("CREATE TEMP TABLE apart AS SELECT 1 AS place")
    for name, table in tables.items():
        assert [row["said"] for row in table.frame(["said"])] == [name, name]
    assert tables["oak"].rows("SELECT count(*) FROM duckdb_tables()") == [(1,)]


def test_small_tables_are_read_without_a_new_database_for_each(tmp_path, monkeypatch):
    load.load(write_table(tmp_path, "first"))
    monkeypatch.setattr(load, "_new_database", pytest.fail)
    assert load.load(write_table(tmp_path, "second")).n_rows == 2


def test_threads_read_tables_at_the_same_time(tmp_path):
    paths = [write_table(tmp_path, f"t{n}") for n in range(12)]
    with ThreadPoolExecutor(4) as threads:
        tables = list(threads.map(load.load, paths))
    assert [table.frame(["said"])[0]["said"] for table in tables] == [path.stem for path in paths]


def test_large_and_small_tables_leave_out_the_same_empty_rows(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("question,score\nWhat?,1\n,\nWhy?,\n\nquestion,score\nWho?,0\n", encoding="utf-8")
    cells = []
    for small_bytes in (load.SMALL_BYTES, 0):
        monkeypatch.setattr(load, "SMALL_BYTES", small_bytes)
        table = load.load(path)
        cells.append(table.rows("SELECT place, c0, c1 FROM loaded ORDER BY place"))
        assert table.is_whole is bool(small_bytes)
    assert cells[0] == cells[1] == [(1, "What?", "1"), (2, "Why?", None), (3, "Who?", "0")]


def test_large_and_small_tables_leave_out_the_same_headers_and_sums(tmp_path, monkeypatch):
    """A large table with a row of means was refused, and one with the headers of a survey had two items more."""
    path = tmp_path / "survey.csv"
    headers = ["QID1,score", "What is said?,How good?", '"{""ImportId"":""QID1""}","{""ImportId"":""QID2""}"']
    rows = [f"Question {i},{i % 2}" for i in range(6)]
    path.write_text("\n".join([*headers, *rows, "Average,0.5", "Total,3"]) + "\n", encoding="utf-8")
    read = []
    for small_bytes in (load.SMALL_BYTES, 0):
        monkeypatch.setattr(load, "SMALL_BYTES", small_bytes)
        table = load.load(path)
        read.append((table.n_rows, table.sums, table.rows("SELECT place, c0, c1 FROM loaded ORDER BY place")))
        assert table.is_whole is bool(small_bytes)
    assert read[0] == read[1]
    assert read[0] == (6, ("Average", "Total"), [(i + 1, f"Question {i}", str(i % 2)) for i in range(6)])
