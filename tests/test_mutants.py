"""The changes that `tests.mutants` makes, the tests that it runs on them, and what it counts."""

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


@pytest.fixture
def half(tmp_path, monkeypatch):
    """A tree of one module, `flipcore/half.py`."""
    (tmp_path / "flipcore").mkdir()
    (tmp_path / "tests").mkdir()
    path = tmp_path / "flipcore" / "half.py"
    path.write_text(SOURCE)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return path


def change_of(path, before):
    """The change of one expression."""
    return next(change for change in mutants.changes(path) if change.before == before)


def test_a_module_is_changed_in_one_place_at_a_time(half):
    made = list(mutants.changes(half))
    assert Counter((change.before, change.after) for change in made) == {
        ("1", "2"): 1,
        ("False", "True"): 1,
        ("x < 3 and (not flag)", "x < 3 or not flag"): 1,
        ("x < 3", "x <= 3"): 1,
        ("3", "4"): 1,
        ("not flag", "flag"): 1,
        ("-x / 2", "-x * 2"): 1,
        ("-x", "x"): 1,
        ("2", "3"): 1,
    }
    for change in made:
        ast.parse(change.source)
        lines = zip(change.source.splitlines(), SOURCE.splitlines(), strict=True)
        assert sum(changed != line for changed, line in lines) == 1


def test_the_same_seed_draws_the_same_changes_and_fewer_are_the_first_of_more():
    first, second = mutants.drawn("spending", 5, 3), mutants.drawn("spending", 7, 3)
    assert first == second[:5] and len(set(second)) == 7
    for package, (files, folders) in mutants.PACKAGES.items():
        assert all(list(mutants.ROOT.glob(pattern)) for pattern in files.split()), package
        assert all((mutants.ROOT / name).exists() for name in folders.split()), package


def test_a_module_with_probes_says_which_changes_were_reached_and_computes_the_same(half):
    numbers = {change: number for number, change in enumerate(mutants.changes(half))}
    reached = []
    module = {"_reached": reached.append}
    exec(mutants.probed(half, numbers), module)
    reached.clear()
    assert module["half"](2) == -1.0
    by_number = {number: change.before for change, number in numbers.items()}
    seen = {by_number[number] for number in reached}
    assert seen == {"x < 3 and (not flag)", "x < 3", "3", "not flag", "-x / 2", "-x", "2"}


def test_a_pattern_that_has_no_place_for_a_probe_is_left_out(half):
    half.write_text("def name(x):\n    match x:\n        case 1:\n            return x + 2\n")
    numbers = {change: number for number, change in enumerate(mutants.changes(half))}
    assert mutants.probed(half, numbers).count("_reached(") == len(numbers) - 1


def test_probes_are_in_the_package_before_any_of_its_modules(tmp_path, monkeypatch):
    monkeypatch.setattr("builtins._reached", None, raising=False)  # and what it was comes back
    package = '"""The package."""\n\nfrom __future__ import annotations\n\nimport json\n'
    source = mutants.with_probe(package, tmp_path / "log")
    assert ast.get_docstring(ast.parse(source)) == "The package."
    exec(compile(source, "package", "exec"), {})
    lines = source.splitlines()
    assert lines.index("_builtins._reached = _reached") < lines.index("import json")


SECONDS = """tests/test_half.py::test_a\t2.0\tpassed
tests/test_far.py::test_b\t0.5\tpassed
tests/test_far.py::test_c\t0.5\tpassed
tests/test_near.py::test_d\t0.1\tpassed
tests/test_near.py::test_e\t0.1\tfailed
"""


@pytest.mark.parametrize(
    ("log", "tests"),
    [
        pytest.param(
            "0\ttests/test_far.py::test_c (call)\n0\ttests/test_near.py::test_d (call)\n",
            ["tests/test_half.py", "tests/test_near.py::test_d", "tests/test_far.py::test_c"],
            id="the tests that reach it, those of its name first, then the cheapest",
        ),
        pytest.param(
            "0\ttests/test_far.py::test_c (setup)\n",
            ["tests/test_half.py", "tests/test_far.py::test_b", "tests/test_far.py::test_c"],
            id="all tests of a file whose fixture reaches it",
        ),
        pytest.param("0\ttests/test_near.py::test_e (call)\n", ["tests/test_half.py"], id="none that fails without a change"),
        pytest.param(
            "0\t\n",
            ["tests/test_far.py", "tests/test_half.py", "tests/test_near.py::test_d"],
            id="the files that import the module, then all others, where it is reached by an import",
        ),
    ],
)
def test_the_tests_of_a_change(half, log, tests):
    folder = mutants.ROOT / "tests"
    (folder / "test_half.py").write_text("import half\n")
    (folder / "test_far.py").write_text("from flipcore.half import half\n")
    (folder / "test_near.py").write_text("from flipcore import halves\n")
    reach = mutants.read_reach(log, SECONDS)
    assert mutants.tests_of(0, change_of(half, "-x"), reach) == tests


