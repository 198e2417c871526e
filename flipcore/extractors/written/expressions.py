"""Mathematical expressions of an answer, by Math-Verify (requirements-math.txt): the canonical
form, and whether it equals a right answer.

LaTeX can ask for more than there is: 9^{9^{9}}. So this file runs as a process of its own that
reads a request a line and writes a reply a line, in JSON, and that the system ends where a request
needs more than LIMIT_S seconds of processor time or MOST_BYTES of memory. Processor time, so that a
busy machine reads what an idle one does.
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

LIMIT_S, MOST_BYTES = 10, 2**31
_DIGITS = 12  # of a number that is no fraction: as many tell answers apart, and rounding does not
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
}
_SIGNS |= {
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
    """The words with the signs of plain text ("½", "√2", "x²", "sqrt(2)") in LaTeX."""
    words = re.sub(
        r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\d/])",
        lambda match: re.sub(r"\s", "", match.group()),
        words,
    )
    words = re.sub(r"(?<=\d)[eE]([-+]?\d{1,3})(?![\w.])", r"\\times 10^{\1}", words)
    words = re.sub(
        r"[¼-¾⅐-⅞]", lambda match: r"\frac{{{}}}{{{}}}".format(*_part(match.group())), words
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


def _part(sign: str) -> tuple[int, int]:
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10).as_integer_ratio()


def parsed(words: str) -> list:
    """Math-Verify's reading of `words`: the expression, and the text that it took it from; empty
    for nothing."""
    from math_verify import parse

    words = as_latex(words.strip())
    return parse(words if ENVIRONMENT.search(words) else f"${words}$", parsing_timeout=None)


def same(gold: list, answer: list) -> bool:
    """Tell whether Math-Verify calls the two equal."""
    from math_verify import verify

    return bool(verify(gold, answer, timeout_seconds=None))


def canonical(expression) -> str:
    """One text for all that is equal, as far as algebra reaches: numbers as fractions or to 12
    digits, polynomials and their quotients in lowest terms, sets in order, "x = 5" as 5."""
    import sympy
    from latex2sympy2_extended.sets import FiniteSet
    from sympy.core.function import AppliedUndef

    if isinstance(expression, (FiniteSet, sympy.FiniteSet)):
        return "{" + ",".join(sorted(_unnamed(list(expression.args)))) + "}"
    if isinstance(expression, (list, tuple, sympy.Tuple)):
        return "(" + ",".join(_unnamed(list(expression))) + ")"
    if isinstance(expression, sympy.Interval):
        ends = canonical(expression.start), canonical(expression.end)
        return "[("[bool(expression.left_open)] + ",".join(ends) + "])"[bool(expression.right_open)]
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
        top = sympy.fraction(sympy.together(_exact(expression.lhs - expression.rhs)))[0]
        top = sympy.expand(top).as_content_primitive()[1]
        return min(_text(top), _text(sympy.expand(-top))) + "=0"
    if isinstance(expression, sympy.core.relational.Relational):
        with contextlib.suppress(NotImplementedError, TypeError, ValueError):
            return canonical(expression.as_set())
        return f"{canonical(expression.lhs)}{expression.rel_op}{canonical(expression.rhs)}"
    exact = _exact(expression)
    return _text(_lowest(exact)) if exact.free_symbols else _number(exact)


def _unnamed(parts: list) -> list[str]:
    """The parts, without the variable's name where all give values of one."""
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

    names = expression.free_symbols  # of several, i may count something
    if set(map(str, names)) == {"i"}:
        expression = expression.subs(dict.fromkeys(names, sympy.I))
    return sympy.nsimplify(expression.doit(), rational=True)


def _number(value) -> str:
    """A fraction as it is, any other number to so many digits."""
    import sympy

    value = sympy.simplify(value)
    if value.is_Rational:
        return str(Fraction(int(value.p), int(value.q)))
    parts = [sympy.N(part, _DIGITS + 8) for part in value.as_real_imag()]
    if not all(part.is_Float or part.is_Rational for part in parts):
        return _text(value)
    real, imaginary = (f"{float(part) + 0.0:.{_DIGITS}g}" for part in parts)
    return real if abs(float(parts[1])) < 10**-_DIGITS else f"{real}+{imaginary}i"


def _lowest(expression):
    import sympy

    if expression.is_rational_function():
        return sympy.cancel(sympy.together(expression))
    return sympy.simplify(expression)


def _text(expression) -> str:
    return str(expression).replace(" ", "")


def reply_to(words: str, targets: list[str]) -> dict:
    """`place` of the right answer that the words equal, else `answer`, their canonical form; both
    None for no mathematics."""
    answer = parsed(words)
    for place, target in enumerate(targets):
        if answer and same(parsed(target), answer):
            return {"place": place, "answer": None}
    # "12%" is 12, as graders have it.
    without_percent = parsed(re.sub(r"\s*\\?%", "", words))
    bare = [part for part in without_percent if not isinstance(part, str)]
    return {"place": None, "answer": canonical(bare[0])[:1000] if bare else None}


def _serve(replies) -> None:
    """Answers requests to the end of the input. Where the system knows no bounds, whoever asks ends
    this process."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for line in sys.stdin:
        limit_s, words, targets = json.loads(line)
        with contextlib.suppress(AttributeError):
            signal.setitimer(signal.ITIMER_PROF, limit_s)
        try:
            reply = reply_to(words, targets)
        # a parser of other people's LaTeX raises anything; no expression was read
        except Exception:
            reply = {"place": None, "answer": None}
        with contextlib.suppress(AttributeError):
            signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(reply), file=replies, flush=True)


def _main() -> None:
    """Serves in a child where the system has them: the reply for one that was ended is null, and
    the next needs no import again."""
    import math_verify  # noqa: F401

    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no reply
    logging.disable(logging.CRITICAL)
    while hasattr(os, "fork") and (child := os.fork()):
        if os.waitpid(child, 0)[1] == 0:
            return
        print("null", file=replies, flush=True)
    _serve(replies)


if __name__ == "__main__":
    _main()
