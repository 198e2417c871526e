"""Draws new numbers for a word problem and rewrites its question.

Numbers are drawn until every step of the chain gives a result of the same kind as before.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from flipcore.axes.numeric.quantities import WORDS, Mention
from flipcore.axes.numeric.structure import Structure
from flipcore.axes.numeric.tracing import results
from flipcore.axes.variants import Refusal

# Draws that change all values, some of them, one (for each value), and two of them.
N_ALL, N_SOME, N_SINGLE, N_PAIRS = 40, 120, 80, 300
# Draws to go on with for a better one, once a draw keeps only the order of the stated numbers.
N_LOOSE = 60
# Probability that a number shrinks where it can. Small numbers cannot, so without it most would
# grow.
P_SHRINK = 0.6
MAX_FACTOR = 8  # a result may grow or shrink by this factor
_SPELLED = {value: word for word, value in WORDS.items()}
# (unit, largest plausible number, for stated values up to)
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
    """A rewritten question with its own gold.
    `operands` are (old, new) pairs of changed numbers; `steps` are the results of the chain."""

    question: str
    target: Fraction
    operands: tuple[tuple[Fraction, Fraction], ...]
    steps: tuple[str, ...]


def rewriting(question: str, problem: Structure, rng: np.random.Generator) -> Resample | Refusal:
    """Rewrite a problem whose structure is known."""
    before = results(problem.steps, problem.readings[0], draw={})
    n_drawn = n_unchanged = n_ambiguous = n_loose = 0
    loose = None
    for draw in _draws(problem, rng):
        n_drawn += 1
        # A draw may make a divisor 0 under one reading.
        try:
            rows = [results(problem.steps, reading, draw=draw) for reading in problem.readings]
        except ZeroDivisionError:
            continue
        if len({row[-1] for row in rows}) > 1:
            n_ambiguous += 1
        elif rows[0][-1] == before[-1]:
            n_unchanged += 1
        elif all(_acceptable(problem, draw, before=before, after=row) for row in rows):
            if _in_order(problem, before, draw=draw, after=rows[0]):
                return _rewrite(question, problem, draw=draw, after=rows[0])
            # Only the stated numbers keep their order: used if no better draw comes.
            loose, n_loose = loose or (draw, rows[0]), n_loose + 1
        if n_loose > N_LOOSE:
            break
    if loose:
        loose_draw, loose_results = loose
        return _rewrite(question, problem, draw=loose_draw, after=loose_results)
    # The refusal's class is the reason for which most draws failed.
    if n_unchanged > n_drawn // 2:
        return Refusal(
            "gold never changes", "The gold does not depend on the numbers that may change."
        )
    if n_ambiguous > n_drawn // 2:
        return Refusal(
            "ambiguous reading", "Two admissible interpretations of the chain give different golds."
        )
    return Refusal(
        "no plausible draw", "No draw kept every step whole, positive and of the same kind."
    )


def _draws(problem: Structure, rng: np.random.Generator) -> Iterator[dict[Fraction, Fraction]]:
    """Yield draws that fit the story, stated value -> new value.

    The first ones keep the order of all stated numbers, the later ones only the order within
    amounts of money, within percentages and within the rest.
    """
    for order in (problem.order, problem.order_by_kind):
        for values, coarse in _plans(problem.groups, rng):
            new_values = {
                value: _new_value(value, problem.stated[value], rng=rng, coarse=coarse)
                for value in values
            }
            draw = _with_relations(problem, new_values, order=order)
            if draw is not None:
                yield draw


def _plans(
    groups: Sequence[Fraction], rng: np.random.Generator
) -> Iterator[tuple[Sequence[Fraction], bool]]:
    """Yield values to change together, and True if they must stay as round as they were.
    The plans that change most values come first."""

    def draw_groups(n: int) -> list[Fraction]:
        return [groups[i] for i in rng.permutation(len(groups))[:n]]

    yield from ((groups, True) for _ in range(N_ALL))
    yield from (
        (draw_groups(int(rng.integers(1, len(groups) + 1))), bool(i % 2)) for i in range(N_SOME)
    )
    for value in draw_groups(len(groups)):
        yield from (([value], False) for _ in range(N_SINGLE))
    yield from ((draw_groups(2), False) for _ in range(N_PAIRS))


def _new_value(
    value: Fraction, stated: Sequence[Mention], rng: np.random.Generator, *, coarse: bool
) -> Fraction:
    """Draw a number of the same kind: same decimals, similar size, within its unit's bounds.
    With `coarse` it is also as round as the old one."""
    grain = Fraction(1, 10 ** max(mention.decimals for mention in stated))
    n_grains = value / grain
    # 1,200 becomes another multiple of 100, not 1,187.
    for step in (1000, 500, 100, 50, 10, 5) if coarse else (1000, 100, 10):
        if n_grains % step == 0 and n_grains >= (2 if coarse else 10) * step:
            grain *= step
            break
    count = int(value / grain)
    # A drawn 1 would turn plurals of the story into singulars.
    low = max(2 if grain == 1 else 1, (count + 1) // 2)
    high = max(count + 2, (count * 9) // 5) if coarse else max(count + 4, (count * 5) // 2)
    # The stated number itself may be beyond its unit's bound, which then does not apply.
    maximum = min(_max_plausible(mention) for mention in stated)
    high = min(high, int(maximum / grain)) if maximum >= value else high
    if high < low:
        return value
    if not coarse and grain < 1 and rng.integers(2):
        return value + int(rng.integers(-int(value) // 2, int(value) + 2))  # the same cents
    sides = [
        side
        for side in (range(low, min(count, high + 1)), range(max(count + 1, low), high + 1))
        if side
    ]
    if not sides:
        side = range(low, high + 1)
    else:
        side = sides[0 if len(sides) == 1 or rng.random() < P_SHRINK else 1]
    # The same draw as `rng.choice(side)`, without building the whole range.
    return grain * side[int(rng.integers(len(side)))]


def _max_plausible(mention: Mention) -> Fraction:
    """Return the largest plausible number for a mention's unit."""
    if mention.is_percent:
        return Fraction(95 if mention.value < 100 else 400)
    return _bound(mention.unit, mention.value)


