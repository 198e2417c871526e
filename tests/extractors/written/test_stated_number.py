"""The number that a text settles on: the last statement, else the last number that it does not deny."""

import pytest

from flipcore.extractors.written.stated_number import stated_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12 eggs and 6 more.\n#### 18", "18"),
        ("The answer is 1,450 dollars, not 1,400.", "1450"),
        ("so 3 + 4 = 7", "7"),
        ("\\boxed{\\frac{29}{2}}", "29/2"),
        ("18 is the answer", "18"),
        ("1.5e3", "1500"),
    ],
)
def test_the_number_is_read_and_its_span_holds_it(text, number):
    answer, span, why = stated_number(text)
    assert (answer, why) == (number, "") and text[span[0] : span[1]].strip()


@pytest.mark.parametrize(
    ("text", "why"),
    [("none at all", "has no number"), ("18 or 20", "two numbers"), ("It is not 20.", "only numbers that it denies")],
)
def test_no_number_or_two_are_no_answer(text, why):
    answer, span, sentence = stated_number(text)
    assert answer is None and span is None and why in sentence
