"""Six runs of CI begin with every part of the slow and browser tests, and a pass is a whole one."""

import re
import subprocess
import sys

import pytest

from tests import shards
from tests.shards import N_SHARDS, FileRow

FILES = [f"tests/test_{name}.py" for name in "abcdefghijklmnopqrstuvw"]
ROWS = {file: FileRow(file, place % N_SHARDS, 10.0 + place, True) for place, file in enumerate(FILES[:15])}


def own_part(number, files=FILES):
    """The files of a run's own part, which come before those of the others."""
    n_own = sum(shards.part_of(file, ROWS) == number for file in files)
    return shards.selected(files, number, (), ROWS)[:n_own]


def union(numbers):
    return {file for number in numbers for file in own_part(number)}


@pytest.mark.parametrize("start", [0, 5, 1234])
def test_six_runs_a_day_or_a_commit_apart_run_every_file(start):
    by_day = [shards.part_of_turn(shards.turn_of(1500, start + day)) for day in range(N_SHARDS)]
    by_commit = [shards.part_of_turn(shards.turn_of(start + n, 20_000)) for n in range(N_SHARDS)]
    assert union(by_day) == union(by_commit) == set(FILES)
    assert union(by_day[:-1]) != set(FILES)  # each part is needed


@pytest.mark.parametrize("part", range(N_SHARDS))
def test_a_run_with_time_enough_runs_everything_its_own_part_first(part):
    order = shards.selected(FILES, part, (), ROWS)
    assert sorted(order) == sorted(FILES)
    steps = [(shards.part_of(file, ROWS) - part) % N_SHARDS for file in order]
    assert steps == sorted(steps)


def test_a_file_without_a_row_has_a_part_and_keeps_it():
    new = "tests/test_new.py"
    parts = [part for part in range(N_SHARDS) if new in own_part(part, [*FILES, new])]
    assert len(parts) == 1 and parts == [shards.part_of(new, {})]


def test_files_of_changed_modules_come_first_and_once():
    order = shards.selected(FILES, 0, [FILES[3], FILES[0], "tests/gone.py"], ROWS)
    assert order[:2] == [FILES[3], FILES[0]] and order.count(FILES[0]) == 1
    own = [file for file in order[2:] if file in ROWS and ROWS[file].part == 0]
    assert [ROWS[file].seconds for file in own] == sorted((ROWS[file].seconds for file in own), reverse=True)


def test_a_changed_module_brings_the_tests_that_import_it():
    imports = {FILES[0]: {"flipcore.stats.base.paired"}, FILES[1]: {"flipcore.claims"}, FILES[2]: set()}
    changed = ["flipcore/stats/base/paired.py", "README.md"]
    assert shards.files_of_changed_modules(changed, imports, ROWS) == ([FILES[0]], [])
    assert shards.files_of_changed_modules(["flipcore/claims/__init__.py"], imports, ROWS) == ([FILES[1]], [])
    assert shards.files_of_changed_modules([FILES[2]], imports, ROWS) == ([FILES[2]], [])


def test_changed_modules_take_no_more_than_their_time_and_the_rest_is_named(monkeypatch):
    monkeypatch.setattr(shards, "FIRST_SECONDS", 25.0)
    imports = {file: {"flipcore.core"} for file in FILES[:6]}
    assert shards.files_of_changed_modules(["flipcore/core/__init__.py"], imports, ROWS) == (FILES[:2], FILES[2:6])


def test_the_parts_take_alike_long():
    parts = shards.balanced({file: row.seconds for file, row in ROWS.items()})
    loads = [sum(ROWS[file].seconds for file in ROWS if parts[file] == part) for part in range(N_SHARDS)]
    assert set(parts) == set(ROWS) and max(loads) <= 1.5 * min(loads)


def test_what_a_run_printed_is_recorded_and_a_table_comes_back_as_it_was(tmp_path):
    text = f"RUN 2026-11-28 abc part 2\nRAN {FILES[0]} 12.5 s, 3 passed, 0 failed, 0 left out\n"
    text += f"RAN {FILES[20]} 1.0 s, 1 passed, 2 failed, 0 left out\nRAN {FILES[1]} 9.0 s, 4 passed, 0 failed, 3 left out\n"
    rows, runs = shards.take_in(text, ROWS, ["2026-11-27"])
    assert rows[FILES[0]].seconds == 12.5 and rows[FILES[0]].last_passed == "2026-11-28"
    assert rows[FILES[20]].last_failed == "2026-11-28" and rows[FILES[20]].part == shards.part_of(FILES[20], {})
    # four of its seven tests ran: it has not passed, and all seven take longer
    assert rows[FILES[1]].seconds == pytest.approx(9.0 * 7 / 4) and rows[FILES[1]].last_passed == ""
    assert runs == ["2026-11-27", "2026-11-28"]
    shards.write_table(rows, runs, tmp_path / "table.tsv")
    stored = shards.read_table(tmp_path / "table.tsv")
    assert set(stored) == set(rows) and shards.read_runs(tmp_path / "table.tsv") == runs
    assert stored[FILES[20]] == rows[FILES[20]]


