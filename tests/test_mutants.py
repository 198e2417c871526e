"""The changes that `tests.mutants` makes: one thing each, and nothing where nobody could see it."""

import ast
import signal
import subprocess
from collections import Counter

import pytest

from tests import mutants

SOURCE = '''"""A docstring with 1."""


def half(x: int = 1, *, flag: bool = False) -> float:
    """Half."""
    if x < 3 and not flag:
        return -x / 2
    return f"{x + 1}" + "words"
'''


def test_a_module_is_changed_in_one_place_at_a_time(tmp_path):
    path = tmp_path / "half.py"
    path.write_text(SOURCE)
    made = list(mutants.changes(path))
    assert Counter((one.before, one.after) for one in made) == {
        ("1", "2"): 1, ("False", "True"): 1, ("x < 3 and (not flag)", "x < 3 or not flag"): 1, ("x < 3", "x <= 3"): 1,
        ("3", "4"): 1, ("not flag", "flag"): 1, ("-x / 2", "-x * 2"): 1, ("-x", "x"): 1, ("2", "3"): 1,
    }  # fmt: skip
    for one in made:
        ast.parse(one.source)
        assert sum(a != b for a, b in zip(one.source.splitlines(), SOURCE.splitlines(), strict=True)) == 1


def test_the_same_seed_draws_the_same_changes_and_every_room_has_tests():
    first, second = mutants.drawn("spending", 5, 3), mutants.drawn("spending", 5, 3)
    assert [one.place for one in first] == [one.place for one in second] and len({one.source for one in first}) == 5
    for room, (files, tests) in mutants.ROOMS.items():
        assert all(list(mutants.ROOT.glob(pattern)) for pattern in files.split()), room
        assert all((mutants.ROOT / name).exists() for name in tests.split()), room


def test_a_test_that_does_not_end_is_neither_noticed_nor_survived(tmp_path, monkeypatch):
    (tmp_path / "flipcore").mkdir()
    (tmp_path / "flipcore" / "half.py").write_text("half = 2\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    change = mutants.Change(tmp_path / "flipcore/half.py", 1, "2", "3", "half = 3\n")

    def run(command, **_):
        if command[-1] == "sleeps":
            raise subprocess.TimeoutExpired(command, 1)
        codes = {"fails": 1, "computes": -signal.SIGKILL}
        return subprocess.CompletedProcess(command, codes.get(command[-1], 0))

    monkeypatch.setattr(mutants.subprocess, "run", run)
    for name in ("sleeps", "computes", "fails", "passes"):
        (tmp_path / name).touch()
    for tests, outcome in (
        ([["sleeps"], ["passes"]], mutants.NOT_FINISHED),
        ([["computes"], ["passes"]], mutants.NOT_FINISHED),
        ([["sleeps"], ["fails"]], mutants.NOTICED),
        ([["passes"]], mutants.SURVIVED),
    ):
        monkeypatch.setattr(mutants, "tests_of", lambda change, room, tests=tests: tests)
        assert mutants.outcome_of(change, "stats", tmp_path) == outcome
    head = mutants.row("stats", 4, [], [change], 1)[0]
    assert head == "| stats | 4 | 0 | 1 | 3 of 3 | 1.00 | 1 |"


@pytest.mark.slow
def test_processor_time_ends_tests_and_a_busy_machine_does_not(tmp_path, monkeypatch):
    (tmp_path / "test_busy.py").write_text("def test_busy():\n    while True:\n        pass\n")
    (tmp_path / "test_waits.py").write_text("import time\n\n\ndef test_waits():\n    time.sleep(4)\n")
    monkeypatch.setattr(mutants, "CPU_SECONDS", 3)
    assert mutants._tested(tmp_path, ["test_busy.py"]) == mutants.NOT_FINISHED
    assert mutants._tested(tmp_path, ["test_waits.py"]) == mutants.SURVIVED
