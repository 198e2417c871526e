"""The evaluation harness of source 002, appendix C.1, beside single shot: rotate the options, vote, stop at a clear lead.

An attempt shows the options in alphabetical order, turned by one more place each time, and takes as its vote the first that
can be read of three prompts: the option's own text, its number, its letter. What an attempt leaves unread is an attempt and no
vote. Two readouts stand on the item's base variant: `rotation`, the option that leads in the end, and `rotation_single`, the
first attempt's vote, because a favourite of many votes is right more often than a single answer (statistics.md, section 6).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from flipcore.contracts import History
from flipcore.errors import BadInput
from flipcore.extractors.readings import absent, failure, unreadable
from flipcore.harness import Votes, normalise, rotate
from flipcore.layouts import labels_of, layout_named, prompt
from flipcore.protocols.single_shot import PROTOCOL as SINGLE_SHOT
from flipcore.records import OK, Call, Completion, Item, Reading, Readout, Request, correctness

READOUTS = ("rotation", "rotation_single")
FORMS = ("text", "number", "letter")
_INDEX = re.compile(r"\(?(\d+|[A-Za-z])(?:\)?[.:]?\s*$|[.:)]\s*\S)")  # "B", "(B)", "B." or "B. tin", not "A metal"


@dataclass(frozen=True)
class Rotation:
    """At least `least` attempts, then until one option leads by `lead`, at most `cap`."""

    least: int = 5
    lead: int = 3
    cap: int = 100
    name: ClassVar[str] = "rotation"
    title: ClassVar[str] = "Rotation until one option leads (C.1)"
    about: ClassVar[str] = ("Choices are asked again with their options turned until one leads by three votes, at most 100 "
                            "times; the first vote alone stands beside it. Everything else is asked as in single shot.")

    def __post_init__(self):
        if not 1 <= self.least <= self.cap or self.lead < 1:
            raise BadInput(f"Rotation has least = {self.least}, lead = {self.lead}, cap = {self.cap}; give a lead of at least "
                           "1 and a least number of attempts from 1 up to the cap.")

    def next_calls(self, history: History) -> list[Call]:
        """What single shot still wants, and of the attempts as many as are needed in any case: none is asked in vain."""
        return [*SINGLE_SHOT.next_calls(history), *(self._wanted(history) if _votes_on(history) else ())]

    def most_calls(self, history: History) -> list[Call]:
        """The most that an item can take, for the projection: every attempt in all three forms."""
        calls = SINGLE_SHOT.next_calls(history)
        if _votes_on(history):
            calls += [_call(history, attempt, form) for attempt in range(self.cap) for form in FORMS]
        return calls

    def readouts(self, history: History) -> list[Readout]:
        """Single shot's readouts and, of a choice, the two of the vote."""
        return [*SINGLE_SHOT.readouts(history), *(self._outcome(history) if _votes_on(history) else ())]

    def _wanted(self, history: History) -> list[Call]:
        votes, attempt = Votes([0] * len(history.item.options), [0] * len(history.item.options)), 0
        while attempt < self.cap and not self._settled(votes, attempt):
            n_ahead = min(max(self.least - attempt, self.lead - votes.lead(), 1), self.cap - attempt)
            states = [_attempt(history, attempt + i) for i in range(n_ahead)]
            missing = [state.missing for state in states if state.missing is not None]
            if missing or any(state.problem for state in states):
                return missing
            for state in states:
                attempt += 1
                _count(votes, state.vote, attempt)
        return []

    def _settled(self, votes: Votes, attempt: int) -> bool:
        return attempt >= self.least and votes.lead() >= self.lead

    def _outcome(self, history: History) -> list[Readout]:
        votes = Votes([0] * len(history.item.options), [0] * len(history.item.options))
        first, sources, problem, attempt = None, [], None, 0
        while attempt < self.cap and not self._settled(votes, attempt):
            state = _attempt(history, attempt)
            sources += state.sources
            if state.missing is not None or state.problem:
                problem = state.problem or absent("It was not asked: the study stopped before.")
                break
            first = state if first is None else first
            attempt += 1
            _count(votes, state.vote, attempt)
        final = problem or _reading(votes.first_top(), f"{self._ended(votes, attempt)} Votes: {_told(history.item, votes)}.")
        single = problem if first is None else _reading(first.vote, "")
        return [_readout(history, READOUTS[0], final, tuple(sources)),
                _readout(history, READOUTS[1], single, tuple(first.sources) if first else ())]

    def _ended(self, votes: Votes, attempt: int) -> str:
        if self._settled(votes, attempt):
            return f"A lead of {votes.lead()} after {attempt} attempts."
        return f"Stopped at the cap of {self.cap} attempts without a lead of {self.lead}."


