"""Which code says a claim, as fingerprints: a row that was run on other code is older than its sentence.

A fingerprint is of the syntax without comments, docstrings, layout, the types of parameters and the names of local variables:
none of them can change what a function returns. What is written for people (a text with two blanks or more) is apart: another wording
of a sentence changes what is claimed to a reader, not how often. `words` covers it, `sentence` covers the module of claims that defines the
assertion; `below` that module and all of `flipcore.claims`, `flipcore.stats` and `flipcore.vectors` that it imports, directly
or not.
"""

import ast
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import flipcore

ROOT = Path(flipcore.__file__).parent.parent
CLAIMS = ROOT / "flipcore" / "claims"
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_NAME_NODES = ast.arg | ast.Name | ast.ExceptHandler | _FUNCTIONS
ROOMS = ("flipcore.claims", "flipcore.stats", "flipcore.vectors")


@dataclass(frozen=True)
class Code:
    """Eight hex digits each; `below` includes the sentence's own module."""

    sentence: str
    below: str
    words: str


@cache
def code_of(assertion: str) -> Code:
    """The code that now makes the claims of this assertion (by name). Raises KeyError for one that no module defines."""
    module = _modules()[assertion]
    return Code(_digest([module]), _digest(sorted(_reached(module))), _digest_of(_words(module.read_text(encoding="utf-8"))))


@cache
def _modules() -> dict[str, Path]:
    """Name of an assertion -> the file that defines it."""
    files = sorted(CLAIMS.glob("*.py"))
    return {name: path for path in files for name in _defined(path)}


def _defined(path: Path) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    names = [one.args[0] for one in calls if isinstance(one.func, ast.Name) and one.func.id == "Assertion" and one.args]
    return [str(one.value) for one in names if isinstance(one, ast.Constant)]


@cache
def _tree(path: Path) -> ast.Module:
    return behaviour(path.read_text(encoding="utf-8"))


def behaviour(source: str) -> ast.Module:
    """The syntax of a module without docstrings, what is written for people, and types of parameters; local names replaced by their
    order."""
    tree = _without_docstrings(source)
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if _is_prose(node):
            node.value = ""
    _number_locals(tree)
    return tree


def _is_prose(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 2


def _words(source: str) -> str:
    """What a module says to people, in order."""
    return "\n".join(node.value for node in ast.walk(_without_docstrings(source)) if _is_prose(node))


def _without_docstrings(source: str) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | _FUNCTIONS) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _number_locals(node: ast.AST) -> None:
    """Numbers the local names of each outermost function or lambda, those of functions inside it included."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _FUNCTIONS | ast.Lambda):
            _number_locals(child)
            continue
        inside = [one for part in ast.iter_child_nodes(child) for one in ast.walk(part)]
        places = {name: f"local {i}" for i, name in enumerate(dict.fromkeys(filter(None, map(_bound, inside))))}
        for one in inside:
            for key in ("id", "arg", "name"):
                if isinstance(one, _NAME_NODES) and getattr(one, key, None) in places:
                    setattr(one, key, places[getattr(one, key)])


def _bound(node: ast.AST) -> str | None:
    """The name that this node makes local, if any."""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.name if isinstance(node, _FUNCTIONS | ast.ExceptHandler) else None


def _digest(paths: list[Path]) -> str:
    text = "\n".join(f"{path.relative_to(ROOT).as_posix()} {ast.dump(_tree(path))}" for path in paths)
    return _digest_of(text)


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _reached(start: Path) -> set[Path]:
    """This file and what it imports of `ROOMS`, directly or not."""
    reached, waiting = {start}, [start]
    while waiting:
        new = _imported(waiting.pop()) - reached
        reached |= new
        waiting += new
    return reached


@cache
def _imported(path: Path) -> frozenset[Path]:
    names = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    files = (ROOT / f"{name.replace('.', '/')}.py" for name in names if name.startswith(ROOMS))
    return frozenset(path for path in files if path.exists())
