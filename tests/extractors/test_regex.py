"""Reading written answers: what is read, where it was found, and when nothing may be read."""

from dataclasses import replace

import pytest

from flipcore.core.records import OK, UNREADABLE, Prompt
from flipcore.extractors.written.scope import answer_end
from flipcore.extractors.written_answer import read_text
from flipcore.text.prompts import labels_of
from tests.extractors.asking import choice, number, shown

ITEM = choice()  # A rye, B barley, C tin, D oats


def read(text, item=ITEM, **rest):
    return read_text(item, shown(item, **rest), text)


@pytest.mark.parametrize(
    "text",
    [
        " C",
        "C",
        "c",
        "(C)",
        " C. tin",
        "C) tin",
        "C: tin",
        "**C**",
        "C\n",
        " C. tin\nQuestion: What next?\nA. x\nAnswer: A",
        "It is tin C",
        " It is tin C.",
        "It is C",
        "The answer is (C).",
        "The answer is: **C**",
        "the correct answer is option C",
        "Answer: C",
        "**Answer:** C",
        "The answer is \\boxed{C}.",
        "#### C",
        "I would choose C because rye is a grain.",
        "I'd go with option C.",
        "Sure! Here's my answer:\n\nC. tin",
        "A grain is not a metal, so it must be option C.",
        "A is a grain. B too. The answer is (C).",
        "The answer is B. Wait, rye is no metal either. The answer is C.",
        "The answer to the question is C",
        "C is the only metal.",
        "tin",
        "It is tin.",
        "TIN",
        "The answer is tin.",
        "It is not rye and not oats; it is tin",
        "The answer is C, and I am sure.",
        "A metal? The answer is C",
        "B is a grain.\n\n### ANSWER  \nC",
    ],
)
def test_one_option_is_read_however_it_is_said(text):
    found = read(text)
    assert (found.status, found.answer) == (OK, "2"), found.reason


@pytest.mark.parametrize(
    "text",
    [
        "ACE",
        "AC",
        "A, C",
        "A and C",
        "A or C",
        "A/C",
        "The answer is A or C.",
        "The answer is (B) and (C).",
        "The answer is C, tin; or D, oats.",
        "The answer would be one of the letters A, B, C, or D.",
        "Both options A and C fit (options A and C).",
        "A. rye\nC. tin",
        "It could be option A. It could be option C.",
        "rye and tin",
        "",
        "   ",
        "I don't know.",
        "None of these.",
        "It is not tin.",
        "A metal is shiny.",
        "I think so.",
        "The answer is Z.",
        "Which of these is a metal?",
    ],
)
def test_several_options_and_none_are_no_answer(text):
    found = read(text)
    assert (found.status, found.answer, found.span) == (UNREADABLE, None, None)
    assert found.reason.endswith((".", ")"))


@pytest.mark.parametrize(
    "text, matched", [("The answer is (C).", "C"), ("  It is tin.", "tin"), ("Answer: C\n\nAnswer: C", "C")]
)
def test_the_span_is_what_was_matched(text, matched):
    start, end = read(text).span
    assert text[start:end] == matched


def test_the_last_statement_is_the_one_in_the_span():
    text = "The answer is B. No: the answer is C."
    assert read(text).span == (text.index("C."), text.index("C.") + 1)


@pytest.mark.parametrize(
    "labels, text, answer",
    [
        ("lower", "the answer is c", "2"),
        ("lower", "c. tin", "2"),
        ("lower", "It is a metal.", None),
        ("lower", "a", "0"),
        ("digits", "3", "2"),
        ("digits", "The answer is 3.", "2"),
        ("digits", "3. tin", "2"),
        ("digits", "The answer is 3.5", None),
        ("digits", "It is tin 3", "2"),
        ("digits", "There are 3", None),
        ("roman", "iii", "2"),
        ("roman", "The answer is (ii).", "1"),
        ("roman", "The answer is iv", "3"),
        ("roman", "I think so.", None),
        ("pqrs", "R", "2"),
        ("pqrs", "The answer is (S)", "3"),
        ("pqrs", "PQ", None),
    ],
)
def test_other_label_sets_are_read_by_their_own_labels(labels, text, answer):
    assert read(text, labels=labels_of(labels, 4)).answer == answer


