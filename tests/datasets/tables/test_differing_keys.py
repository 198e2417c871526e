"""A right answer that differs between rows of one question is compared with no output."""

import csv

import pytest

from flipcore.datasets.tables.reading import read_table

pytestmark = pytest.mark.usefixtures("allowed_folders")


def write(path, *, n_differing, has_score):
    """Two systems and 40 questions; `n_differing` of them have another key per system."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question_id", "system", "prompt_text", "gold", "reply", *["correct"] * has_score])
        for i in range(40):
            for place, system in enumerate(("alpha", "beta")):
                gold = "ABCD"[(i + place * (i < n_differing)) % 4]
                reply = gold if (i + place) % 3 else "ABCD"["ABCD".index(gold) - 1]
                row = [f"q{i}", system, f"Which letter is it in case {i}?", gold, f"I think the answer is {reply}."]
                writer.writerow([*row, *[int(reply == gold)] * has_score])
    return path


def test_beside_a_score_it_is_left_out_and_said(tmp_path):
    """Outputs of the second system were compared with the keys of the first."""
    reading = read_table(write(tmp_path / "a.csv", n_differing=30, has_score=True))
    assert not reading.roles.target and "gold" in reading.unused and not reading.questions
    assert any(note.startswith("gold differs between the rows of 30 questions, so no output") for note in reading.notes)
    mapped = read_table(tmp_path / "a.csv", {"item": "question_id,gold"})
    assert mapped.roles.target == "gold" and mapped.n_items == 70


def test_without_a_score_it_is_asked(tmp_path):
    reading = read_table(write(tmp_path / "b.csv", n_differing=30, has_score=False))
    (question,) = reading.questions
    assert question.seen == "gold differs between the rows of 30 questions." and question.moves_score
    assert [choice.words for choice in question.choices] == [("item=question_id,gold",), ("target=",)]


@pytest.mark.parametrize("n_differing", [0, 1, 2])
def test_a_few_are_mistakes_of_the_table(tmp_path, n_differing):
    reading = read_table(write(tmp_path / "c.csv", n_differing=n_differing, has_score=True))
    assert reading.roles.target == "gold" and not reading.questions


@pytest.mark.parametrize("name", ["correct", "solution", "right"])
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_numbers_that_outputs_agree_with_are_the_right_answers(tmp_path, name, share):
    """`correct` was "37.90 on a scale from 1 to 78", `solution` was not used."""
    n_right = round(80 * share)
    rows = [f"q{i},What is {i} plus 1?,{i + 1},It is {i + 1 + (i >= n_right) * 2}." for i in range(80)]
    (tmp_path / "k.csv").write_text("\n".join([f"id,question,{name},output", *rows]), encoding="utf-8")
    reading = read_table(tmp_path / "k.csv")
    assert (reading.roles.target, reading.roles.scores, reading.roles.contexts) == (name, (), ())
    assert not reading.questions and round(reading.roles.agreements[0].share, 3) == share


def test_grades_and_a_models_own_solution_are_no_right_answers(tmp_path):
    rows = [f"q{i},What is {i} plus 1?,{i % 5},First {i} and then 1 make {i + 1} all in all,{i + 1}" for i in range(80)]
    lines = ["id,question,correct,solution,output", *rows]
    (tmp_path / "g.csv").write_text("\n".join(lines), encoding="utf-8")
    reading = read_table(tmp_path / "g.csv")
    assert not reading.roles.target and reading.roles.scores == ("correct",)


def test_a_second_right_answer_in_numbers_is_asked_about_and_is_no_score(tmp_path):
    """The mean of correct_answer was the model's score, on a scale from 2 to 79."""
    rows = [f"What is {i} plus {i}?,{2 * i},{2 * i + (i % 10 == 0)},It is {2 * i + (i > 29)}" for i in range(40)]
    (tmp_path / "d.csv").write_text("\n".join(["question,answer,correct_answer,output", *rows]), encoding="utf-8")
    reading = read_table(tmp_path / "d.csv")
    (question,) = reading.questions
    assert question.seen == "answer and correct_answer are both called like a right answer, and differ."
    assert [round(choice.score, 3) for choice in question.choices] == [0.75, 0.7] and not reading.roles.scores
