"""The adaptive evaluation of source 002, appendix C.1: rotate options, vote, stop at a clear lead.

Each attempt shows the options in alphabetical order, rotated by one more position. It tries three
prompts, which ask for the option's text, number and letter; its vote is the first answer that can
be read. An attempt without a readable answer counts, but gives no vote. Only the first line of a
reply counts. It must be the option or its index, apart from case and a final full stop. So a reply
is not cut off if its token limit is reached after the first line.

Each item gets two readouts, stored with those of the extractors on its first variant (the base of
the study's first axis) as sample 0. `rotation` is the option that leads in the end, and
`rotation_single` the first attempt's vote. Both are stored because the favorite of many votes is
right more often than a single answer. Accuracy and inflation use them like any extractor. Flips do
not, because there is only one per item.

The study's axes are asked by single shot as well, so a study needs an axis, at least `identity`.
Rotated options are prompts of the protocol and no variants of an axis, so `option_order` in the
same study measures flips as usual.
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

Option = TypeVar("Option")


def normalise(out: str) -> str:
    """Return the first line, without white space around it."""
    return out.strip().split("\n", 1)[0].strip()


def rotate(options: Sequence[Option], r: int) -> list[Option]:
    """Return `options` shifted left by `r`: rotate([a, b, c], 1) is [b, c, a]."""
    shift = r % len(options) if options else 0
    return [*options[shift:], *options[:shift]]


@dataclass
class Votes:
    """Votes of one item so far, per option.

    `reached_at` has the attempt, from 1, of each option's latest vote.
    """

    counts: list[int]
    reached_at: list[int]

    def lead(self) -> int:
        """Return the largest count minus the second; 0 counts as the second of a single option."""
        top, second = sorted([*self.counts, 0], reverse=True)[:2]
        return top - second

    def first_top(self) -> int | None:
        """Return the option with most votes, at a tie the first to reach them; None for no vote."""
        top = max(self.counts, default=0)
        leaders = [option for option, count in enumerate(self.counts) if count == top]
        return min(leaders, key=lambda option: self.reached_at[option]) if top else None


FORMS = ("text", "number", "letter")
# "B", "(B)", "B.", or "B. tin" with the option's text.
_INDEX = re.compile(r"\(?(\d+|[A-Za-z])\)?[.:]?(?:\s+(\S.*))?")
_TERSE = {"terse": True}  # tells a simulated model that its answer must be the label alone


@dataclass(frozen=True)
class Rotation(CallProtocol):
    """Make at least `least` attempts, then more until one option leads by `lead`, at most `cap`."""

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
        """Return all prompts of the votes on an item; attempts repeat after these.

        Simulated models need them, because they must be told what a prompt means.
        """
        if item.kind != "choice":
            return []
        variants = []
        for attempt in range(len(item.options)):
            variants += [_variant(item, attempt, form=form, layout=layout) for form in FORMS]
        return variants

    def next_calls(self, history: History) -> list[Call]:
        """Return the next calls of single shot, and those of attempts that are surely needed."""
        calls = SINGLE_SHOT.next_calls(history)
        if _can_vote(history):
            calls += self._vote_calls(history)
        return calls

    def most_calls(self, history: History) -> list[Call]:
        """Return the most calls that an item can take, to project the cost: all `cap` attempts."""
        calls = SINGLE_SHOT.next_calls(history)
        if _can_vote(history):
            for attempt in range(self.cap):
                calls += [_call(history, attempt, form=form) for form in FORMS]
        return calls

    def readouts(self, history: History) -> list[Readout]:
        """Return single shot's readouts, and for a choice the two of the vote.

        The latter are absent if the model does not write text.
        """
        readouts = SINGLE_SHOT.readouts(history)
        if _can_vote(history):
            readouts += self._outcome(history)
        elif history.item.kind == "choice":
            backend = history.backend
            reading = absent(backend.why_not("generate") or f"{backend.name} cannot do generate.")
            readouts += [
                _readout(history, name, reading=reading, sources=()) for name in ROTATION_READOUTS
            ]
        return readouts

    def _vote_calls(self, history: History) -> list[Call]:
        """Return the calls of the next attempts; [] if the vote is decided or a call failed."""
        votes, n_attempts = _no_votes(history), 0
        while n_attempts < self.cap and not self._is_decided(votes, n_attempts):
            # Attempts that are needed in any case are asked together: up to the least number, or as
            # many as the leader lacks votes.
            n_needed = max(self.least - n_attempts, self.lead - votes.lead(), 1)
            n_needed = min(n_needed, self.cap - n_attempts)
            states = [_attempt_state(history, n_attempts + i) for i in range(n_needed)]
            missing = [state.missing for state in states if state.missing is not None]
            if missing or any(state.problem for state in states):
                return missing
            for state in states:
                n_attempts += 1
                _add_vote(votes, state.vote, attempt=n_attempts)
        return []

    def _is_decided(self, votes: Votes, n_attempts: int) -> bool:
        return n_attempts >= self.least and votes.lead() >= self.lead

    def _outcome(self, history: History) -> list[Readout]:
        """Return the readouts `rotation` and `rotation_single`."""
        votes = _no_votes(history)
        sources: list[str] = []
        first, cut, problem, n_attempts = None, None, None, 0
        while n_attempts < self.cap and not self._is_decided(votes, n_attempts):
            state = _attempt_state(history, n_attempts)
            sources += state.sources
            if state.missing is not None or state.problem:
                problem = state.problem or absent("It was not asked: the study stopped before.")
                break
            first, cut = first or state, cut or state.cut
            n_attempts += 1
            _add_vote(votes, state.vote, attempt=n_attempts)
        counts = (f"{n} for {history.item.options[i]!r}" for i, n in enumerate(votes.counts) if n)
        reason = f"{self._end_sentence(votes, n_attempts)} Votes: {', '.join(counts) or 'none'}."
        final = problem or _reading(votes.first_top(), reason, cut=cut)
        single = final if first is None else _reading(first.vote, reason="", cut=first.cut)
        first_sources = first.sources if first else ()
        return [
            _readout(history, ROTATION_READOUTS[0], reading=final, sources=tuple(sources)),
            _readout(history, ROTATION_READOUTS[1], reading=single, sources=first_sources),
        ]

    def _end_sentence(self, votes: Votes, n_attempts: int) -> str:
        if self._is_decided(votes, n_attempts):
            return f"A lead of {votes.lead()} after {n_attempts} attempts."
        return f"Stopped at the cap of {self.cap} attempts without a lead of {self.lead}."


@dataclass(frozen=True)
class Attempt:
    """State of one attempt.

    `missing` is a call that has to be made, `problem` the reading of a call that failed. `vote` is
    an option's index, None if no form could be read. `cut` is the reading of a reply that was cut
    off. `sources` are the ids of the calls so far.
    """

    vote: int | None = None
    missing: Call | None = None
    cut: Reading | None = None
    problem: Reading | None = None
    sources: tuple[str, ...] = ()


def _no_votes(history: History) -> Votes:
    n_options = len(history.item.options)
    return Votes([0] * n_options, [0] * n_options)


def _can_vote(history: History) -> bool:
    """Return whether this item is a choice and the model can write text."""
    return history.item.kind == "choice" and "generate" in history.backend.abilities


def _attempt_state(history: History, attempt: int) -> Attempt:
    """Return the state of an attempt, which tries the forms in turn until one gives a vote."""
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
        # Only the first line is the reply, so a limit after it cuts nothing off.
        cut_reading = None if "\n" in completion.text.strip() else unfinished(completion)
        if cut_reading:
            cut = cut or (cut_reading if cut_reading.status == CUT else None)
            continue
        vote = _read_vote(completion, form, item=history.item, order=_order(history.item, attempt))
        if vote is not None:
            return Attempt(vote, sources=sources)
    return Attempt(cut=cut, sources=sources)


def _order(item: Item, attempt: int) -> list[int]:
    """Return the item's option indices in alphabetical order, rotated by the attempts before."""
    alphabetical = sorted(range(len(item.options)), key=lambda i: (item.options[i].casefold(), i))
    return rotate(alphabetical, attempt)


