"""The first object of a file, of which only the beginning is looked at."""

from types import SimpleNamespace

import pytest

from flipcore.datasets.recorded.formats.reader import first_object


@pytest.mark.parametrize(
    ("head", "value"),
    [
        (b'{"a": 1, "b": {"c', {"a": 1, "b": {}}),
        (b'{"a": 1, "b": [2,', {"a": 1, "b": []}),
        (b'{"a": 1, "b": "te', {"a": 1, "b": None}),
        (b'{"a": 1, "b": ', {"a": 1, "b": None}),
        (b'[{"a": 1}, {"a": 2}', {"a": 1}),
        (b'"a"', {}),
    ],
)
def test_an_object_that_breaks_off_has_the_keys_that_were_seen(head, value):
    assert first_object(SimpleNamespace(head=head)) == value
