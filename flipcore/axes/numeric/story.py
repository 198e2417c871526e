"""What a story says of its own numbers beyond the chain: counts that it spells out, limits, sums that must go on to hold."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from flipcore.axes.numeric.chains import Step
from flipcore.axes.numeric.quantities import Mention
from flipcore.axes.numeric.tracing import Reading, Source

_LIMIT = re.compile(
    r"\b(?:over|above|exceed\w*|beyond|under|below|first|up to|more than|less than|fewer than|at least|at most|"
    r"minimum of|maximum of|between|after|after the|past|until|within)\s+\$?$",
    re.IGNORECASE,
)
_MEASURE_UNIT = re.compile(
    r"(?:dollars?|cents?|hours?|minutes?|seconds?|pounds?|ounces?|miles?|feet|foot|inch(?:es)?|yards?|"
    r"met(?:er|re)s?|km|kg|kilo\w+|grams?|lit(?:er|re)s?|gallons?|cups?|percent|times|degrees?|points?|lbs?|calories|acres?|"
    r"square|cubic|mph|ml|oz|each|apiece|per|more|less|fewer)$",
    re.IGNORECASE,
)
_SPANS = re.compile(
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|nights?|quarters?|rounds?|games?|weekends?|times|"
    r"trips?)$",
    re.IGNORECASE,
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_LIST = re.compile(r"(?:[\w'’-]+(?: [\w'’-]+){0,3}, )+(?:and |or |& )?[\w'’-]+(?: (?:and|or|&) [\w'’-]+)?")
_PAIRED = re.compile(
    r"\b(?:twins?|both|another|either|neither|the other|other two|couple|pair|"
    r"together with|respectively)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"\b(?:triplets?|quadruplets?|each other|the others|the rest of|one of (?:them|the|his|her|their)|last one|"
    r"remaining|the (?:other|last|next) (?:one|two|three|four|\d))\b",
    re.IGNORECASE,
)


def frozen_values(question: str, mentions: Sequence[Mention]) -> set[Fraction]:
    """Values that must stay: each mention that is frozen by itself, and small counts that the text spells out elsewhere."""
    frozen = {mention.value for mention in mentions if mention.frozen}
    lengths = list_lengths(question) | {Fraction(_n_names(question))}
    ordinals = _ordinals(question)
    for mention in mentions:
        value = mention.value
        if value.denominator == 1 and value <= 12 and not _is_amount(question, mention):
            spelled = value in lengths or value in {n + d for n in ordinals for d in (0, 1)}
            paired = (value <= 3 and _PAIRED.search(question)) or (value <= 6 and _PARTS.search(question))
            if spelled or paired:
                frozen.add(value)
    percents = [mention.value for mention in mentions if mention.percent]
    if len(percents) > 2 and sum(percents) == 100:
        frozen |= set(percents)
    return frozen


def _is_amount(question: str, mention: Mention) -> bool:
    """Money, shares and measures are not counts of things that the text could list; spans of time may be."""
    if mention.percent or mention.decimals or re.search(r"[$€£]\s?$", question[: mention.start]):
        return True
    return bool(_MEASURE_UNIT.match(mention.unit)) and not (_SPANS.match(mention.unit) and _ordinals(question))


def _ordinals(question: str) -> set[int]:
    """The highest ordinal of the text, as a word or as digits."""
    words = [i + 1 for i, word in enumerate(_ORDINALS) if re.search(rf"\b{word}\b", question, re.IGNORECASE)]
    digits = [int(n) for n in re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)\b", question)]
    return {max(words + digits)} if words + digits else set()


def list_lengths(question: str) -> set[Fraction]:
    """How many things each enumeration of the text may name ("Ann, Bo and Cy": 3; "Ann and Bo": 2)."""
    lengths = {2} if re.search(r"\b[A-Z][a-z]+ and [A-Z][a-z]+", question) else set()
    for match in _LIST.finditer(question):
        n_pieces = len(re.split(r", (?:and |or |& )?| (?:and|or|&) ", match.group()))
        lengths |= {n_pieces, n_pieces + 1} if n_pieces > 1 else set()
    return {Fraction(n) for n in lengths}


def _n_names(question: str) -> int:
    return len(set(re.findall(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+\b", question)))


def limits(question: str, mentions: Sequence[Mention], computed_with: set[Fraction]) -> list[Fraction]:
    """Stated limits that the chain does not compute with ("over 20 points"), or that share their value with something else:
    every number stays on its side of them."""
    n_stated = Counter(mention.value for mention in mentions)
    return sorted(
        {
            mention.value
            for mention in mentions
            if _LIMIT.search(question[: mention.start][-24:])
            and (mention.value not in computed_with or n_stated[mention.value] > 1)
        }
    )


def relations(
    question: str, mentions: Sequence[Mention], computed_with: set[Fraction]
) -> list[tuple[str, Fraction, Fraction, Fraction]]:
    """A + b = c and a * b = c among stated numbers of a kind, of which the chain leaves one out: the story may rely on it, so
    it is kept. Up to 12 only sums of things that are counted ("6 people, 2 adults and 4 children") are more than chance."""
    first = {mention.value: mention for mention in reversed(mentions)}
    stated = sorted(first)
    equations = []
    for i, a in enumerate(stated):
        for b in stated[i + 1 :]:
            kinds = [_kind(first[value]) for value in (a, b)]
            c, d = a + b, a * b
            if (
                a > 1
                and c in first
                and not {a, b, c} <= computed_with
                and kinds == [_kind(first[c])] * 2
                and (c > 12 or not any(_is_amount(question, first[value]) for value in (a, b, c)))
            ):
                equations.append(("+", a, b, c))
            if (
                a > 1
                and d > 12
                and d in first
                and not {a, b, d} <= computed_with
                and "percent" not in kinds
                and sorted(kinds) == sorted(["count", _kind(first[d])])
            ):
                equations.append(("*", a, b, d))
            if kinds == ["percent"] * 2 and c == 100 and 100 not in first:
                equations.append(("+", a, b, Fraction(100)))
    return equations


def parts_of_totals(mentions: Sequence[Mention], computed_with: set[Fraction]) -> set[Fraction]:
    """Three or four counts that add up to a stated count of which the chain makes no use: its parts, which stay."""
    counts = [mention.value for mention in mentions if _kind(mention) == "count" and mention.value > 1]
    totals = {value for value in counts if value not in computed_with}
    parts: set[Fraction] = set()
    for total in totals:
        smaller = [value for value in counts if value < total]
        for n in (3, 4):
            for addends in itertools.islice(itertools.combinations(smaller, n), 2000):
                parts |= set(addends) if sum(addends) == total else set()
    return parts


def spelled_by_steps(chain: Sequence[Step], admissible: Sequence[Reading], mentions: Sequence[Mention]) -> set[Fraction]:
    """Small counts that the chain spells out: k terms added, or k or k - 1 steps that do the same; and small numbers that the
    chain uses oftener than the text states them, since one of the uses may be something else of that size."""
    sizes = {len(step.literals) for step in chain if not step.is_product and len(step.literals) > 2}
    alike = Counter((len(step.literals), step.is_product, min(step.literals)) for step in chain)
    sizes |= {n + more for n in alike.values() if n > 1 for more in (0, 1)}
    n_stated = Counter(mention.value for mention in mentions if _kind(mention) == "count" and not mention.decimals)
    n_used = {
        value: max(
            sum(source == Source("question", value, "same") for row in reading for source in row) for reading in admissible
        )
        for value in n_stated
        if value <= 4
    }
    return {value for value in n_stated if value in sizes and value.denominator == 1 and value > 1} | {
        value for value, n in n_used.items() if n > n_stated[value]
    }


def same_spans(mentions: Sequence[Mention]) -> set[Fraction]:
    """14 days that are also called two weeks: both stay."""
    frozen: set[Fraction] = set()
    for small, big, factor in (
        ("days?", "weeks?", 7),
        ("months?", "years?", 12),
        ("hours?", "days?", 24),
        ("minutes?", "hours?", 60),
        ("inch(?:es)?", "f(?:oo|ee)t", 12),
    ):
        for one in mentions:
            for other in mentions:
                if re.fullmatch(small, one.unit) and re.fullmatch(big, other.unit) and one.value == factor * other.value:
                    frozen |= {one.value, other.value}
    return frozen


def _kind(mention: Mention) -> str:
    """Money, share, or count."""
    return "percent" if mention.percent else "money" if mention.money else "count"