def test_a_file_that_failed_or_has_not_run_lately_is_due():
    def row(**dates):
        return FileRow("x", 0, 1.0, True, **dates)

    rows = {
        "fine": row(last_passed="2026-11-20"),
        "mended": row(last_passed="2026-11-20", last_failed="2026-11-19"),
        "failed": row(last_passed="2026-11-19", last_failed="2026-11-20"),
        "never": row(),
        "old": row(last_passed="2026-11-09"),
    }
    runs = [f"2026-11-{day}" for day in range(11, 21)]
    assert set(shards.due(rows, runs)) == {"failed", "never", "old"}
    assert set(shards.due(rows, runs[1:])) == {"failed", "never"}  # fewer than ten runs: nothing is old yet


def test_a_file_that_no_run_recorded_is_due():
    assert shards.due({"known": FileRow("known", 0, 1.0, True, "2026-11-20")}, [], ["known", "new"]) == {
        "new": "never recorded"
    }


def test_a_failure_that_passes_on_the_same_day_is_mended():
    failed = f"RUN 2026-11-28 abc part 2\nRAN {FILES[0]} 1.0 s, 3 passed, 1 failed, 0 left out\n"
    passed = failed.replace("1 failed", "0 failed")
    rows, runs = shards.take_in(failed, {}, [])
    assert FILES[0] in shards.due(rows, runs)
    rows, runs = shards.take_in(passed, rows, runs)
    assert not shards.due(rows, runs)


def test_files_are_dealt_by_what_all_their_tests_take():
    rows = {"a": FileRow("a", 5, 10.0, True, "2026-11-20"), "b": FileRow("b", 5, 10.0, True), "c": FileRow("c", 5, 1.0, False)}
    new = shards.dealt({"a": 4, "b": 40, "d": 2}, {"a": 4, "b": 10, "d": 2}, rows)
    assert {file: row.seconds for file, row in new.items()} == {"a": 10.0, "b": 40.0, "d": 2 * shards.SECONDS_PER_TEST}
    assert len({row.part for row in new.values()}) == 3 and new["a"].last_passed == "2026-11-20"


def cases_of(files, n_cells=9, n_simulations=5):
    """Two tables of cases and some simulations per file."""
    cases = []
    for file in files:
        cases += [shards.Case(f"{file}::sim[{i}]", file, ()) for i in range(n_simulations)]
        cases += [shards.Case(f"{file}::cell[{page}-{i}]", file, ("cell", page)) for page in "ab" for i in range(n_cells)]
    return cases


@pytest.mark.parametrize("step", ["a day", "a commit"])
def test_six_runs_of_ci_run_every_case_of_the_parts_that_they_begin_with(step):
    """No run reaches more than its own part; days or commits pass."""
    cases, ran = cases_of(FILES), set()
    for i in range(N_SHARDS):
        turn = shards.turn_of(1_500, 20_000 + i) if step == "a day" else shards.turn_of(1_500 + i, 20_000)
        part = shards.part_of_turn(turn)
        out = shards.left_out(cases, 0.25, turn, part, ROWS)
        ran |= {case.name for case in cases if shards.part_of(case.file, ROWS) == part and case.name not in out}
    assert ran == {case.name for case in cases}


def test_four_runs_of_everything_run_every_case_whatever_they_begin_with():
    cases, turns = cases_of(FILES), range(7, 11)
    kept = [{case.name for case in cases} - shards.left_out(cases, 0.25, turn) for turn in turns]
    assert set.union(*kept) == {case.name for case in cases}
    assert all(len(names) < 0.35 * len(cases) for names in kept)
    assert set.union(*kept[:3]) != {case.name for case in cases}


def test_the_pieces_of_a_night_are_everything_once():
    pieces = [shards.piece(f"{number}/5", FILES) for number in range(1, 6)]
    assert sorted(file for files in pieces for file in files) == sorted(FILES)
    for text in ("0/5", "6/5", "5", "a/b"):
        with pytest.raises(SystemExit, match="is no piece"):
            shards.piece(text, FILES)


def names_of(files, *options):
    """Slow and browser tests that pytest itself selects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", shards.SELECTION, *options, *files]
    done = subprocess.run(command, cwd=shards.ROOT, capture_output=True, text=True, check=False)
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_six_runs_as_ci_calls_them_run_every_test_that_may_be_left_out():
    marks = re.compile(r"mark\.(simulation|cell)\b")
    paths = [path for path in (shards.ROOT / "tests").rglob("test_*.py") if marks.search(path.read_text(encoding="utf-8"))]
    files = [str(path.relative_to(shards.ROOT)) for path in paths]
    everything, rows, ran = names_of(files), shards.read_table(), set()
    assert len(files) > 20 and len(everything) > 300
    for i in range(N_SHARDS):
        turn = shards.turn_of(1_500, 20_000) + i
        part = shards.part_of_turn(turn)
        names = names_of(files, "--part", str(part), "--simulations", f"0.25:{turn}")
        assert len(names) < len(everything)
        ran |= {name for name in names if shards.part_of(name.partition("::")[0], rows) == part}
    assert ran == everything
