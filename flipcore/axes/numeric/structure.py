"""What of a word problem's numbers may change: its calculator chain traced to the question, or the class of a refusal.

The guards were each added after a wrong gold or a contradictory story was seen.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flipcore.axes.numeric.chains import MIXED, PROSE, Step, gold, steps
from flipcore.axes.numeric.quantities import Mention, mentions
from flipcore.axes.numeric.story import (
    frozen_values,
    limits,
    list_lengths,
    parts_of_totals,
    relations,
    same_spans,
    spelled_by_steps,
)
from flipcore.axes.numeric.tracing import Reading, distinct, probes, readings, results, sources
from flipcore.axes.variants import Refusal

_DEALS = re.compile(
    r"\b(?:get (?:one|\d+) (?:\w+ )?(?:for )?free|buys? (?:one|two|\d+),? gets?|one half off|every "
    r"(?:second|other|third|fourth|fifth|sixth|tenth|\d+(?:st|nd|rd|th)) "
    r"(?!day|week|month|hour|year|night|morning)\w+|"
    r"rounds? (?:up|down)|rounded (?:up|down)|prime numbers?|consecutive|factors? of|multiples? of)\b",
    re.IGNORECASE,
)
_ALGEBRA = re.compile(r"\b[Ll]et(?:['’]s let)? [A-Za-z]\b|(?<![A-Za-z'’$])\d*[A-Za-z]\s?=(?!=)|[-+=*/(]\s?\d*[yzYZ]\b")
_ROUNDS = re.compile(
    r"\b(?:round(?:ed|s)?|nearest|remainder when|whole number|how many full|at least how many)\b", re.IGNORECASE
)
_COMPARES = re.compile(
    r"\b(?:cheap\w*|expensive|costl\w+|most|least|highest|lowest|winner|loser|wins?|won|better|best|"
    r"worse|worst|larg\w+|small\w+|maximum|minimum|maximi\w+|minimi\w+|longest|shortest|oldest|youngest|"
    r"tallest|fewest|fastest|slowest|biggest|heaviest|lightest|enough|afford|whichever|compared to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Structure:
    """What was understood of a problem before any number is drawn: every reading in `readings` must give the same gold,
    `groups` are the values that may change, `relations` what holds among the stated numbers and must go on to hold, `limits`
    the values that nothing may cross; `keeps_order` says that the results must keep their order."""

    steps: Sequence[Step]
    mentions: Sequence[Mention]
    readings: Sequence[Reading]
    groups: Sequence[Fraction]
    relations: Sequence[tuple[str, Fraction, Fraction, Fraction]]
    limits: Sequence[Fraction]
    keeps_order: bool

    @cached_property
    def stated(self) -> dict[Fraction, list[Mention]]:
        """Every stated value with its mentions, the smallest first."""
        by_value: dict[Fraction, list[Mention]] = {}
        for mention in sorted(self.mentions, key=lambda mention: mention.value):
            by_value.setdefault(mention.value, []).append(mention)
        return by_value

    @cached_property
    def order(self) -> list[tuple[Fraction, Fraction]]:
        """Neighbours among the stated numbers, the smaller first."""
        return list(itertools.pairwise(self.stated))

    @cached_property
    def order_by_kind(self) -> list[tuple[Fraction, Fraction]]:
        """The same among amounts of money, among shares and among the rest, parts of a fraction left out."""
        kinds: dict[tuple[bool, bool], set[Fraction]] = {}
        for mention in self.mentions:
            if mention.frozen != "fraction":
                kinds.setdefault((mention.percent, mention.money), set()).add(mention.value)
        return [pair for values in kinds.values() for pair in itertools.pairwise(sorted(values))]


def structure(question: str, solution: str) -> Structure | Refusal:
    """The chain traced to the question's numbers, or the class of what stands in the way."""
    target, numbers = gold(solution), mentions(question)
    if not numbers:
        return Refusal("no numbers", "The question states no number.")
    if _DEALS.search(question):
        return Refusal("non-linear keyword", "The question buys one and gets one free, or counts every second one.")
    if _ALGEBRA.search(re.sub(r"<<.*?>>", "", solution)):
        return Refusal("algebra or mental step", "The solution works with an unknown; its steps hold for these numbers only.")
    refusal: Refusal | None = None
    ways = [(take, mental) for mental in (False, True) for take in (MIXED, PROSE)]
    for take, mental in ways if not _ROUNDS.search(question) else ways[:2]:
        attempt = _traced(question, solution, target, numbers, take, mental)
        if isinstance(attempt, Structure):
            return attempt
        refusal = refusal or attempt
    return refusal or Refusal("no chain", "No way of reading the solution as a chain was tried.")


