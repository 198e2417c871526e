"""Reads the mathematical expression of an answer, by Math-Verify (requirements-math.txt).

It gives the canonical form, and whether it equals a right answer. LaTeX can ask for more than a
machine can compute: 9^{9^{9}}. So this file runs as a process of its own, which reads one request
and writes one reply per line, in JSON. The system ends it where a request needs more than LIMIT_S
seconds of processor time or MAX_BYTES of memory. The limit is on processor time, so that a busy
machine reads the same as an idle one.
"""

import contextlib
import json
import logging
import os
import re
import signal
import sys
import unicodedata
from fractions import Fraction

LIMIT_S, MAX_BYTES = 10, 2**31
_DIGITS = 12  # of irrational numbers: enough to tell answers apart, too few for rounding errors
_SIGNS = {
    "−": "-",
    "–": "-",
    "π": r"\pi ",
    "∞": r"\infty ",
    "×": r"\times ",
    "·": r"\cdot ",
    "≤": r"\le ",
    "≥": r"\ge ",
    "≠": r"\ne ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∅": r"\emptyset ",
    "±": r"\pm ",
    "÷": "/",
    "°": r"^\circ ",
    "⁄": "/",
}
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
ENVIRONMENT = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)


def as_latex(words: str) -> str:
    """Return the words with plain-text mathematics ("½", "√2", "x²", "sqrt(2)") in LaTeX."""
    # Blanks between thousands.
    words = re.sub(
        r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\d/])",
        lambda match: re.sub(r"\s", "", match.group()),
        words,
    )
    words = re.sub(r"(?<=\d)[eE]([-+]?\d{1,3})(?![\w.])", r"\\times 10^{\1}", words)
    words = re.sub(
        r"[¼-¾⅐-⅞]", lambda match: r"\frac{{{}}}{{{}}}".format(*_fraction(match.group())), words
    )
    words = re.sub(
        r"[⁰¹²³⁴-⁹]+", lambda match: "^{" + match.group().translate(_POWERS) + "}", words
    )
    words = re.sub(
        r"(?:√|(?<![\\a-z])sqrt)\s*(?:\(([^()]*)\)|(\w))",
        lambda match: r"\sqrt{" + (match[1] or match[2]) + "}",
        words,
    )
    words = re.sub(
        r"(?<![\\A-Za-z])(pi|infinity|theta|alpha|beta|sin|cos|tan|ln|log)(?![A-Za-z])",
        r"\\\1 ",
        words,
    )
    words = words.replace(r"\infinity", r"\infty").replace("**", "^")
    words = "".join(_SIGNS.get(sign, sign) for sign in words)
    return re.sub(r"(?<=[\w)])\*(?=[\w(\\])", r"\\cdot ", words)


def _fraction(sign: str) -> tuple[int, int]:
    """Return (numerator, denominator) of a sign such as ½."""
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10).as_integer_ratio()


def parse_words(words: str) -> list:
    """Return Math-Verify's [expression, text that it was taken from]; empty for no mathematics."""
    from math_verify import parse

    words = as_latex(words.strip())
    return parse(words if ENVIRONMENT.search(words) else f"${words}$", parsing_timeout=None)


def are_equal(gold: list, answer: list) -> bool:
    """Tell whether Math-Verify calls two results of `parse_words` equal."""
    from math_verify import verify

    return bool(verify(gold, answer, timeout_seconds=None))


def canonical(expression) -> str:
    """Return one text for all equal expressions, as far as algebra reaches.

    Numbers become fractions or have 12 digits. Polynomials and their quotients are in lowest terms.
    Sets are sorted, and "x = 5" becomes 5.
    """
    import sympy
    from latex2sympy2_extended.sets import FiniteSet
    from sympy.core.function import AppliedUndef

    if isinstance(expression, (FiniteSet, sympy.FiniteSet)):
        return "{" + ",".join(sorted(_without_variable(list(expression.args)))) + "}"
    if isinstance(expression, (list, tuple, sympy.Tuple)):
        return "(" + ",".join(_without_variable(list(expression))) + ")"
    if isinstance(expression, sympy.Interval):
        opening = "(" if expression.left_open else "["
        closing = ")" if expression.right_open else "]"
        return f"{opening}{canonical(expression.start)},{canonical(expression.end)}{closing}"
    if isinstance(expression, (sympy.Union, sympy.And, sympy.Or)):
        sign = "|" if isinstance(expression, (sympy.Union, sympy.Or)) else "&"
        return sign.join(sorted(map(canonical, expression.args)))
    if isinstance(expression, sympy.MatrixBase):
        rows = [list(map(canonical, row)) for row in expression.tolist()]
        return str(rows).replace("'", "").replace(" ", "")
    if isinstance(expression, sympy.Eq):
        if (
            expression.lhs.is_Symbol
            or not expression.lhs.free_symbols
            or isinstance(expression.lhs, AppliedUndef)
        ):
            return canonical(expression.rhs)
        # Bring all to one side, so that the equation says that the numerator is 0.
        difference = sympy.together(_exact(expression.lhs - expression.rhs))
        numerator, _ = sympy.fraction(difference)
        _, primitive = sympy.expand(numerator).as_content_primitive()
        return min(_text(primitive), _text(sympy.expand(-primitive))) + "=0"
    if isinstance(expression, sympy.core.relational.Relational):
        with contextlib.suppress(NotImplementedError, TypeError, ValueError):
            return canonical(expression.as_set())
        return f"{canonical(expression.lhs)}{expression.rel_op}{canonical(expression.rhs)}"
    exact = _exact(expression)
    return _text(_in_lowest_terms(exact)) if exact.free_symbols else _number(exact)


