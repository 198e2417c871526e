"""Outputs as real models write them, a few of each kind: a smaller namesake of test_real_outputs.py."""

import math

import pytest

from flipcore.core.records import OK, UNREADABLE, Completion, Item, Prompt, Variant
from flipcore.extractors.first_token import FirstTokenGated, read_first_token
from flipcore.extractors.written_answer import read_text
from tests.extractors.test_real_outputs import asked

OPTIONS = ("A great deal", "Some", "Not much", "Refused")


def answer_label(text, options=OPTIONS):
    item, variant = asked("How much do you trust the press?", options, "ABCDEFGHIJ"[: len(options)])
    reading = read_text(item, variant, text)
    return variant.labels[int(reading.answer)] if reading.status == OK else None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Based on what people say, I would choose option B. Some.", "B"),
        ("C. Not much\n\nExplanation: trust in the press has fallen for years.", "C"),
        ("As a language model I have no opinions, so I cannot say.", None),
        ("It could be A or B, depending on the newspaper.", None),
        ("AB", None),
    ],
)
def test_prose_is_read_as_a_person_would_or_not_at_all(text, label):
    assert answer_label(text) == label


@pytest.mark.parametrize("word", ["Answer", "The", "Sure", "**"])
def test_a_first_token_that_is_never_a_letter_is_gated_away(word):
    item, variant = asked("How much?", OPTIONS, "ABCD")
    top = {word: math.log(0.9)} | {label: math.log(0.02) for label in "ABCD"}
    assert read_first_token(variant, top).label_mass < 0.5
    reading = FirstTokenGated().read(item, variant, [Completion("c", "ok", top_logprobs=top)])
    assert (reading.status, reading.answer) == (UNREADABLE, None)


@pytest.mark.parametrize(
    ("solution", "is_right"),
    [
        ("She sells 16 - 3 - 4 = <<16-3-4=9>>9 eggs for 9 * 2 = $<<9*2=18>>18.\n#### 18", True),
        ("She sells 16 - 3 = <<16-3=13>>13 eggs.\n#### 26", False),
        ("She earns $18 a day. The answer is 18.", True),
    ],
)
def test_solutions_are_graded_by_their_last_statement(solution, is_right):
    item = Item.make(dataset="small", key="1", kind="number", question="How much does she earn?", target="18")
    variant = Variant(item.item_id, "identity", "base", Prompt((("stem", item.question),)), "18")
    assert (read_text(item, variant, solution).answer == "18") == is_right


def test_a_statement_is_read_and_an_unfinished_chain_is_not_guessed():
    ten = tuple(
        f"{place} units" for place in ("one", "two", "six", "nine", "eleven", "twelve", "forty", "fifty", "ninety", "no")
    )
    assert answer_label("Let's think step by step. The force doubles. The answer is (G).", ten) == "G"
    assert answer_label("Let's think step by step. First we take the force, then we", ten) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A: Let's think step by step.", None),
        ("A: Let’s think step by step. First, people read less.", None),
        ("**A:** Let us work through it.", None),
        ("A. Let me think about the press", None),
        ("A: Okay, let's see what the survey says", None),
        ("A: First, we look at the four options", None),
        ("A: To answer this, I need the year", None),
        ("A: We need to know what people say", None),
        ("Q: How much do you trust the press?\nA: Let's think step by step.", None),
        ("A: Let's think step by step. Trust fell. The answer is (C).", "C"),
        ("A: Let's think. People trust it little, so C", "C"),
        ("A: A great deal", "A"),
        ("A. A great deal, let's say", "A"),
        ("A", "A"),
        ("A: trust in the press is high", "A"),
        ("B: Let's think step by step.", "B"),
        ("A, let's say", "A"),
        ("The answer is A: let's see why.", "A"),
    ],
)
def test_the_letter_before_reasoning_that_has_only_begun_is_no_answer(text, label):
    assert answer_label(text) == label


def test_an_option_that_begins_like_reasoning_keeps_its_letter():
    assert answer_label("A: Let's think step by step", ("Let's think step by step", "Let's guess")) == "A"
