"""Tables: CPU seconds to the first line, and from file to stored, against DuckDB's bare read.

Both are measured in one run on the same files. FLIPSCOPE_FILES=5000 and FLIPSCOPE_TEXTS=100000 are
the full sizes; the default is small.

On 2026-11-29, beside a dozen other programs on two cores: the first line of 5,000 files took 7.1
times the bare read (7.4 CPU seconds). 50,000 texts with their extractors took 173 times (38.9 CPU
seconds, 605 MB); the code of that morning, in another run, 246 times.
"""

import json
import os
import resource
import time
from pathlib import Path

import duckdb
import pytest

from flipcore.core import folders
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import Survey, survey, tables_in
from flipcore.store.connection import Store

N_FILES = int(os.environ.get("FLIPSCOPE_FILES", 300))
N_TEXTS = int(os.environ.get("FLIPSCOPE_TEXTS", 2_000))
MAX_PER_FILE = 0.002  # CPU seconds to the first line, of a file of four rows
START = 3.0  # CPU seconds that do not grow with the files


class _FirstLine(Exception):
    """Ends a survey as soon as it is known how its tables are read."""


def megabytes() -> float:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def row(place: int) -> dict:
    """One answer; a third of them are wrong."""
    text = f"He had {place} sheep, and {place % 7} came home. " * 8
    return {
        "id": f"q{place}",
        "question": f"How many sheep has farmer {place} after {place % 7} more of them came home?",
        "response": f"{text}The answer is {place + (place % 3 == 0)}.",
        "answer": place,
    }


def first_line(paths: list[Path]) -> tuple[float, str]:
    """(CPU seconds, the first line) of an audit."""

    def stop(seen: Survey) -> None:
        raise _FirstLine(seen.read_as[0])

    start = time.process_time()
    corrections = corrections_of([], of_tables=bool(tables_in(paths)))
    with pytest.raises(_FirstLine) as line:
        survey(paths, corrections, on_read=stop)
    return time.process_time() - start, str(line.value)


def bare_read(pattern: str) -> float:
    """CPU seconds in which DuckDB reads JSON lines into a table."""
    start = time.process_time()
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(f"CREATE TABLE bare AS SELECT * FROM read_json('{pattern}', format = 'newline_delimited')")
    return time.process_time() - start


@pytest.mark.soak
def test_many_small_files_are_read_as_one_table(tmp_path, capsys):
    folders.admit(tmp_path)
    for file in range(N_FILES):
        lines = [json.dumps(row(4 * file + place)) for place in range(4)]
        (tmp_path / f"part_{file:05}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bare = bare_read(f"{tmp_path}/*.jsonl")
    seconds, line = first_line([tmp_path])
    with capsys.disabled():
        print(f"\n{N_FILES:,} files: bare read {bare:.2f} CPU s, first line {seconds:.2f}, {seconds / bare:.1f} times as long")
    assert f"in each of {N_FILES:,} files" in line
    assert seconds < START + MAX_PER_FILE * N_FILES


@pytest.mark.soak
def test_texts_are_held_against_duckdbs_bare_read(tmp_path, capsys):
    folders.admit(tmp_path)
    path = tmp_path / "texts.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row(place)) + "\n" for place in range(N_TEXTS))
    bare = bare_read(str(path))
    line, _ = first_line([path])
    start = time.process_time()
    found = survey([path])
    looked = time.process_time() - start
    store = Store.open(tmp_path / "flips.duckdb")
    try:
        study_id = store_logs(found, store)
        n = store.rows("SELECT count(*) FROM readouts WHERE study_id = $study_id", study_id=study_id)[0][0]
    finally:
        store.close()
    stored = time.process_time() - start - looked
    with capsys.disabled():
        print(
            f"\n{N_TEXTS:,} texts, {path.stat().st_size / 1e6:.0f} MB: bare read {bare:.2f} CPU s; first line {line:.1f}, looked at "
            f"{looked:.1f}, stored {stored:.1f}, {(looked + stored) / bare:.0f} times as long; {megabytes():,.0f} MB"
        )
    assert n == N_TEXTS
