"""The evaluation harness of source 002, appendix C.1, beside single shot: rotate the options, vote,
stop at a clear lead.

An attempt shows the options in alphabetical order, turned by one more place each time, and takes as
its vote the first that can be read of three prompts: the option's own text, its number, its letter.
What an attempt leaves unread is an attempt and no vote. A reply counts only where its first line is
the option or its index, case and a final full stop aside. The reply is its first line: a limit that
ends a later one cuts nothing off, one that ends the first leaves the attempt unread.

Two readouts of each item stand in the one table beside those of the extractors, on its first
variant (the base of the study's first axis) and as sample 0: `rotation`, the option that leads in
the end, and `rotation_single`, the first attempt's vote, because a favourite of many votes is right
more often than a single answer. Accuracy and inflation read them like any other extractor; flips
never do, for there is one a prompt. A study must name an axis, since what its axes ask is asked as
well: `identity` is the least (two samples of the base prompt). The turned options are prompts of
the protocol itself and no variants of an axis, so the axis `option_order` beside it measures flips
as ever.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from flipcore.core.contracts import CallProtocol, History
from flipcore.core.errors import BadInput
from flipcore.core.records import (
    CUT,
    OK,
    ROTATION_READOUTS,
    Call,
    Completion,
    Item,
    Prompt,
    Reading,
    Readout,
    Variant,
)
from flipcore.extractors.readings import absent, failure, text_request, unfinished, unreadable
from flipcore.protocols.single_shot import PROTOCOL as SINGLE_SHOT
from flipcore.text.prompts import labels_of, layout_by_name, prompt

# The adaptive evaluation of source 002, C.1: rotate the options, vote, stop when one leads by
# three.


Option = TypeVar("Option")


def normalise(out: str) -> str:
    """Strip, first line, strip."""
    return out.strip().split("\n", 1)[0].strip()


def rotate(options: Sequence[Option], r: int) -> list[Option]:
    """`options` shifted left by `r`: rotate([a, b, c], 1) is [b, c, a]."""
    shift = r % len(options) if options else 0
    return [*options[shift:], *options[:shift]]


@dataclass
class Votes:
    """Votes of one item so far; `reached_at[o]` is the attempt at option o's latest vote."""

    counts: list[int]
    reached_at: list[int]

    def lead(self) -> int:
        """Top count less the runner-up's (0 for the runner-up of a single option)."""
        top, second = sorted([*self.counts, 0], reverse=True)[:2]
        return top - second

    def first_top(self) -> int | None:
        """Option with most votes; of equals the first to reach that count. None without votes."""
        top = max(self.counts, default=0)
        leaders = [option for option, count in enumerate(self.counts) if count == top]
        return min(leaders, key=lambda option: self.reached_at[option]) if top else None


FORMS = ("text", "number", "letter")
# "B", "(B)", "B." or "B. tin" where B is tin
_INDEX = re.compile(r"\(?(\d+|[A-Za-z])\)?[.:]?(?:\s+(\S.*))?")
_TERSE = {"terse": True}  # tells a simulated model that its answer must be the label alone


