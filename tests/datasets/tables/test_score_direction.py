"""Scores of which less is better are asked about or called so, and never printed as right answers."""

import json

import pytest

from flipcore import __main__ as command
from flipcore.datasets.tables.reading import read_table
from flipcore.datasets.tables.stems import lower_is_better
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_survey import survey

pytestmark = pytest.mark.usefixtures("allowed_folders")

LOWER = [
    "hallucinated",
    "is_hallucinated",
    "hallucination_score",
    "Hallucination",
    "toxicity",
    "error",
    "error_rate",
    "refused",
    "refusal",
    "wer",
    "CER",
    "perplexity",
    "halluziniert",
    "fehlerrate",
    "toxicité",
    "rechazado",
    "metrics[Toxicity].score",
    "scores.bias",
]
HIGHER = ["correct", "not_hallucinated", "non_toxic", "error_free", "score", "faithfulness", "accuracy", "gold", "answer"]


def rows_with(column: str, values=None) -> list[dict]:
    """Answers of one model, a fifth of them with 1 in the column."""
    values = values or [float(i % 5 == 0) for i in range(40)]
    return [
        {"id": f"q{i}", "question": f"What is the capital of land {i}?", "response": f"It is town {i}.", column: value}
        for i, value in enumerate(values)
    ]


def written(tmp_path, rows):
    path = tmp_path / "table.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", LOWER)
def test_names_of_bad_things_are_known(name):
    assert lower_is_better(name)


@pytest.mark.parametrize("name", HIGHER)
def test_names_of_good_things_are_none_of_them(name):
    assert not lower_is_better(name)


@pytest.mark.parametrize("column", ["hallucinated", "toxicity", "refused", "halluziniert"])
def test_a_leading_score_of_something_bad_is_asked_about(tmp_path, column):
    (question,) = read_table(written(tmp_path, rows_with(column))).questions
    assert question.about == "direction" and question.moves_score
    assert (question.first.words, round(question.first.score, 3)) == ((f"reverse={column}",), 0.8)
    assert (question.second.words, round(question.second.score, 3)) == (("reverse=",), 0.2)


def test_less_of_an_error_rate_is_better_without_a_question(tmp_path):
    """Nobody who has word error rates asks which end of them is good."""
    reading = read_table(written(tmp_path, rows_with("wer")))
    assert not reading.questions and reading.lower == ("wer",)


def test_renamed_it_is_asked_whether_it_is_a_score_at_all(tmp_path):
    (question,) = read_table(written(tmp_path, rows_with("c4"))).questions
    assert question.about == "score"


@pytest.mark.slow
def test_nothing_is_claimed_before_it_is_answered_and_both_answers_hold(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, rows_with("hallucinated"))
    assert command.main(["audit", path.name]) == 4
    assert "right" not in capsys.readouterr()[0]
    assert command.main(["audit", path.name, "--map", "reverse=hallucinated"]) == 0
    said = capsys.readouterr()[0]
    assert "80% right" in said and "hallucinated (reversed)" in said
    kept = survey([path], corrections_of(["reverse="], of_tables=True))
    assert sum(one.is_correct for record in kept.records() for one in record.readouts) == 8  # 20% of 40


@pytest.mark.slow
def test_beside_another_score_it_is_called_lower_is_better(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"toxicity": i % 2, **row, "correct": i % 4 > 0} for i, row in enumerate(rows_with("extra"))]
    path = written(tmp_path, [{key: cell for key, cell in row.items() if key != "extra"} for row in rows])
    found = survey([path])
    assert list(found.readouts) == ["correct", "toxicity (lower is better)"]
    toxic = [one for record in found.records() for one in record.readouts if one.name.startswith("toxicity")]
    assert all(one.is_correct is None for one in toxic)
    assert command.main(["audit", path.name]) == 0
    said = capsys.readouterr()[0]
    assert "75% right" in said and "50% right" not in said and "Other extractors" not in said


@pytest.mark.slow
def test_an_open_scale_is_called_lower_is_better(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, rows_with("perplexity", [3 + i % 7 + 0.5 for i in range(40)]))
    assert command.main(["audit", path.name]) == 0
    said = capsys.readouterr()[0]
    assert "perplexity (lower is better)" in said and "right" not in said.split("\n")[1]


def test_a_failed_call_beside_an_output_grades_nothing(tmp_path):
    rows = [row | {"error": i % 9 == 0} for i, row in enumerate(rows_with("correct"))]
    reading = read_table(written(tmp_path, rows))
    assert reading.roles.scores == ("correct",) and not reading.questions


def test_a_score_beyond_one_is_not_turned_round(tmp_path):
    path = written(tmp_path, rows_with("wer", [0.5, 1.5] * 20))
    found = survey([path], corrections_of(["reverse=wer"], of_tables=True))
    assert found.n_records == 20 and "only scores from 0 to 1 are turned round" in found.refusals[0]
