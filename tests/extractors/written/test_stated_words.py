"""A right answer counts in any dress; where another reading is possible, none is read."""

import pytest

from flipcore.extractors.written.stated_words import short_answer

PLAY, POET = "Who wrote the play Hamlet?", "William Shakespeare\nShakespeare"


def read(words, target=POET, question=PLAY):
    return short_answer(words, target, question, 12)[0]


@pytest.mark.parametrize(
    "words",
    [
        "William Shakespeare",
        "It was William Shakespeare.",
        "**Shakespeare**",
        "I think it was William Shakespeare",
        "William Shakespeare wrote Hamlet.",
        "Hamlet was written by William Shakespeare.",
        "The author of Hamlet is Shakespeare.",
        "The playwright William Shakespeare, of course.",
        "William Shakespeare. He wrote it around 1600, during the reign of Elizabeth the First of England.",
        "It was not Christopher Marlowe but William Shakespeare",
    ],
)
def test_a_right_answer_counts_in_other_words(words):
    assert read(words) == "William Shakespeare"


@pytest.mark.parametrize(
    "words, target, question",
    [
        ("William Shakespeare or Christopher Marlowe", POET, PLAY),
        ("Christopher Marlowe/William Shakespeare", POET, PLAY),
        ("London and Paris", "Paris", "Where?"),
        ("Paris, Texas", "Paris", "Where?"),
        ("1666 to 1670", "1666", "When?"),
        ("I don't know.", POET, PLAY),
        ("Hamlet is a tragedy that was written by William Shakespeare some time between 1599 and 1601", POET, PLAY),
    ],
)
def test_where_two_readings_are_possible_none_is_read(words, target, question):
    assert read(words, target, question) is None


@pytest.mark.parametrize(
    "words, target, answer",
    [
        ("New York", "York", "new york"),
        ("it was new york", "york", "new york"),
        ("Anne Shakespeare", POET, "anne shakespeare"),
        ("The son of William Shakespeare", POET, "son of william shakespeare"),
        ("William Shakespeare's wife", POET, "william shakespeare s wife"),
        ("not William Shakespeare", POET, "not william shakespeare"),
        ("near Paris", "Paris", "near paris"),
        ("12.5", "12", "12.5"),
    ],
)
def test_a_right_answer_as_a_part_of_another_one_is_not_it(words, target, answer):
    assert read(words, target) == answer


@pytest.mark.parametrize(
    "words",
    [
        "Christopher Marlowe",
        "It was Christopher Marlowe.",
        "The author of Hamlet was Christopher Marlowe",
        "He's Christopher Marlowe",
    ],
)
def test_a_wrong_answer_in_other_words_is_the_same_answer_and_no_flip(words):
    assert read(words, POET, "Who is the author of Hamlet?") == "christopher marlowe"