def _without_variable(parts: list) -> list[str]:
    """Return the parts as texts, without the variable where all are values of one variable."""
    import sympy

    names = {str(part.lhs) if isinstance(part, sympy.Eq) else "" for part in parts}
    if len(names) == 1:
        return list(map(canonical, parts))
    return [
        f"{part.lhs}={canonical(part.rhs)}" if isinstance(part, sympy.Eq) else canonical(part)
        for part in parts
    ]


def _exact(expression):
    import sympy

    # As the only symbol, i is the imaginary unit; next to others it may be an index.
    symbols = expression.free_symbols
    if set(map(str, symbols)) == {"i"}:
        expression = expression.subs(dict.fromkeys(symbols, sympy.I))
    return sympy.nsimplify(expression.doit(), rational=True)


def _number(value) -> str:
    """Return a fraction as it is, and any other number with _DIGITS digits."""
    import sympy

    value = sympy.simplify(value)
    if value.is_Rational:
        return str(Fraction(int(value.p), int(value.q)))
    parts = [sympy.N(part, _DIGITS + 8) for part in value.as_real_imag()]
    if not all(part.is_Float or part.is_Rational for part in parts):
        return _text(value)
    # Adding 0.0 turns -0.0 into 0.0.
    real, imaginary = (f"{float(part) + 0.0:.{_DIGITS}g}" for part in parts)
    return real if abs(float(parts[1])) < 10**-_DIGITS else f"{real}+{imaginary}i"


def _in_lowest_terms(expression):
    import sympy

    if expression.is_rational_function():
        return sympy.cancel(sympy.together(expression))
    return sympy.simplify(expression)


def _text(expression) -> str:
    return str(expression).replace(" ", "")


def reply_to(words: str, targets: list[str]) -> dict:
    """Return the reply to a request. `target_index` is of the right answer that equals the words.
    Where they equal none, `answer` is their canonical form, or None for no mathematics."""
    answer = parse_words(words)
    for i, target in enumerate(targets):
        if answer and are_equal(parse_words(target), answer):
            return {"target_index": i, "answer": None}
    # For graders "12%" is 12.
    without_percent = parse_words(re.sub(r"\s*\\?%", "", words))
    number_parts = [part for part in without_percent if not isinstance(part, str)]
    answer_text = canonical(number_parts[0])[:1000] if number_parts else None
    return {"target_index": None, "answer": answer_text}


def _serve(replies) -> None:
    """Answer requests to the end of the input.
    Where the system has no limits, the caller ends this process."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    for line in sys.stdin:
        limit_s, words, targets = json.loads(line)
        with contextlib.suppress(AttributeError):
            signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            reply = reply_to(words, targets)
        # Parsing any LaTeX may raise anything; then there is no expression.
        except Exception:
            reply = {"target_index": None, "answer": None}
        with contextlib.suppress(AttributeError):
            signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(reply), file=replies, flush=True)


def _main() -> None:
    """Serve in child processes, where the system can fork.
    A child that the system ended gives the reply null. The next child has the imports already."""
    import math_verify  # noqa: F401

    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # keep what a library prints out of the replies
    logging.disable(logging.CRITICAL)
    while hasattr(os, "fork") and (child := os.fork()):
        _, exit_status = os.waitpid(child, 0)
        if exit_status == 0:
            return
        print("null", file=replies, flush=True)
    _serve(replies)


if __name__ == "__main__":
    _main()