@dataclass(frozen=True)
class Rotation(CallProtocol):
    """At least `least` attempts, then until one option leads by `lead`, at most `cap`."""

    least: int = 5
    lead: int = 3
    cap: int = 100
    name: ClassVar[str] = "rotation"
    title: ClassVar[str] = "Rotation until one option leads (C.1)"
    about: ClassVar[str] = (
        "Choices are asked again with their options turned until one leads by three votes, at "
        "most 100 times; the first vote alone stands beside it. Everything else is asked as in "
        "single shot."
    )

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.cap or self.lead < 1:
            raise BadInput(
                f"Rotation has least = {self.least}, lead = {self.lead}, cap = {self.cap}; give a "
                "lead of at least 1 and a least number of attempts from 1 up to the cap."
            )

    def variants(self, item: Item, layout: str) -> list[Variant]:
        """The prompts of the votes on an item, for models that must be told what prompts mean; its
        attempts repeat after these."""
        if item.kind != "choice":
            return []
        variants = []
        for attempt in range(len(item.options)):
            variants += [_variant(item, attempt, form=form, layout=layout) for form in FORMS]
        return variants

    def next_calls(self, history: History) -> list[Call]:
        """The calls that single shot still wants, and of the attempts as many as are needed in any
        case: none is asked in vain."""
        return [
            *SINGLE_SHOT.next_calls(history),
            *(self._vote_calls(history) if _votes_on(history) else ()),
        ]

    def most_calls(self, history: History) -> list[Call]:
        """The most that an item can take, for the projection: every attempt in all three forms."""
        calls = SINGLE_SHOT.next_calls(history)
        if _votes_on(history):
            for attempt in range(self.cap):
                calls += [_call(history, attempt, form=form) for form in FORMS]
        return calls

    def readouts(self, history: History) -> list[Readout]:
        """Single shot's readouts and, of a choice, the two of the vote; absent where the model
        writes no text."""
        readouts = SINGLE_SHOT.readouts(history)
        if _votes_on(history):
            readouts += self._outcome(history)
        elif history.item.kind == "choice":
            reading = absent(
                history.backend.why_not("generate") or f"{history.backend.name} cannot do generate."
            )
            readouts += [
                _readout(history, name, reading=reading, sources=()) for name in ROTATION_READOUTS
            ]
        return readouts

    def _vote_calls(self, history: History) -> list[Call]:
        votes, attempt = Votes([0] * len(history.item.options), [0] * len(history.item.options)), 0
        while attempt < self.cap and not self._settled(votes, attempt):
            # Asked together is what is needed in any case: up to the least number of attempts, or
            # as many votes as the leader still lacks.
            n_ahead = min(
                max(self.least - attempt, self.lead - votes.lead(), 1), self.cap - attempt
            )
            states = [_attempt(history, attempt + i) for i in range(n_ahead)]
            missing = [state.missing for state in states if state.missing is not None]
            if missing or any(state.problem for state in states):
                return missing
            for state in states:
                attempt += 1
                _count(votes, state.vote, attempt=attempt)
        return []

    def _settled(self, votes: Votes, attempt: int) -> bool:
        return attempt >= self.least and votes.lead() >= self.lead

    def _outcome(self, history: History) -> list[Readout]:
        votes = Votes([0] * len(history.item.options), [0] * len(history.item.options))
        sources: list[str] = []
        first, cut, problem, attempt = None, None, None, 0
        while attempt < self.cap and not self._settled(votes, attempt):
            state = _attempt(history, attempt)
            sources += state.sources
            if state.missing is not None or state.problem:
                problem = state.problem or absent("It was not asked: the study stopped before.")
                break
            first, cut = first or state, cut or state.cut
            attempt += 1
            _count(votes, state.vote, attempt=attempt)
        counts = (f"{n} for {history.item.options[i]!r}" for i, n in enumerate(votes.counts) if n)
        reason = f"{self._ended(votes, attempt)} Votes: {', '.join(counts) or 'none'}."
        final = problem or _reading(votes.first_top(), reason, cut=cut)
        single = final if first is None else _reading(first.vote, reason="", cut=first.cut)
        return [
            _readout(history, ROTATION_READOUTS[0], reading=final, sources=tuple(sources)),
            _readout(
                history,
                ROTATION_READOUTS[1],
                reading=single,
                sources=tuple(first.sources) if first else (),
            ),
        ]

    def _ended(self, votes: Votes, attempt: int) -> str:
        if self._settled(votes, attempt):
            return f"A lead of {votes.lead()} after {attempt} attempts."
        return f"Stopped at the cap of {self.cap} attempts without a lead of {self.lead}."


@dataclass(frozen=True)
class Attempt:
    """Progress of one attempt: a call that is missing, a call that failed, or a vote (None where no
    form could be read; `cut` where that is because a reply was cut off)."""

    vote: int | None = None
    missing: Call | None = None
    cut: Reading | None = None
    problem: Reading | None = None
    sources: tuple[str, ...] = ()


def _votes_on(history: History) -> bool:
    return history.item.kind == "choice" and "generate" in history.backend.abilities


