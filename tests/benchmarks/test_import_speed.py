"""A large lm-eval log: seconds and peak memory of looking at it and of storing it. FLIPSCOPE_IMPORT_ROWS=1000000 for the full
size; the default is small."""

import os
import resource
import time

import pytest

from flipcore.core import folders
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as made

N_ROWS = int(os.environ.get("FLIPSCOPE_IMPORT_ROWS", 3_000))


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


@pytest.mark.soak
def test_memory_stays_bounded_while_a_large_log_is_stored(tmp_path):
    folders.admit(tmp_path)
    rows = (made.lm_eval_row(i, f"That makes {2 * i}. " * 20, str(2 * i), True) for i in range(N_ROWS))
    made.lines(tmp_path / "samples_gsm8k_2025.jsonl", rows)
    before, start = megabytes(), time.process_time()
    found = survey([tmp_path / "samples_gsm8k_2025.jsonl"])
    looked = time.process_time() - start
    store = Store.open(tmp_path / "flips.duckdb")
    try:
        study_id = store_logs(found, store)
        n = store.rows("SELECT count(*) FROM readouts WHERE study_id = $study_id", study_id=study_id)[0][0]
    finally:
        store.close()
    stored = time.process_time() - start - looked
    print(f"{N_ROWS:,} rows: {looked:.1f} s to look, {stored:.1f} s to store, {before:.0f} -> {megabytes():.0f} MB")
    assert found.n_records == N_ROWS and n == 2 * N_ROWS
    assert megabytes() - before < 400 + 0.004 * N_ROWS
