"""Signals at random moments of every command: `python -m tests.core.signals [N [COMMAND ...]]` writes signals.md beside this file.

With commands, the rows of the others stay as they are.

Each command runs N times as a process in a copy of one prepared folder and gets SIGINT, then N times
SIGTERM, each at a seeded moment. It has to end with a sentence and 130 or 143, or as it would have
ended by itself. Then the same command runs to its end, and every table holds what it would have
held; no draft and no work folder of an ended process is left.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from flipcore.core.whole_files import DRAFT
from flipcore.runs import runner
from flipcore.store.connection import Store
from tests.conftest import ROOT
from tests.core.file_kills import STUDY, whole_tables
from tests.datasets.recorded import harness_files
from tests.runs.kills import STUDY as ASKED

TABLE = Path(__file__).with_suffix(".md")
SECONDS = 300
N_LOG = 1_500
COMMANDS = {
    "import": ["import", "log"],
    "audit": ["audit", "log"],
    "check": ["check", "log", "log"],
    "run": ["run", "asked.toml"],
    "merge": ["merge", "other.duckdb"],
    "stats": ["stats", STUDY.study_id],
    "report": ["report", STUDY.study_id, "report.html"],
    "export": ["export", STUDY.study_id],
    "archive": ["archive", STUDY.study_id],
    "backup": ["backup", "copies"],
    "repair": ["repair"],
    "restore": ["restore", "other.duckdb"],
    "verify": ["verify"],
    "plugins": ["plugins"],
    "models": ["models", "list"],
}
# Tables whose rows hold times or acts, and differ from one run of a command to the next.
_OF_TIME = ("acts", "store_info")
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@dataclass
class Ends:
    """How often a command ended which way, and what was wrong."""

    n_by_end: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def prepare(folder: Path) -> None:
    """Fill the folder that every trial copies."""
    store = Store.open(folder / "flips.duckdb")
    runner.run(STUDY, store)
    store.close()
    shutil.copyfile(folder / "flips.duckdb", folder / "other.duckdb")
    harness_files.lm_eval(folder / "log", n=N_LOG)
    (folder / "asked.toml").write_text(ASKED.to_toml(), encoding="utf-8")
    (folder / "damaged").mkdir()
    (folder / "copies").mkdir()
    damage = "import sys; from pathlib import Path; from tests.core.file_kills import leave_damaged; leave_damaged(Path(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", damage, str(folder / "damaged")], cwd=ROOT, env=environment_of(folder, "stats"), check=True
    )


def environment_of(folder: Path, command: str) -> dict[str, str]:
    """What a command sees: a home, a temporary folder and a database of this trial alone."""
    database = {
        "repair": folder / "damaged" / "hurt.duckdb",
        "merge": folder / "into.duckdb",
        "import": folder / "into.duckdb",
        "run": folder / "into.duckdb",
    }.get(command, folder / "flips.duckdb")
    (folder / "tmp").mkdir(exist_ok=True)
    return {
        **os.environ,
        "FLIPSCOPE_DB": str(database),
        "FLIPSCOPE_HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": str(ROOT),
    }


def begin(folder: Path, command: str, words: list[str]) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "flipcore", *words],
        cwd=folder,
        env=environment_of(folder, command),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A group of its own, as a shell makes one: Ctrl-C reaches children too.
        start_new_session=True,
    )


def rows_of(folder: Path, command: str) -> Mapping[str, object]:
    """Number of rows by table after a command; of one that changes no rows also what is in them."""
    path = Path(environment_of(folder, command)["FLIPSCOPE_DB"])
    if not path.exists():
        return {}
    contents = whole_tables(path)
    if path.name == "into.duckdb":
        return {table: n for table, (n, _) in contents.items() if table not in _OF_TIME}
    return {table: content for table, content in contents.items() if table not in _OF_TIME}


def leftovers_of(folder: Path) -> list[str]:
    """Drafts, and folders of work on the way, that nobody removed."""
    names = [path.name for path in folder.rglob(f"*{DRAFT}*")]
    names += [path.name for path in (folder / "tmp").glob("flipscope-*/*")]
    return names


def interrupt(base: Path, command: str, number: signal.Signals, n: int, seed: int = 7) -> Ends:
    """Send a signal to a command `n` times, each in a fresh copy of the prepared folder."""
    ends, rng, words = Ends(), random.Random(f"{seed} {command} {number}"), COMMANDS[command]
    with tempfile.TemporaryDirectory() as name:
        whole = Path(shutil.copytree(base, Path(name) / "whole"))
        started = time.monotonic()
        process = begin(whole, command, words)
        process.communicate(timeout=SECONDS)
        usual_code, duration = process.returncode, time.monotonic() - started
        expected = rows_of(whole, command)
        for trial in range(n):
            folder = Path(shutil.copytree(base, Path(name) / f"{trial}"))
            process = begin(folder, command, words)
            time.sleep(rng.uniform(0.02, 1.05) * duration)
            if process.poll() is None:
                os.killpg(process.pid, number)
            out, err = process.communicate(timeout=SECONDS)
            judge(ends, process.returncode, out, err, number, usual_code)
            if left := leftovers_of(folder):
                ends.faults.append(f"left {left}")
            again = begin(folder, command, words)
            _, err = again.communicate(timeout=SECONDS)
            if again.returncode != usual_code and not _is_done_already(command, err):
                ends.faults.append(f"then ended with {again.returncode}: {err[-300:]}")
            if rows_of(folder, command) != expected:
                ends.faults.append("rows differ")
            shutil.rmtree(folder)
    return ends


def _is_done_already(command: str, err: str) -> bool:
    """Return whether a command refuses what it had done before the signal came."""
    return command == "archive" and "archived" in err


def judge(ends: Ends, code: int, out: str, err: str, number: signal.Signals, usual_code: int) -> None:
    # `run` and `import` end what they had begun, and say so in words of their own.
    has_sentence = any(words in out + err for words in ("Stopped by", "Resume:", "Import the same files"))
    if code == SIGNALS[number] and has_sentence:
        ends.n_by_end["a sentence"] += 1
    elif code == usual_code:
        ends.n_by_end["its own end"] += 1
    elif code == -number or ("flipcore" not in err and "Traceback" in err):
        # Python had not begun with Flipscope yet, or was done with it.
        ends.n_by_end["Python's start or end"] += 1
        return
    else:
        ends.faults.append(f"code {code}: {(out + err)[-400:]}")
    if "Traceback" in err:
        ends.faults.append(f"a traceback: {err[-600:]}")


def main() -> None:
    """Write the table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    chosen = sys.argv[2:] or list(COMMANDS)
    lines = [
        "# Signals at random moments",
        "",
        "`python -m tests.core.signals` writes this table. Each command runs as a process and gets a signal",
        "at a seeded moment. *A sentence*: it said that it was stopped and ended with 130 (SIGINT) or 143",
        "(SIGTERM). *Its own end*: it was done before. *Python's*: the interpreter had not begun with Flipscope",
        "or was done with it. Then the command runs again to its end, and the tables are compared.",
        "",
        "| command | signal | sent | a sentence | its own end | Python's | faults |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = dict.fromkeys(COMMANDS, "")
    for command in rows:
        kept = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {command} |")]
        rows[command] = "\n".join(kept)
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "base"
        base.mkdir()
        prepare(base)
        for command in chosen:
            made = []
            for number in SIGNALS:
                ends = interrupt(base, command, number, n)
                counts = [ends.n_by_end[end] for end in ("a sentence", "its own end", "Python's start or end")]
                made.append(
                    f"| {command} | {number.name} | {n} | {' | '.join(map(str, counts))} | "
                    f"{'; '.join(ends.faults).replace(chr(10), ' ') or 'none'} |"
                )
                print(made[-1], flush=True)
            rows[command] = "\n".join(made)
            TABLE.write_text("\n".join([*lines, *filter(None, rows.values())]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
