"""An agent's actions by turn, and the turn at which two trials of one task begin to differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.datasets.recorded.log_records import as_text
from flipcore.text.counts import count_of

# The roles whose turns are compared: what the model does, not what its tools answer.
ACTORS = ("assistant",)


@dataclass(frozen=True)
class Turn:
    """One message; `calls` are its calls of tools as "name(arguments)"."""

    role: str
    text: str
    calls: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The role with the calls of tools, or with the text, in one line."""
        return f"{self.role}: {'; '.join(self.calls) or ' '.join(self.text.split())}"


@dataclass(frozen=True)
class Trials:
    """Two trials of one task, compared by their calls of tools.

    The first `n_alike` calls are the same. `first_at` and `second_at` are the indices of the turns
    with the next call; None if a trial has no further call.
    """

    first: tuple[Turn, ...]
    second: tuple[Turn, ...]
    n_alike: int
    first_at: int | None
    second_at: int | None

    @property
    def sentence(self) -> str:
        if self.first_at is None and self.second_at is None:
            return (
                f"Both trials call the same tools: {count_of(self.n_alike, 'call')}. What differs"
                " is what was said."
            )
        no_call = "no further call" if self.n_alike else "no call"
        left = no_call if self.first_at is None else "; ".join(self.first[self.first_at].calls)
        right = no_call if self.second_at is None else "; ".join(self.second[self.second_at].calls)
        start = "They differ from the first call on:"
        if self.n_alike:
            verb = "is" if self.n_alike == 1 else "are"
            start = f"{count_of(self.n_alike, 'call')} {verb} alike, then"
        return f"{start} {left} against {right}."


def turns_of(raw_reply: str) -> tuple[Turn, ...]:
    """Return the turns of a reply that was stored with its messages; () for any other reply. The
    messages are in OpenAI's or Inspect's form."""
    try:
        body = json.loads(raw_reply) if raw_reply.startswith("{") else {}
    except (ValueError, RecursionError):
        # A server's reply may be nested too deeply for the parser.
        return ()
    messages = body.get("messages") if isinstance(body, Mapping) else None
    turns = []
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, Mapping):
            role, text = str(message.get("role") or "?"), as_text(message.get("content") or "")
            turns.append(Turn(role, text, tuple(_calls(message.get("tool_calls")))))
    return tuple(turns)


def trials(first: Sequence[Turn], second: Sequence[Turn]) -> Trials:
    """Compare two trials by their calls of tools."""
    left, right = _calls_of_actors(first), _calls_of_actors(second)
    n_alike = 0
    for (_, left_call), (_, right_call) in zip(left, right, strict=False):
        if left_call != right_call:
            break
        n_alike += 1
    first_at = left[n_alike][0] if n_alike < len(left) else None
    second_at = right[n_alike][0] if n_alike < len(right) else None
    return Trials(tuple(first), tuple(second), n_alike, first_at, second_at)


def _calls_of_actors(turns: Sequence[Turn]) -> list[tuple[int, str]]:
    """Return each call with the index of its turn."""
    calls: list[tuple[int, str]] = []
    for turn_index, turn in enumerate(turns):
        if turn.role in ACTORS:
            calls += [(turn_index, call) for call in turn.calls]
    return calls


def _calls(tools: Any) -> Iterator[str]:
    """Yield a message's calls of tools as "name(arguments)"."""
    for tool in tools if isinstance(tools, list) else ():
        fields: Mapping[str, Any] = tool if isinstance(tool, Mapping) else {"arguments": ""}
        function, arguments = fields.get("function"), fields.get("arguments")
        name = function
        # OpenAI's form nests the name and the arguments.
        if isinstance(function, Mapping):
            name, arguments = function.get("name"), function.get("arguments")
        yield f"{name or '?'}({_arguments(arguments)})"


def _arguments(arguments: Any) -> str:
    """Return arguments as "key=value, …", sorted by key. Models write equal arguments with
    different blanks and in different orders."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(arguments)
    if not isinstance(value, Mapping):
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    return ", ".join(
        f"{key}={json.dumps(value[key], ensure_ascii=False, sort_keys=True)}"
        for key in sorted(value)
    )