def _attempt(history: History, attempt: int) -> Attempt:
    sources: tuple[str, ...] = ()
    cut = None
    for form in FORMS:
        call = _call(history, attempt, form=form)
        completion = history.completions.get(call.call_id)
        if completion is None:
            return Attempt(missing=call, sources=sources)
        sources += (call.call_id,)
        failed = failure([completion])
        if failed:
            return Attempt(problem=failed, sources=sources)
        # Only the first line is the reply, so that a limit behind it cut nothing off.
        ended = None if "\n" in completion.text.strip() else unfinished(completion)
        if ended:
            cut = cut or (ended if ended.status == CUT else None)
            continue
        vote = _vote(completion, form, item=history.item, order=_order(history.item, attempt))
        if vote is not None:
            return Attempt(vote, sources=sources)
    return Attempt(cut=cut, sources=sources)


def _order(item: Item, attempt: int) -> list[int]:
    """The item's own option indices in alphabetical order, turned by the number of attempts
    before."""
    alphabetical = sorted(range(len(item.options)), key=lambda i: (item.options[i].casefold(), i))
    return rotate(alphabetical, attempt)


def _call(history: History, attempt: int, form: str) -> Call:
    variant = _variant(history.item, attempt, form=form, layout=history.variants[0].layout)
    request = text_request(variant, history.ask)
    return Call(history.backend.name, history.backend.revision, request=request, sample=attempt)


def _variant(item: Item, attempt: int, form: str, layout: str) -> Variant:
    """The prompt of an attempt. In the form "text" the options are their own labels."""
    order = tuple(_order(item, attempt))
    if form == "text":
        labels = tuple(item.options[i] for i in order)
        stem, options = layout_by_name(layout).stem.format(item.question), "\n".join(labels)
        full_prompt = Prompt(
            (
                ("stem", stem),
                ("options", options),
                ("cue", "\nThe answer is one of these, word for word:"),
            )
        )
    else:
        labels = labels_of("digits" if form == "number" else "upper", len(order))
        full_prompt = prompt(item, order=order, labels=labels, layout=layout)
    return Variant(
        item.item_id,
        ROTATION_READOUTS[0],
        key=f"{form}-{attempt % len(order)}",
        prompt=full_prompt,
        target=item.target,
        order=order,
        labels=labels,
        layout=layout,
        params=_TERSE,
    )


def _vote(completion: Completion, form: str, item: Item, order: Sequence[int]) -> int | None:
    """The item's own option that the reply's first line is, by its text or by its index; None for
    anything else. An index with other words after it than its own option's is no answer."""
    reply = normalise(completion.text)
    if form == "text":
        return _option(reply, item, order=order)
    match = _INDEX.fullmatch(reply)
    if not match or match[1].isdigit() != (form == "number"):
        return None
    place = int(match[1]) - 1 if form == "number" else ord(match[1].upper()) - ord("A")
    if not 0 <= place < len(order):
        return None
    if match[2] is None or _option(match[2], item, order=order) == order[place]:
        return order[place]
    return None


def _option(reply: str, item: Item, order: Sequence[int]) -> int | None:
    """The one option that reads like this: exactly, or else with a final full stop aside, or else
    with case aside too."""
    for same in (str.strip, _unstopped, lambda text: _unstopped(text).casefold()):
        fits = [i for i in order if same(item.options[i]) == same(reply)]
        if fits:
            return fits[0] if len(fits) == 1 else None
    return None


def _unstopped(text: str) -> str:
    return text.strip().rstrip(".")


def _count(votes: Votes, vote: int | None, attempt: int) -> None:
    if vote is not None:
        votes.counts[vote] += 1
        votes.reached_at[vote] = attempt


def _reading(vote: int | None, reason: str, cut: Reading | None = None) -> Reading:
    if vote is None and cut:
        return cut
    if vote is None:
        return unreadable(f"No attempt could be read. {reason}".strip())
    return Reading(OK, answer=str(vote), reason=reason)


def _readout(history: History, name: str, reading: Reading, sources: tuple[str, ...]) -> Readout:
    return history.readout(history.variants[0], 0, name, reading, sources)


PROTOCOL = Rotation()
