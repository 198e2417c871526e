"""How resuming, pricing and merging grow with a study: ``python -m tests.benchmarks.study_growth 100000 1000000 [--files 20]``.

A finished study of so many calls, one readout each, is built by copying (`copied_study.py`; not timed). Timed are: `flipcore run` of
it, as a command and from the runner alone; the price of what is left once a hundredth of its items was lost; what New study counts
before such a study starts; and merging its file into an empty one, then once more, which must add nothing. --files splits the largest
size over as many files. Each size has a process of its own; the peak memory of merging is that of a process that only merges.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from flipcore.core import folders
from flipcore.models import model_cards
from flipcore.runs import runner
from flipcore.runs.plan import plan, plan_inputs, plan_of, projection, remaining
from flipcore.runs.runner import ItemRuns
from flipcore.store.connection import Store
from flipcore.store.merge import merge
from tests.benchmarks.copied_study import A_CALLS, copied
from tests.conftest import ROOT

_LOST_ITEMS = "(SELECT item_id FROM study_items ORDER BY hash(item_id) LIMIT $n)"


def grown(n_calls: int, n_files: int) -> dict[str, float]:
    """Seconds of each step at one size; with several files those of merging alone."""
    with tempfile.TemporaryDirectory(prefix="study-growth-") as name:
        folder = Path(name)
        folders.admit(name)
        os.environ |= {"FLIPSCOPE_HOME": name, "FLIPSCOPE_FOLDERS": name}
        study, files = copied(folder, n_calls, n_files)
        merging = _alone("--merge", *map(str, files))
        if n_files > 1:
            return {"calls": n_calls, "files": n_files, **merging}
        (folder / "study.toml").write_text(study.to_toml(), encoding="utf-8")
        return {"calls": n_calls, **merging, **resumed(folder, study, files[0], n_calls)}


def resumed(folder: Path, study, path: Path, n_calls: int) -> dict[str, float]:
    """Seconds to know that all is there, and to say what is missing where something is."""
    seconds = {}
    command = [sys.executable, "-m", "flipcore", "run", str(folder / "study.toml")]
    start = time.perf_counter()
    said = subprocess.run(command, cwd=ROOT, env=os.environ | {"FLIPSCOPE_DB": str(path)}, capture_output=True, text=True)
    seconds["run command s"] = time.perf_counter() - start
    assert f"{n_calls:,} reused" in said.stdout, said.stdout + said.stderr
    store = Store.open(path)
    start = time.perf_counter()
    last = runner.run(study, store)
    seconds["run s"] = time.perf_counter() - start
    assert last.n_reused == last.n_done == n_calls
    start = time.perf_counter()
    assert projection(plan(study, store)).n_calls == n_calls
    seconds["preview s"] = time.perf_counter() - start
    n_lost = max(1, n_calls // A_CALLS // 100)
    cursor = store.own_cursor()
    cursor.execute(f"DELETE FROM readouts WHERE item_id IN {_LOST_ITEMS}", {"n": n_lost})
    cursor.close()
    start = time.perf_counter()
    inputs = plan_inputs(study, store)
    runs = ItemRuns(inputs, model_cards(), store, is_whole=True)
    assert runs.stored_end() is None
    whole = plan_of(inputs)
    seconds["plan of the rest s"] = time.perf_counter() - start
    start = time.perf_counter()
    left = remaining(whole, store, runs.is_ended).n_calls
    assert (
        0.5 * n_lost * A_CALLS <= left <= n_lost * A_CALLS
    )  # those that were run are stored under the names that are looked for
    seconds["price of the rest s"] = time.perf_counter() - start
    store.close()
    return seconds


def merged(files: list[Path]) -> dict[str, float]:
    """Seconds and peak memory of merging the files into an empty one, and seconds of doing it again."""
    folders.admit(files[0].parent)
    store = Store.open(files[0].parent / "here.duckdb")
    start = time.perf_counter()
    first = merge(files, store)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    reader = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    start = time.perf_counter()
    again = merge(files, store)
    assert first.added["readouts"] > 0 and not +again.added and not +again.skipped, again.sentences()
    again_s = time.perf_counter() - start
    store.close()
    return {"merge s": seconds, "merge again s": again_s, "merge peak MB": peak, "its reader's MB": reader}


def _alone(*words: str) -> dict[str, float]:
    ended = subprocess.run([sys.executable, "-m", __spec__.name, *words], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


def main(words: list[str]) -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("calls", nargs="*", type=int, default=[10_000, 100_000])
    given.add_argument("--files", type=int, default=1, help="the last size once more, in so many files")
    given.add_argument("--one", type=int, help="one size in this process, as JSON")
    given.add_argument("--merge", nargs="+", type=Path, help="merge these in this process, as JSON")
    chosen = given.parse_args(words)
    if chosen.merge:
        print(json.dumps(merged(chosen.merge)))
        return
    if chosen.one:
        print(json.dumps(grown(chosen.one, chosen.files)))
        return
    by_size = [_alone("--one", str(n_calls)) for n_calls in chosen.calls]
    for name, first in by_size[0].items():
        values = [size[name] for size in by_size]
        growth = ", ".join(f"× {value / max(first, 1e-9):,.1f}" for value in values[1:])
        print(f"| {name} |" + "".join(f" {value:,.1f} |" for value in values) + f" {growth} |", flush=True)
    if chosen.files > 1:
        print(_alone("--one", str(chosen.calls[-1]), "--files", str(chosen.files)))


if __name__ == "__main__":
    main(sys.argv[1:])
