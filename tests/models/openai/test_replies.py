"""What a server sends as a reply, where it is none."""

import pytest

from flipcore.models.openai.replies import Fault, other_model, reply_of


@pytest.mark.parametrize(
    "asked, replied, other",
    [
        ("gpt-4o", "gpt-4o-2024-08-06", ""),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022", ""),
        ("openai/gpt-4o", "gpt-4o", ""),
        ("llama3", "llama3:latest", ""),
        ("m", None, ""),
        ("m", "", ""),
        ("gpt-4o", "gpt-4o-mini", "gpt-4o-mini"),
        ("gpt-5", "gpt-4", "gpt-4"),
        ("llama3:8b", "llama3:70b", "llama3:70b"),
        ("m", "x" * 500, "x" * 200),
    ],
)
def test_a_reply_that_names_another_model_is_told_from_a_dated_release(asked, replied, other):
    assert other_model(asked, replied) == other


@pytest.mark.parametrize("start", ["", "data: "])
def test_a_reply_nested_too_deeply_is_called_so(start):
    """It was taken for a server that could not be reached."""
    with pytest.raises(Fault, match="nested too deeply"):
        reply_of(start + "[" * 100_000)
    with pytest.raises(Fault, match="not valid JSON"):
        reply_of(start + "[1,")
