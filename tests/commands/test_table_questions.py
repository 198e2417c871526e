"""A table that can be read in two ways: both readings, exit code 4, and an answer by `--map` or one key."""

import json
from pathlib import Path

import pytest

from flipcore import __main__ as command
from flipcore.commands import questions

pytestmark = pytest.mark.usefixtures("allowed_folders")

TABLES = Path(__file__).parents[1] / "data" / "tables"


@pytest.fixture(autouse=True)
def own_database(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPSCOPE_DB", str(tmp_path / "flips.duckdb"))


@pytest.mark.slow
def test_the_first_line_of_an_audit_says_how_the_table_was_read(capsys):
    assert command.main(["audit", str(TABLES / "arms.jsonl")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("Read as 40 questions (id) × 2 arms (regex, student) × 1 run; right answer: gold; output: pred")
    assert not any("noise floor" in line for line in said)


@pytest.mark.parametrize("name", ["audit", "import"])
def test_an_open_question_claims_nothing_and_stores_nothing(name, tmp_path, capsys):
    assert command.main([name, str(TABLES / "percent_mixed.csv")]) == questions.UNANSWERED == 4
    said = capsys.readouterr().out
    assert "Score: 70.0%. --map percent=score" in said and "Score: 35.4. --map percent=" in said
    assert "Nothing is claimed until this is settled: " in said and "Accuracy" not in said and "Mean score" not in said
    assert not (tmp_path / "flips.duckdb").exists()


@pytest.mark.slow
def test_an_answer_by_map_settles_it_and_moves_the_score(capsys):
    assert command.main(["audit", str(TABLES / "percent_mixed.csv"), "--map", "percent=score"]) == 0
    assert "m scores 0.70;" in capsys.readouterr().out
    assert command.main(["audit", str(TABLES / "ys_infos.json"), "--map", "score=r"]) == 0
    assert "25% right" in capsys.readouterr().out


def test_a_program_reads_the_questions_as_json(capsys):
    assert command.main(["audit", str(TABLES / "ys_infos.json"), "--json"]) == 4
    said = json.loads(capsys.readouterr().out)
    (question,) = said["questions"]
    assert said["read_as"][0].startswith("Read as 20 questions (idx) × 5 runs") and question["about"] == "score"
    assert [one["map"] for one in question["choices"]] == [["score=r"], ["score="]]
    assert [one["score"] for one in question["choices"]] == [0.25, None]


@pytest.mark.slow
def test_one_key_answers_in_a_terminal(monkeypatch, capsys):
    keys = iter("x1")
    monkeypatch.setattr(questions, "_read_key", lambda: next(keys))
    monkeypatch.setattr(questions, "_is_terminal", lambda: True)
    assert command.main(["audit", str(TABLES / "percent_mixed.csv")]) == 0
    assert "m scores 0.70;" in capsys.readouterr().out


def test_a_key_that_ends_it_claims_nothing(monkeypatch, capsys):
    monkeypatch.setattr(questions, "_read_key", lambda: "q")
    monkeypatch.setattr(questions, "_is_terminal", lambda: True)
    assert command.main(["audit", str(TABLES / "percent_mixed.csv")]) == 4
    assert "Mean score" not in capsys.readouterr().out


@pytest.mark.slow
def test_runs_and_the_one_system_of_a_table_are_what_the_first_line_says(tmp_path, capsys):
    rows = [f"q{i},m-9,{int((i + run) % 4 > 0)},{run}" for i in range(30) for run in (1, 2)]
    table = tmp_path / "winter.csv"
    table.write_text("\n".join(["frage,system,punkte,lauf", *rows]) + "\n")
    assert command.main(["audit", str(table)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Read as 30 questions (frage) × 2 runs (lauf); scores: punkte")
    assert "m-9: 77% right" in said and "no column tells apart" not in said


def several_letters(n=40):
    """Right answers of one or several letters; every fourth answer lacks one, and the order is another one."""
    for i in range(n):
        letters = sorted({"ABCD"[i % 4], "ABCD"[(i + 1 + i // 20) % 4]})
        said = letters[:1] if i % 4 == 0 else letters[::-1]
        yield {"id": i, "question": f"Which of these hold in case {i}?", "answer": ",".join(letters), "prediction": said}


@pytest.mark.slow
def test_several_right_letters_are_compared_as_a_set(tmp_path, capsys):
    path = tmp_path / "several.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in several_letters()), encoding="utf-8")
    assert command.main(["audit", str(path)]) == 0
    said = capsys.readouterr().out
    assert "output: prediction, read as several letters" in said and ": 75% right" in said


@pytest.mark.slow
def test_minus_one_beside_zeros_and_ones_is_asked(tmp_path, capsys):
    path = tmp_path / "thirds.csv"
    path.write_text("id,score\n" + "".join(f"{i},{i % 3 - 1}\n" for i in range(60)), encoding="utf-8")
    assert command.main(["audit", str(path)]) == 4
    said = capsys.readouterr().out
    assert "score is -1 in 20 rows and from 0 to 1 in all others" in said
    assert "Score: 50.0%. --map missing=-1" in said and "Score: 0.0%. --map missing=" in said
    assert command.main(["audit", str(path), "--map", "missing=-1"]) == 0
    said = capsys.readouterr().out
    assert "left out: 20 rows of 60 with score -1, which is no grade" in said and "50% right" in said
