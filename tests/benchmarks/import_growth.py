"""How an import grows with its log: ``python -m tests.benchmarks.import_growth [--log samples.jsonl] 50000 200000 1000000``.

One lm-eval sample is repeated with new ids (of --log, or one of the shapes in `harness_files`), in a process of its own a size.
With --table it is a table of no harness instead: two versions of each item far apart, with options, answer and text. Printed are
the CPU seconds of all threads and the peak memory. Each import is stopped half way, gone on with, and repeated, which must add
nothing.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from flipcore.core import folders
from flipcore.datasets.recorded.columns import Recording
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from flipcore.store.connection import Store
from tests.datasets.recorded import harness_files as written
from tests.datasets.recorded.tables import imported

RECORDING = Recording(
    "made", "m", "prompt", item="id", options="shown", text="text", text_after="", target="gold", variant="variant"
)
COUNTED = ("items", "variants", "completions", "readouts", "readout_sources", "study_calls", "study_items", "study_variants")


def write(path: Path, sample: dict, n_rows: int) -> None:
    """The sample n times: each a document of its own, with its own question, prompt and text."""
    question = "#NUMBER#: " + sample["doc"].get("question", "")
    row = sample | {"doc_id": "#ID#", "doc_hash": "#HASH#", "doc": sample["doc"] | {"question": question}}
    row["arguments"] = {"gen_args_0": {"arg_0": f"{question}\nAnswer:", "arg_1": {"until": ["\n\n"]}}}
    text = json.dumps(row).replace('"#ID#"', "#NUMBER#") + "\n"
    with path.open("w", encoding="utf-8") as stream:
        for i in range(n_rows):
            mark = f"{i * 2654435761 % 2**64:064x}"[::-1]
            stream.write(text.replace("#NUMBER#", str(i)).replace("#HASH#", mark))


def peak() -> float:
    """Megabytes that this process ever held at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def sizes(store: Store) -> tuple[int, ...]:
    return tuple(store.rows(f"SELECT count(*) FROM {table}")[0][0] for table in COUNTED)


def write_table(path: Path, n_rows: int) -> None:
    """Two versions of each item, the second half of the file being the second versions."""
    n_items = n_rows // 2
    with path.open("w", encoding="utf-8") as stream:
        for i in range(n_rows):
            item, turned = i % n_items, i >= n_items
            shown = ["tin", "oak"] if turned else ["oak", "tin"]
            row = {
                "id": f"q{item}",
                "prompt": f"Which of these is {item}?\nA. {shown[0]}\nB. {shown[1]}\nAnswer:",
                "shown": shown,
            }
            row |= {"variant": "turned" if turned else "base", "gold": "oak", "text": f"{'Let us see. ' * 30}The answer is A."}
            stream.write(json.dumps(row) + "\n")


def grown(n_rows: int, sample: dict | None) -> dict[str, float]:
    """One import of `n_rows` of the sample, or of a table, stopped half way once, gone on with, and repeated."""
    with tempfile.TemporaryDirectory(prefix="import-growth-") as folder:
        folders.admit(folder)
        path = Path(folder, "samples_gsm8k_2025.jsonl")
        write(path, sample, n_rows) if sample else write_table(path, n_rows)
        before, start = peak(), time.process_time()
        look, keep = (lambda: survey([path])) if sample else (lambda: imported(path, RECORDING)), store_logs
        seen = look()
        looked = time.process_time()
        store, stop = Store.open(Path(folder, "flips.duckdb")), threading.Event()
        try:
            keep(seen, store, lambda done: stop.set() if 2 * done.n_done > n_rows else None, stop)
            n_half = sizes(store)[2]
            study_id = keep(seen, store)
            stored, first = time.process_time(), sizes(store)
            assert keep(look(), store) == study_id
            again, second = time.process_time(), sizes(store)
        finally:
            store.close()
        assert first == second and 0 < n_half < n_rows == first[2], (n_half, first, second)
        return {
            "rows": n_rows,
            "log MB": path.stat().st_size / 1e6,
            "look CPU s": looked - start,
            "store CPU s": stored - looked,
            "again CPU s": again - stored,
            "file MB": Path(folder, "flips.duckdb").stat().st_size / 1e6,
            "start MB": before,
            "peak MB": peak(),
        }


def main(words: list[str]) -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("rows", nargs="*", type=int, default=[50_000, 200_000])
    given.add_argument("--log", help="an lm-eval samples file whose first row is repeated")
    given.add_argument("--table", action="store_true", help="a table of no harness in place of a log")
    given.add_argument("--one", action="store_true", help="in this process, as JSON")
    chosen = given.parse_args(words)
    if chosen.one:
        with open(chosen.log, encoding="utf-8") if chosen.log else open(os.devnull, encoding="utf-8") as stream:
            sample = json.loads(stream.readline() or "null") or written.lm_eval_row(1, "That makes 2. " * 20, "2", True)
        print(json.dumps(grown(chosen.rows[0], None if chosen.table else sample)))
        return
    for place, n_rows in enumerate(chosen.rows):
        own = [sys.executable, "-m", __spec__.name, "--one", str(n_rows), *(["--log", chosen.log] if chosen.log else [])]
        own += ["--table"] if chosen.table else []
        ended = subprocess.run(own, check=True, capture_output=True, text=True)
        figures = json.loads(ended.stdout)
        if not place:
            print("  ".join(f"{name:>11}" for name in figures))
        print("  ".join(f"{value:>11,.0f}" for value in figures.values()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