@dataclass(frozen=True)
class Attempt:
    """How far one attempt is: a call that is missing, a call that failed, or a vote (None where no form could be read)."""

    vote: int | None = None
    missing: Call | None = None
    problem: Reading | None = None
    sources: tuple[str, ...] = ()


def _votes_on(history: History) -> bool:
    return history.item.kind == "choice" and "generate" in history.backend.abilities


def _attempt(history: History, attempt: int) -> Attempt:
    sources: tuple[str, ...] = ()
    for form in FORMS:
        call = _call(history, attempt, form)
        completion = history.completions.get(call.call_id)
        if completion is None:
            return Attempt(missing=call, sources=sources)
        sources += (call.call_id,)
        failed = failure([completion])
        if failed:
            return Attempt(problem=failed, sources=sources)
        vote = _vote(completion, form, history.item, _order(history.item, attempt))
        if vote is not None:
            return Attempt(vote, sources=sources)
    return Attempt(sources=sources)


def _order(item: Item, attempt: int) -> list[int]:
    """The item's own option indices in alphabetical order, turned by the number of attempts before."""
    alphabetical = sorted(range(len(item.options)), key=lambda i: (item.options[i].casefold(), i))
    return rotate(alphabetical, attempt)


def _call(history: History, attempt: int, form: str) -> Call:
    ask = history.ask
    request = Request("generate", _prompt(history, attempt, form), max_tokens=ask.max_tokens, temperature=ask.temperature,
                      top_p=ask.top_p, seed=ask.seed, stop=tuple(ask.stop))
    return Call(history.backend.name, history.backend.revision, request, attempt)


def _prompt(history: History, attempt: int, form: str) -> str:
    item, order, layout = history.item, _order(history.item, attempt), history.variants[0].layout
    if form == "text":
        options = "\n".join(item.options[i] for i in order)
        return f"{layout_named(layout).stem.format(item.question)}{options}\nThe answer is one of these, word for word:"
    labels = labels_of("digits" if form == "number" else "upper", len(order))
    return prompt(item, order=order, labels=labels, layout=layout).text


def _vote(completion: Completion, form: str, item: Item, order: Sequence[int]) -> int | None:
    """The item's own option that the reply's first line names, by its text (case and a full stop do not matter) or by the
    index that it starts with; None for anything else."""
    said = normalise(completion.text)
    if form == "text":
        wanted = said.rstrip(".").casefold()
        return next((i for i in order if item.options[i].strip().rstrip(".").casefold() == wanted), None)
    found = _INDEX.match(said)
    if not found:
        return None
    index = found[1]
    place = int(index) - 1 if index.isdigit() else ord(index.upper()) - ord("A")
    return order[place] if index.isdigit() == (form == "number") and 0 <= place < len(order) else None


def _count(votes: Votes, vote: int | None, attempt: int) -> None:
    if vote is not None:
        votes.counts[vote] += 1
        votes.reached_at[vote] = attempt


def _reading(vote: int | None, reason: str) -> Reading:
    if vote is None:
        return unreadable(f"No attempt could be read. {reason}".strip())
    return Reading(OK, answer=str(vote), reason=reason)


def _told(item: Item, votes: Votes) -> str:
    return ", ".join(f"{count} for {item.options[i]!r}" for i, count in enumerate(votes.counts) if count) or "none"


def _readout(history: History, name: str, reading: Reading, sources: tuple[str, ...]) -> Readout:
    base = history.variants[0]
    return Readout(history.backend.name, history.item.item_id, base.axis, base.variant_id, 0, name, reading,
                   correctness(reading, base.target), sources)


PROTOCOL = Rotation()
