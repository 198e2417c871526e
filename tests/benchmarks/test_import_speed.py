"""A large lm-eval log: seconds and peak memory of looking at it, of storing it, and of auditing it, held against reading its JSON
alone. FLIPSCOPE_IMPORT_ROWS=1000000 for the full size; the default is small."""

import json
import os
import resource
import time

import pytest

from flipcore.__main__ import main
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


@pytest.mark.soak
def test_an_audit_of_a_log_is_held_against_reading_its_json(tmp_path, monkeypatch, capsys):
    folders.admit(tmp_path)
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "none.duckdb"))
    examples = "Q: How many are three of them?\nA: Let us count them one by one.\n" * 30
    rows = (
        made.lm_eval_row(i, f"That makes {2 * i}. " * 20, str(2 * i), i % 5 > 0)
        | {"arguments": {"gen_args_0": {"arg_0": f"{examples}Q: What is {i} + {i}?\nA:", "arg_1": {"until": ["Q:"]}}}}
        for i in range(N_ROWS)
    )
    path = made.lines(tmp_path / "samples_gsm8k_2025.jsonl", rows)
    start = time.process_time()
    with path.open(encoding="utf-8") as lines:
        n = sum("doc" in json.loads(line) for line in lines)
    alone, start, before = time.process_time() - start, time.process_time(), megabytes()
    assert main(["audit", str(path)]) == 0
    audited = time.process_time() - start
    said = capsys.readouterr().out
    with capsys.disabled():
        print(
            f"\n{n:,} rows, {path.stat().st_size / 1e6:.0f} MB: JSON alone {alone:.2f} s of a processor, the audit {audited:.1f} s, "
            f"{audited / alone:.0f} times as long; {before:.0f} -> {megabytes():.0f} MB"
        )
    assert f"{N_ROWS:,}" in said and not (tmp_path / "none.duckdb").exists()
