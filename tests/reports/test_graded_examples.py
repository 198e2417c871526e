"""One right and one wrong answer of a table, as the score counts them; nothing where no answer is stored."""

import json

import pytest

from flipcore.reports.graded_examples import graded_examples
from flipcore.reports.whole_study import whole_study
from flipcore.runs.log_corrections import corrections_of
from flipcore.runs.log_import import store_logs
from flipcore.runs.log_survey import survey
from tests.stores import empty_store

pytestmark = pytest.mark.usefixtures("allowed_folders")


def said(tmp_path, rows, *words):
    path = tmp_path / "table.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    store = empty_store(tmp_path / "flips.duckdb")
    study_id = store_logs(survey([str(path)], corrections_of(list(words), of_tables=True)), store, is_checked=False)
    sentence = graded_examples(whole_study(store, study_id))
    store.close()
    return sentence


def sums(output):
    return [
        {"question": f"What is {n} + 2?", "prediction": output(n + (2 if n % 3 else 3)), "answer": n + 2} for n in range(1, 21)
    ]


def test_what_was_read_in_an_output_is_said_with_the_right_answer(tmp_path):
    assert said(tmp_path, sums(lambda n: f"The answer is {n}.")) == (
        'Counted as right: "The answer is 3." (read as 3; right answer: 3). '
        'Counted as wrong: "The answer is 6." (read as 6; right answer: 5).'
    )


def test_an_output_that_is_its_answer_is_not_repeated(tmp_path):
    assert said(tmp_path, sums(str)).startswith('Counted as right: "3" (right answer: 3). ')


def test_a_long_output_is_shortened_to_what_was_read(tmp_path):
    sentence = said(tmp_path, sums(lambda n: f"{'Let us think. ' * 20}The answer is {n}.{' So it goes.' * 9}"))
    assert sentence.startswith('Counted as right: "… us think. The answer is 3. So it goes. So it goes. …" (read as 3;')
    plain = said(tmp_path, [row | {"prediction": f"{'so ' * 60}no number"} for row in sums(str)])
    assert (
        plain.startswith('Counted as wrong: "so so so so so so so … so so') and "(nothing was read; right answer: 3)" in plain
    )


def test_a_grade_is_not_said_to_be_read(tmp_path):
    rows = [{"question": f"Who is {n}?", "response": f"It is Ann {n}.", "correct": n % 2} for n in range(20)]
    assert said(tmp_path, rows) == 'Counted as right: "It is Ann 1.". Counted as wrong: "It is Ann 0.".'


def test_scores_without_outputs_have_no_example(tmp_path):
    assert said(tmp_path, [{"id": n, "model": "m", "score": n % 2} for n in range(20)]) == ""


def test_all_right_has_one_example(tmp_path):
    rows = [row | {"prediction": row["answer"]} for row in sums(str)]
    assert said(tmp_path, rows) == 'Counted as right: "3" (right answer: 3).'


def test_scores_between_right_and_wrong_have_no_example(tmp_path):
    rows = [{"id": n, "response": f"It is {n}.", "llm_score": (0, 0.5, 1)[n % 3]} for n in range(21)]
    assert said(tmp_path, rows, "score=llm_score") == ""


def test_no_output_commands_the_terminal(tmp_path):
    rows = [{"question": f"Who is {n}?", "response": f"\x1b[31mAnn\x07 {n}", "correct": n % 2} for n in range(20)]
    assert said(tmp_path, rows) == 'Counted as right: "[31mAnn 1". Counted as wrong: "[31mAnn 0".'