def _call(history: History, attempt: int, form: str) -> Call:
    variant = _variant(history.item, attempt, form=form, layout=history.variants[0].layout)
    request = text_request(variant, history.ask)
    return Call(history.backend.name, history.backend.revision, request=request, sample=attempt)


def _variant(item: Item, attempt: int, form: str, layout: str) -> Variant:
    """Return the prompt of an attempt; in the form "text" the options are their own labels."""
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


def _read_vote(completion: Completion, form: str, item: Item, order: Sequence[int]) -> int | None:
    """Return the index of the option that the reply's first line names; None for anything else."""
    reply = normalise(completion.text)
    if form == "text":
        return _find_option(reply, item, order=order)
    match = _INDEX.fullmatch(reply)
    if not match:
        return None
    label, text = match.groups()
    if label.isdigit() != (form == "number"):
        return None
    position = int(label) - 1 if form == "number" else ord(label.upper()) - ord("A")
    if not 0 <= position < len(order):
        return None
    option = order[position]
    return option if text is None or _find_option(text, item, order=order) == option else None


def _find_option(reply: str, item: Item, order: Sequence[int]) -> int | None:
    """Return the one option that equals the reply; None for none or several.

    Compare exactly first, then without a final full stop, then without case too.
    """
    for simplify in (str.strip, _without_stop, lambda text: _without_stop(text).casefold()):
        matches = [i for i in order if simplify(item.options[i]) == simplify(reply)]
        if matches:
            return matches[0] if len(matches) == 1 else None
    return None


def _without_stop(text: str) -> str:
    return text.strip().rstrip(".")


def _add_vote(votes: Votes, vote: int | None, attempt: int) -> None:
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
