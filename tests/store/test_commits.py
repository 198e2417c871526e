"""Commits are counted in the database and beside it, so that lost ones are said."""

import duckdb
import pytest

from flipcore.store import commits


@pytest.fixture
def connection():
    with duckdb.connect(":memory:") as opened:
        opened.execute("CREATE TABLE store_info (key TEXT PRIMARY KEY, value TEXT)")
        yield opened


def test_each_commit_has_the_next_number(connection):
    assert commits.number(connection) == 0
    assert [commits.count(connection) for _ in range(3)] == [1, 2, 3] and commits.number(connection) == 3


@pytest.mark.parametrize(("n_beside", "missing"), [(1, ""), (2, ""), (3, "1 commit of 3,"), (1_002, "1,000 commits of 1,002,")])
def test_commits_that_are_beside_the_database_alone_are_missing(connection, tmp_path, n_beside, missing):
    path = tmp_path / "flips.duckdb"
    for _ in range(2):
        commits.count(connection)
    assert commits.shortfall(connection, path) == ""  # nothing is beside it
    commits.write_beside(path, n_beside)
    sentence = commits.shortfall(connection, path)
    assert bool(sentence) == bool(missing) and (not missing or f"misses the last {missing} written until" in sentence)
    assert [file.name for file in tmp_path.iterdir()] == ["flips.duckdb.commits"]
    commits.forget(path)
    commits.forget(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "7", "[1]", '["x", "y"]', "[null, 1]"])
def test_an_odd_file_of_the_number_says_nothing(connection, tmp_path, content):
    (tmp_path / "flips.duckdb.commits").write_text(content)
    assert commits.shortfall(connection, tmp_path / "flips.duckdb") == ""


def test_a_database_in_memory_has_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commits.write_beside(commits.Path(commits.MEMORY), 1)
    assert list(tmp_path.iterdir()) == []
