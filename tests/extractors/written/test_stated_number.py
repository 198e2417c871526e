"""The number that a text settles on: the last statement, else the last number that it does not deny."""

import random
import re

import pytest

from flipcore.extractors.written import stated_number as module
from flipcore.extractors.written.stated_number import stated_number

PIECES = [
    *(
        "12",
        "-3",
        " − 4",
        "$5",
        "1,450.00",
        r"\frac{1}{2}",
        ".5",
        "1e5",
        "2 x 10^3",
        r"3 \times 10^2",
        "18/20",
        "٣",
        "$.5",
        "- 7",
        "18,50",
        "1 800",
        "2:00",
        "3 1/2",
        "1.800,5",
        "½",
        " million",
        "k",
    ),
    *("%", ".", "}", "not ", "or ", "hen ", "all ", "rather than ", "1.2.3", "\n", " ", "x", "e", "\u00a07"),
]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12 eggs and 6 more.\n#### 18", "18"),
        ("The answer is 1,450 dollars, not 1,400.", "1450"),
        ("so 3 + 4 = 7", "7"),
        ("\\boxed{\\frac{29}{2}}", "29/2"),
        ("18 is the answer", "18"),
        ("1.5e3", "1500"),
        # the ways of writing a number that a reader of digits takes apart
        ("The answer is 18,50 €.", "37/2"),
        ("The answer is 1.800,50 €", "3601/2"),
        ("It costs 1.800 €", "1800"),
        ("It costs 1 800 dollars.", "1800"),
        ("1.8 million", "1800000"),
        ("$15k", "15000"),
        ("The answer is 3 1/2 cups.", "7/2"),
        ("-2½", "-5/2"),
        ("It costs $\n½", "1/2"),
        ("The train arrives at 2:00 pm.", "2"),
        # what answers is the last quantity of the phrase that states it, without what checks it, as it was put right
        ("The answer is that he can run the 400-meter hurdles in 36 seconds.", "36"),
        ("She has 3 apples left. (Check: 18-3=15)", "3"),
        ("The answer is 12. Wait, no, it is 14.", "14"),
        ("The answer is 12. Wait, that was quick.", "12"),
    ],
)
def test_the_number_is_read_and_its_span_holds_it(text, number):
    answer, span, why = stated_number(text)
    assert (answer, why) == (number, "") and text[span[0] : span[1]].strip()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("none at all", "has no number"),
        ("18 or 20", "two numbers"),
        ("It is not 20.", "only numbers that it denies"),
        ("The answer is 2 hours and 30 minutes.", "two units"),
        ("It takes 2 hours 30 minutes.", "two units"),
        ("The answer is (3,4).", "not a number that can be compared"),
        ("The answer is 3,4.", "not a number that can be compared"),
        ("The answer is 2:30 pm", "not a number that can be compared"),
    ],
)
def test_no_number_or_two_are_no_answer(text, why):
    answer, span, sentence = stated_number(text)
    assert answer is None and span is None and why in sentence


def test_a_scale_that_the_question_asks_in_is_no_part_of_the_answer():
    for question, number in (("How many million people live there?", "5"), ("How many people live there?", "5000000")):
        assert stated_number("The answer is 5 million.", question)[0] == number
    assert stated_number("gsm8k")[0] == "8"


@pytest.mark.slow
@pytest.mark.parametrize("n_texts", [250, pytest.param(1_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tail", [3, 120])
def test_searching_the_end_first_reads_what_searching_the_whole_text_does(monkeypatch, tail, n_texts):
    rng = random.Random(5)
    texts = ["".join(rng.choices(PIECES, k=rng.randint(1, 90))) for _ in range(n_texts)]
    monkeypatch.setattr(module, "_TAIL", tail)
    answers = [stated_number(text) for text in texts]
    assert len(set(answers)) > 20 and sum(len(text) > 2 * tail for text in texts) > 0.08 * n_texts
    monkeypatch.setattr(module, "_NUMBER", re.compile(module.NUMBER))
    monkeypatch.setattr(module, "_TAIL", 10_000)
    assert [stated_number(text) for text in texts] == answers