def test_a_label_goes_back_to_the_items_own_order():
    assert read("The answer is A", order=(2, 0, 1, 3)).answer == "2"


def test_an_option_that_is_its_label_alone_has_no_words():
    letters = choice(options="ABCD")
    assert read("The answer is a dog.", letters).status == read("It is a dog.", letters).status == UNREADABLE
    assert read("The answer is C. A dog", letters).answer == read("c", letters).answer == "2"


def test_the_pronoun_is_not_the_ninth_label():
    ten = choice([f"metal {word}" for word in "one two three four five six seven eight nine ten".split()])
    assert read("The answer is C, but I am not sure.", ten).answer == "2"
    assert read("I believe the answer is (I).", ten).answer == "8"
    assert read("I'm not able to say.", ten).status == UNREADABLE


def test_a_label_that_is_the_text_of_another_option_is_no_answer_unless_it_stands_as_a_label():
    sums = choice(("7", "1", "12", "4"), question="3 + 4?")
    digits = {"labels": labels_of("digits", 4)}
    assert read("The answer is 1", sums, **digits).status == UNREADABLE  # label of 7, and the text of option 2
    assert read("1. 7", sums, **digits).answer == "0"
    assert read("The answer is (1)", sums, **digits).answer == "0"
    assert read("The answer is 3", sums, **digits).answer == "2"  # no option says 3


def test_an_option_that_ends_in_a_letter_is_read_as_its_words():
    vitamins = choice(("iron", "vitamin C", "zinc", "salt"))
    assert read("It is vitamin C", vitamins).answer == "1"
    assert read("The answer is vitamin C.", vitamins).answer == "1"


def test_a_longer_option_hides_the_shorter_one_inside_it():
    both = choice(("tin", "tin foil", "rye", "oats"))
    assert read("It is tin foil.", both).answer == "1"
    assert read("It is tin.", both).answer == "0"


SHIPS = choice(("oar", "galley", "raft", "No", "tin", "tin foil", "5", "5,000", "Some", "Yes", "cannot tell"))


@pytest.mark.parametrize(
    "text",
    [
        "A. galley",
        "**A) galley**",
        "A, galley",
        "A - galley",
        "A (galley, a ship)",
        "The answer is (A) galley, because it floats.",
        "C. raft or not, the answer is A. galley",
        "It is galley (A).",
        "The answer is galley (A).",
        "E. tin foil",
        "A. 5",
        "K. No.",
    ],
)
def test_a_label_with_the_words_of_another_option_is_a_contradiction_and_no_answer(text):
    found = read(text, SHIPS)
    assert (found.status, found.answer) == (UNREADABLE, None)
    assert "the words of" in found.reason


@pytest.mark.parametrize(
    "text, label",
    [
        ("A. galley is what a raft is not", "A"),  # a sentence that begins with the words of another option
        ("A. oar, galley", "A"),
        ("A. galley or oar", "A"),
        ("E. tin", "E"),
        ("F. tin", "F"),  # cut short: the words begin the label's own
        ("F. tin foil", "F"),
        ("A. 5 - 3 is 2", "A"),
        ("A. 5.5", "A"),
        ("A. 5,000.5", "A"),
        ("K. No, because nobody knows", "K"),
        ("B. galley\n\nA. oar", "B"),
        ("oar (A), galley (B). The answer is raft (C).", "C"),
    ],
)
def test_words_that_are_no_other_option_alone_contradict_no_label(text, label):
    assert read(text, SHIPS).answer == str("ABCDEFGHIJK".index(label))


def test_a_contradiction_is_of_the_options_as_they_were_asked():
    ships = choice(("oar", "galley", "raft"))
    assert read("A. galley", ships, order=(1, 0, 2)).answer == "1"
    assert read("B. galley", ships, order=(1, 0, 2)).status == UNREADABLE
    assert read("b. galley", ships, labels=labels_of("lower", 3)).answer == "1"
    assert read("2. oar", ships, labels=labels_of("digits", 3)).status == UNREADABLE
    assert read("A. Galley", choice(("galley", "Galley", "raft"))).answer == "0"  # two options of the same words


def test_two_options_with_the_same_text_are_not_told_apart_by_it():
    twins = choice(("tin", "tin", "rye"))
    assert read("It is tin.", twins).status == UNREADABLE
    assert read("B", twins).answer == "1"


