"""Word problems with `<<a*b=c>>` chains: 14 templates, three wordings each, every number from the question used once."""

from dataclasses import dataclass

import numpy as np

from tests.lab.pocket.lexicon import CONTAINERS, NAMES, PLACES, THINGS

OPERATIONS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}


@dataclass(frozen=True)
class Template:
    """`draws` gives each number its range; a step is (label, left, operation, right), where `#0` is step 0's result."""

    name: str
    wordings: tuple[str, ...]
    draws: tuple[tuple[str, int, int], ...]
    steps: tuple[tuple[str, str, str, str], ...]


def _ranges(**ranges: tuple[int, int]) -> tuple[tuple[str, int, int], ...]:
    return tuple((name, low, high) for name, (low, high) in ranges.items())


TEMPLATES = (
    Template(
        "pack",
        (
            "{name} packs {a} {box} with {b} {thing} in each. Then {c} {thing} are given away. How many {thing} are left?",
            "In each of {a} {box} {name} puts {b} {thing}. After {c} {thing} are given away, how many {thing} remain?",
            "{name} fills {a} {box}, each with {b} {thing}, and later gives away {c} {thing}. What number of {thing} is left?",
        ),
        _ranges(a=(3, 15), b=(3, 12), c=(2, 40)),
        (("packed", "a", "*", "b"), ("left", "#0", "-", "c")),
    ),
    Template(
        "collect",
        (
            "{name} has {a} {thing}. {other} has {b} more {thing} than {name}. How many {thing} do they have together?",
            "{name} owns {a} {thing}, and {other} owns {b} more than that. How many {thing} do the two own in all?",
            "There are {a} {thing} in the bag of {name} and {b} more in the bag of {other}. How many {thing} are in both?",
        ),
        _ranges(a=(5, 60), b=(3, 40)),
        (("other", "a", "+", "b"), ("together", "a", "+", "#0")),
    ),
    Template(
        "price",
        (
            "At the {place} one ticket costs {a} coins. {name} buys {b} tickets and pays with {c} coins. "
            "How many coins does {name} get back?",
            "{name} buys {b} tickets at the {place} for {a} coins each and hands over {c} coins. What is the change in coins?",
            "A ticket for the {place} is {a} coins. How many coins are returned to {name}, who takes {b} tickets and gives "
            "{c} coins?",
        ),
        _ranges(a=(3, 12), b=(2, 9), c=(20, 100)),
        (("cost", "a", "*", "b"), ("back", "c", "-", "#0")),
    ),
    Template(
        "share",
        (
            "{name} picks {a} {thing} on one day and {b} {thing} on the next. They are shared equally among {c} friends. "
            "How many {thing} does each friend get?",
            "On one day {name} finds {a} {thing}, on the next {b}. Shared out evenly, how many {thing} go to each of {c} "
            "friends?",
            "{c} friends divide equally the {a} {thing} and the {b} {thing} that {name} found on two days. "
            "How many {thing} has each friend?",
        ),
        _ranges(a=(4, 50), b=(4, 50), c=(3, 9)),
        (("all", "a", "+", "b"), ("each", "#0", "/", "c")),
    ),
    Template(
        "rows",
        (
            "The hall of the {place} has {a} rows of {b} seats and {c} more seats on the balcony. How many seats are there?",
            "In the {place} there are {c} seats on the balcony, and {a} rows of {b} seats below. How many seats in all?",
            "{a} rows with {b} seats each fill the hall of the {place}; the balcony adds {c} seats. What is the number of seats?",
        ),
        _ranges(a=(4, 15), b=(4, 12), c=(5, 40)),
        (("below", "a", "*", "b"), ("seats", "#0", "+", "c")),
    ),
    Template(
        "walk",
        (
            "{name} walks {a} miles to the {place}, then {b} miles to the bridge. "
            "At the end {name} walks {c} miles more. How many miles is the whole way?",
            "From home to the {place} is {a} miles, and from there {b} miles to the bridge. {name} goes this way and then "
            "{c} miles more. How many miles is that?",
            "{name} goes {a} miles to the {place} and {b} miles on to the bridge, then another {c} miles. How many miles in all?",
        ),
        _ranges(a=(6, 50), b=(6, 50), c=(3, 30)),
        (("there", "a", "+", "b"), ("whole", "#0", "+", "c")),
    ),
    Template(
        "crates",
        (
            "A cart brings {a} {thing} to the {place}. {name} sells {b} of them and packs the rest into {box} of {c}. "
            "How many {box} are needed?",
            "{name} at the {place} gets {a} {thing}, sells {b}, and puts what is left into {box} that hold {c} each. "
            "How many {box} does this take?",
            "Of {a} {thing} brought to the {place}, {name} sells {b}; the others go into {box}, {c} to each. "
            "What number of {box} is filled?",
        ),
        _ranges(a=(20, 100), b=(4, 50), c=(3, 9)),
        (("rest", "a", "-", "b"), ("filled", "#0", "/", "c")),
    ),
    Template(
        "wages",
        (
            "{name} earns {a} coins an hour at the {place} and works {b} hours. Then {name} spends {c} coins. "
            "How many coins are left?",
            "For each of {b} hours at the {place} {name} is paid {a} coins. What remains after {c} coins are spent?",
            "{name} works {b} hours at the {place} for {a} coins an hour and spends {c} of the coins. How many coins remain?",
        ),
        _ranges(a=(4, 15), b=(3, 12), c=(5, 50)),
        (("earned", "a", "*", "b"), ("left", "#0", "-", "c")),
    ),
    Template(
        "pages",
        (
            "A book has {a} pages. {name} reads {b} pages on each of {c} days. How many pages are left to read?",
            "{name} reads {b} pages a day for {c} days in a book of {a} pages. How many pages remain?",
            "In a book of {a} pages {name} has read for {c} days, {b} pages each day. What number of pages is still unread?",
        ),
        _ranges(a=(60, 180), b=(4, 15), c=(3, 9)),
        (("read", "b", "*", "c"), ("left", "a", "-", "#0")),
    ),
    Template(
        "teams",
        (
            "{a} girls and {b} boys from the {place} play in teams of {c}. How many teams are there?",
            "The {place} sends {a} girls and {b} boys, who form teams of {c}. How many teams is that?",
            "In teams of {c} play {b} boys and {a} girls of the {place}. What is the number of teams?",
        ),
        _ranges(a=(5, 40), b=(5, 40), c=(3, 8)),
        (("players", "a", "+", "b"), ("teams", "#0", "/", "c")),
    ),
    Template(
        "stock",
        (
            "The {place} has {a} {thing}. It gets {b} more and sells {c}. How many {thing} does it have now?",
            "To the {a} {thing} of the {place} come {b} more, and {c} are sold. How many {thing} are there now?",
            "{b} {thing} arrive at the {place}, which had {a}; then {c} are sold. What number of {thing} does it hold now?",
        ),
        _ranges(a=(10, 80), b=(5, 50), c=(3, 45)),
        (("more", "a", "+", "b"), ("now", "#0", "-", "c")),
    ),
    Template(
        "gifts",
        (
            "{name} makes {a} {thing} for each of {b} children and {c} for each of {d} teachers. How many {thing} is that?",
            "Each of {b} children gets {a} {thing} from {name}, each of {d} teachers gets {c}. How many {thing} are needed?",
            "For {b} children {name} makes {a} {thing} each, and for {d} teachers {c} each. What is the number of {thing}?",
        ),
        _ranges(a=(2, 9), b=(4, 12), c=(2, 9), d=(2, 6)),
        (("children", "a", "*", "b"), ("teachers", "c", "*", "d"), ("all", "#0", "+", "#1")),
    ),
    Template(
        "older",
        (
            "{name} is {a} years old and {other} is {b} years younger. How old are they together in {c} years, if only the age "
            "of {name} grows?",
            "{other} is {b} years younger than {name}, who is {a}. Add the {c} years that {name} still grows: what are both ages "
            "together?",
            "At {a} years {name} is {b} years older than {other}. {name} grows {c} years older, {other} stays. What do the ages "
            "add up to?",
        ),
        _ranges(a=(20, 70), b=(3, 19), c=(3, 15)),
        (("younger", "a", "-", "b"), ("both", "a", "+", "#0"), ("then", "#1", "+", "c")),
    ),
    Template(
        "jars",
        (
            "{name} fills {a} jars with {b} spoons of sugar each and {other} fills {c} jars with {d} spoons each. "
            "How many spoons more does {name} use?",
            "With {b} spoons of sugar each {name} fills {a} jars, and {other} {c} jars with {d} each. How many spoons more go "
            "to {name}?",
            "{a} jars of {name} take {b} spoons of sugar each, {c} jars of {other} take {d} each. By how many spoons does "
            "{name} use more?",
        ),
        _ranges(a=(5, 12), b=(4, 12), c=(2, 9), d=(2, 9)),
        (("first", "a", "*", "b"), ("second", "c", "*", "d"), ("more", "#0", "-", "#1")),
    ),
)