def test_the_first_tests_run_before_the_others_are_collected(monkeypatch):
    monkeypatch.setattr(mutants, "FIRST_SECONDS", 2.1)
    reach = mutants.read_reach("", SECONDS)
    tests = ["tests/test_half.py", "tests/test_near.py::test_d", "tests/test_far.py::test_b"]
    assert reach.split(tests) == [tests[:2], tests[2:]]
    assert reach.split(tests[:1]) == [tests[:1]] and reach.split([]) == []


def test_a_test_that_does_not_end_is_neither_noticed_nor_survived(half, monkeypatch):
    change = change_of(half, "-x")
    tree = mutants.ROOT
    seen = []

    def run(command, **_):
        seen.append(half.read_text())
        tests = (tree / command[-1].removeprefix("@")).read_text()
        if tests == "sleeps":
            raise subprocess.TimeoutExpired(command, 1)
        codes = {"fails": 1, "computes": -signal.SIGKILL}
        return subprocess.CompletedProcess(command, codes.get(tests, 0))

    monkeypatch.setattr(mutants.subprocess, "run", run)
    outcomes = {}
    for test in ("sleeps", "computes", "fails", "passes"):
        outcomes[test] = mutants.outcome_of(change, [[test]], tree)
        assert half.read_text() == SOURCE and seen[-1] == change.source != SOURCE
    assert mutants.outcome_of(change, [["passes"], ["fails"]], tree) == mutants.NOTICED
    assert mutants.outcome_of(change, [["fails"], ["sleeps"]], tree) == mutants.NOTICED
    assert mutants.outcome_of(change, [], tree) == mutants.SURVIVED
    assert outcomes == {
        "sleeps": mutants.NOT_FINISHED,
        "computes": mutants.NOT_FINISHED,
        "fails": mutants.NOTICED,
        "passes": mutants.SURVIVED,
    }
    other, third = change_of(half, "2"), change_of(half, "3")
    counted = {change: mutants.NOT_FINISHED, other: mutants.NOTICED, third: mutants.SURVIVED}
    head = mutants.rows_of("stats", counted, seed=1)[0]
    assert head == "| stats | 3 | 0 | 1 | 1 of 2 | 0.50 | 1 |"
    same = ("flipcore/half.py", "if x < 3 and not flag:", "4")
    monkeypatch.setitem(mutants.SAME, same, "it never comes")
    head, *named = mutants.rows_of("stats", counted, seed=1)
    assert head == "| stats | 3 | 1 | 1 | 1 of 1 | 1.00 | 1 |"
    assert "`flipcore/half.py:6` `3` → `4`: it never comes" in named[0]


def test_a_second_call_goes_on_where_the_first_was_stopped(half, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(mutants, "PACKAGES", {"half": ("flipcore/*.py", "tests")})
    monkeypatch.setattr(mutants, "find_reach", lambda *_: mutants.Reach())
    monkeypatch.setattr(mutants, "tests_of", lambda *_: ["tests/test_half.py"])
    tried = []

    def try_change(change, tests, tree):
        tried.append(change)
        return mutants.SURVIVED if len(tried) == 1 else mutants.NOTICED

    monkeypatch.setattr(mutants, "outcome_of", try_change)
    # outside of the tree, which is copied
    work = str(tmp_path.parent / f"{tmp_path.name}-work")
    words = ["--package", "half", "--work", work, "--processes", "1", "--n"]
    assert mutants.main([*words, "2", "--minutes", "0"]) == 0 and not tried
    assert mutants.main([*words, "2"]) == 1 and len(tried) == 2
    assert mutants.main([*words, "3"]) == 1 and len(tried) == len(set(tried)) == 3
    assert "| half | 3 | 0 | 0 | 2 of 3 | 0.67 | 1 |" in capsys.readouterr().out
    assert mutants.main([*words, "3", "--again"]) == 0 and tried[3:] == tried[:1]


@pytest.mark.slow
def test_processor_time_ends_tests_and_a_busy_machine_does_not(tmp_path, monkeypatch):
    (tmp_path / "test_busy.py").write_text("def test_busy():\n    while True:\n        pass\n")
    (tmp_path / "test_waits.py").write_text("import time\n\n\ndef test_waits():\n    time.sleep(4)\n")
    monkeypatch.setattr(mutants, "CPU_SECONDS", 3)
    assert mutants._tested(tmp_path, ["test_busy.py"]) == mutants.NOT_FINISHED
    assert mutants._tested(tmp_path, ["test_waits.py"]) == mutants.SURVIVED
