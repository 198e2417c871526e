"""A message of a meeting is bounded and of a known shape, or it is refused with a sentence."""

import json

import pytest

from flipcore.meeting.messages import MOST_CHARACTERS, Refusal, message_of, name_of, place_of, position_of


def test_a_message_is_a_json_object_that_says_what_to_do():
    assert message_of('{"do": "ping"}') == {"do": "ping"}


@pytest.mark.parametrize(
    "text", ["", "no json", "[1]", "3", '{"do": 3}', "{}", "[" * 5_000, '{"do": "x", "y": "' + "z" * MOST_CHARACTERS + '"}']
)
def test_anything_else_is_refused_and_closes_the_socket(text):
    with pytest.raises(Refusal, match=r"message") as refusal:
        message_of(text)
    assert refusal.value.code in (1007, 1009)


def test_a_place_leaves_out_what_belongs_to_one_persons_link():
    place = place_of({"page": "decomposition", "query": "?study=a%20b&as=Ada&view=projector&mode=explore&token=x"})
    assert place == {"page": "decomposition", "query": "study=a+b&mode=explore"}


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("../x", ""),
        ("Decomposition", ""),
        ("a/b", ""),
        (None, ""),
        ("home", None),
        ("home", "x" * 5_000),
        ("http://x", ""),
        ("home", "a=\ud800"),
    ],
)
def test_a_place_outside_flipscope_is_refused(page, query):
    with pytest.raises(Refusal, match="names no page"):
        place_of({"page": page, "query": query})


def test_a_position_holds_numbers_and_short_choices():
    sent = {"board": "threshold x", "at": {"at": 3, "rule": "paired"}, "moving": True, "more": "is dropped"}
    assert position_of(sent) == {"board": "threshold x", "at": {"at": 3, "rule": "paired"}, "moving": True}


@pytest.mark.parametrize(
    "at", [None, [], {"x": None}, {"x": True}, {"x": [1]}, {"x": "y" * 500}, {"y" * 500: 1}, {str(i): i for i in range(60)}]
)
def test_any_other_position_is_refused(at):
    with pytest.raises(Refusal, match="position"):
        position_of({"board": "b", "at": at})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "9" * 400])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(Refusal, match="finite"):
        position_of(json.loads(f'{{"board": "b", "at": {{"x": {number}}}}}'))


def test_a_name_is_one_short_line_of_printable_characters():
    assert name_of("  Ada \n\x00 Lovelace\u202e ") == "Ada Lovelace"
    assert len(name_of("x" * 400)) == 40 and name_of(7) == ""
