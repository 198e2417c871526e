"""`flipscope check OLD NEW`, the gate of a pipeline, on files as users have them."""

import json
import shutil

import pytest

from tests.datasets.recorded import harness_files
from tests.outside.user import write_csv, write_jsonl

N = 200
CODES = {"PASS": 0, "FAIL": 1, "UNDECIDED": 2}


def rows_of(n_right):
    """A plain table of scores."""
    return [{"id": f"q{i}", "score": int(i < n_right)} for i in range(N)]


def write_eval(path, n_right):
    samples = [
        harness_files.inspect_sample(i, text=f"ANSWER: {'A' if i < n_right else 'B'}", value="C" if i < n_right else "I")
        for i in range(N)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    return harness_files.inspect_eval(path, samples, harness_files.inspect_header(n_right / N, N))


def write_json(path, n_right):
    path.write_text(json.dumps(rows_of(n_right)), encoding="utf-8")
    return path


WRITERS = {
    ".csv": lambda path, n_right: write_csv(path, rows_of(n_right)),
    ".jsonl": lambda path, n_right: write_jsonl(path, rows_of(n_right)),
    ".json": write_json,
}


@pytest.mark.parametrize("suffix", [".csv", *(pytest.param(name, marks=pytest.mark.slow) for name in (".jsonl", ".json"))])
def test_two_tables_of_the_current_folder_are_compared(user, suffix):
    WRITERS[suffix](user.folder / f"old{suffix}", 150)
    WRITERS[suffix](user.folder / f"new{suffix}", 60)
    check = user.flipscope("check", f"old{suffix}", f"new{suffix}", "--margin", "2pp")
    assert (check.code, check.first_line.partition(":")[0]) == (1, "FAIL"), check
    assert "Traceback" not in check.err


@pytest.mark.parametrize(
    ("n_new", "outcome"),
    [(148, "UNDECIDED"), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((150, "PASS"), (60, "FAIL")))],
)
def test_the_exit_code_says_the_verdict(user, n_new, outcome):
    write_eval(user.folder / "old.eval", 150)
    write_eval(user.folder / "new.eval", n_new)
    check = user.flipscope("check", "old.eval", "new.eval", "--margin", "2pp")
    assert (check.code, check.first_line.partition(":")[0]) == (CODES[outcome], outcome), check


@pytest.mark.slow
def test_a_folder_and_a_zip_elsewhere_are_compared(user, tmp_path):
    """One is named relative to the folder the command runs in, the other by its whole path."""
    for name, n_right in (("old", 150), ("new", 60)):
        write_eval(tmp_path / "runs" / name / "main.eval", n_right)
    shutil.make_archive(str(tmp_path / "runs" / "new"), "zip", tmp_path / "runs" / "new")
    check = user.flipscope("check", "../runs/old", tmp_path / "runs" / "new.zip", "--margin", "2pp")
    assert (check.code, check.first_line.partition(":")[0]) == (1, "FAIL"), check
