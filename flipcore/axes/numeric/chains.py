"""A solution's calculator chain: `<<16-3-4=9>>` annotations, and equations in the prose.

An equation counts only if its arithmetic is exact; that keeps misread prose out.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

MIXED, PROSE = "mixed", "prose"  # which equations of a line count, see `steps`

_ANNOTATION = re.compile(r"<<([^<>=]*)=([^<>=]+)>>")
_GOLD = re.compile(r"####\s*(.+)\s*$")
_LITERAL = re.compile(r"\d*\.?\d+%?")
# (words, the sign that they mean)
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
    """One equation of a chain.

    `literals` are its exact numbers in reading order. `line` is the line of the solution that holds
    it. `is_annotated` is false for prose; `is_product` says that it only multiplies and divides.
    """

    function: Callable = field(compare=False)
    literals: tuple[Fraction, ...]
    result: Fraction
    line: str
    is_annotated: bool
    is_product: bool

    def evaluated(self, values: Sequence[Fraction]) -> Fraction:
        """Return the step's result for other literals; raises ZeroDivisionError."""
        return self.function(values)


def gold(solution: str) -> Fraction | None:
    """Return the number after "####"; None if there is none."""
    match = _GOLD.search(solution.strip())
    return _number(match[1]) if match else None


def steps(solution: str, equations: str = MIXED) -> list[Step]:
    """Return the steps in reading order.

    MIXED takes annotations and prose, because a later step may use a result of the prose. PROSE
    replaces an annotation with prose of the same result on the same line, which then counts as
    annotated. A restated number (`<<28=28>>`) is no step. ValueError for an inexact annotation on a
    line without equations in prose.
    """
    chain: list[Step] = []
    for line in solution.split("\n"):
        if line.strip().startswith("####"):
            break
        chain += _steps_of_line(line, equations)
    return chain


def _steps_of_line(line: str, equations: str) -> list[Step]:
    # `annotated` and `prose` hold (position in the line, step).
    annotated, inexact = [], []
    for match in _ANNOTATION.finditer(line):
        step = _step(match[1], match[2], line=line, is_annotated=True)
        if step is None and _number(match[1].strip()) != _number(match[2]):
            inexact.append(match.group())
        if step:
            annotated.append((match.start(), step))
    prose = [(start, step) for start, step in _prose_steps(line) if step]
    if inexact and not prose:
        raise ValueError(f"{inexact[0]} is not exact arithmetic")
    if equations == PROSE:
        prose_results = {step.result for _, step in prose}
        annotated_results = {step.result for _, step in annotated}
        annotated = [(start, step) for start, step in annotated if step.result not in prose_results]
        prose = [
            (start, replace(step, is_annotated=step.result in annotated_results))
            for start, step in prose
        ]
    # Prose often repeats an annotation; count each equation once.
    seen = {(tuple(sorted(step.literals)), step.result) for _, step in annotated}
    prose = [
        (start, step)
        for start, step in prose
        if (tuple(sorted(step.literals)), step.result) not in seen
    ]
    return [step for _, step in sorted(annotated + prose, key=lambda pair: pair[0])]


def _prose_steps(line: str) -> Iterator[tuple[int, Step | None]]:
    """Yield (position, step) for "3 times 5 equals 15" or "2(60) = 120"; None for no step.
    Other words become blanks, so that positions in the line hardly change."""
    text = _ANNOTATION.sub(lambda match: " " * len(match.group()), line)
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", text)  # 12 000
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text).replace("$", " ")
    for pattern, sign in _PROSE_WORDS:
        text = re.sub(pattern, _centered(sign), text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=[A-Za-z])-(?=[A-Za-z])", " ", text)
    text = re.sub(r"\.(?=\s)", ";", text)
    text = re.sub(r"[A-Za-z'’\"]", " ", text)
    # The slash of "5 miles/hour + 3" is no division.
    text = re.sub(r"(?<=\d)(\s*)/(?=\s*[-+*=])", r"\1 ", text)
    sides, start = text.split("="), 0
    for i, left in enumerate(sides[:-1]):
        expression = _EXPRESSION.search(left)
        formula = ""
        if expression:
            formula = re.sub(r"^[\s*/+)]+|^\.(?!\d)|[\s(*/+.-]+$", "", expression.group())
        formula = re.split(r"(?<=[\d%])\s+(?=[\d.])", formula)[-1]
        # In "3 + 4 = 2 + 5 = 7" the result may stand after a later sign.
        results = [number[1] for number in map(_STATED.match, sides[i + 1 :]) if number]
        candidates = (_step(formula, number, line=line, is_annotated=False) for number in results)
        yield start + len(left), next((step for step in candidates if step), None)
        start += len(left) + 1


def _centered(sign: str) -> Callable[[re.Match], str]:
    """Return a replacement of a word by its sign, as wide as the word."""
    return lambda match: sign.center(len(match.group()))


def _step(expression: str, result: str, line: str, *, is_annotated: bool) -> Step | None:
    cleaned = re.sub(r"[,$]", "", expression).replace("×", "*").replace("x", "*").replace("X", "*")
    if is_annotated:
        cleaned = re.sub(r"\s", "", cleaned)
    value = _number(result)
    targets = {value} | ({value / 100} if result.strip().endswith("%") and value else set())
    for formula in dict.fromkeys((re.sub(r"\*\s*100\s?%", "*100", cleaned), cleaned)):
        parsed = _parsed(formula)
        if parsed is None:
            continue
        function, literals, formula_value = parsed
        if len(literals) > 1 and formula_value in targets:
            return Step(
                function,
                literals,
                result=formula_value,
                line=line,
                is_annotated=is_annotated,
                is_product=not re.search(r"[\w)\s][-+]", formula.strip()),
            )
    return None


def _parsed(formula: str) -> tuple[Callable, tuple[Fraction, ...], Fraction] | None:
    """Return (function of the literals, literals, value); None for no plain arithmetic."""
    literals: list[Fraction] = []

    def replaced(match: re.Match) -> str:
        value = Fraction(match.group().rstrip("%"))
        literals.append(value / 100 if match.group().endswith("%") else value)
        return f" _{len(literals) - 1} "

    text = _LITERAL.sub(replaced, formula.strip())
    # Write the implied products of "2(60)" and "(3)4" out.
    text = re.sub(r"\)\s*(?=_)", ")*", text)
    text = re.sub(r"(_\d+|\))\s*\(", r"\1*(", text)
    try:
        function = _function(ast.parse(text.strip(), mode="eval").body)
        return function, tuple(literals), function(literals)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _function(node: ast.expr) -> Callable[[Sequence[Fraction]], Fraction]:
    """Return plain arithmetic as a function of the literals; ValueError for anything else."""
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
