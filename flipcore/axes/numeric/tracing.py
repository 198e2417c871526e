"""Traces each literal of a chain to its source: the question, an earlier result or a constant.

A reading assigns one source to every literal. It is admissible only if it uses every annotated
intermediate result. A resample counts only if all admissible readings give the same gold.
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
    """A possible source of a literal.

    `kind` is "question" (the stated value `key`), "result" (of step number `key`), "constant", or
    "mental": a small count that the solution found without saying how. `form` says how the literal
    is derived from it, see `in_form`.
    """

    kind: str
    key: Fraction
    form: str = ""


Reading = Sequence[Sequence[Source]]  # one source per step and literal


def sources(
    steps: Sequence[Step],
    mentions: Sequence[Mention],
    question: str,
    counts: set[Fraction],
    *,
    allow_mental: bool,
) -> tuple[list[Step], list[list[list[Source]]]]:
    """Return the steps to use, and the possible sources per step and literal.

    A literal that cannot be traced has an empty list. Untraced prose is left out. `counts` are
    sizes of lists in the text; they count as constants where a literal has no other source. With
    `allow_mental`, so do whole numbers from 2 to 12.
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
        for i, value in enumerate(step.literals):
            if not row[i] and (value in counts or value == 0):
                row[i] = [Source("constant", value)]
        row = _as_fractions(step, row, fractions=fractions)
        for i, value in enumerate(step.literals):
            if allow_mental and not row[i] and value.denominator == 1 and 2 <= value <= 12:
                row[i] = [Source("mental", value)]
        # An untraced annotated step is kept, so that the problem is refused.
        if step.is_annotated or step is steps[-1] or all(row):
            chain.append(step)
            candidates.append(row)
    return chain, candidates


def _as_fractions(
    step: Step, row: list[list[Source]], fractions: set[Fraction]
) -> list[list[Source]]:
    """Drop earlier results as sources of 2 and 3 side by side, where the question writes 2/3."""
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
    earlier_steps: Sequence[Step],
    mentions: Sequence[Mention],
    question: str,
    step: Step,
    stated: set[Fraction],
    fractions: set[Fraction],
) -> list[Source]:
    """Return all possible sources of a literal."""
    options: list[Source] = []
    for mention in mentions:
        options += [Source("question", mention.value, form=form) for form in _forms(mention, value)]
    options += [
        Source("result", F(i)) for i, earlier in enumerate(earlier_steps) if earlier.result == value
    ]
    text = f"{question}\n{step.line}"
    if "%" in text or "percent" in text:
        for form, factor in (("percent", F(1, 100)), ("whole", F(100))):
            options += [
                Source("result", F(i), form=form)
                for i, earlier in enumerate(earlier_steps)
                if earlier.result != value and earlier.result * factor == value
            ]
    # 100 - 40 stands for 40% only if nothing else has its value, or the step divides by 100.
    if not {F(100), F(1, 100)} & set(step.literals):
        full_sources = [source for source in options if source.form not in ("rest", "over")]
        options = full_sources or options
    is_licensed = is_licensed_constant(value, question, line=step.line, is_stated=value in stated)
    is_fraction = value.denominator > 1 and fractions & {value, 1 - value, value - 1}
    if (is_licensed and (value != 1 or not options)) or is_fraction:
        options.append(Source("constant", value))
    return list(dict.fromkeys(options))


def _forms(mention: Mention, value: Fraction) -> list[str]:
    """Return the forms (`in_form`) in which a stated number has this value in the chain."""
    stated = mention.value
    if mention.is_percent:
        forms = {
            "percent": stated / 100,
            "more": 1 + stated / 100,
            "less": 1 - stated / 100,
            "rest": 100 - stated,
            "over": 100 + stated,
            "same": stated,
        }
        return [form for form, amount in forms.items() if amount == value]
    matches = ["same"] if stated == value else []
    if stated / 100 == value and re.match(r"cents?|penn", mention.unit):
        matches.append("percent")
    return matches


