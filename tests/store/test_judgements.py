"""Names under judgements: 1 to 80 printable characters."""

import pytest

from flipcore.core.errors import BadInput
from flipcore.store.judgements import reviewer_name


def test_a_name_is_kept_with_single_spaces():
    assert reviewer_name("  Ada   Lovelace ") == "Ada Lovelace" and reviewer_name("a" * 80) == "a" * 80


@pytest.mark.parametrize(("name", "n"), [("", 0), ("  ", 0), ("a" * 81, 81), ("a\x07b", 3)])
def test_no_name_and_an_endless_one_are_refused(name, n):
    with pytest.raises(BadInput, match=rf"1 to 80 printable characters; this one has {n}\."):
        reviewer_name(name)
