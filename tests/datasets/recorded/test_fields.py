"""A row's field as a reading: scores, labels, texts, numbers; a column inside of columns."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT, OK, UNREADABLE
from flipcore.datasets.recorded.fields import Field, readout_of, value_at
from flipcore.datasets.recorded.log_answers import reading_of
from flipcore.datasets.recorded.log_records import LogRecord
from tests.extractors.asking import choice, number, shown


def read(item, variant, values, field):
    """A row's field by way of what logs say."""
    record = LogRecord("row", "t", item.item_id, item.question, "p", options=item.options)
    return reading_of(item, variant, record, readout_of(field, values, item.kind, item.options, variant.order))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("doc.options[1]", "b"),
        ("resps[0][-1]", 3),
        ("doc.missing", None),
        ("resps[9]", None),
        ("doc.options.x", None),
        ("a.b", "own"),
    ],
)
def test_a_path_leads_to_what_stands_there(path, value):
    row = {"doc": {"options": ["a", "b"]}, "resps": [[1, 2, 3]], "a.b": "own"}
    assert value_at(row, path) == value


@pytest.mark.parametrize(
    ("recorded", "status", "answer"),
    [
        ("C", OK, "2"),
        ("tin", OK, "2"),
        ("none of them", UNREADABLE, None),
        (None, ABSENT, None),
        ({"A": -2.0, "B": -1.0, "C": -0.5, "D": -3.0}, OK, "2"),
        ({"A": -1.0, "B": -1.0, "C": -1.0, "D": -1.0}, ABSENT, None),
        ({"A": -1.0, "B": -1.0, "C": -2.0, "D": -2.0}, UNREADABLE, None),
    ],
)
def test_a_choice_is_read_from_its_label_its_text_or_its_scores(recorded, status, answer):
    reading = read(choice(), shown(choice()), {"field": recorded}, Field("x", "field"))
    assert (reading.status, reading.answer) == (status, answer)


def test_right_or_wrong_without_an_answer_is_a_value_and_a_number_is_read_as_one():
    assert read(choice(), shown(choice()), {"f": True}, Field("x", "f")).value == 1.0
    assert read(number(), shown(number()), {"f": "1,450"}, Field("x", "f")).answer == "1450"


def test_scores_of_no_option_are_a_sentence():
    with pytest.raises(BadInput, match="belong to no option"):
        read(choice(), shown(choice()), {"f": {"Z": 1.0}}, Field("x", "f"))