@cache
def _bound(unit: str, value: Fraction) -> Fraction:
    for pattern, maximum, max_stated in _BOUNDS:
        if re.match(pattern, unit) and value <= max_stated:
            return Fraction(maximum)
    return Fraction(10**9)


def _with_relations(
    problem: Structure, draw: dict[Fraction, Fraction], order: Sequence[tuple[Fraction, Fraction]]
) -> dict[Fraction, Fraction] | None:
    """Restore the story's relations in a draw.
    None if that is impossible, or if a (smaller, larger) pair of `order` loses its order."""

    def drawn(value: Fraction) -> Fraction:
        return draw.get(value, value)

    def combined(sign: str, a: Fraction, b: Fraction) -> Fraction:
        return drawn(a) + drawn(b) if sign == "+" else drawn(a) * drawn(b)

    for sign, a, b, c in problem.relations:
        total = combined(sign, a, b)
        if total == drawn(c):
            continue
        # The total follows its parts; where it is frozen, the second part follows the first.
        if c in problem.groups:
            draw[c] = total
        elif b in problem.groups and a != b:
            draw[b] = drawn(c) - drawn(a) if sign == "+" else drawn(c) / drawn(a)
        else:
            return None
    # Mending one relation may have broken another that shares a number with it.
    if any(combined(sign, a, b) != drawn(c) for sign, a, b, c in problem.relations):
        return None
    if not any(old != value for old, value in draw.items()) or not all(
        _fits(problem, old, new=draw[old]) for old in draw
    ):
        return None
    if any(drawn(a) >= drawn(b) for a, b in order):
        return None
    pairs = [(value, drawn(value)) for value in problem.stated]
    if not _keeps_limits(problem, pairs):
        return None
    return draw


def _keeps_limits(problem: Structure, pairs: Iterable[tuple[Fraction, Fraction]]) -> bool:
    """Tell whether no (old, new) pair crosses a limit of the problem."""
    for old, new in pairs:
        for limit in problem.limits:
            if (old < limit) != (new < limit) or (old > limit) != (new > limit):
                return False
    return True


