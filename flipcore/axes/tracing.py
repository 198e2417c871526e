"""Where each literal of a chain comes from: a number of the question, an earlier result, or a licensed constant.

A reading assigns one source to every literal. Only readings in which every intermediate result is used are admissible, and a
resample counts only if all admissible readings give the same gold.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flipcore.axes.chains import Step
from flipcore.axes.quantities import Mention

MAX_READINGS = 4096
F = Fraction

# value -> words that license it when they stand in the question or on the step's line
CONSTANTS: Mapping[Fraction, str] = {
    F(7): r"week", F(12): r"dozen|year|annual|feet|foot|inch|month", F(24): r"\bday|hour|daily",
    F(60): r"minute|hour|second", F(3600): r"second|hour", F(365): r"year|annual|\bday", F(52): r"year|week|annual",
    F(30): r"month", F(31): r"month|january|march", F(100): r"percent|%|cent|dollar|\$|century|meter|centimeter",
    F(1000): r"kilo|kg|\bkm|gram|liter|meter|thousand|\btons?\b",
    F(3): r"yard|triple|thrice|third|three times|triplet|tripl", F(36): r"yard", F(16): r"ounce|pound|cup|gallon",
    F(4): r"quarter|quart|gallon|season|quadrupl|fourth",
    F(2): r"half|halves|halv|twice|doubl|pair|twin|couple|both|pint|even|average|two",
    F(10): r"dime|decade|ten\b|tenth|cent", F(5): r"nickel|fifth|weekday|quintupl", F(25): r"quarter",
    F(20): r"score|nickel|dollar", F(8): r"cup|gallon|pint|octop|spider|eighth",
    F(6): r"half[- ]dozen|half a dozen|insect|sixth", F(48): r"two days", F(1): r".", F(1, 2): r"half|halv|50 ?%",
    F(1, 3): r"third", F(1, 4): r"quarter|fourth", F(3, 4): r"three[- ](?:quarter|fourth)", F(2, 3): r"two[- ]third",
    F(1, 5): r"fifth", F(1, 10): r"tenth|dime", F(1, 100): r"percent|%|cent|penn", F(1, 20): r"nickel",
    F(5280): r"mile|feet", F(2000): r"\btons?\b", F(1440): r"\bday", F(180): r"triangle|angle|degree",
    F(360): r"circle|angle|degree", F(90): r"right angle|right-angle", F(14): r"fortnight|two weeks", F(28): r"february",
    F(9): r"square yard", F(18): r"\b18\b"}


@dataclass(frozen=True)
class Source:
    """`kind` is "question" (of the value group `key`, transformed by `form`), "result" (of step `key`) or "constant"."""

    kind: str
    key: Fraction | int
    form: str = ""


def sources(steps: Sequence[Step], mentions: Sequence[Mention], question: str) -> list[list[list[Source]]]:
    """Candidate sources per step and literal; an empty innermost list is a literal that cannot be traced."""
    return [[_candidates(value, steps[:i], mentions, question + "\n" + step.line) for value in step.literals]
            for i, step in enumerate(steps)]


def _candidates(value: Fraction, before: Sequence[Step], mentions: Sequence[Mention], text: str) -> list[Source]:
    found: list[Source] = []
    for mention in mentions:
        found += [Source("question", mention.value, form) for form in _forms(mention, value)]
    found += [Source("result", i) for i, step in enumerate(before) if step.result == value]
    found += [Source("result", i, "percent") for i, step in enumerate(before)
              if step.result != value and step.result / 100 == value and "%" in text]
    words = CONSTANTS.get(value)
    if words and (value != 1 or not found) and re.search(words, text, re.IGNORECASE):
        found.append(Source("constant", value))
    return list(dict.fromkeys(found))


def _forms(mention: Mention, value: Fraction) -> list[str]:
    """The ways in which a stated number may appear in the chain."""
    x = mention.value
    if mention.percent:
        forms = {"percent": x / 100, "more": 1 + x / 100, "less": 1 - x / 100, "rest": 100 - x, "over": 100 + x, "same": x}
        return [form for form, made in forms.items() if made == value]
    found = ["same"] if x == value else []
    if x / 100 == value and re.match(r"cents?|penn", mention.unit):
        found.append("percent")
    return found


def transformed(value: Fraction, form: str) -> Fraction:
    """A drawn number in the form in which the chain has it."""
    return {"percent": value / 100, "more": 1 + value / 100, "less": 1 - value / 100, "rest": 100 - value,
            "over": 100 + value}.get(form, value)


def readings(candidates: Sequence[Sequence[Sequence[Source]]]) -> list[list[list[Source]]]:
    """All admissible readings; raises OverflowError for more than MAX_READINGS."""
    shape = [len(step) for step in candidates]
    flat = [options for step in candidates for options in step]
    total = 1
    for options in flat:
        total *= len(options)
        if total > MAX_READINGS:
            raise OverflowError
    found = []
    for chosen in itertools.product(*flat):
        iterator = iter(chosen)
        reading = [[next(iterator) for _ in range(n)] for n in shape]
        used = {source.key for step in reading for source in step if source.kind == "result"}
        if used >= set(range(len(reading) - 1)):
            found.append(reading)
    return found


def results(steps: Sequence[Step], reading: Sequence[Sequence[Source]], drawn: Mapping[Fraction, Fraction]) -> list[Fraction]:
    """Every step's result for drawn numbers (value group -> new value); raises ZeroDivisionError."""
    made: list[Fraction] = []
    for step, row in zip(steps, reading, strict=True):
        values = []
        for source in row:
            if source.kind == "question":
                values.append(transformed(drawn.get(source.key, source.key), source.form))
            elif source.kind == "result":
                values.append(transformed(made[source.key], source.form))
            else:
                values.append(source.key)
        made.append(step.evaluated(values))
    return made
