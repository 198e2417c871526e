"""`check OLD NEW`: a verdict as an exit code, its summaries, and every error apart."""

import json
import os
import re
import subprocess
import sys
import textwrap
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


@pytest.mark.slow
@pytest.mark.parametrize(("n_new", "code", "word"), [(110, 0, "PASS"), (70, 1, "FAIL"), (109, 2, "UNDECIDED")])
def test_the_verdict_is_the_exit_code(folder, capsys, n_new, code, word):
    # .98 ** 149 < .05: fewer equal items pass by no margin of 2 points
    old, new = run_of(folder, "old", 110, n=149), run_of(folder, "new", n_new, n=149)
    outs = [f"--{name}={folder / name}" for name in ("json", "markdown", "junit")]
    assert command.main(["check", old, new, "--margin", "2pp", *outs]) == code
    said = capsys.readouterr()[0]
    assert said.startswith(f"{word}: ") and "Traceback" not in said
    assert "The stored outputs of both runs read by written answer" in said  # the model changed, and no reader
    assert json.loads((folder / "json").read_text())["outcome"] == word
    assert f"{word} |" in (folder / "markdown").read_text()
    suite = ElementTree.fromstring((folder / "junit").read_text())
    assert (suite.get("failures"), suite.get("skipped")) == (str(int(code == 1)), str(int(code == 2)))


@pytest.mark.slow
def test_every_choice_says_whether_the_verdict_holds_and_keeps_the_exit_code(folder, capsys):
    old, new = run_of(folder, "old", 110, n=149), run_of(folder, "new", 70, n=149)
    for later, code, words in (
        (old, 0, "The new run does not lose 2 points or more against the old run; both ways of counting say the same."),
        (new, 1, "The new run loses more than 2 points against the old run; both ways of counting say the same."),
    ):
        assert command.main(["check", old, later, "--margin", "2pp", "--every-choice", "--json", "out.json"]) == code
        assert f"\n  {words} Largest p of all ways: p " in capsys.readouterr()[0]
        (task,) = json.loads((folder / "out.json").read_text())["tasks"]
        assert task["every_choice"]["outcome"] == "survives"
    # .98 ** 148 > .05: what the check leaves open no other test decides.
    few = run_of(folder, "few", 110, n=148)
    assert command.main(["check", few, few, "--margin", "2pp", "--every-choice"]) == 2
    assert "; none by more than chance." in capsys.readouterr()[0]
    command.main(["check", old, new, "--margin", "2pp"])
    assert "whichever" not in capsys.readouterr()[0]


@pytest.mark.slow
def test_errors_end_with_three_whatever_they_are(folder, capsys):
    old = run_of(folder, "old", 20, n=30)
    other = run_of(folder, "other", 20, n=30)
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


@pytest.mark.slow
def test_a_file_of_settings_gives_what_the_options_leave_open(folder, capsys):
    old, new = run_of(folder, "old", 45, n=60), run_of(folder, "new", 35, n=60)
    (folder / "gate.toml").write_text('margin = "40pp"\n')
    assert command.main(["check", old, new, "--config", "gate.toml"]) == 0
    assert command.main(["check", old, new, "--config", "gate.toml", "--margin", "1pp"]) == 1
    (folder / "gate.toml").write_text('margins = "20pp"\n')
    assert command.main(["check", old, new, "--config", "gate.toml"]) == 3


def test_a_margin_is_points_or_a_number_on_the_scale():
    assert margin_of("2pp") == (0.02, True) and margin_of("0.5") == (0.5, False) and margin_of(" 3% ") == (0.03, True)
    for text in ("0pp", "-2pp", "two"):
        with pytest.raises(BadInput, match="no margin"):
            margin_of(text)
    with pytest.raises(BadInput, match="How far may the score fall"):
        margin_of("")


def table_of(folder, name, scores, **more):
    rows = "\n".join(",".join(map(str, [f"q{i}", *more.values(), score])) for i, score in enumerate(scores))
    (folder / name).write_text(",".join(["item", *more, "xyz" if more else "score"]) + "\n" + rows + "\n")
    return str(folder / name)


@pytest.mark.slow
def test_two_tables_are_runs_of_one_task_whatever_their_files_are_called(folder, capsys):
    old, new = (table_of(folder, f"{name}.csv", [int(i >= n) for i in range(150)]) for name, n in (("old", 15), ("new", 45)))
    assert command.main(["check", old, new, "--margin", "2pp"]) == 1
    assert "new: FAIL, 20.0 points lower [" in capsys.readouterr()[0]


