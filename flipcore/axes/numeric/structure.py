"""Finds the numbers of a word problem that may change, by tracing its solution to its question.

Each guard in this module was added after it let through a wrong gold or a contradictory story.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flipcore.axes.numeric.chains import MIXED, PROSE, Step, gold, steps
from flipcore.axes.numeric.quantities import Mention, mentions
from flipcore.axes.numeric.tracing import (
    Reading,
    Source,
    distinct_readings,
    probe_draws,
    readings,
    results,
    sources,
)
from flipcore.axes.variants import Refusal

_DEALS = re.compile(
    r"\b(?:get (?:one|\d+) (?:\w+ )?(?:for )?free|buys? (?:one|two|\d+),? gets?|one half off|"
    r"every (?:second|other|third|fourth|fifth|sixth|tenth|\d+(?:st|nd|rd|th)) (?!day|week|month|"
    r"hour|year|night|morning)\w+|rounds? (?:up|down)|rounded (?:up|down)|prime numbers?|"
    r"consecutive|factors? of|multiples? of)\b",
    re.IGNORECASE,
)
_ALGEBRA = re.compile(
    r"\b[Ll]et(?:['’]s let)? [A-Za-z]\b|(?<![A-Za-z'’$])\d*[A-Za-z]\s?=(?!=)|[-+=*/(]\s?\d*[yzYZ]\b"
)
_ROUNDS = re.compile(
    r"\b(?:round(?:ed|s)?|nearest|remainder when|whole number|how many full|at least how many)\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:cheap\w*|expensive|costl\w+|most|least|highest|lowest|winner|loser|wins?|won|better|"
    r"best|worse|worst|larg\w+|small\w+|maximum|minimum|maximi\w+|minimi\w+|longest|shortest|"
    r"oldest|youngest|tallest|fewest|fastest|slowest|biggest|heaviest|lightest|enough|afford|"
    r"whichever|compared to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Structure:
    """The structure of a problem, before any number is drawn.

    Attributes
    ----------
    readings
        Ways to assign a source to every literal of the chain; all must give the same gold.
    groups
        Stated values that may change; all mentions of a value change together.
    relations
        (sign, a, b, c): a + b = c or a * b = c must still hold after the change.
    limits
        Values that no number may cross.
    keeps_order
        True if the results must keep their order.
    """

    steps: Sequence[Step]
    mentions: Sequence[Mention]
    readings: Sequence[Reading]
    groups: Sequence[Fraction]
    relations: Sequence[tuple[str, Fraction, Fraction, Fraction]]
    limits: Sequence[Fraction]
    keeps_order: bool

    @cached_property
    def stated(self) -> dict[Fraction, list[Mention]]:
        """Every stated value -> its mentions, the smallest value first."""
        by_value: dict[Fraction, list[Mention]] = {}
        for mention in sorted(self.mentions, key=lambda mention: mention.value):
            by_value.setdefault(mention.value, []).append(mention)
        return by_value

    @cached_property
    def order(self) -> list[tuple[Fraction, Fraction]]:
        """Neighbors among the stated numbers in order of size, (smaller, larger)."""
        return list(itertools.pairwise(self.stated))

    @cached_property
    def order_by_kind(self) -> list[tuple[Fraction, Fraction]]:
        """The same within amounts of money, within percentages and within the rest.
        Parts of a written fraction are left out."""
        kinds: dict[tuple[bool, bool], set[Fraction]] = {}
        for mention in self.mentions:
            if mention.why_frozen != "fraction":
                kinds.setdefault((mention.is_percent, mention.is_money), set()).add(mention.value)
        pairs: list[tuple[Fraction, Fraction]] = []
        for values in kinds.values():
            pairs += itertools.pairwise(sorted(values))
        return pairs


def structure(question: str, solution: str) -> Structure | Refusal:
    """Trace the solution's calculator chain to the question's numbers.

    Returns
    -------
    Structure or Refusal
        The numbers that may change and the conditions among them, or why none may.
    """
    target, numbers = gold(solution), mentions(question)
    if not numbers:
        return Refusal("no numbers", "The question states no number.")
    if _DEALS.search(question):
        return Refusal(
            "non-linear keyword",
            "The question buys one and gets one free, or counts every second one.",
        )
    if _ALGEBRA.search(re.sub(r"<<.*?>>", "", solution)):
        return Refusal(
            "algebra or mental step",
            "The solution works with an unknown; its steps hold for these numbers only.",
        )
    refusal: Refusal | None = None
    # The strictest attempt first. Counts that the solution finds without saying how are allowed
    # only as a last resort, and never where the question rounds.
    attempts = [(MIXED, False), (PROSE, False), (MIXED, True), (PROSE, True)]
    for equations, allow_mental in attempts if not _ROUNDS.search(question) else attempts[:2]:
        attempt = _traced(
            question,
            solution,
            target=target,
            numbers=numbers,
            equations=equations,
            allow_mental=allow_mental,
        )
        if isinstance(attempt, Structure):
            return attempt
        refusal = refusal or attempt
    return refusal or Refusal("no chain", "No way of reading the solution as a chain was tried.")


def _traced(
    question: str,
    solution: str,
    target: Fraction | None,
    numbers: list[Mention],
    equations: str,
    *,
    allow_mental: bool,
) -> Structure | Refusal:
    """Try one way to take the chain from the solution; see `steps` and `sources`."""
    try:
        chain = steps(solution, equations)
    except ValueError as error:
        return Refusal("inexact step", f"{error}.")
    if target is None or not chain:
        return Refusal("no chain", "The solution has no calculator steps.")
    # The chain ends at the gold; later steps may only be prose.
    last = max((i for i, step in enumerate(chain) if step.result == target), default=None)
    if last is None or any(step.is_annotated for step in chain[last + 1 :]):
        return Refusal("final step", "The last calculator step is not the gold.")
    chain, traces = sources(
        chain[: last + 1],
        numbers,
        question=question,
        counts=list_lengths(question),
        allow_mental=allow_mental,
    )
    if not all(all(row) for row in traces):
        return Refusal(
            "literal cannot be traced",
            "A number of the solution is neither in the question nor licensed.",
        )
    try:
        admissible = readings(chain, traces, n_stated=Counter(mention.value for mention in numbers))
    except OverflowError:
        return Refusal("ambiguous reading", "The chain can be read in more than 4,096 ways.")
    if not admissible:
        return Refusal("dangling intermediate result", "An intermediate result is used nowhere.")
    return _structure_of(question, chain, numbers=numbers, admissible=admissible)


def _structure_of(
    question: str, chain: list[Step], numbers: list[Mention], admissible: list[Reading]
) -> Structure | Refusal:
    """Keep the values that are not frozen and change the gold alike in every reading."""
    in_chain = sorted({source.key for source in _sources_of_kind("question", admissible)})
    frozen = (
        frozen_values(question, numbers)
        | _values_of_mental_counts(chain, admissible, numbers=numbers)
        | parts_of_totals(numbers, set(in_chain))
        | spelled_by_steps(chain, admissible, mentions=numbers)
        | same_spans(numbers)
    )
    limit_values = limits(question, numbers, computed_with=set(in_chain))
    # Changing a number on which the gold does not depend would change only the story.
    moves_gold = _values_behind_step(len(chain) - 1, admissible)
    fixed = frozen | set(limit_values)
    free = [value for value in in_chain if value in moves_gold and value not in fixed]
    distinct = distinct_readings(chain, admissible, groups=free)
    if not free:
        return Refusal(
            "no resamplable number", "Every number is frozen or part of the structure of the story."
        )
    agreed = [value for value in free if _readings_agree(chain, distinct, value=value)]
    if not agreed:
        return Refusal(
            "ambiguous reading", "Two admissible interpretations of the chain give different golds."
        )
    return Structure(
        chain,
        numbers,
        readings=distinct,
        groups=agreed,
        relations=relations(question, numbers, computed_with=set(in_chain)),
        limits=limit_values,
        keeps_order=bool(_COMPARES.search(question)),
    )


def _sources_of_kind(kind: str, admissible: Sequence[Reading]) -> Iterator[Source]:
    for reading in admissible:
        for row in reading:
            yield from (source for source in row if source.kind == kind)


def _readings_agree(chain: list[Step], distinct: list[Reading], value: Fraction) -> bool:
    """Tell whether all readings give the same gold when only this value changes."""
    for probe in probe_draws([value]):
        try:
            if len({results(chain, reading, draw=probe)[-1] for reading in distinct}) > 1:
                return False
        except ZeroDivisionError:
            return False
    return True


def _values_of_mental_counts(
    chain: list[Step], admissible: list[Reading], numbers: list[Mention]
) -> set[Fraction]:
    """Return the stated values that a mental count of the solution may come from: they stay."""
    counts = {source.key for source in _sources_of_kind("mental", admissible)}
    if not counts:
        return set()
    stated = {mention.value for mention in numbers}
    # Solutions leave 1, 2 and 7 unsaid: one more, twice, and the days of a week.
    partners = stated | {Fraction(n) for n in (1, 2, 7)}
    frozen: set[Fraction] = set()
    for value in stated:
        if any(_reaches(value, count, partners=partners) for count in counts):
            frozen.add(value)
    for i, step in enumerate(chain):
        if any(_reaches(step.result, count, partners=partners) for count in counts):
            frozen |= _values_behind_step(i, admissible)
    return frozen


def _reaches(value: Fraction, count: Fraction, partners: set[Fraction]) -> bool:
    """Tell whether one operation with some partner turns the value into the count."""
    return any(
        count in (value + partner, value - partner, partner - value, value * partner)
        or (partner and value / partner == count)
        or (value and partner / value == count)
        for partner in partners
    )


def _values_behind_step(i: int, admissible: list[Reading]) -> set[Fraction]:
    """Return every stated value on which the result of step `i` depends, in any reading."""
    values: set[Fraction] = set()
    for reading in admissible:
        open_steps = [i]
        while open_steps:
            for source in reading[open_steps.pop()]:
                if source.kind == "question":
                    values.add(source.key)
                elif source.kind == "result":
                    open_steps.append(int(source.key))
    return values


# Conditions in the story beyond the chain: counts that it spells out, limits, sums that must hold.

_LIMIT = re.compile(
    r"\b(?:over|above|exceed\w*|beyond|under|below|first|up to|more than|less than|fewer than|"
    r"at least|at most|minimum of|maximum of|between|after|after the|past|until|within)\s+\$?$",
    re.IGNORECASE,
)
_LIMIT_REACH = 24  # characters before a number in which it may be called a limit
_MAX_SUMS = 2_000  # sums that are tried for one total
_MEASURE_UNIT = re.compile(
    r"(?:dollars?|cents?|hours?|minutes?|seconds?|pounds?|ounces?|miles?|feet|foot|inch(?:es)?|"
    r"yards?|met(?:er|re)s?|km|kg|kilo\w+|grams?|lit(?:er|re)s?|gallons?|cups?|percent|times|"
    r"degrees?|points?|lbs?|calories|acres?|square|cubic|mph|ml|oz|each|apiece|per|more|less|"
    r"fewer)$",
    re.IGNORECASE,
)
_SPANS = re.compile(
    r"(?:days?|weeks?|months?|years?|hours?|minutes?|nights?|quarters?|rounds?|games?|weekends?|"
    r"times|trips?)$",
    re.IGNORECASE,
)
_ORDINALS = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
_LIST = re.compile(
    r"(?:[\w'’-]+(?: [\w'’-]+){0,3}, )+(?:and |or |& )?[\w'’-]+(?: (?:and|or|&) [\w'’-]+)?"
)
_PAIRED = re.compile(
    r"\b(?:twins?|both|another|either|neither|the other|other two|couple|pair|"
    r"together with|respectively)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"\b(?:triplets?|quadruplets?|each other|the others|the rest of|one of (?:them|the|his|her|"
    r"their)|last one|remaining|the (?:other|last|next) (?:one|two|three|four|\d))\b",
    re.IGNORECASE,
)


def frozen_values(question: str, mentions: Sequence[Mention]) -> set[Fraction]:
    """Return the values that must stay: frozen mentions, and small counts that the text lists."""
    frozen = {mention.value for mention in mentions if mention.why_frozen}
    # Count the names inside sentences: "Ann, Bo and Cy" may be the 3 of "the 3 friends".
    names = set(re.findall(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+\b", question))
    lengths = list_lengths(question) | {Fraction(len(names))}
    ordinals = _ordinals(question)
    for mention in mentions:
        value = mention.value
        if value.denominator == 1 and value <= 12 and not _is_amount(question, mention):
            spelled = value in lengths or value in ordinals or value - 1 in ordinals
            paired = (value <= 3 and _PAIRED.search(question)) or (
                value <= 6 and _PARTS.search(question)
            )
            if spelled or paired:
                frozen.add(value)
    # Percentages that sum to 100 cannot change one by one.
    percents = [mention.value for mention in mentions if mention.is_percent]
    if len(percents) > 2 and sum(percents) == 100:
        frozen |= set(percents)
    return frozen


def _is_amount(question: str, mention: Mention) -> bool:
    """Tell whether a mention is an amount: money, percentage or measure, not a count. A text lists
    no amounts. A span of time is a count where the text has ordinals ("the third day")."""
    if mention.is_percent or mention.decimals or re.search(r"[$€£]\s?$", question[: mention.start]):
        return True
    return bool(_MEASURE_UNIT.match(mention.unit)) and not (
        _SPANS.match(mention.unit) and _ordinals(question)
    )


def _ordinals(question: str) -> set[int]:
    """Return the highest ordinal of the text, as a word or in digits; empty where it has none."""
    words = [
        i + 1
        for i, word in enumerate(_ORDINALS)
        if re.search(rf"\b{word}\b", question, re.IGNORECASE)
    ]
    digits = [int(n) for n in re.findall(r"\b(\d{1,2})(?:st|nd|rd|th)\b", question)]
    return {max(words + digits)} if words + digits else set()


def list_lengths(question: str) -> set[Fraction]:
    """Return lengths that the text's enumerations may have ("Ann, Bo and Cy": 3)."""
    lengths = {2} if re.search(r"\b[A-Z][a-z]+ and [A-Z][a-z]+", question) else set()
    for match in _LIST.finditer(question):
        n_pieces = len(re.split(r", (?:and |or |& )?| (?:and|or|&) ", match.group()))
        if n_pieces > 1:
            lengths |= {n_pieces, n_pieces + 1}
    return {Fraction(n) for n in lengths}