def test_an_option_quoted_somewhere_in_a_long_unfinished_chain_is_no_answer():
    chain = "We weigh what is known about each of these plants and goods before we say anything. " * 4
    assert read(chain + "Barley grows in fields and").status == UNREADABLE


def test_a_second_problem_is_not_part_of_the_answer_but_the_question_repeated_is():
    assert read("C\n\nQuestion: Which is a grain?\nA. rye\nAnswer: A").answer == "2"
    repeated = "Sure:\n\n**Question:** Which of these is a metal?\n\nA. rye\nB. barley\nC. tin\nD. oats\n\nAnswer: C"
    assert read(repeated).answer == "2"
    assert answer_end("one\nQ: two", "") == 3 and answer_end("\nQuestion: two", "") == len("\nQuestion: two")


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        "(" * 3000,
        "A" * 5000,
        "the answer is " * 800,
        "\x00\ud800C\u202e",
        "[" * 2000 + "C",
        "A, " * 1500,
        "**" * 3000,
        "\n" * 100_000 + "x",
        " " * 100_000 + "x",
        "C <script>alert(1)</script>",
    ],
)
def test_hostile_text_is_read_quickly_or_not_at_all(hostile):
    assert read(hostile).status in (OK, UNREADABLE)
    assert read(hostile, number()).status in (OK, UNREADABLE)


def test_labels_with_signs_of_patterns_are_plain_text():
    odd = choice(("x", "y"))
    assert read("The answer is +", odd, labels=("+", "*")).status in (OK, UNREADABLE)
    assert read("It is .* or", choice((".*", "(")), labels=("A", "B")).status in (OK, UNREADABLE)


@pytest.mark.parametrize(
    "text, answer",
    [
        ("She makes 9 * 2 = $<<9*2=18>>18 a day.\n#### 18", "18"),
        ("A: 18", "18"),
        ("Answer: 1,450.00", "1450"),
        ("The answer is $14.50.", "29/2"),
        ("the answer is 3/4 of a mile", "3/4"),
        ("The final answer is **18**.", "18"),
        ("\\boxed{18}", "18"),
        ("The answer is 12%.", "12"),
        ("So 16 - 3 = 13, and 13 + 5 = 18.", "18"),
        ("18", "18"),
        ("Answer: 20 - 2 = 18 eggs", "18"),
        ("The answer is -5", "-5"),
        ("The answer is 7. No, the answer is 18.", "18"),
        ("#### 18\n\nQuestion: 2 + 2?\n#### 4", "18"),
        ("It costs 2,000,000 dollars", "2000000"),
        ("x is .5", "1/2"),
        ("16-3", "3"),
    ],
)
def test_numbers_are_read_exactly(text, answer):
    found = read(text, number())
    assert (found.status, found.answer) == (OK, answer), found.reason


@pytest.mark.parametrize("text", ["", "no idea", "The answer is unknown", "Answer: 5 or 6", "####", "the answer is 1/0"])
def test_no_number_and_two_to_choose_from_are_no_answer(text):
    found = read(text, number())
    assert (found.status, found.answer) == (UNREADABLE, None) and found.reason


def test_a_numbers_span_is_the_number():
    text = "First 5.\nA: 18"
    start, end = read(text, number()).span
    assert text[start:end] == "18"


@pytest.mark.slow
def test_every_option_of_every_length_can_be_named():
    for n in range(2, 11):
        item = choice([f"metal {chr(97 + i) * 3}" for i in range(n)], target="0")
        for place in range(n):
            for labels in ("upper", "lower", "digits", "roman"):
                shown_labels = labels_of(labels, n)
                assert read(f"The answer is ({shown_labels[place]}).", item, labels=shown_labels).answer == str(place)


def test_a_model_that_repeats_a_misspelled_question_is_read_as_one_that_repeats_the_right_one():
    text = f"Let me think.\nQuestion: {ITEM.question}\nAnswer: C"
    typo = ITEM.question.replace("metal", "meatl")
    variant = shown(ITEM)
    asked = replace(variant, prompt=Prompt((("stem", f"Question: {typo}\n"), *variant.prompt.parts[1:])))
    assert read_text(ITEM, variant, text).answer == "2"
    assert read_text(ITEM, asked, text.replace("metal", "meatl")).answer == "2"