@pytest.mark.slow
def test_two_folders_of_runs_are_versions_of_one_task(folder, capsys):
    """The folders' names were two tasks, and the runs shared none."""
    for name, n_wrong in (("model_a", 15), ("model_b", 45)):
        (folder / name).mkdir()
        for run in (1, 2):
            rows = [
                {"id": f"q{i}", "question": f"What is part {i}?", "output": f"it is {i}", "correct": i >= n_wrong + run}
                for i in range(100)
            ]
            made.lines(folder / name / f"run{run}.jsonl", rows)
    assert command.main(["check", str(folder / "model_a"), str(folder / "model_b"), "--margin", "2pp"]) == 1
    assert "model_b: FAIL, 30.0 points lower [" in capsys.readouterr()[0]


@pytest.mark.slow
def test_a_table_passes_beside_itself_and_a_short_one_is_undecided(folder, capsys):
    old, few = table_of(folder, "old.csv", [int(i >= 15) for i in range(150)]), table_of(folder, "few.csv", [1] * 60)
    assert command.main(["check", old, old, "--margin", "2pp"]) == 0
    capsys.readouterr()
    assert command.main(["check", few, few, "--margin", "2pp"]) == 2
    assert "About 89 more items would decide it" in capsys.readouterr()[0]  # .98 ** 149 < .05


@pytest.mark.slow
def test_items_asked_in_several_prompts_are_compared_at_their_own_and_it_is_said(folder, capsys):
    for name in ("old", "new"):
        rows = ["question_id,question,prompt_id,correct"]
        for prompt in ("plain", "polite"):
            rows += [f"q{i},Which number follows {i}?,{prompt},{int(i % 5 > 0)}" for i in range(80)]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    command.main(["check", "old.csv", "new.csv", "--margin", "5pp"])
    said = capsys.readouterr()[0]
    assert "on 80 items at the own prompt by" in said and "Other prompts of these items were not compared." in said


@pytest.mark.slow
def test_columns_are_mapped_in_both_runs(folder, capsys):
    old, new = (table_of(folder, f"{name}.csv", [1] * 60, note=7) for name in ("old", "new"))
    assert command.main(["check", old, new, "--margin", "2pp"]) == 3
    assert "--map score=COLUMN" in capsys.readouterr()[1]
    assert command.main(["check", old, new, "--margin", "5pp", "--map", "score=xyz"]) == 0


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
    # The job installs the package; this environment has its folder instead.
    (folder / "bin").mkdir()
    shim = folder / "bin" / "flipscope"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m flipcore "$@"\n')
    shim.chmod(0o755)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-e", "-c", step_of_workflow()],
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "GITHUB_STEP_SUMMARY": str(folder / "summary.txt")},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code, ended.stderr
    assert f"{word} |" in (folder / "summary.txt").read_text() and (folder / "report.html").stat().st_size > 10_000
    assert ("::warning::" in ended.stdout) == (word == "UNDECIDED")


# What section 19 of the statistics found false, as a user meets it: tables of scores.


def table_of_tasks(folder, name, scores_by_task):
    rows = [
        f"{task},q{i},{'' if score is None else score}"
        for task, scores in scores_by_task.items()
        for i, score in enumerate(scores)
    ]
    (folder / f"{name}.csv").write_text("\n".join(["task,item,score", *rows]) + "\n")
    return str(folder / f"{name}.csv")


def check_tasks(folder, old, new, margin="5pp"):
    files = [table_of_tasks(folder, name, scores) for name, scores in (("old", old), ("new", new))]
    out = folder / "check.json"
    code = command.main(["check", *files, "--margin", margin, "--json", str(out), "--markdown", str(folder / "check.md")])
    return code, json.loads(out.read_text())


def moved(scores, n_fall, n_rise):
    """So many right answers become wrong, and so many wrong ones right."""
    changed, left = list(scores), {1: n_fall, 0: n_rise}
    for i, score in enumerate(scores):
        if left[score]:
            changed[i], left[score] = 1 - score, left[score] - 1
    return changed


def scores_of(n, n_right):
    return [1] * n_right + [0] * (n - n_right)


@pytest.mark.slow
def test_a_loss_within_the_margin_is_no_fail_and_said_to_be_shown(folder):
    old = scores_of(400, 280)
    code, check = check_tasks(folder, {"woods": old}, {"woods": moved(old, 30, 15)})
    assert code == 2 and "Some loss is shown." in check["headline"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grades", "margin"),
    [([1, 5, *[3] * 38], "0.1"), pytest.param([0, 100, *range(20, 38)], "2", marks=pytest.mark.slow)],
    ids=["one to five", "percentages"],
)
def test_a_few_unchanged_grades_pass_on_no_scale(folder, grades, margin):
    """The guard's unseen item falls by the whole scale, not by one."""
    code, check = check_tasks(folder, {"essays": grades}, {"essays": grades}, margin)
    assert code == 2, check["headline"]