def limits(
    question: str, mentions: Sequence[Mention], computed_with: set[Fraction]
) -> list[Fraction]:
    """Return the stated limits ("over 20 points"); every number stays on its side of them.
    A limit that the chain computes with counts only if the text states its value twice."""
    n_stated = Counter(mention.value for mention in mentions)
    return sorted(
        {
            mention.value
            for mention in mentions
            if _LIMIT.search(question[: mention.start][-_LIMIT_REACH:])
            and (mention.value not in computed_with or n_stated[mention.value] > 1)
        }
    )


def relations(
    question: str, mentions: Sequence[Mention], computed_with: set[Fraction]
) -> list[tuple[str, Fraction, Fraction, Fraction]]:
    """Return sums a + b = c and products a * b = c among the stated numbers, as (sign, a, b, c).

    The story may rely on those that the chain does not compute, so they must still hold. Up to 12
    only sums of counts ("6 people, 2 adults and 4 children") are more than chance.
    """
    by_value = {mention.value: mention for mention in reversed(mentions)}
    stated = sorted(by_value)
    equations = []
    for a, b in itertools.combinations(stated, 2):
        kinds = [_kind(by_value[value]) for value in (a, b)]
        total, product = a + b, a * b
        if (
            a > 1
            and total in by_value
            and not {a, b, total} <= computed_with
            and kinds == [_kind(by_value[total])] * 2
            and (
                total > 12
                or not any(_is_amount(question, by_value[value]) for value in (a, b, total))
            )
        ):
            equations.append(("+", a, b, total))
        if (
            a > 1
            and product > 12
            and product in by_value
            and not {a, b, product} <= computed_with
            and "percent" not in kinds
            and sorted(kinds) == sorted(["count", _kind(by_value[product])])
        ):
            equations.append(("*", a, b, product))
        if kinds == ["percent"] * 2 and total == 100 and 100 not in by_value:
            equations.append(("+", a, b, Fraction(100)))
    return equations


