"""A problem's own calculator chain: `<<16-3-4=9>>` steps, and plain equations in the prose where a line has none."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

_ANNOTATION = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_GOLD = re.compile(r"####\s*(.+)\s*$")
_LITERAL = re.compile(r"\d*\.?\d+%?")
_PROSE_WORDS = ((r"\btimes\b|\bmultiplied by\b|×|(?<=[\d\s])x(?=[\s\d])", "*"), (r"\bplus\b", "+"), (r"\bminus\b|–|−", "-"),
                (r"\bdivided by\b|÷", "/"), (r"\bequals\b|\bis equal to\b", "="))
_PROSE = re.compile(r"(?<![\d.*/+-])((?:\(*\s*\d*\.?\d+%?\s*\)*\s*[-+*/]\s*)+\(*\s*\d*\.?\d+%?\s*\)*)\s*=\s*(-?\d*\.?\d+)")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


@dataclass(frozen=True)
class Step:
    """`literals[i]` stands at `{i}` in `form`; `values` are exact; `percent[i]` says that it was written with %."""

    form: ast.expr
    literals: tuple[Fraction, ...]
    percent: tuple[bool, ...]
    result: Fraction
    line: str

    def evaluated(self, values: Sequence[Fraction]) -> Fraction:
        """The step's result for other literals; raises ZeroDivisionError."""
        return _evaluated(self.form, values)


def gold(solution: str) -> Fraction | None:
    """The number after ####."""
    found = _GOLD.search(solution.strip())
    return _number(found[1]) if found else None


def steps(solution: str) -> list[Step]:
    """Every step in reading order whose arithmetic is exact; raises ValueError with the first that is not."""
    made: list[Step] = []
    for line in solution.split("\n"):
        if line.strip().startswith("####"):
            break
        written = _ANNOTATION.findall(line)
        pairs = written or _prose_equations(line)
        for expression, result in pairs:
            step = _step(expression, result, line)
            if step is not None:
                made.append(step)
            elif written:
                raise ValueError(f"<<{expression}={result}>> is not exact arithmetic")
    return made


def _prose_equations(line: str) -> list[tuple[str, str]]:
    """"3 times 5 equals 15": unit words are stripped, and only what is exact is kept (the caller checks)."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", line).replace("$", "")
    for pattern, sign in _PROSE_WORDS:
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    text = re.sub(r"[A-Za-z'’\"]+", " ", text)
    text = re.sub(r"(?<=\d)\s+/\s+(?=[-+*=])", " ", text)
    return [(match[1], match[2]) for match in _PROSE.finditer(text)]


def _step(expression: str, result: str, line: str) -> Step | None:
    cleaned = re.sub(r"[\s,$]", "", expression).replace("×", "*").replace("x", "*").replace("X", "*")
    literals, percent = [], []

    def replaced(match: re.Match) -> str:
        literals.append(_number(match.group().rstrip("%")))
        percent.append(match.group().endswith("%"))
        return f" _{len(literals) - 1} "

    text = re.sub(r"\)\s*\(", ")*(", _LITERAL.sub(replaced, cleaned)).strip()
    try:
        form = ast.parse(text, mode="eval").body
        values = [v / 100 if p else v for v, p in zip(literals, percent, strict=True)]
        computed, stated = _evaluated(form, values), _number(result)
    except (SyntaxError, ValueError, ZeroDivisionError, TypeError):
        return None
    if stated is None or computed != stated:
        return None
    return Step(form, tuple(values), tuple(percent), computed, line)


def _evaluated(node: ast.expr, values: Sequence[Fraction]) -> Fraction:
    if isinstance(node, ast.Name):
        return values[int(node.id[1:])]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand, values)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        apply: Callable = _OPERATORS[type(node.op)]
        return apply(_evaluated(node.left, values), _evaluated(node.right, values))
    raise ValueError("not arithmetic")


def _number(text: str) -> Fraction | None:
    cleaned = re.sub(r"[,$\s]", "", text).rstrip("%.")
    try:
        return Fraction(cleaned)
    except (ValueError, ZeroDivisionError):
        return None