@pytest.mark.slow
def test_a_missing_task_is_undecided_by_its_name(folder, capsys):
    old = {"woods": scores_of(60, 40), "lakes": scores_of(60, 40)}
    code, check = check_tasks(folder, old, {"woods": old["woods"]})
    assert code == 2 and "lakes" in check["headline"] and check["missing_tasks"] == ["lakes"]
    assert "loss is shown" not in check["headline"]  # of a mean that lacks a task nothing is known
    assert "lakes" in (folder / "check.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("absent", ["rows", "calls"])
def test_a_third_that_is_missing_never_passes(folder, absent):
    old = scores_of(120, 80)
    new = old[40:] if absent == "rows" else [None] * 40 + old[40:]
    new_by_item = {"woods": new}
    if absent == "rows":
        files = [table_of_tasks(folder, "old", {"woods": old}), str(folder / "new.csv")]
        rows = [f"woods,q{i},{score}" for i, score in enumerate(old) if i >= 40]
        (folder / "new.csv").write_text("\n".join(["task,item,score", *rows]) + "\n")
        code = command.main(["check", *files, "--margin", "5pp", "--json", str(folder / "check.json")])
        check = json.loads((folder / "check.json").read_text())
    else:
        code, check = check_tasks(folder, {"woods": old}, new_by_item)
    assert code == 2 and "40 items lack scores in one run" in check["headline"], check
    assert any("left out it would be PASS" in note for note in check["notes"])


@pytest.mark.slow
def test_five_tasks_without_a_loss_pass_together_and_fail_together(folder):
    old = scores_of(80, 56)
    tasks = ("woods", "lakes", "hills", "roads", "towns")
    code, check = check_tasks(folder, dict.fromkeys(tasks, old), dict.fromkeys(tasks, moved(old, 6, 6)))
    assert code == 0 and "on the mean of 5 tasks" in check["headline"]
    code, check = check_tasks(folder, dict.fromkeys(tasks, old), dict.fromkeys(tasks, moved(old, 18, 2)))
    assert code == 1 and "on the mean of 5 tasks" in check["headline"]


@pytest.mark.slow
def test_one_task_that_loses_far_more_fails_all_by_its_name(folder):
    old = scores_of(80, 56)
    new = dict.fromkeys(("lakes", "hills", "roads", "towns"), old)
    code, check = check_tasks(folder, {"woods": old, **new}, {"woods": moved(old, 18, 0), **new})
    assert code == 1 and "on woods" in check["headline"]
    assert [one["outcome"] for one in check["tasks"]].count("FAIL") == 1


@pytest.mark.slow
def test_one_shared_item_is_a_sentence_without_limits(folder, capsys):
    old = {"woods": [1], "lakes": scores_of(60, 45)}
    code, check = check_tasks(folder, old, old)
    said = capsys.readouterr()[0] + (folder / "check.md").read_text() + json.dumps(check, ensure_ascii=False)
    assert code == 2 and "1 shared item is too few to judge by" in said
    assert not any(text in said for text in ("[–", "– pp", "– to", "NaN"))


def test_a_table_of_one_row_is_refused_with_a_sentence(folder, capsys):
    files = [table_of_tasks(folder, name, {"woods": [1]}) for name in ("old", "new")]
    assert command.main(["check", *files, "--margin", "5pp"]) == 3
    assert "The table has 1 row of bare scores" in capsys.readouterr()[1]


@pytest.mark.slow
def test_tasks_on_different_scales_are_refused_with_a_sentence(folder, capsys):
    old = {"woods": scores_of(50, 30), "essays": [1, 5, *[3] * 38]}
    files = [table_of_tasks(folder, name, old) for name in ("old", "new")]
    assert command.main(["check", *files, "--margin", "0.1"]) == 3
    assert "different width" in capsys.readouterr()[1]


def test_an_open_question_about_a_table_is_an_error_with_both_readings(folder, capsys):
    """Tables under one name of their task were judged without a word of the column beside the score."""
    for name, up in (("old", 0), ("new", 1)):
        lines = [f"{i},Write about {i},Once upon {i} a {name},{1 + (i + up) % 5},{i % 7 / 7:.2f}" for i in range(60)]
        (folder / f"{name}.csv").write_text("\n".join(["id,prompt,response,tone_score,brevity", *lines]), encoding="utf-8")
    words = ["check", "old.csv", "new.csv", "--margin", "1"]
    assert command.main(words) == 3
    said = capsys.readouterr()
    assert not said.out and "brevity has no role in this reading." in said.err and "--map unused=yes" in said.err
    assert command.main([*words, "--map", "unused=yes"]) == 0
    assert capsys.readouterr().out.startswith("PASS: ")
