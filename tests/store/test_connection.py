"""A file that cannot be opened gets a sentence and is left as it was."""

import duckdb
import pytest

from flipcore.core.errors import BadInput
from flipcore.store.connection import Store


def test_a_newer_file_is_refused_with_a_sentence_and_left_alone(tmp_path):
    path = tmp_path / "flips.duckdb"
    Store.open(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE store_info SET value = '999'")
    before = path.read_bytes()
    with pytest.raises(BadInput, match="newer Flipscope .schema 999"):
        Store.open(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["flips.duckdb"]


def test_a_file_that_is_no_database_gets_a_sentence(tmp_path):
    path = tmp_path / "notes.duckdb"
    path.write_text("these are my notes " * 1000)
    with pytest.raises(BadInput, match="notes.duckdb"):
        Store.open(path)


def test_another_schema_is_refused(tmp_path):
    path = tmp_path / "old.duckdb"
    Store.open(path).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE store_info SET value = '0'")
    with pytest.raises(BadInput, match="schema 0"):
        Store.open(path)


def test_memory_is_bound_meanwhile_and_free_afterwards(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    before = memory_limit(store)
    with store.memory_bound(500):
        assert memory_limit(store) == "476.8 MiB"  # 500 MB
    assert memory_limit(store) == before != "476.8 MiB"
    store.close()


def memory_limit(store) -> str:
    return store.rows("SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'")[0][0]


def test_the_revision_of_all_grows_with_every_study(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    seen = [store.revision_of_all]
    for studies in (["a"], ["b"], [""]):
        store.touch(studies)
        seen.append(store.revision_of_all)
    store.close()
    assert seen == sorted(set(seen)) and store.revision("a") == 2