def _traced(
    question: str, solution: str, target: Fraction | None, numbers: list[Mention], take: str, mental: bool
) -> Structure | Refusal:
    """One way of taking the chain from the solution."""
    try:
        chain = steps(solution, take)
    except ValueError as error:
        return Refusal("inexact step", f"{error}.")
    if target is None or not chain:
        return Refusal("no chain", "The solution has no calculator steps.")
    last = max((i for i, step in enumerate(chain) if step.result == target), default=None)
    if last is None or any(step.is_annotated for step in chain[last + 1 :]):
        return Refusal("final step", "The last calculator step is not the gold.")
    chain, traced = sources(chain[: last + 1], numbers, question, list_lengths(question), mental=mental)
    if any(not options for step in traced for options in step):
        return Refusal("literal cannot be traced", "A number of the solution is neither in the question nor licensed.")
    try:
        admissible = readings(chain, traced, Counter(mention.value for mention in numbers))
    except OverflowError:
        return Refusal("ambiguous reading", "The chain can be read in more than 4,096 ways.")
    if not admissible:
        return Refusal("dangling intermediate result", "An intermediate result is used nowhere.")
    return _structure_of(question, chain, numbers, admissible)


def _structure_of(question: str, chain: list[Step], numbers: list[Mention], admissible: list[Reading]) -> Structure | Refusal:
    """The value groups that may change: they move the gold alike under every reading, and are frozen nowhere."""
    in_chain = sorted({source.key for reading in admissible for row in reading for source in row if source.kind == "question"})
    frozen = (
        frozen_values(question, numbers)
        | _mental_producers(chain, admissible, numbers)
        | parts_of_totals(numbers, set(in_chain))
        | spelled_by_steps(chain, admissible, numbers)
        | same_spans(numbers)
    )
    edges = limits(question, numbers, set(in_chain))
    moves = _behind(len(chain) - 1, admissible)
    free = [value for value in in_chain if value in moves and value not in frozen and value not in edges]
    different = distinct(chain, admissible, free)
    if not free:
        return Refusal("no resamplable number", "Every number is frozen or part of the structure of the story.")
    agreed = [value for value in free if _agree(chain, different, value)]
    if not agreed:
        return Refusal("ambiguous reading", "Two admissible interpretations of the chain give different golds.")
    return Structure(
        chain, numbers, different, agreed, relations(question, numbers, set(in_chain)), edges, bool(_COMPARES.search(question))
    )


def _agree(chain: list[Step], different: list[Reading], value: Fraction) -> bool:
    """Whether all readings give one gold when this value alone is changed."""
    for probe in probes([value]):
        try:
            if len({results(chain, reading, probe)[-1] for reading in different}) > 1:
                return False
        except ZeroDivisionError:
            return False
    return True


def _mental_producers(chain: list[Step], admissible: list[Reading], numbers: list[Mention]) -> set[Fraction]:
    """Stated numbers from which a count may have come that the solution found in its head: they stay."""
    counts = {source.key for reading in admissible for row in reading for source in row if source.kind == "mental"}
    if not counts:
        return set()
    stated = {mention.value for mention in numbers}
    partners = stated | {Fraction(n) for n in (1, 2, 7)}
    frozen = {value for value in stated for count in counts if _reaches(value, count, partners)}
    for i, step in enumerate(chain):
        if any(_reaches(step.result, count, partners) for count in counts):
            frozen |= _behind(i, admissible)
    return frozen


def _reaches(value: Fraction, count: Fraction, partners: set[Fraction]) -> bool:
    return any(
        count in (value + p, value - p, p - value, value * p) or (p and value / p == count) or (value and p / value == count)
        for p in partners
    )


def _behind(i: int, admissible: list[Reading]) -> set[Fraction]:
    """Every stated number on which the result of step `i` depends, under any reading."""
    numbers: set[Fraction] = set()
    for reading in admissible:
        open_steps = [i]
        while open_steps:
            for source in reading[open_steps.pop()]:
                if source.kind == "question":
                    numbers.add(source.key)
                elif source.kind == "result":
                    open_steps.append(int(source.key))
    return numbers
