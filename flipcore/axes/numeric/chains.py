"""A problem's own calculator chain: `<<16-3-4=9>>` steps, and plain equations in the prose.

An equation counts only if its arithmetic is exact, which is what keeps misread prose out.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

MIXED, PROSE = "mixed", "prose"  # which equations of a line are taken, see `steps`

_ANNOTATION = re.compile(r"<<([^<>=]*)=([^<>=]+)>>")
_GOLD = re.compile(r"####\s*(.+)\s*$")
_LITERAL = re.compile(r"\d*\.?\d+%?")
_PROSE_WORDS = (
    (r"\btimes\b|\bmultiplied by\b|×|(?<=[\d\s)])[xX](?=[\s\d($])", "*"),
    (r"\bplus\b", "+"),
    (r"\bminus\b|–|−", "-"),
    (r"\bdivided by\b|÷", "/"),
    (r"\bequals\b|\bis equal to\b", "="),
    (r"(?<=[\d%])\s+of\s+(?=\$?[\d(])", "*"),
)
_EXPRESSION = re.compile(r"[-+*/().%\d\s]+$")
_STATED = re.compile(r"\s*(-?\d*\.?\d+%?)")
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Step:
    """`literals[i]` are the exact numbers of the equation in reading order; `evaluated` takes
    others in their place. `line` is the sentence it stands in; `is_annotated` says that it was a
    calculator step and not prose, `is_product` that it only multiplies and divides."""

    function: Callable = field(compare=False)
    literals: tuple[Fraction, ...]
    result: Fraction
    line: str
    is_annotated: bool
    is_product: bool

    def evaluated(self, values: Sequence[Fraction]) -> Fraction:
        """The step's result for other literals; raises ZeroDivisionError."""
        return self.function(values)


def gold(solution: str) -> Fraction | None:
    """The number after ####."""
    match = _GOLD.search(solution.strip())
    return _number(match[1]) if match else None


def steps(solution: str, take: str = MIXED) -> list[Step]:
    """The steps in reading order; raises ValueError with the first annotation that is not exact and
    has no prose beside it.

    MIXED takes annotations and the prose beside them (a result worked out in prose may be what a
    later step means), PROSE takes prose instead of an annotation with the same result, and it
    counts as the annotation then. A restated number (`<<28=28>>`) is no step.
    """
    chain: list[Step] = []
    for line in solution.split("\n"):
        if line.strip().startswith("####"):
            break
        chain += _steps_of_line(line, take)
    return chain


def _steps_of_line(line: str, take: str) -> list[Step]:
    annotated, inexact = [], []
    for match in _ANNOTATION.finditer(line):
        step = _step(match[1], match[2], line=line, is_annotated=True)
        if step is None and _number(match[1].strip()) != _number(match[2]):
            inexact.append(match.group())
        annotated += [(match.start(), step)] if step else []
    prose = [(start, step) for start, step in _prose_steps(line) if step]
    if inexact and not prose:
        raise ValueError(f"{inexact[0]} is not exact arithmetic")
    if take == PROSE:
        prose_results = {step.result for _, step in prose}
        annotated_results = {step.result for _, step in annotated}
        annotated = [(start, step) for start, step in annotated if step.result not in prose_results]
        prose = [
            (start, replace(step, is_annotated=step.result in annotated_results))
            for start, step in prose
        ]
    equations = {(tuple(sorted(step.literals)), step.result) for _, step in annotated}
    prose = [
        (start, step)
        for start, step in prose
        if (tuple(sorted(step.literals)), step.result) not in equations
    ]
    return [step for _, step in sorted(annotated + prose, key=lambda pair: pair[0])]


def _prose_steps(line: str) -> Iterator[tuple[int, Step | None]]:
    """Steps in words or signs: "3 times 5 equals 15", "2(60) = 120". Unit words become blanks, so
    that places in the line are kept."""
    text = _ANNOTATION.sub(lambda match: " " * len(match.group()), line)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", re.sub(r"(?<=\d) (?=\d{3}\b)", "", text)).replace(
        "$", " "
    )
    for pattern, sign in _PROSE_WORDS:
        text = re.sub(pattern, _centred(sign), text, flags=re.IGNORECASE)
    text = re.sub(r"\.(?=\s)", ";", re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", " ", text))
    text = re.sub(r"[A-Za-z'’\"]", " ", text)
    text = re.sub(r"(?<=\d)(\s*)/(?=\s*[-+*=])", r"\1 ", text)
    sides, start = text.split("="), 0
    for left, *right in (sides[i:] for i in range(len(sides) - 1)):
        expression = _EXPRESSION.search(left)
        formula = ""
        if expression:
            formula = re.sub(r"^[\s*/+)]+|^\.(?!\d)|[\s(*/+.-]+$", "", expression.group())
        stated = [number[1] for number in map(_STATED.match, right) if number]
        formula = re.split(r"(?<=[\d%])\s+(?=[\d.])", formula)[-1]
        candidates = (_step(formula, number, line=line, is_annotated=False) for number in stated)
        yield start + len(left), next((step for step in candidates if step), None)
        start += len(left) + 1


def _centred(sign: str) -> Callable[[re.Match], str]:
    """Puts a sign in the place of a word, as wide as the word was."""
    return lambda match: sign.center(len(match.group()))


def _step(expression: str, result: str, line: str, *, is_annotated: bool) -> Step | None:
    cleaned = re.sub(r"[,$]", "", expression).replace("×", "*").replace("x", "*").replace("X", "*")
    if is_annotated:
        cleaned = re.sub(r"\s", "", cleaned)
    value = _number(result)
    targets = {value} | ({value / 100} if result.strip().endswith("%") and value else set())
    for formula in dict.fromkeys((re.sub(r"\*\s*100\s?%", "*100", cleaned), cleaned)):
        read = _read(formula)
        if read and len(read[1]) > 1 and read[2] in targets:
            return Step(
                read[0],
                read[1],
                result=read[2],
                line=line,
                is_annotated=is_annotated,
                is_product=not re.search(r"[\w)\s][-+]", formula.strip()),
            )
    return None


def _read(formula: str) -> tuple[Callable, tuple[Fraction, ...], Fraction] | None:
    """A function of the literals, the literals, and its value at them; None for what is not plain
    arithmetic."""
    literals: list[Fraction] = []

    def replaced(match: re.Match) -> str:
        value = Fraction(match.group().rstrip("%"))
        literals.append(value / 100 if match.group().endswith("%") else value)
        return f" _{len(literals) - 1} "

    text = _LITERAL.sub(replaced, formula.strip())
    text = re.sub(r"(_\d+|\))\s*\(", r"\1*(", re.sub(r"\)\s*(?=_)", ")*", text))
    try:
        function = _function(ast.parse(text.strip(), mode="eval").body)
        return function, tuple(literals), function(literals)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _function(node: ast.expr) -> Callable[[Sequence[Fraction]], Fraction]:
    """Plain arithmetic as a function of the literals; raises ValueError for anything else."""
    if isinstance(node, ast.Name):
        return operator.itemgetter(int(node.id[1:]))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _function(node.operand)
        return lambda values: -inner(values)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        apply, left, right = _OPERATORS[type(node.op)], _function(node.left), _function(node.right)
        return lambda values: apply(left(values), right(values))
    raise ValueError("not arithmetic")


def _number(text: str) -> Fraction | None:
    cleaned = re.sub(r"[,$\s]", "", text).rstrip("%.")
    try:
        return Fraction(cleaned)
    except (ValueError, ZeroDivisionError):
        return None
