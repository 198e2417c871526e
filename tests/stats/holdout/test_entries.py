"""The text of an entry that is embedded: its question with one question mark, and its options in alphabetical order."""

from dataclasses import replace

import pytest

from flipcore.stats.holdout.entries import entry_text
from tests.extractors.asking import choice, number


@pytest.mark.parametrize(("question", "text"), [("How many", "How many?"), ("How many ?? ", "How many?"), ("??", "")])
def test_a_question_ends_in_one_question_mark(question, text):
    assert entry_text(number(question=question)) == text


def test_options_stand_in_alphabetical_order_and_a_completion_gets_no_mark():
    assert entry_text(choice()) == "Which of these is a metal?\nbarley\noats\nrye\ntin"
    assert entry_text(replace(number(question="Once upon a time"), kind="completion")) == "Once upon a time"
