"""`check OLD NEW`: a verdict as an exit code, its summaries, and every error apart."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from flipcore import __main__ as command
from flipcore.commands.check import margin_of
from flipcore.core.errors import BadInput
from tests.conftest import ROOT
from tests.datasets.recorded import harness_files as made

pytestmark = pytest.mark.usefixtures("allowed_folders")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_of(folder, name, n_right, n=200, scorer="choice"):
    samples = [
        made.inspect_sample(i, text="ANSWER: A" if i < n_right else "ANSWER: B", value="C" if i < n_right else "I")
        for i in range(n)
    ]
    samples = [one | {"scores": {scorer: one["scores"]["choice"]}} for one in samples]
    return str(made.inspect_eval(folder / f"{name}.eval", samples, made.inspect_header(n_right / n, n)))


@pytest.mark.parametrize(("n_new", "code", "word"), [(150, 0, "PASS"), (100, 1, "FAIL"), (148, 2, "UNDECIDED")])
def test_the_verdict_is_the_exit_code(folder, capsys, n_new, code, word):
    old, new = run_of(folder, "old", 150), run_of(folder, "new", n_new)
    outs = [f"--{name}={folder / name}" for name in ("json", "markdown", "junit")]
    assert command.main(["check", old, new, "--margin", "2pp", *outs]) == code
    said = capsys.readouterr()[0]
    assert said.startswith(f"{word}: ") and "Traceback" not in said
    assert "The stored outputs of both runs read by written answer" in said  # the model changed, and no reader
    assert json.loads((folder / "json").read_text())["outcome"] == word
    assert f"{word} |" in (folder / "markdown").read_text()
    suite = ElementTree.fromstring((folder / "junit").read_text())
    assert (suite.get("failures"), suite.get("skipped")) == (str(int(code == 1)), str(int(code == 2)))


def test_errors_end_with_three_whatever_they_are(folder, capsys):
    old = run_of(folder, "old", 150)
    other = run_of(folder, "other", 150)
    for words in (
        [old],
        [old, other],
        [old, other, "--margin", "lots"],
        [old, other, "--margin=2pp", "--colour=red"],
        [old, "away.eval", "--margin", "2pp"],
        [old, other, "--margin", "2pp", "--new-model", "nobody"],
    ):
        try:
            code = command.main(["check", *words])
        except SystemExit as end:
            code = end.code
        assert code == 3, words
    assert "Traceback" not in capsys.readouterr()[1]


def test_a_file_of_settings_gives_what_the_options_leave_open(folder, capsys):
    old, new = run_of(folder, "old", 150), run_of(folder, "new", 140)
    (folder / "gate.toml").write_text('margin = "20pp"\n')
    assert command.main(["check", old, new, "--config", "gate.toml"]) == 0
    assert command.main(["check", old, new, "--config", "gate.toml", "--margin", "1pp"]) == 1
    (folder / "gate.toml").write_text('margins = "20pp"\n')
    assert command.main(["check", old, new, "--config", "gate.toml"]) == 3


def test_a_margin_is_points_or_a_number_on_the_scale():
    assert margin_of("2pp") == (0.02, True) and margin_of("0.5") == (0.5, False) and margin_of(" 3% ") == (0.03, True)
    for text in ("", "0pp", "-2pp", "two"):
        with pytest.raises(BadInput, match="no margin"):
            margin_of(text)


def table_of(folder, name, scores, **more):
    rows = "\n".join(",".join(map(str, [f"q{i}", *more.values(), score])) for i, score in enumerate(scores))
    (folder / name).write_text(",".join(["item", *more, "xyz" if more else "score"]) + "\n" + rows + "\n")
    return str(folder / name)


def test_two_tables_are_runs_of_one_task_whatever_their_files_are_called(folder, capsys):
    old, new = (table_of(folder, f"{name}.csv", [int(i >= n) for i in range(200)]) for name, n in (("old", 20), ("new", 60)))
    assert command.main(["check", old, new, "--margin", "2pp"]) == 1
    assert "new: FAIL, loss +20.0 points" in capsys.readouterr()[0]
    assert command.main(["check", old, old, "--margin", "2pp"]) == 0
    few = table_of(folder, "few.csv", [1] * 60)
    assert command.main(["check", few, few, "--margin", "2pp"]) == 2
    assert "About 89 more items would decide it" in capsys.readouterr()[0]  # .98 ** 149 < .05


def test_columns_are_mapped_in_both_runs(folder, capsys):
    old, new = (table_of(folder, f"{name}.csv", [1] * 200, note=7) for name in ("old", "new"))
    assert command.main(["check", old, new, "--margin", "2pp"]) == 3
    assert "--map score=COLUMN" in capsys.readouterr()[1]
    assert command.main(["check", old, new, "--margin", "2pp", "--map", "score=xyz"]) == 0


def step_of_workflow():
    """The step that judges the new run, in the workflow on the page of the command line."""
    (step,) = re.findall(
        r"name: Judge the new run\n +run: \|\n((?: {10}.*\n)+)", next((ROOT / "docs").glob("command*")).read_text("utf-8")
    )
    return textwrap.dedent(step)


@pytest.mark.slow
@pytest.mark.parametrize(("n_new", "code", "word"), [(150, 0, "PASS"), (100, 1, "FAIL"), (148, 0, "UNDECIDED")])
def test_the_workflow_of_the_docs_runs_as_a_script(folder, n_new, code, word):
    for name, n_right in (("old", 150), ("new", n_new)):
        (folder / "logs" / name).mkdir(parents=True)
        run_of(folder / "logs" / name, "woods", n_right)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-e", "-c", step_of_workflow()],
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(folder / "summary.txt")},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code, ended.stderr
    assert f"{word} |" in (folder / "summary.txt").read_text() and (folder / "report.html").stat().st_size > 10_000
    assert ("::warning::" in ended.stdout) == (word == "UNDECIDED")