def in_form(value: Fraction, form: str) -> Fraction:
    """Return a number in the form that the chain has: 40% may stand there as 0.4, 1.4 or 60."""
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
    """Return all admissible readings; OverflowError for more than MAX_READINGS candidates.
    `n_stated` says how often the question states each value."""
    n_literals = [len(row) for row in candidates]
    flat = list(itertools.chain.from_iterable(candidates))
    n_readings = 1
    for options in flat:
        n_readings *= len(options)
        if n_readings > MAX_READINGS:
            raise OverflowError
    # An annotated result that nothing uses would mean that the reading misses a step.
    needed = {i for i, step in enumerate(steps[:-1]) if step.is_annotated}
    admissible: list[Reading] = []
    for assignment in itertools.product(*flat):
        if needed <= {source.key for source in assignment if source.kind == "result"}:
            literals = iter(assignment)
            reading = [list(itertools.islice(literals, n)) for n in n_literals]
            if not any(
                step.is_product and _squares(row, n_stated)
                for step, row in zip(steps, reading, strict=True)
            ):
                admissible.append(reading)
    return admissible


def _squares(row: Sequence[Source], n_stated: Mapping[Fraction, int]) -> bool:
    """Tell whether a product uses a number more often than the question states it.
    One of the uses must then mean something else."""
    n_uses = Counter(source.key for source in row if source.kind == "question")
    return any(n > max(n_stated.get(value, 0), 1) for value, n in n_uses.items())


def results(
    steps: Sequence[Step], reading: Reading, draw: Mapping[Fraction, Fraction]
) -> list[Fraction]:
    """Return each step's result for a draw (stated value -> new); raises ZeroDivisionError."""
    step_results: list[Fraction] = []
    for step, row in zip(steps, reading, strict=True):
        values = []
        for source in row:
            if source.kind == "question":
                values.append(in_form(draw.get(source.key, source.key), source.form))
            elif source.kind == "result":
                values.append(in_form(step_results[int(source.key)], source.form))
            else:
                values.append(source.key)
        step_results.append(step.evaluated(values))
    return step_results


def distinct_readings(
    steps: Sequence[Step], admissible: Sequence[Reading], groups: Sequence[Fraction]
) -> list[Reading]:
    """Return one reading of each set whose readings give the same gold whatever the numbers.
    Readings count as the same if they agree for three odd draws (`probe_draws`)."""
    by_golds: dict[tuple, Reading] = {}
    for reading in admissible:
        golds = tuple(_gold(steps, reading, draw=probe) for probe in probe_draws(groups))
        by_golds.setdefault(golds, reading)
    return list(by_golds.values())


def probe_draws(groups: Sequence[Fraction]) -> list[dict[Fraction, Fraction]]:
    """Return three draws under which no two formulas agree by chance."""
    return [
        {value: value * F(prime + 2 * i, 97) + F(i + 1, prime) for i, value in enumerate(groups)}
        for prime in (101, 113, 89)
    ]


def _gold(
    steps: Sequence[Step], reading: Reading, draw: Mapping[Fraction, Fraction]
) -> Fraction | None:
    try:
        return results(steps, reading, draw=draw)[-1]
    except ZeroDivisionError:
        return None


# Numbers that a solution may use although the question does not state them: unit conversions, and
# numbers in words.

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

# The same where the question also states the number: value -> words of the step's own line.
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

# Numbers that words imply: value -> words of the question or of the step's line.
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


def is_licensed_constant(value: Fraction, question: str, line: str, *, is_stated: bool) -> bool:
    """Tell whether words in the question or the step's line allow the constant.
    Where the question states the same number (`is_stated`), the line itself must name the unit."""
    text = f"{question}\n{line}"
    unit, phrase = (STATED_UNITS if is_stated else UNITS).get(value), PHRASES.get(value)
    has_unit = unit and re.search(unit, line if is_stated else text, re.IGNORECASE)
    return bool(has_unit or (phrase and re.search(phrase, text, re.IGNORECASE)))
