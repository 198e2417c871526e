"""A table gives the ids that it gave when tables had an import of their own, so that studies in older databases still join.

`table_ids.json` was written by that import, before it went the way of logs."""

import json
from pathlib import Path

import pytest

from flipcore.core.records import digest
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as made
from tests.datasets.recorded.table_cases import CASES

pytestmark = pytest.mark.usefixtures("allowed_folders")

IDS = json.loads(Path(__file__).with_name("table_ids.json").read_text(encoding="utf-8"))
QUERIES = {
    "items": "SELECT item_id, role FROM study_items ORDER BY position",
    "variants": "SELECT item_id, axis, key, variant_id FROM study_variants ORDER BY ALL",
    "texts": "SELECT call_id, status, text, reasoning FROM completions ORDER BY ALL",
    "readouts": "SELECT model, item_id, axis, variant_id, sample, extractor, status, answer, value, is_correct FROM readouts ORDER BY ALL",
    "sources": "SELECT model, item_id, axis, variant_id, sample, extractor, call_id FROM readout_sources ORDER BY ALL",
}


def ids_of(store: Store, study_id: str) -> dict[str, str]:
    return {"study": study_id} | {name: digest([list(row) for row in store.rows(sql)]) for name, sql in QUERIES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_table_has_the_ids_that_it_always_had(name, tmp_path):
    rows, words, read = CASES[name]
    path = made.lines(tmp_path / "table.jsonl", rows)
    corrections = corrections_of([*words, *(f"read:{one}" for one in read or ())], of_tables=True)
    store = Store.open(tmp_path / "flips.duckdb")
    try:
        assert ids_of(store, store_logs(survey([path], corrections), store)) == IDS[name]
    finally:
        store.close()
