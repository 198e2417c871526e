"""Slow and browser tests in six parts of known duration. A run of CI begins with another part each time.

It runs the other parts after that one, as far as its time reaches.

    python -m tests.shards --number        the part that this commit and day begin with
    python -m tests.shards --plan          the parts, how long each takes, and that none is left out
    python -m tests.shards --status        when each file last passed; `--strict`: 1 where one is due
    python -m tests.shards --record FILE   take in the RAN lines that a run printed (- for stdin)
    python -m tests.shards --piece 3/40    files of one piece of everything
    python -m tests.shards --first         files whose tests import a module that changed lately

The table beside this file has a row per test file. Its part never changes by itself: a file that
moved to a part that has just run would wait for twelve runs. Files that are not in the table have a
part by their name.
"""

import argparse
import ast
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("shards.tsv")
N_SHARDS = 6
N_RUNS_KEPT = 10
SECONDS_PER_TEST = 4.0  # of a file that was never measured
SELECTION = "(slow or browser) and not soak"
N_COMMITS_BACK = 20  # a landing has about as many
FIRST_SECONDS = 480.0  # of tests of changed modules, before the part begins
_HEAD = "file\tpart\tseconds\tmeasured\tlast_passed\tlast_failed"
_RAN = re.compile(r"RAN (\S+) ([\d.]+) s, (\d+) passed, (\d+) failed, (\d+) left out")
_RUN = re.compile(r"RUN (\S+) (\S+) part (\d)")


@dataclass(frozen=True)
class FileRow:
    """One file's row; dates are ISO days, "" for never."""

    path: str
    part: int
    seconds: float
    is_measured: bool
    last_passed: str = ""
    last_failed: str = ""

    @property
    def line(self) -> str:
        """As the table has it."""
        kind = "yes" if self.is_measured else "estimated"
        return "\t".join((self.path, str(self.part), f"{self.seconds:.0f}", kind, self.last_passed, self.last_failed))


def read_table(path: Path = TABLE) -> dict[str, FileRow]:
    """Path -> its row."""
    rows: dict[str, FileRow] = {}
    if not path.exists():
        return rows
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or line == _HEAD or not line:
            continue
        name, part, seconds, kind, passed, failed = line.split("\t")
        rows[name] = FileRow(name, int(part), float(seconds), kind == "yes", passed, failed)
    return rows


def read_runs(path: Path = TABLE) -> list[str]:
    """Days of the recorded runs, the oldest first."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.split()[2:] for line in lines if line.startswith("# runs")), [])


def write_table(rows: Mapping[str, FileRow], runs: Sequence[str], path: Path = TABLE) -> None:
    """Write the rows by path, and the days of the last runs."""
    lines = [f"# runs {' '.join(runs[-N_RUNS_KEPT:])}".rstrip(), _HEAD]
    lines += [rows[name].line for name in sorted(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def part_of(file: str, rows: Mapping[str, FileRow]) -> int:
    """The part of a file: as the table says, else by its name."""
    return rows[file].part if file in rows else zlib.crc32(file.encode()) % N_SHARDS


def number_of_run(n_commits: int, day: int) -> int:
    """Which part comes first. Each commit and each day go one further, so either alone reaches all."""
    return (n_commits + day) % N_SHARDS


def number_now() -> int:
    """The part of this commit and this day."""
    n_commits = int(_git("rev-list", "--count", "HEAD").strip() or 0)
    return number_of_run(n_commits, int(time.time() // 86_400))


def balanced(files: Mapping[str, float]) -> dict[str, int]:
    """Give each file a part, the longest first, each to the part with least to do."""
    loads = [0.0] * N_SHARDS
    parts = {}
    for file in sorted(files, key=lambda name: (-files[name], name)):
        part = loads.index(min(loads))
        parts[file] = part
        loads[part] += files[file]
    return parts


def selected(files: Iterable[str], part: int, first: Sequence[str], rows: Mapping[str, FileRow]) -> list[str]:
    """All files in the order of a run: those of changed modules, its part, the parts after it.

    The longest of a part come first, so that two processes end it at the same time.
    """
    present = set(files)
    start = [file for file in first if file in present]
    rest = [file for file in present if file not in start]

    def order(file: str) -> tuple[int, float, str]:
        seconds = rows[file].seconds if file in rows else 0.0
        return (part_of(file, rows) - part) % N_SHARDS, -seconds, file

    return start + sorted(rest, key=order)


def files_of_changed_modules(changed: Sequence[str], imports: Mapping[str, set[str]], rows: Mapping[str, FileRow]) -> list[str]:
    """Test files that changed, or import a module that did, as far as `FIRST_SECONDS` reach."""
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in changed if path.endswith(".py")}
    affected = [file for file in imports if file in changed or imports[file] & modules]
    affected.sort(key=lambda file: (file not in changed, rows[file].seconds if file in rows else 0.0, file))
    chosen, seconds = [], 0.0
    for file in affected:
        seconds += rows[file].seconds if file in rows else SECONDS_PER_TEST
        if seconds > FIRST_SECONDS:
            break
        chosen.append(file)
    return chosen


def imports_of(path: Path) -> set[str]:
    """Modules of the product that a file imports, directly, whole names and what is taken of them."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name for name in names if name.startswith(("flipcore", "pages"))}


