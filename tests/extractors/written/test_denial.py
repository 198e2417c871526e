"""A name that the words around it deny is no answer."""

import pytest

from flipcore.extractors.written.denial import is_denied


@pytest.mark.parametrize(
    ("text", "is_denial"),
    [
        ("not B", True),
        ("It isn't B", True),
        ("anything but B", True),
        ("rather than B", True),
        ("B is wrong", True),
        ("B can be clearly ruled out", True),
        ("B is right", False),
        ("B", False),
        ("I know B", False),
        ("not only good, B", False),
    ],
)
def test_denials_stand_directly_before_or_after(text, is_denial):
    at = text.index("B")
    assert is_denied(text, at, at + 1) is is_denial
