"""Split a conversation in one column into the output, its last turn, and the prompt before it."""

from collections.abc import Mapping, Sequence
from typing import Any

from flipcore.datasets.tables.stems import names

PROMPT, RESPONSE = "prompt", "response"  # the two columns that replace a conversation
_ASSISTANT = ("assistant", "model", "ai", "gpt")


def with_last_turn(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row whose conversation is split into its prompt and the assistant's last turn.

    The row stays as it is if no conversation ends with the assistant, or if it has an output.
    """
    column = conversation_in(values)
    if not column:
        return values
    *before, last = values[column]
    row: dict[str, Any] = {}
    for name, value in values.items():
        if name == column:
            row[PROMPT if PROMPT not in values else column] = before
        else:
            row[name] = value
    row[RESPONSE] = last["content"]
    return row


def conversation_in(values: Mapping[str, Any]) -> str:
    """Return the column of a conversation that ends with the assistant's turn; "" for none.

    A row with a column for the output has none.
    """
    for name in values:
        if names(name, "output") and not names(name, "about"):
            return ""
    for name, value in values.items():
        if isinstance(value, list) and _ends_with_assistant(value):
            return name
    return ""


def _ends_with_assistant(turns: Sequence[Any]) -> bool:
    """Tell whether a list is a conversation of two turns or more, the last by the assistant."""
    if len(turns) < 2:
        return False
    for turn in turns:
        if not isinstance(turn, Mapping) or "role" not in turn or "content" not in turn:
            return False
    last = turns[-1]
    return last["role"] in _ASSISTANT and isinstance(last["content"], str) and bool(last["content"])
