"""The source of each literal of a chain: a number of the question, an earlier result, or a
licensed constant.

A reading assigns one source to every literal. Only readings in which every annotated intermediate
result is used are admissible, and a resample counts only if all admissible readings give the same
gold.
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flipcore.axes.numeric.chains import Step
from flipcore.axes.numeric.quantities import Mention

MAX_READINGS = 4096
F = Fraction

_WRITTEN_FRACTION = re.compile(r"(?<!\d)(\d{1,2})\s?/\s?(\d{1,3})(?!\d)")


@dataclass(frozen=True)
class Source:
    """`kind` is "question" (of the value group `key`, transformed by `form`), "result" (of step
    number `key`), "constant", or "mental": a small count that the solution found without saying
    how."""

    kind: str
    key: Fraction
    form: str = ""


Reading = Sequence[Sequence[Source]]


def sources(
    steps: Sequence[Step],
    mentions: Sequence[Mention],
    question: str,
    counts: set[Fraction],
    *,
    mental: bool,
) -> tuple[list[Step], list[list[list[Source]]]]:
    """The steps that are kept, and candidate sources per step and literal; an empty list is a
    literal that cannot be traced.

    Prose that cannot be traced is left out. `counts` are sizes of lists in the text, constants
    where nothing else is stated. With `mental` a small whole number that has no source is taken as
    a count.
    """
    stated = {mention.value for mention in mentions}
    fractions = {F(int(a), int(b)) for a, b in _WRITTEN_FRACTION.findall(question) if int(b)}
    chain: list[Step] = []
    candidates: list[list[list[Source]]] = []
    for step in steps:
        row = [
            _candidates(
                value,
                chain,
                mentions=mentions,
                question=question,
                step=step,
                stated=stated,
                fractions=fractions,
            )
            for value in step.literals
        ]
        row = [
            options or ([Source("constant", value)] if value in counts or value == 0 else [])
            for options, value in zip(row, step.literals, strict=True)
        ]
        row = _as_fractions(step, row, fractions=fractions)
        if mental:
            row = [
                options
                or (
                    [Source("mental", value)] if value.denominator == 1 and 2 <= value <= 12 else []
                )
                for options, value in zip(row, step.literals, strict=True)
            ]
        # Prose that cannot be traced is left out; an annotated step is kept, so that it refuses.
        if step.is_annotated or step is steps[-1] or all(row):
            chain.append(step)
            candidates.append(row)
    return chain, candidates


def _as_fractions(
    step: Step, row: list[list[Source]], fractions: set[Fraction]
) -> list[list[Source]]:
    """2 and 3 side by side, where the question writes 2/3, are that fraction and no earlier results
    of the same size."""
    if not step.is_product:
        return row
    parts: set[int] = set()
    for i, (a, b) in enumerate(itertools.pairwise(step.literals)):
        if 0 < a < b and a / b in fractions:
            parts |= {i, i + 1}
    traced = []
    for i, options in enumerate(row):
        stated_options = [source for source in options if source.kind != "result"]
        traced.append(stated_options or options if i in parts else options)
    return traced


def _candidates(
    value: Fraction,
    before: Sequence[Step],
    mentions: Sequence[Mention],
    question: str,
    step: Step,
    stated: set[Fraction],
    fractions: set[Fraction],
) -> list[Source]:
    """All that a literal may be. 100 - 40 counts for 40 % only where nothing else has its value, or
    the step divides by 100."""
    options: list[Source] = []
    for mention in mentions:
        options += [Source("question", mention.value, form=form) for form in _forms(mention, value)]
    options += [
        Source("result", F(i)) for i, earlier in enumerate(before) if earlier.result == value
    ]
    text = f"{question}\n{step.line}"
    if "%" in text or "percent" in text:
        options += [
            Source("result", F(i), form="percent")
            for i, earlier in enumerate(before)
            if earlier.result != value and earlier.result / 100 == value
        ]
        options += [
            Source("result", F(i), form="whole")
            for i, earlier in enumerate(before)
            if earlier.result != value and earlier.result * 100 == value
        ]
    if not {F(100), F(1, 100)} & set(step.literals) and any(
        not source.form.startswith(("rest", "over")) for source in options
    ):
        options = [source for source in options if not source.form.startswith(("rest", "over"))]
    if (
        licensed(value, question, line=step.line, is_stated=value in stated)
        and (value != 1 or not options)
    ) or (value.denominator > 1 and fractions & {value, 1 - value, value - 1}):
        options.append(Source("constant", value))
    return list(dict.fromkeys(options))


def _forms(mention: Mention, value: Fraction) -> list[str]:
    """The ways in which a stated number may appear in the chain."""
    x = mention.value
    if mention.percent:
        forms = {
            "percent": x / 100,
            "more": 1 + x / 100,
            "less": 1 - x / 100,
            "rest": 100 - x,
            "over": 100 + x,
            "same": x,
        }
        return [form for form, amount in forms.items() if amount == value]
    matches = ["same"] if x == value else []
    if x / 100 == value and re.match(r"cents?|penn", mention.unit):
        matches.append("percent")
    return matches


def transformed(value: Fraction, form: str) -> Fraction:
    """A drawn number in the form in which the chain has it."""
    if not form or form == "same":
        return value
    return {
        "percent": value / 100,
        "whole": value * 100,
        "more": 1 + value / 100,
        "less": 1 - value / 100,
        "rest": 100 - value,
        "over": 100 + value,
    }[form]


def readings(
    steps: Sequence[Step],
    candidates: Sequence[Sequence[Sequence[Source]]],
    n_stated: Mapping[Fraction, int],
) -> list[Reading]:
    """All admissible readings; raises OverflowError for more than MAX_READINGS."""
    shape = [len(step) for step in candidates]
    flat = list(itertools.chain.from_iterable(candidates))
    total = 1
    for options in flat:
        total *= len(options)
        if total > MAX_READINGS:
            raise OverflowError
    # An annotated result that nothing uses would mean that the reading misses a step.
    needed = {i for i, step in enumerate(steps[:-1]) if step.is_annotated}
    admissible: list[Reading] = []
    for assignment in itertools.product(*flat):
        if needed <= {source.key for source in assignment if source.kind == "result"}:
            literals = iter(assignment)
            reading = [list(itertools.islice(literals, n)) for n in shape]
            if not any(
                step.is_product and _squares(row, n_stated)
                for step, row in zip(steps, reading, strict=True)
            ):
                admissible.append(reading)
    return admissible


def _squares(row: Sequence[Source], n_stated: Mapping[Fraction, int]) -> bool:
    """A number that the question states once stands twice in a product: one of the two is something
    else."""
    n_uses = Counter(source.key for source in row if source.kind == "question")
    return any(n > max(n_stated.get(value, 0), 1) for value, n in n_uses.items())


def results(
    steps: Sequence[Step], reading: Reading, draw: Mapping[Fraction, Fraction]
) -> list[Fraction]:
    """Result of every step for drawn numbers (value group -> new); raises ZeroDivisionError."""
    step_results: list[Fraction] = []
    for step, row in zip(steps, reading, strict=True):
        values = []
        for source in row:
            if source.kind == "question":
                values.append(transformed(draw.get(source.key, source.key), source.form))
            elif source.kind == "result":
                values.append(transformed(step_results[int(source.key)], source.form))
            else:
                values.append(source.key)
        step_results.append(step.evaluated(values))
    return step_results


def distinct(
    steps: Sequence[Step], admissible: Sequence[Reading], groups: Sequence[Fraction]
) -> list[Reading]:
    """One reading of each set that gives the same gold whatever the numbers: found by trying three
    odd assignments."""
    by_golds: dict[tuple, Reading] = {}
    for reading in admissible:
        by_golds.setdefault(
            tuple(_gold(steps, reading, draw=probe) for probe in probes(groups)), reading
        )
    return list(by_golds.values())


def probes(groups: Sequence[Fraction]) -> list[dict[Fraction, Fraction]]:
    """Three assignments under which no two formulas agree by chance."""
    return [
        {value: value * F(p + 2 * i, 97) + F(i + 1, p) for i, value in enumerate(groups)}
        for p in (101, 113, 89)
    ]


def _gold(
    steps: Sequence[Step], reading: Reading, draw: Mapping[Fraction, Fraction]
) -> Fraction | None:
    try:
        return results(steps, reading, draw=draw)[-1]
    except ZeroDivisionError:
        return None


# Numbers that a solution may use although the question does not state them: unit conversions, and
# what words say.

_MONTH = (
    r"month|\b(?:january|february|march|april|june|july|august|september|october|november"
    r"|december)\b"
)

# Unit conversions: value -> words of the question or of the step's line.
UNITS: Mapping[Fraction, str] = {
    F(7): r"\bweek|\bdays?\b|\bdaily",
    F(12): r"dozen|\byear|annual|\bfeet\b|\bfoot\b|inch|month",
    F(24): r"\bday|hour|daily",
    F(60): r"minute|hour|seconds\b",
    F(3600): r"seconds\b|hour",
    F(1440): r"\bday|minute",
    F(365): r"\byear|annual|\bday",
    F(366): r"leap",
    F(52): r"\byear|\bweek|annual",
    F(30): r"month|\bdays?\b|daily",
    F(31): r"month|\bdays?\b|daily",
    F(28): r"february",
    F(29): r"february|leap",
    F(14): r"fortnight|two weeks",
    F(48): r"two days",
    F(100): r"percent|%|\bcents?\b|dollar|\$|century|met(?:er|re)",
    F(
        1000
    ): r"kilo|\bkg\b|\bk?m\b|\bgrams?\b|\blit(?:er|re)|met(?:er|re)|thousand|\btons?\b|\bml\b",
    F(2000): r"\btons?\b",
    F(5280): r"\bmile|\bfeet",
    F(36): r"\byard",
    F(16): r"ounce|pound|\bcup|gallon|\boz\b",
    F(8): r"\bcups?\b|gallon|\bpints?\b",
    F(9): r"square yard",
    F(3): r"\byards?\b|\bfeet\b",
    F(90): r"right[- ]angle",
    F(180): r"triangle|angle|degree",
    F(360): r"circle|angle|degree",
    F(25): r"\bquarters?\b",
    F(20): r"\bscore\b|nickel",
    F(10): r"\bdimes?\b|decade",
    F(5): r"\bnickels?\b|weekday|work ?week|monday",
    F(4): r"\bquarters?\b|\bquarts?\b|gallon|\bseasons?\b|month",
    F(2): r"\bpints?\b|weekend|saturday",
    F(1, 100): r"percent|%|\bcents?\b|penn",
    F(1, 20): r"nickel",
    F(1, 10): r"\bdime",
}

# The same where the question states that very number too: what the step's own line must say.
STATED_UNITS: Mapping[Fraction, str] = {
    F(7): r"\bweek",
    F(12): r"dozen|\byear|annual|\bfeet\b|\bfoot\b|inch",
    F(24): r"\bday",
    F(60): r"minute|hour|seconds\b",
    F(365): r"\byear|annual",
    F(52): r"\byear|annual",
    F(30): _MONTH,
    F(31): _MONTH,
    F(28): r"february",
    F(100): r"percent|%|\bcents?\b|[/*x] ?100\b",
    F(1000): r"kilo|\bkg\b|\bkm\b",
    F(2000): r"\btons?\b",
    F(36): r"\byard",
    F(16): r"\bounce.*pound|pound.*ounce",
    F(8): r"\bpints?\b.*gallon",
    F(3): r"\byards?\b",
    F(25): r"\bquarters?\b",
    F(20): r"nickel",
    F(10): r"\bdimes?\b|decade",
    F(5): r"weekday|work ?week|nickel",
    F(4): r"month|quarters?\b|quarts?\b",
    F(2): r"weekend",
}

# What the story says in words: value -> words anywhere in the question or on the line.
PHRASES: Mapping[Fraction, str] = {
    F(1): r".",
    F(2): r"half|halves|halv|twice|doubl|\bpairs?\b|twin|couple|\bboth\b|average|back and forth|"
    r"there and back|round ?trip|\bparents\b|husband and wife",
    F(3): r"triple|thrice|thirds\b|(?:one|a)[- ]third|third of|triplet|trio",
    F(4): r"quadrupl|fourths\b|(?:one|a)[- ]fourth|quarter",
    F(5): r"quintupl|fifths?\b",
    F(6): r"half[- ]dozen|half a dozen|sixths?\b",
    F(7): r"sevenths?\b",
    F(8): r"eighths?\b",
    F(9): r"ninths?\b",
    F(10): r"tenths?\b",
    F(1, 2): r"half|halv|50 ?%|fifty percent|average",
    F(1, 3): r"third",
    F(2, 3): r"third",
    F(1, 4): r"quarter|fourth",
    F(3, 4): r"quarter|fourth",
    F(1, 5): r"fifth",
    F(1, 6): r"sixth",
    F(1, 8): r"eighth",
    F(1, 10): r"tenth",
    F(3, 2): r"half",
}


def licensed(value: Fraction, question: str, line: str, *, is_stated: bool) -> bool:
    """Tell whether words allow the constant at a step.

    `is_stated` says that the question states the same number: the step's own line must then say
    what the constant is.
    """
    text = f"{question}\n{line}"
    unit, phrase = (STATED_UNITS if is_stated else UNITS).get(value), PHRASES.get(value)
    return bool(
        (unit and re.search(unit, line if is_stated else text, re.IGNORECASE))
        or (phrase and re.search(phrase, text, re.IGNORECASE))
    )
