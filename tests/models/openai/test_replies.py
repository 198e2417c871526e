"""What a server sends as a reply, where it is none."""

import pytest

from flipcore.models.openai.replies import Fault, reply_of


@pytest.mark.parametrize("start", ["", "data: "])
def test_a_reply_nested_too_deeply_is_called_so(start):
    """It was taken for a server that could not be reached."""
    with pytest.raises(Fault, match="nested too deeply"):
        reply_of(start + "[" * 100_000)
    with pytest.raises(Fault, match="not valid JSON"):
        reply_of(start + "[1,")
