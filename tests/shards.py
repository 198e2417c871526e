"""Slow and browser tests in six parts of known duration. A run of CI begins with another part each time.

It runs the other parts after that one, as far as its time reaches. Long simulations and large
tables of cases run whole in the part that a run begins with; of the other parts a quarter of them
runs, another one each time. So six runs in a row run every test.

    python -m tests.shards --number        the part that this commit and day begin with
    python -m tests.shards --turn          the number of commits and days that the part and the quarter follow
    python -m tests.shards --plan          the parts, how long each takes, and that none is left out
    python -m tests.shards --deal          deal the files to the parts anew, by their durations
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
import math
import random
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


def turn_of(n_commits: int, day: int) -> int:
    """Which run this is. Each commit and each day go one further, so either alone reaches all parts."""
    return n_commits + day


def part_of_turn(turn: int) -> int:
    """The part that a run begins with."""
    return turn % N_SHARDS


def turn_now() -> int:
    """The turn of this commit and this day."""
    return turn_of(int(_git("rev-list", "--count", "HEAD").strip() or 0), int(time.time() // 86_400))


@dataclass(frozen=True)
class Case:
    """A test that a run may leave out: a long simulation, or one case of a large table."""

    name: str
    file: str
    group: tuple[str, ...]  # cases of one table and value, of which at least one runs; () for a simulation


def left_out(
    cases: Iterable[Case], share: float, turn: int, part: int | None = None, rows: Mapping[str, FileRow] | None = None
) -> set[str]:
    """Names of the cases that a run leaves out; none of the part that it begins with.

    The cases of a group (the simulations of a file) keep one order. A run takes every n-th of them,
    n = 1 / `share`, and the next run the ones after those: n runs take all.
    """
    n_turns = max(1, round(1 / share)) if share > 0 else math.inf
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for case in cases:
        if part is None or part_of(case.file, rows or {}) != part:
            groups.setdefault((case.file, case.group), []).append(case.name)
    out: set[str] = set()
    for (file, group), names in groups.items():
        in_order = sorted(names, key=lambda name: (random.Random(name).random(), name))
        first = turn + zlib.crc32(file.encode())  # else every file with one case would run it in the same turn
        kept = {name for place, name in enumerate(in_order) if n_turns < math.inf and (place - first) % n_turns == 0}
        if group and not kept:
            kept = {in_order[first % len(in_order)]}
        out.update(set(names) - kept)
    return out


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


def files_of_changed_modules(
    changed: Sequence[str], imports: Mapping[str, set[str]], rows: Mapping[str, FileRow]
) -> tuple[list[str], list[str]]:
    """Test files that changed, or import a module that did: as far as `FIRST_SECONDS` reach, and the rest."""
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in changed if path.endswith(".py")}
    affected = [file for file in imports if file in changed or imports[file] & modules]
    affected.sort(key=lambda file: (file not in changed, rows[file].seconds if file in rows else 0.0, file))
    n_chosen, seconds = 0, 0.0
    for file in affected:
        seconds += rows[file].seconds if file in rows else SECONDS_PER_TEST
        if seconds > FIRST_SECONDS:
            break
        n_chosen += 1
    return affected[:n_chosen], affected[n_chosen:]


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


def first_now() -> tuple[list[str], list[str]]:
    """Files whose tests import a module that changed in the last commits: those that run first, and the rest.

    Files that reach such a module only through another one are in neither.
    """
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
            file, n_failed, n_left_out = match[1], int(match[4]), int(match[5])
            n_run = int(match[3]) + n_failed
            # The table holds what a whole run takes, the tests that were left out included.
            seconds = float(match[2]) * (n_run + n_left_out) / max(n_run, 1)
            row = new.get(file) or FileRow(file, part_of(file, rows), seconds, True)
            dates = {"last_failed": day} if n_failed else {}
            # A file of which a draw or the clock left tests out has not passed.
            if not n_failed and not n_left_out:
                # What failed earlier on the same day is mended.
                dates = {"last_passed": day, "last_failed": "" if row.last_failed == day else row.last_failed}
            new[file] = replace(row, seconds=seconds, is_measured=True, **dates)
    return new, days[-N_RUNS_KEPT:]


def due(rows: Mapping[str, FileRow], runs: Sequence[str], files: Iterable[str] = ()) -> dict[str, str]:
    """File -> why a release must wait: it failed last, never ran, or not in the last ten runs.

    `files` are those with a slow or browser test: one that no run recorded has no row.
    """
    oldest = runs[0] if len(runs) >= N_RUNS_KEPT else ""
    why = {file: "never recorded" for file in files if file not in rows}
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


def collect(*options: str) -> dict[str, int]:
    """File -> how many slow and browser tests it has, or a run with these options takes."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", SELECTION, *options]
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


def dealt(counts: Mapping[str, int], n_drawn: Mapping[str, int], rows: Mapping[str, FileRow]) -> dict[str, FileRow]:
    """Deal the files to the parts by their durations; a duration of a part of a file's tests is stretched to all.

    `counts` are the tests of each file, `n_drawn` those of a run that begins with another part.
    """
    new = {}
    for file, n_tests in counts.items():
        row = rows.get(file) or FileRow(file, 0, SECONDS_PER_TEST * n_tests, is_measured=False)
        if row.is_measured and not row.last_passed:
            row = replace(row, seconds=row.seconds * n_tests / max(n_drawn.get(file, 0), 1))
        new[file] = row
    parts = balanced({file: row.seconds for file, row in new.items()})
    return {file: replace(row, part=parts[file]) for file, row in new.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m tests.shards`: the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.shards", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--number", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--turn", action="store_true")
    parser.add_argument("--deal", action="store_true")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--estimate", action="store_true", help="add files that the table lacks")
    parser.add_argument("--status", action="store_true")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--piece", metavar="K/N", help="test files of one piece of everything, for .ci/nightly")
    parser.add_argument("--record", metavar="FILE")
    options = parser.parse_args(arguments)
    if options.number:
        print(part_of_turn(turn_now()))
    if options.turn:
        print(turn_now())
    if options.first:
        first, dropped = first_now()
        print(" ".join(first))
        sentence = f"{len(first)} test files import a module that changed lately, and come first."
        if dropped:
            sentence += f" {len(dropped)} more do and run with their parts, for want of time: {' '.join(dropped)}."
        print(f"{sentence} Imports through other modules are not followed.", file=sys.stderr)
    if options.deal:
        write_table(dealt(collect(), collect("--simulations", "0.25:0"), read_table()), read_runs())
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
        rows = read_table()
        files = set(rows) | set(collect())
        late = due(rows, read_runs(), files)
        for file in sorted(files):
            last_passed = rows[file].last_passed if file in rows else ""
            print(f"{last_passed or 'never':10}  {file}  {late.get(file, '')}".rstrip())
        print(f"{len(late)} of {len(files)} files are due.")
        return 1 if options.strict and late else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
