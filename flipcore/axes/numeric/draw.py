"""New numbers for a word problem, drawn until every step of its chain stays of the same kind, and the question rewritten."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from flipcore.axes.numeric.quantities import WORDS, Mention
from flipcore.axes.numeric.structure import Structure, structure
from flipcore.axes.numeric.tracing import results
from flipcore.axes.refusals import Refusal

N_ALL, N_SOME, N_SINGLE, N_PAIRS = 40, 120, 80, 300  # tries with all values changed, with some, with one, with one or two
N_LOOSE = 60  # tries for one in which all numbers keep their order, once there is one in which the stated ones do
DOWN = 0.6  # how often a number shrinks where it can; small ones cannot, and what may grow is more often whole
SPREAD = 8  # a result may grow or shrink by this factor
_SPELLED = {value: word for word, value in WORDS.items()}
_BOUNDS = (
    (r"days?$", 7, 7),
    (r"days?$", 31, 31),
    (r"hours?$", 24, 24),
    (r"months?$", 12, 12),
    (r"minutes?$", 60, 60),
    (r"seconds?$", 60, 60),
    (r"weeks?$", 52, 52),
    (r"years?$", 99, 120),
)


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
    return known if isinstance(known, Refusal) else rewriting(question, known, rng)


def rewriting(question: str, known: Structure, rng: np.random.Generator) -> Resample | Refusal:
    """One rewriting of a problem whose structure is known."""
    before = results(known.steps, known.readings[0], {})
    n_drawn = n_unchanged = n_ambiguous = n_loose = 0
    loose = None
    for drawn in _draws(known, rng):
        n_drawn += 1
        try:
            made = [results(known.steps, reading, drawn) for reading in known.readings]
        except ZeroDivisionError:
            continue
        if len({row[-1] for row in made}) > 1:
            n_ambiguous += 1
        elif made[0][-1] == before[-1]:
            n_unchanged += 1
        elif all(_acceptable(known, drawn, before, row) for row in made):
            if _in_order(known, before, drawn, made[0]):
                return _written(question, known, drawn, made[0])
            loose, n_loose = loose or (drawn, made[0]), n_loose + 1
        if n_loose > N_LOOSE:
            break
    if loose:
        return _written(question, known, *loose)
    if n_unchanged > n_drawn // 2:
        return Refusal("gold never changes", "The gold does not depend on the numbers that may change.")
    if n_ambiguous > n_drawn // 2:
        return Refusal("ambiguous reading", "Two admissible readings of the chain give different golds.")
    return Refusal("no plausible draw", "No draw kept every step whole, positive and of the same kind.")


def _draws(known: Structure, rng: np.random.Generator) -> Iterator[dict[Fraction, Fraction]]:
    """Draws that fit the story, the boldest first: all values, some, each alone, one or two. First those that keep the order
    of all stated numbers, then those that keep it among amounts of money, among shares and among the rest."""
    for order in (known.order, known.order_by_kind):
        for chosen, coarse in _plans(known.groups, rng):
            drawn = _mended(known, {value: _new_value(value, known.stated[value], rng, coarse) for value in chosen}, order)
            if drawn is not None:
                yield drawn


def _plans(groups: Sequence[Fraction], rng: np.random.Generator) -> Iterator[tuple[Sequence[Fraction], bool]]:
    """Which values to change, and whether to keep them as round as they were."""

    def some(n: int) -> list[Fraction]:
        return [groups[i] for i in rng.permutation(len(groups))[:n]]

    yield from ((groups, True) for _ in range(N_ALL))
    yield from ((some(int(rng.integers(1, len(groups) + 1))), bool(i % 2)) for i in range(N_SOME))
    yield from (([value], False) for value in some(len(groups)) for _ in range(N_SINGLE))
    yield from ((some(2), False) for _ in range(N_PAIRS))


def _new_value(value: Fraction, stated: Sequence[Mention], rng: np.random.Generator, coarse: bool) -> Fraction:
    """A number of the same kind: as round if `coarse`, with as many decimals, of the same order, within its unit's bounds."""
    grain = Fraction(1, 10 ** max(mention.decimals for mention in stated))
    whole = value / grain
    for step in (1000, 500, 100, 50, 10, 5) if coarse else (1000, 100, 10):
        if whole % step == 0 and whole >= (2 if coarse else 10) * step:
            grain *= step
            break
    count = int(value / grain)
    low = max(2 if grain == 1 else 1, -(-count // 2))
    high = max(count + 2, (count * 9) // 5) if coarse else max(count + 4, (count * 5) // 2)
    most = min(_most(mention) for mention in stated)
    high = min(high, int(most / grain)) if most >= value else high
    if high < low:
        return value
    if not coarse and grain < 1 and rng.integers(2):
        return value + int(rng.integers(-int(value) // 2, int(value) + 2))  # the same cents
    sides = [side for side in (range(low, min(count, high + 1)), range(max(count + 1, low), high + 1)) if side]
    side = sides[0 if len(sides) == 1 or rng.random() < DOWN else 1] if sides else range(low, high + 1)
    return grain * int(rng.choice(side))


def _most(mention: Mention) -> Fraction:
    """The largest plausible number for the unit that follows, given that the stated one was plausible."""
    return Fraction(95 if mention.value < 100 else 400) if mention.percent else _bound(mention.unit, mention.value)


@cache
def _bound(unit: str, value: Fraction) -> Fraction:
    return next(
        (Fraction(bound) for pattern, bound, limit in _BOUNDS if re.match(pattern, unit) and value <= limit), Fraction(10**9)
    )


def _mended(
    known: Structure, drawn: dict[Fraction, Fraction], order: Sequence[tuple[Fraction, Fraction]]
) -> dict[Fraction, Fraction] | None:
    """The draw with the story's own relations restored; None where that cannot be, or one of the pairs in `order` loses it."""

    def new(value: Fraction) -> Fraction:
        return drawn.get(value, value)

    for kind, a, b, c in known.relations:
        total = new(a) + new(b) if kind == "+" else new(a) * new(b)
        if total == new(c):
            continue
        if c in known.groups:
            drawn[c] = total
        elif b in known.groups and a != b:
            drawn[b] = new(c) - new(a) if kind == "+" else new(c) / new(a)
        else:
            return None
    if any((new(a) + new(b) if kind == "+" else new(a) * new(b)) != new(c) for kind, a, b, c in known.relations):
        return None
    if not any(old != value for old, value in drawn.items()) or not all(_fits(known, old, drawn[old]) for old in drawn):
        return None
    if any(new(a) >= new(b) for a, b in order):
        return None
    if any(
        (value < edge) != (new(value) < edge) or (value > edge) != (new(value) > edge)
        for edge in known.limits
        for value in known.stated
    ):
        return None
    return drawn


def _fits(known: Structure, old: Fraction, new: Fraction) -> bool:
    """A number that can be written as the old one was."""
    stated = known.stated[old]
    grain = Fraction(1, 10 ** max(mention.decimals for mention in stated))
    return (
        0 < new
        and (new / grain).denominator == 1
        and new != 1
        and old / 4 <= new <= old * 4
        and all(new <= max(old, _most(mention)) for mention in stated)
    )


def _acceptable(
    known: Structure, drawn: Mapping[Fraction, Fraction], before: Sequence[Fraction], made: Sequence[Fraction]
) -> bool:
    """All results plausible, the gold above and below the same stated numbers as before, nothing across a limit, and results
    in their order where the question compares."""
    if not all(_plausible(old, new) for old, new in zip(before, made, strict=True)):
        return False
    if any(
        (old < edge) != (new < edge) or (old > edge) != (new > edge)
        for edge in known.limits
        for old, new in zip(before, made, strict=True)
    ):
        return False
    counts = [mention.value for mention in known.mentions if not mention.percent]
    if any((before[-1] < value) != (made[-1] < drawn.get(value, value)) for value in counts):
        return False
    if not known.keeps_order:
        return True
    return all(
        (before[i] < before[j]) == (made[i] < made[j]) and (before[i] > before[j]) == (made[i] > made[j])
        for i in range(len(made))
        for j in range(i)
    )


def _in_order(
    known: Structure, before: Sequence[Fraction], drawn: Mapping[Fraction, Fraction], made: Sequence[Fraction]
) -> bool:
    """Stated numbers and results all keep their order: nobody answers more questions than there are."""
    stated = {mention.value for mention in known.mentions if not mention.percent}
    pairs = sorted([(value, drawn.get(value, value)) for value in stated] + list(zip(before, made, strict=True)))
    return all(old_a == old_b or new_a < new_b for (old_a, new_a), (old_b, new_b) in itertools.pairwise(pairs))


def _plausible(old: Fraction, new: Fraction) -> bool:
    """Whole stays whole, decimals do not grow, the sign is kept, a proper fraction stays below 1, the order stays."""
    if (old > 0) != (new > 0) or (old < 0) != (new < 0) or (old < 1) != (new < 1):
        return False
    if old and not Fraction(1, SPREAD) <= new / old <= SPREAD:
        return False
    if old.denominator == 1:
        return new.denominator == 1
    return (old * 100).denominator > 1 or (new * 100).denominator == 1


def _written(question: str, known: Structure, drawn: Mapping[Fraction, Fraction], made: Sequence[Fraction]) -> Resample:
    """The question with every mention of a changed group rewritten in the style it had, and `a` or `an` before it."""
    text, at = [], 0
    for mention in known.mentions:
        new = drawn.get(mention.value, mention.value)
        if new != mention.value:
            written = _in_style(mention, new)
            text += [_with_article(question[at : mention.start], written), written]
            at = mention.end
    changed = tuple((old, new) for old, new in drawn.items() if old != new)
    return Resample("".join([*text, question[at:]]), made[-1], changed, tuple(str(value) for value in made))


def _with_article(before: str, written: str) -> str:
    vowel = bool(re.match(r"8|11(?!\d\d\b)|18(?!\d\d\b)|eight|eleven|eighteen", written, re.IGNORECASE))
    return re.sub(r"\b([Aa])n?(\s)$", lambda match: match[1] + ("n" if vowel else "") + match[2], before)


def _in_style(mention: Mention, new: Fraction) -> str:
    if mention.text[0].isalpha() and new in _SPELLED:
        word = _SPELLED[int(new)]
        return word.capitalize() if mention.text[0].isupper() else word
    grouped = "," in mention.text or " " in mention.text or (new >= 10_000 and len(mention.text) < 5)
    return f"{float(new):,.{mention.decimals}f}" if grouped else f"{float(new):.{mention.decimals}f}"