def commit_now() -> str:
    """The short hash of the commit."""
    return _git("rev-parse", "--short=10", "HEAD").strip() or "unknown"


def first_now() -> list[str]:
    """Files whose tests import a module that changed in the last commits."""
    changed = _git("diff", "--name-only", f"HEAD~{N_COMMITS_BACK}", "HEAD").split()
    imports = {str(path.relative_to(ROOT)): imports_of(path) for path in (ROOT / "tests").rglob("test_*.py")}
    return files_of_changed_modules(changed, imports, read_table())


def take_in(text: str, rows: Mapping[str, FileRow], runs: Sequence[str]) -> tuple[dict[str, FileRow], list[str]]:
    """The rows and runs after what a run printed: `RUN DAY COMMIT part N`, then a `RAN` line per file."""
    new, days, day = dict(rows), list(runs), ""
    for line in text.splitlines():
        if match := _RUN.search(line):
            day = match[1]
            days.append(day)
        elif day and (match := _RAN.search(line)):
            file, seconds, n_failed, n_left_out = match[1], float(match[2]), int(match[4]), int(match[5])
            row = new.get(file) or FileRow(file, part_of(file, rows), seconds, True)
            dates = {"last_failed": day} if n_failed else {}
            # A file of which a draw or the clock left tests out has not passed.
            if not n_failed and not n_left_out:
                dates = {"last_passed": day}
            new[file] = replace(row, seconds=seconds, is_measured=True, **dates)
    return new, days[-N_RUNS_KEPT:]


def due(rows: Mapping[str, FileRow], runs: Sequence[str]) -> dict[str, str]:
    """File -> why a release must wait: it failed last, never ran, or not in the last ten runs."""
    oldest = runs[0] if len(runs) >= N_RUNS_KEPT else ""
    why = {}
    for file, row in rows.items():
        if row.last_failed and row.last_failed >= row.last_passed:
            why[file] = f"failed on {row.last_failed}"
        elif not row.last_passed:
            why[file] = "never recorded as whole"
        elif row.last_passed < oldest:
            why[file] = f"last passed on {row.last_passed}, before the last {N_RUNS_KEPT} runs"
    return why


def piece(text: str, files: Sequence[str]) -> list[str]:
    """The files of "3/40", the third of forty pieces of everything, in order."""
    number, _, n_pieces = text.partition("/")
    if not (number.isdecimal() and n_pieces.isdecimal() and 1 <= int(number) <= int(n_pieces)):
        raise SystemExit(f"{text!r} is no piece; write 3/40 for the third of forty.")
    return sorted(files)[int(number) - 1 :: int(n_pieces)]


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def collect() -> dict[str, int]:
    """File -> how many slow and browser tests it has."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", SELECTION]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    counts: dict[str, int] = {}
    for line in done.stdout.splitlines():
        if "::" in line:
            file = line.partition("::")[0]
            counts[file] = counts.get(file, 0) + 1
    return counts


def _plan(counts: Mapping[str, int]) -> int:
    rows = read_table()
    seen: set[str] = set()
    for part in range(N_SHARDS):
        files = [file for file in counts if part_of(file, rows) == part]
        seconds = sum(rows[file].seconds if file in rows else counts[file] * SECONDS_PER_TEST for file in files)
        n_tests = sum(counts[file] for file in files)
        print(f"part {part}: {len(files)} files, {n_tests} tests, {seconds / 60:.0f} minutes on one core")
        seen.update(files)
    n_estimated = sum(1 for file in counts if file not in rows or not rows[file].is_measured)
    print(f"{len(seen)} of {len(counts)} files are in a part; the time of {n_estimated} is estimated.")
    return 0 if seen == set(counts) else 1


def _estimate(counts: Mapping[str, int]) -> None:
    """Add files that the table lacks, balanced by estimated time; parts of known files stay."""
    rows, runs = read_table(), read_runs()
    rows = {file: row for file, row in rows.items() if file in counts}
    seconds = {file: counts[file] * SECONDS_PER_TEST for file in counts if file not in rows}
    parts = balanced(seconds)
    for file, value in seconds.items():
        rows[file] = FileRow(file, parts[file], value, False)
    write_table(rows, runs)


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m tests.shards`: the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.shards", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--number", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--estimate", action="store_true", help="add files that the table lacks")
    parser.add_argument("--status", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--piece", metavar="K/N", help="test files of one piece of everything, for .ci/nightly")
    parser.add_argument("--record", metavar="FILE")
    options = parser.parse_args(arguments)
    if options.number:
        print(number_now())
    if options.first:
        print(" ".join(first_now()))
    if options.piece:
        everything = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
        print(" ".join(piece(options.piece, everything)))
    if options.estimate:
        _estimate(collect())
    if options.record:
        stdin = options.record == "-"
        text = sys.stdin.read() if stdin else Path(options.record).read_text(encoding="utf-8")
        rows, runs = take_in(text, read_table(), read_runs())
        write_table(rows, runs)
    if options.plan:
        return _plan(collect())
    if options.status or options.strict:
        rows, late = read_table(), due(read_table(), read_runs())
        for file, row in sorted(rows.items()):
            print(f"{row.last_passed or 'never':10}  {file}  {late.get(file, '')}".rstrip())
        print(f"{len(late)} of {len(rows)} files are due.")
        return 1 if options.strict and late else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
