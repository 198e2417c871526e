"""Claims are word by word and digit by digit what they were: `tests/pinned.py` says how to read what changed."""

from pathlib import Path

import pytest

from tests.pinned import changes_in, parts_of


@pytest.mark.parametrize("part", parts_of(Path(__file__).parent / "pinned"), ids=str)
def test_results_are_those_of_the_file(part):
    assert changes_in(part) == []
