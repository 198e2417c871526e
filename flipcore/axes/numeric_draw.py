"""New numbers for a word problem, drawn until every step of its chain stays of the same kind, and the question rewritten."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flipcore.axes.numeric_structure import Structure, structure
from flipcore.axes.quantities import WORDS, Mention
from flipcore.axes.refusals import Refusal
from flipcore.axes.tracing import results

TRIES = 400
_SPELLED = {value: word for word, value in WORDS.items()}


@dataclass(frozen=True)
class Resample:
    """A rewritten question with its own gold; `operands` are (old, new) pairs of the changed numbers."""

    question: str
    target: Fraction
    operands: tuple[tuple[Fraction, Fraction], ...]
    steps: tuple[str, ...]


def resample(question: str, solution: str, rng: np.random.Generator) -> Resample | Refusal:
    """One rewriting with new numbers; deterministic given the generator."""
    known = structure(question, solution)
    if isinstance(known, Refusal):
        return known
    before = results(known.steps, known.readings[0], {})
    ambiguous = constant = 0
    for attempt in range(TRIES):
        drawn = _draw(known, rng, keep_order=attempt < TRIES // 2)
        if drawn is None:
            continue
        try:
            made = [results(known.steps, reading, drawn) for reading in known.readings]
        except ZeroDivisionError:
            continue
        if len({row[-1] for row in made}) > 1:
            ambiguous += 1
        elif made[0][-1] == before[-1]:
            constant += 1
        elif all(_plausible(old, new) for row in made for old, new in zip(before, row, strict=True)):
            return _written(question, known, drawn, made[0])
    if ambiguous > TRIES // 2:
        return Refusal("ambiguous reading", "Two admissible readings of the chain give different golds.")
    if constant > TRIES // 2:
        return Refusal("gold never changes", "The gold does not depend on the numbers that may change.")
    return Refusal("no plausible draw", "No draw kept every step whole, positive and of the same kind.")


def _draw(known: Structure, rng: np.random.Generator, *, keep_order: bool) -> dict[Fraction, Fraction] | None:
    """New values for all groups, or None when one cannot move or the order of the numbers changed."""
    drawn = {value: _new_value(value, [m for m in known.mentions if m.value == value], rng) for value in known.groups}
    stated = {mention.value: drawn.get(mention.value, mention.value) for mention in known.mentions}
    if len(set(stated.values())) < len(stated):
        return None
    ordered = sorted(stated)
    if keep_order and any(stated[a] >= stated[b] for a, b in zip(ordered, ordered[1:], strict=False)):
        return None
    return drawn if any(new != old for old, new in drawn.items()) else None


def _new_value(value: Fraction, stated: list[Mention], rng: np.random.Generator) -> Fraction:
    """A number of the same kind: as round, with as many decimals, of the same order, within its unit's bounds."""
    decimals = max(mention.decimals for mention in stated)
    grain = Fraction(1, 10**decimals)
    whole = value / grain
    for step in (1000, 500, 100, 50, 10, 5):
        if whole % step == 0 and whole >= 2 * step:
            grain *= step
            break
    count = int(value / grain)
    low, high = max(2 if grain == 1 else 1, -(-count // 2)), max(count + 2, (count * 9) // 5)
    most = min(_most(mention) for mention in stated)
    high = min(high, int(most / grain)) if most is not None and most >= value else high
    return grain * int(rng.integers(low, high + 1)) if high >= low else value


_BOUNDS = ((r"days?$", 7, 7), (r"days?$", 31, 31), (r"hours?$", 24, 24), (r"months?$", 12, 12), (r"minutes?$", 60, 60),
           (r"seconds?$", 60, 60), (r"weeks?$", 52, 52), (r"years?$", 99, 120))


def _most(mention: Mention) -> Fraction:
    """The largest plausible number for the unit that follows, given that the stated one was plausible."""
    if mention.percent:
        return Fraction(95 if mention.value < 100 else 400)
    for pattern, bound, limit in _BOUNDS:
        if re.match(pattern, mention.unit) and mention.value <= limit:
            return Fraction(bound)
    return Fraction(10**9)


def _plausible(old: Fraction, new: Fraction) -> bool:
    """Whole stays whole, decimals do not grow, the sign is kept, a proper fraction stays below 1."""
    if (old > 0) != (new > 0) or (old < 1) != (new < 1):
        return False
    if old.denominator == 1:
        return new.denominator == 1
    return (old * 100).denominator > 1 or (new * 100).denominator == 1


def _written(question: str, known: Structure, drawn: Mapping[Fraction, Fraction], made: list[Fraction]) -> Resample:
    """The question with every mention of a changed group rewritten in the style it had."""
    text, at = [], 0
    for mention in known.mentions:
        new = drawn.get(mention.value, mention.value)
        if new != mention.value:
            text += [question[at:mention.start], _in_style(mention, new)]
            at = mention.end
    changed = tuple((old, new) for old, new in drawn.items() if old != new)
    return Resample("".join([*text, question[at:]]), made[-1], changed, tuple(str(value) for value in made))


def _in_style(mention: Mention, new: Fraction) -> str:
    if mention.text[0].isalpha() and new in _SPELLED:
        word = _SPELLED[new]
        return word.capitalize() if mention.text[0].isupper() else word
    grouped = "," in mention.text or (new >= 10_000 and len(mention.text) < 5)
    return f"{float(new):,.{mention.decimals}f}" if grouped else f"{float(new):.{mention.decimals}f}"
