"""What of a word problem's numbers may change: its calculator chain traced to the question, or the class of a refusal.

Source: statistics.md, section 12 (the guards were each added after a wrong gold or a contradictory story was seen).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flipcore.axes.chains import Step, gold, steps
from flipcore.axes.quantities import Mention, mentions
from flipcore.axes.refusals import Refusal
from flipcore.axes.tracing import Source, readings, sources

_ROUNDING = re.compile(r"\b(?:round(?:ed|s)?|nearest|at least how many|get (?:one|\d+) free|buy (?:one|two|\d+),? get|leftover|"
                       r"remainder|maximum number|minimum number|how many full|whole number)\b", re.IGNORECASE)
_THRESHOLD = re.compile(r"\b(?:over|above|exceed\w*|beyond|under|below|first|up to|more than|less than|at least|at most|"
                        r"minimum of|maximum of|between|after the)\s+\$?$", re.IGNORECASE)


@dataclass(frozen=True)
class Structure:
    """What was understood of a problem before any number is drawn."""

    steps: Sequence[Step]
    mentions: Sequence[Mention]
    readings: Sequence[Sequence[Sequence[Source]]]
    groups: Sequence[Fraction]


def structure(question: str, solution: str) -> Structure | Refusal:
    """The chain traced to the question's numbers, or the class of what stands in the way."""
    target = gold(solution)
    try:
        chain = steps(solution)
    except ValueError as error:
        return Refusal("inexact step", f"{error}.")
    if target is None or not chain:
        return Refusal("no chain", "The solution has no calculator steps.")
    if chain[-1].result != target:
        return Refusal("final step", "The last calculator step is not the gold.")
    if any(len(step.literals) < 2 for step in chain):
        return Refusal("algebra or mental step", "A step states a result without an operation.")
    found = mentions(question)
    if not found:
        return Refusal("no numbers", "The question states no number.")
    if _ROUNDING.search(question):
        return Refusal("non-linear keyword", "The question rounds, or buys one and gets one free.")
    traced = sources(chain, found, question)
    if any(not options for step in traced for options in step):
        return Refusal("literal cannot be traced", "A number of the solution is neither in the question nor licensed.")
    try:
        admissible = readings(traced)
    except OverflowError:
        return Refusal("ambiguous reading", "The chain can be read in more than 4,096 ways.")
    if not admissible:
        return Refusal("dangling intermediate result", "An intermediate result is used nowhere.")
    return _grouped(question, chain, found, admissible)


def _grouped(question: str, chain: list[Step], found: list[Mention], admissible: list) -> Structure | Refusal:
    """The value groups that may change: in the chain under every reading, and frozen nowhere."""
    used = [{source.key for row in reading for source in row if source.kind == "question"} for reading in admissible]
    always, ever = set.intersection(*used), set.union(*used)
    constants = {source.key for reading in admissible for row in reading for source in row if source.kind == "constant"}
    frozen = {mention.value for mention in found if mention.frozen}
    for mention in found:
        if mention.value not in ever and _THRESHOLD.search(question[:mention.start][-24:]):
            return Refusal("threshold not in chain", f"{mention.text} is a limit that the solution never compares with.")
    groups = sorted(value for value in always - frozen - constants if not _structural(value, question, chain, found))
    if not groups:
        return Refusal("no resamplable number", "Every number is frozen, small, or part of the structure.")
    return Structure(chain, found, admissible, groups)


def _structural(value: Fraction, question: str, chain: list[Step], found: list[Mention]) -> bool:
    """Counts that the text or the chain spells out: changing them would contradict something else."""
    if value.denominator != 1 or value > 12:
        return _hidden_partition(value, found)
    if value <= 6 and re.search(r"\b(?:twins?|triplets?|first|second|third|both|another|the other|each other|last|"
                                r"respectively|remaining|one of)\b", question, re.IGNORECASE):
        return True
    if value <= 6 and re.search(r"[A-Z][a-z]+, (?:[A-Z][a-z]+,? )+and [A-Z][a-z]+|[A-Z][a-z]+ and [A-Z][a-z]+", question):
        return True
    for step in chain:
        if any(count == value and count > 1 for count in Counter(step.literals).values()) and value not in step.literals:
            return True
        if len(step.literals) == value and value > 2:
            return True
    return _hidden_partition(value, found)


def _hidden_partition(value: Fraction, found: list[Mention]) -> bool:
    """a + b = c or a * b = c among stated numbers: the story may rely on it without the chain's saying so."""
    stated = [mention.value for mention in found]
    percents = [mention.value for mention in found if mention.percent]
    if value in percents and sum(percents) == 100:
        return True
    for i, a in enumerate(stated):
        for b in stated[i + 1:]:
            for c in (a + b, a * b):
                if c in stated and value in (a, b, c) and min(a, b) > 1 and c > 12:
                    return True
    return False