@dataclass(frozen=True)
class Problem:
    """One problem in all its wordings; `answer` continues the prompt, `target` is the exact number."""

    template: str
    wordings: tuple[str, ...]
    answer: str
    target: str

    @property
    def solution(self) -> str:
        return self.answer.rsplit("\n####", 1)[0].strip()


def _chain(template: Template, numbers: dict[str, int]) -> list[tuple[str, int, str, int, int]] | None:
    results: list[int] = []
    lines = []
    for label, left, operation, right in template.steps:
        a, b = (results[int(key[1:])] if key[0] == "#" else numbers[key] for key in (left, right))
        result = OPERATIONS[operation](a, b)
        if result != int(result) or not 2 <= result <= 250:
            return None
        results.append(int(result))
        lines.append((label, a, operation, b, int(result)))
    return lines


def problem(rng: np.random.Generator) -> Problem:
    """A random problem: every step positive and whole, no number used twice."""
    template = TEMPLATES[rng.integers(len(TEMPLATES))]
    lines = None
    while lines is None:
        numbers = {key: int(rng.integers(low, high + 1)) for key, low, high in template.draws}
        lines = _chain(template, numbers) if len(set(numbers.values())) == len(numbers) else None
    name, other = (NAMES[i] for i in rng.choice(len(NAMES), 2, replace=False))
    slots = {
        "name": name,
        "other": other,
        "thing": THINGS[rng.integers(len(THINGS))],
        "box": CONTAINERS[rng.integers(len(CONTAINERS))],
        "place": PLACES[rng.integers(len(PLACES))],
        **numbers,
    }
    steps = " ".join(f"{label}: <<{a}{operation}{b}={result}>>{result}." for label, a, operation, b, result in lines)
    target = str(lines[-1][-1])
    wordings = tuple(wording.format(**slots) for wording in template.wordings)
    return Problem(template.name, wordings, f" {steps}\n#### {target}", target)