def _fits(problem: Structure, old: Fraction, new: Fraction) -> bool:
    """Tell whether a new number can be written as the old one was."""
    stated = problem.stated[old]
    grain = Fraction(1, 10 ** max(mention.decimals for mention in stated))
    return (
        0 < new
        and (new / grain).denominator == 1
        and new != 1
        and old / 4 <= new <= old * 4
        and all(new <= max(old, _max_plausible(mention)) for mention in stated)
    )


def _acceptable(
    problem: Structure,
    draw: Mapping[Fraction, Fraction],
    before: Sequence[Fraction],
    after: Sequence[Fraction],
) -> bool:
    """Tell whether the results of a draw fit the story.

    All are plausible and within their limits, the gold is below the same stated numbers as before,
    and the results keep their order where the question compares.
    """
    if not all(_plausible(old, new) for old, new in zip(before, after, strict=True)):
        return False
    if not _keeps_limits(problem, zip(before, after, strict=True)):
        return False
    # A gold below a stated number stays below it: nobody sells more than there is.
    counts = [mention.value for mention in problem.mentions if not mention.is_percent]
    if any((before[-1] < value) != (after[-1] < draw.get(value, value)) for value in counts):
        return False
    if not problem.keeps_order:
        return True
    for i, j in itertools.combinations(range(len(after)), 2):
        if (before[i] < before[j]) != (after[i] < after[j]):
            return False
        if (before[i] > before[j]) != (after[i] > after[j]):
            return False
    return True


def _in_order(
    problem: Structure,
    before: Sequence[Fraction],
    draw: Mapping[Fraction, Fraction],
    after: Sequence[Fraction],
) -> bool:
    """Tell whether stated numbers and results keep their order: a part stays below its whole."""
    stated = {mention.value for mention in problem.mentions if not mention.is_percent}
    pairs = sorted(
        [(value, draw.get(value, value)) for value in stated]
        + list(zip(before, after, strict=True))
    )
    return all(
        old_a == old_b or new_a < new_b
        for (old_a, new_a), (old_b, new_b) in itertools.pairwise(pairs)
    )


def _plausible(old: Fraction, new: Fraction) -> bool:
    """Tell whether a result stays of the same kind: sign, below 1 or not, size, whole, cents."""
    if (old > 0) != (new > 0) or (old < 0) != (new < 0) or (old < 1) != (new < 1):
        return False
    if old and not Fraction(1, MAX_FACTOR) <= new / old <= MAX_FACTOR:
        return False
    if old.denominator == 1:
        return new.denominator == 1
    # A result in cents stays in cents; any other fraction may become any fraction.
    return (old * 100).denominator > 1 or (new * 100).denominator == 1


def _rewrite(
    question: str, problem: Structure, draw: Mapping[Fraction, Fraction], after: Sequence[Fraction]
) -> Resample:
    """Rewrite every mention of a changed value in its old style, with the right `a` or `an`."""
    text, end = [], 0
    for mention in problem.mentions:
        new = draw.get(mention.value, mention.value)
        if new != mention.value:
            numeral = _in_style(mention, new)
            text += [_with_article(question[end : mention.start], numeral), numeral]
            end = mention.end
    changed = tuple((old, new) for old, new in draw.items() if old != new)
    steps = tuple(str(value) for value in after)
    return Resample("".join([*text, question[end:]]), after[-1], operands=changed, steps=steps)


def _with_article(before: str, numeral: str) -> str:
    vowel = bool(
        re.match(r"8|11(?!\d\d\b)|18(?!\d\d\b)|eight|eleven|eighteen", numeral, re.IGNORECASE)
    )
    return re.sub(
        r"\b([Aa])n?(\s)$", lambda match: match[1] + ("n" if vowel else "") + match[2], before
    )


def _in_style(mention: Mention, new: Fraction) -> str:
    if mention.text[0].isalpha() and new in _SPELLED:
        word = _SPELLED[int(new)]
        return word.capitalize() if mention.text[0].isupper() else word
    has_separators = (
        "," in mention.text or " " in mention.text or (new >= 10_000 and len(mention.text) < 5)
    )
    if has_separators:
        return f"{float(new):,.{mention.decimals}f}"
    return f"{float(new):.{mention.decimals}f}"
