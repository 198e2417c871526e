"""A labelled table of sentences that trip readers of text: what each answers, or None where nothing may be read."""

import pytest

from flipcore.core.records import OK, UNREADABLE
from flipcore.extractors.written_answer import read_text
from flipcore.text.prompts import labels_of
from tests.extractors.asking import choice, number, shown

METALS = choice()  # A rye, B barley, C tin, D oats
YES_NO = choice(("Yes", "No"), "0", "Is tin a metal?")
AMOUNTS = choice(("Not at all", "A little", "A great deal"), "2", "How much do you trust it?")

C = "2"
CHOICES = [
    # JSON, tags, code fences
    ('{"answer": "C"}', C),
    ('{"answer": "C", "confidence": 0.9}', C),
    ('{"reasoning": "Rye is a grain, B too.", "answer": "C"}', C),
    ('```json\n{"answer": "C"}\n```', C),
    ("{'answer': 'C'}", C),
    ('{"answer": "tin"}', C),
    ('{"answer": "C. tin"}', C),
    ('{"answer": ["C"]}', C),
    ('{"final_answer": "(C)"}', C),
    ('{"Answer": "C"}', C),
    ('{"choice": "C", "reason": "A and B are grains"}', C),
    ('{"answer": "C", "runner_up": "A"}', C),
    ('{"answer": "B or C"}', None),
    ('{"answer": null}', None),
    ('{"answer": ""}', None),
    ('{"answer": "not C"}', None),
    ('{"A": 0.1, "C": 0.9}', None),
    ("<answer>C</answer>", C),
    ("<answer> (C) tin </answer>", C),
    ("<ANSWER>C</ANSWER>", C),
    ("<final_answer>C</final_answer>", C),
    ("Rye is A. <answer>C</answer> B is barley.", C),
    ("<answer>A</answer> No, wait. <answer>C</answer>", C),
    ("<answer>A or C</answer>", None),
    ("<answer></answer>", None),
    ("<answer>\nC\n</answer>", C),
    # statements with something between
    ("The answer (a letter) is C.", C),
    ("Answer (A, B, C or D): C", C),
    ("The answer, I think, is C.", C),
    ("The answer to question 1 is C.", C),
    ("The best answer is C.", C),
    ("The most likely answer would be C.", C),
    ("The right option is C.", C),
    ("My final answer: C", C),
    ("FINAL ANSWER: C", C),
    ("Answer: `C`", C),
    ("Answer: [[C]]", C),
    ("Answer = C", C),
    ("Answer：C", C),
    ("$\\boxed{\\text{C}}$", C),
    ("The answer is C because A and B are grains.", C),
    ("C, since A, B and D are grains.", C),
    ("C (A and B are grains)", C),
    ("Unlike A and B, the answer is C.", C),
    ("Between A and C, the answer is C.", C),
    ("First I thought A, but the answer is C.", C),
    ("Answer: A\n\nWait, no. Answer: C", C),
    ("Hence C is the answer.", C),
    ("I pick C!", C),
    ("C – tin", C),
    ("Definitely C.", C),
    ("B (barley) and C (tin) are often chosen.", None),
    # denials
    ("not B", None),
    ("Not B.", None),
    ("It is not B", None),
    ("It's not C.", None),
    ("The answer is not B.", None),
    ("The answer isn't B.", None),
    ("The answer is not B because barley is a grain.", None),
    ("It can't be C.", None),
    ("It cannot be C.", None),
    ("It could never be C", None),
    ("B is not the answer.", None),
    ("B is wrong.", None),
    ("Option B is incorrect.", None),
    ("(B) is not correct.", None),
    ("B doesn't fit.", None),
    ("I would not choose B.", None),
    ("I wouldn't pick B", None),
    ("Anything but B", None),
    ("All except C", None),
    ("Neither A nor B.", None),
    ("The answer is neither A nor B.", None),
    ("Definitely not C.", None),
    ("Definitely not tin.", None),
    ("It isn't tin.", None),
    ("It is certainly not tin.", None),
    ("C? No.", None),
    ("The answer is not A, B or C.", None),
    ("C? No, B.", "1"),
    ("The answer is not B but C.", C),
    ("The answer is not B but C, because rye is a grain.", C),
    ("The answer is C, not B.", C),
    ("The answer is C (not B).", C),
    ("C, not B or D.", C),
    ("C rather than B.", C),
    ("C instead of A or B", C),
    ("It's not B. It's C.", C),
    ("Not A, not B, so C.", C),
    ("The answer cannot be B, so it is C.", C),
    ("The answer isn't A; it is C.", C),
    ("Option A is incorrect. Option C fits.", C),
    ("A is wrong. B is wrong. The answer is C.", C),
    # questions and answers, lists of the options
    ("Q: Which of these is a metal?\nA: tin", C),
    ("Q: Which of these is a metal? A: tin", C),
    ("Q: Which of these is a metal?\nA: C", C),
    ("Question: Is it rye?\nAnswer: tin", C),
    ("Q: Is rye a metal?\nA: I do not know.", None),
    ("Q. Which is it?\nA. I do not know", None),
    ("A: C", C),
    ("A: tin", C),
    ("A: rye", "0"),
    ("A. rye", "0"),
    ("Q: Which of these is a metal?\nA: tin\n\nQ: Which is a grain?\nA: rye", C),
    ("A. rye\nB. barley\nC. tin\nD. oats", None),
    ("A) rye B) barley C) tin D) oats\nThe answer is C", C),
    ("The options are A, B, C and D.", None),
    ("Please answer A, B, C or D.", None),
    ("It could be A or C", None),
    ("Either B or C", None),
    ("All of them", None),
]
OTHERS = [
    ("The answer (Yes or No) is No.", YES_NO, "1"),
    ("Answer (Yes/No): Yes", YES_NO, "0"),
    ("No, because tin is none.", YES_NO, "1"),
    ("no", YES_NO, "1"),
    ("The answer is: yes", YES_NO, "0"),
    ('{"answer": "No"}', YES_NO, "1"),
    ("<answer>Yes</answer>", YES_NO, "0"),
    ("There is no way to know.", YES_NO, None),
    ("Not yes.", YES_NO, None),
    ("I have no answer.", YES_NO, None),
    ("A great deal", AMOUNTS, "2"),
    ("A great deal.", AMOUNTS, "2"),
    ("a great deal", AMOUNTS, "2"),
    ("The answer is a great deal.", AMOUNTS, "2"),
    ("I would select A great deal.", AMOUNTS, "2"),
    ("The answer is A great deal", AMOUNTS, "2"),
    ("A little", AMOUNTS, "1"),
    ("A", AMOUNTS, "0"),
    ("A. Not at all", AMOUNTS, "0"),
    ("Not a great deal.", AMOUNTS, None),
    ("A good question.", AMOUNTS, None),
    ("A. Not at all, which is why I do not worry.", AMOUNTS, "0"),
    ("A) Not at all", AMOUNTS, "0"),
    ("A lot of people say so.", METALS, None),
]
NUMBERS = [
    ("18 (not 20)", "18"),
    ("18, not 20", "18"),
    ("The answer is 18 (not 20).", "18"),
    ("not 20 but 18", "18"),
    ("The answer is not 20 but 18.", "18"),
    ("The answer isn't 20, it is 18.", "18"),
    ("It is 18 rather than 20.", "18"),
    ("18 instead of 20", "18"),
    ("It is not 20.", None),
    ("The answer is not 20.", None),
    ("20 is not the answer.", None),
    ("1.8e1", "18"),
    ("1.8E+1", "18"),
    ("The answer is 1.8e1.", "18"),
    ("#### 1.8e1", "18"),
    ("1.8 x 10^1", "18"),
    ("1.8 × 10^1", "18"),
    ("1.8 \\times 10^{1}", "18"),
    ("The answer is 2e3 dollars", "2000"),
    ("1.8e-1", "9/50"),
    ("9 * 10 = 90", "90"),
    ('{"answer": 18}', "18"),
    ('{"answer": "18"}', "18"),
    ('{"answer": "18 eggs", "steps": 3}', "18"),
    ('{"steps": 3, "answer": 18}', "18"),
    ('{"answer": "unknown", "steps": 3}', None),
    ('{"answer": "# 18"}', "18"),
    ("<answer>18</answer> in 3 steps", "18"),
    ("<answer>none</answer> after 3 steps", None),
    ("\\boxed{1{,}800}", "1800"),
    ("\\boxed{\\frac{3}{4}}", "3/4"),
    ("The answer is $\\dfrac{3}{4}$.", "3/4"),
    ("The answer (in eggs) is 18.", "18"),
    ("The answer to question 3 is 18.", "18"),
    ("The answer is eighteen (18).", "18"),
    ("The answer is 18. That is 2 more than 16.", "18"),
    ("18 is the answer, as 20 - 2 shows.", "18"),
    ("#### 18 (out of 20)", "18"),
    ("Answer: $18 for 5 days", "18"),
    ("Final answer: 18/24 = 3/4", "3/4"),
    ("Q: How many?\nA: 18", "18"),
    ("Step 1: 5\nStep 2: 18", "18"),
    ("**18**", "18"),
    ("−18", "-18"),
    ("18.0", "18"),
    ("18 or 20", None),
    ("between 18 and 20", None),
    ("18 to 20", None),
    ("The answer is 5, 6.", None),
    ("The answer is 5 or 6.", None),
    ("eighteen", None),
    ("Answer: none", None),
    ("1e999999999", None),
]


