"""Where an answer ends, and which one declines to answer."""

import pytest

from flipcore.extractors.written.scope import answer_end, is_refusal


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("It is B.\nQuestion: another?", "It is B."),
        ("It is B.\nUser: thanks", "It is B."),
        ("It is B.</s> and on", "It is B."),
        ("\nQuestion: first line counts", "\nQuestion: first line counts"),
        ("Let me see.\n**Question: How many eggs?** 18", "Let me see.\n**Question: How many eggs?** 18"),
    ],
)
def test_the_next_problem_or_turn_ends_the_answer_and_its_own_question_does_not(text, own):
    assert text[: answer_end(text, "How many eggs?")] == own


def test_a_heading_in_the_wording_that_was_asked_does_not_end_the_answer():
    text = "Let me see.\nQuestion: How mnay eggs are left in the basket?\n18"
    asked = ("How many eggs are left in the basket?", "Q: How mnay eggs are left in the basket?")
    assert answer_end(text, *asked) == len(text) and answer_end(text, asked[0]) == len("Let me see.")


@pytest.mark.parametrize(
    ("text", "declines"),
    [("I'm sorry, but I can't help with that.", True), ("I cannot answer this.", True), ("I cannot see 20.", False)],
)
def test_an_answer_that_begins_by_declining_is_a_refusal(text, declines):
    assert is_refusal(text) is declines