def parts_of_totals(mentions: Sequence[Mention], computed_with: set[Fraction]) -> set[Fraction]:
    """Return counts of which three or four add up to a stated count that the chain leaves out.
    They are its parts, so they stay."""
    counts = [
        mention.value for mention in mentions if _kind(mention) == "count" and mention.value > 1
    ]
    totals = {value for value in counts if value not in computed_with}
    parts: set[Fraction] = set()
    for total in totals:
        smaller = [value for value in counts if value < total]
        for n in (3, 4):
            for addends in itertools.islice(itertools.combinations(smaller, n), _MAX_SUMS):
                if sum(addends) == total:
                    parts |= set(addends)
    return parts


def spelled_by_steps(
    chain: Sequence[Step], admissible: Sequence[Reading], mentions: Sequence[Mention]
) -> set[Fraction]:
    """Return small counts that the chain spells out: they stay.

    The chain spells out k by adding k terms, or by k or k - 1 similar steps. Up to 4 a count also
    stays where the chain uses it more often than the text states it: one use may mean another
    number of that size.
    """
    sizes = {len(step.literals) for step in chain if not step.is_product and len(step.literals) > 2}
    shapes = Counter((len(step.literals), step.is_product, min(step.literals)) for step in chain)
    for n_similar in shapes.values():
        if n_similar > 1:
            sizes |= {n_similar, n_similar + 1}
    counts = [mention for mention in mentions if _kind(mention) == "count"]
    n_stated = Counter(mention.value for mention in counts if not mention.decimals)
    frozen: set[Fraction] = set()
    for value, n in n_stated.items():
        is_size = value in sizes and value.denominator == 1 and value > 1
        if is_size or (value <= 4 and _n_uses(value, admissible) > n):
            frozen.add(value)
    return frozen


def _n_uses(value: Fraction, admissible: Sequence[Reading]) -> int:
    """Return how many literals are the stated value itself, in the reading with the most."""
    source = Source("question", value, form="same")
    return max(sum(row.count(source) for row in map(list, reading)) for reading in admissible)


def same_spans(mentions: Sequence[Mention]) -> set[Fraction]:
    """Return values that state the same span twice ("14 days", "two weeks"): both stay."""
    frozen: set[Fraction] = set()
    for small_unit, large_unit, factor in (
        ("days?", "weeks?", 7),
        ("months?", "years?", 12),
        ("hours?", "days?", 24),
        ("minutes?", "hours?", 60),
        ("inch(?:es)?", "f(?:oo|ee)t", 12),
    ):
        in_small = {m.value for m in mentions if re.fullmatch(small_unit, m.unit)}
        in_large = {m.value for m in mentions if re.fullmatch(large_unit, m.unit)}
        for value in in_large:
            if factor * value in in_small:
                frozen |= {value, factor * value}
    return frozen


def _kind(mention: Mention) -> str:
    """Return "percent", "money" or "count"."""
    if mention.is_percent:
        return "percent"
    return "money" if mention.is_money else "count"