def label_of(read):
    return read.answer if read.status == OK else None


@pytest.mark.parametrize(("text", "answer"), CHOICES, ids=[text[:40] for text, _ in CHOICES])
def test_choices(text, answer):
    found = read_text(METALS, shown(METALS), text)
    assert label_of(found) == answer, found
    assert (found.status == UNREADABLE) == (answer is None) and (found.status == OK or found.reason)


@pytest.mark.parametrize(("text", "item", "answer"), OTHERS, ids=[text[:40] for text, _, _ in OTHERS])
def test_choices_whose_options_are_words_of_every_sentence(text, item, answer):
    assert label_of(read_text(item, shown(item), text)) == answer


@pytest.mark.parametrize(("text", "answer"), NUMBERS, ids=[text[:40] for text, _ in NUMBERS])
def test_numbers(text, answer):
    found = read_text(number(), shown(number()), text)
    assert label_of(found) == answer, found


def test_the_letters_of_question_and_answer_are_no_labels():
    item = choice()
    letters = {"labels": labels_of("pqrs", 4)}
    asked = "Q: Which of these is a metal?\nA: R"
    assert read_text(item, shown(item, **letters), asked).answer == "2"
    assert read_text(item, shown(item, **letters), "Q: barley").answer == "1"
    assert read_text(item, shown(item, **letters), "Q").answer == "1"


def test_the_span_lies_in_the_text_that_came_back():
    for text, matched in (
        ('{"reasoning": "B?", "answer": "C"}', "C"),
        ("<answer> (C) tin </answer>", "C"),
        ("Q: Which of these is a metal?\nA: tin", "tin"),
        ("The answer is not B but C, because rye is a grain.", "C"),
    ):
        start, end = read_text(METALS, shown(METALS), text).span
        assert text[start:end] == matched
    start, end = read_text(number(), shown(number()), text := "18 (not 20)").span
    assert text[start:end] == "18"


def test_the_table_is_long_enough_to_mean_something():
    assert len(CHOICES) + len(OTHERS) + len(NUMBERS) >= 120


@pytest.mark.parametrize("labels", ["lower", "digits", "roman", "pqrs"])
def test_no_sentence_of_the_table_breaks_a_reader_with_other_labels(labels):
    for text, _ in CHOICES:
        found = read_text(METALS, shown(METALS, labels=labels_of(labels, 4)), text)
        assert (found.status == OK) == (found.answer is not None)
        if found.span:
            assert text[slice(*found.span)].strip()
