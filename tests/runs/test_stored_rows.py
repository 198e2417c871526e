"""All rows that an import stores of a table are those that it stored before imports were made faster.

`stored_rows.json` was written by the code of that time: ``python -m tests.runs.test_stored_rows``.
Write it again only where a table is to be read in another way, and say so in the commit.
"""

import json
from pathlib import Path

import pytest

from flipcore.core import folders
from flipcore.core.errors import BadInput
from flipcore.core.records import digest
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from flipcore.store.schema import tables

TABLES = Path(__file__).parents[1] / "data" / "tables"
STORED = Path(__file__).with_name("stored_rows.json")
# Of this moment and of this release.
PASSING = {"created_at", "started_at", "ended_at", "code_version"}


def paths() -> list[str]:
    """Each table, and each folder of several."""
    found = [path for path in TABLES.rglob("*") if path.suffix in (".json", ".jsonl", ".csv")]
    found += {path.parent for path in found if path.parent != TABLES}
    return sorted(path.relative_to(TABLES).as_posix() for path in found)


def stored_rows(name: str) -> str:
    """A digest of all that is stored, or "refused"."""
    store = Store.open(":memory:")
    try:
        store_logs(survey([TABLES / name]), store)
        rows_of_tables = {}
        for table in tables().values():
            columns = ", ".join(column for column in table.names if column not in PASSING)
            rows = store.rows(f"SELECT {columns} FROM {table.name}")
            rows_of_tables[table.name] = sorted(map(repr, rows))
        return digest(rows_of_tables)
    except BadInput:
        return "refused"
    finally:
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", paths())
def test_a_table_is_stored_row_for_row_as_before(name):
    folders.admit(TABLES)
    assert stored_rows(name) == json.loads(STORED.read_text(encoding="utf-8"))[name]


def test_a_table_of_outputs_keeps_its_categories(tmp_path):
    """It was said that it has them, and nothing was stored."""
    folders.admit(tmp_path)
    rows = [f"q{i},{('law', 'art', 'bio')[i % 3]},{'AB'[i % 2]},A,{'AB'[i % 5 == 0]}" for i in range(30)]
    (tmp_path / "wide.csv").write_text("\n".join(["question_id,subject,gold,llama,mistral", *rows]))
    store = Store.open(":memory:")
    store_logs(survey([tmp_path / "wide.csv"]), store)
    assert sorted(store.rows("SELECT category, count(*) FROM items GROUP BY ALL")) == [("art", 10), ("bio", 10), ("law", 10)]
    store.close()


if __name__ == "__main__":
    folders.admit(TABLES)
    digests = {name: stored_rows(name) for name in paths()}
    STORED.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
