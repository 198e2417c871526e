"""Exact arithmetic for checking solutions, apart from the product's own reader so that one catches the other."""

import ast
import operator
import re
from fractions import Fraction

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
WORDS = "two three four five six seven eight nine ten eleven twelve".split()
NUMBER = re.compile(rf"\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


def value(expression):
    """The exact value of a sum, difference, product or quotient of literals."""
    return _walk(ast.parse(expression.strip(), mode="eval").body, expression)


def _walk(node, source):
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](_walk(node.left, source), _walk(node.right, source))
    if isinstance(node, ast.Constant):
        return Fraction(ast.get_source_segment(source.strip(), node))
    raise ValueError(f"{source!r} holds a {type(node).__name__}; only numbers and + - * / are wanted.")


def numbers(text):
    """All numbers of a text, in digits or as the words two to twelve."""
    found = (match.group().lower().rstrip(",") for match in NUMBER.finditer(text))
    return [Fraction(WORDS.index(word) + 2 if word in WORDS else word.replace(",", "")) for word in found]
