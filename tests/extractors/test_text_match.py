"""Short answers in words: any right answer counts, and a synonym is no flip."""

import pytest

from flipcore.core.records import CUT, OK, UNREADABLE, Item, correctness
from flipcore.extractors import extractor_of
from tests.extractors.asking import said, shown

ITEM = Item.make(dataset="t", key="1", kind="text", question="Where does the court sit?", target="hague\nden haag")


def read(text, **params):
    return extractor_of("text_match", params).read(ITEM, shown(ITEM), [said(text)])


@pytest.mark.parametrize(
    "text", ["The Hague", " the hague.", "Den Haag!", "It sits far off.\nThe answer is: Den Haag.", '{"answer": "Hague"}']
)
def test_every_right_answer_in_any_dress_is_the_same_answer(text):
    reading = read(text)
    assert (reading.status, reading.answer, correctness(reading, ITEM.target)) == (OK, "hague", True)


def test_the_span_holds_the_words_that_were_read():
    text = "I think so. The answer is  Den Haag "
    assert text[slice(*read(text).span)] == "Den Haag"


def test_another_answer_is_wrong_and_a_long_text_states_none():
    assert (read("Ghent").answer, correctness(read("Ghent"), ITEM.target)) == ("ghent", False)
    assert read("the court " * 10).status == UNREADABLE and "more than 12 words" in read("the court " * 10).reason
    assert read("the court " * 10, most_words=40).status == OK
    assert read("   ").status == UNREADABLE
    cut = extractor_of("text_match").read(ITEM, shown(ITEM), [said("The Hague", finish_reason="length")])
    assert cut.status == CUT


def test_an_own_pattern_reads_short_answers_too():
    pattern = extractor_of("pattern", {"expression": r"city: (\w+ ?\w*)"})
    assert pattern.read(ITEM, shown(ITEM), [said("City: Den Haag")]).answer == "hague"


@pytest.mark.parametrize(
    ("target", "text", "answer"),
    [
        ("4", "four", "4"),
        ("four", "4", "four"),
        ("1", "One.", "1"),
        ("4", "There were four of them.", "4"),
        ("4", "four wars", "4"),
        ("4", "There were five.", "5"),
        ("4", "twenty-four", "24"),
        ("4", "four hundred", "400"),
        ("4", "four or five", None),
        ("4", "2-4", None),
        ("4", "-4", "-4"),
        ("7", "007", "007"),
        ("1450", "1,450", "1450"),
        ("1,450", "It was 1450.", "1,450"),
        ("1450", "1 450", "1450"),
        ("1450", "one thousand four hundred and fifty", "1450"),
        ("450", "It was 1,450.", "1450"),
        ("Four Seasons", "the four seasons", "Four Seasons"),
    ],
)
def test_a_whole_number_is_one_answer_in_digits_and_in_words(target, text, answer):
    item = Item.make(dataset="t", key="2", kind="text", question="How many wars were there?", target=target)
    assert extractor_of("text_match").read(item, shown(item), [said(text)]).answer == answer
