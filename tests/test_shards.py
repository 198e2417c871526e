"""Six runs of CI begin with every part of the slow and browser tests, and a pass is a whole one."""

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
    by_day = [shards.number_of_run(1500, start + day) for day in range(N_SHARDS)]
    by_commit = [shards.number_of_run(start + n, 20_000) for n in range(N_SHARDS)]
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
    assert shards.files_of_changed_modules(changed, imports, ROWS) == [FILES[0]]
    assert shards.files_of_changed_modules(["flipcore/claims/__init__.py"], imports, ROWS) == [FILES[1]]
    assert shards.files_of_changed_modules([FILES[2]], imports, ROWS) == [FILES[2]]


def test_changed_modules_take_no_more_than_their_time(monkeypatch):
    monkeypatch.setattr(shards, "FIRST_SECONDS", 25.0)
    imports = {file: {"flipcore.core"} for file in FILES[:6]}
    assert shards.files_of_changed_modules(["flipcore/core/__init__.py"], imports, ROWS) == FILES[:2]


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
    assert rows[FILES[1]].seconds == 9.0 and rows[FILES[1]].last_passed == ""  # a part of its tests ran
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


def test_the_pieces_of_a_night_are_everything_once():
    pieces = [shards.piece(f"{number}/5", FILES) for number in range(1, 6)]
    assert sorted(file for files in pieces for file in files) == sorted(FILES)
    for text in ("0/5", "6/5", "5", "a/b"):
        with pytest.raises(SystemExit, match="is no piece"):
            shards.piece(text, FILES)
