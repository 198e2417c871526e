"""Answers in JSON or in tags, and questions that a text repeats."""

import pytest

from flipcore.extractors.written.scope import marked_answer, without_question


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": "B"}', "B"),
        ("{'final_answer': 'C', 'why': 'x'}", "C"),
        ('{"choice": 3}', "3"),
        ("<answer>B</answer> or rather <answer>C</answer>", "C"),
        ("<answer>never closed", "never closed"),
    ],
)
def test_the_last_marked_answer_counts(text, answer):
    start, end = marked_answer(text)
    assert text[start:end] == answer


def test_a_text_without_marks_has_none():
    assert marked_answer("The answer is B.") is None


def test_a_repeated_question_is_blanked_and_every_other_place_stays():
    text = "Q: which? A: B"
    blanked = without_question(text, "AB", ("rye", "tin"))
    assert blanked == " " * len("Q: which? A:") + " B" and len(blanked) == len(text)


def test_a_letter_that_heads_its_own_option_stays():
    assert without_question("A: rye", "AB", ("rye", "tin")) == "A: rye"
