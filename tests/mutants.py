"""Do the quick tests notice a change of the core? `python -m tests.mutants [--room claims] [--n 30] [--seed 1] [--keep]`.

A random change is made to one line of one room: a comparison, a sign, a number, a condition, what is returned. The tests that stand
for the module run on it, first its namesake, then its room's. A change that no test notices is a survivor: either it changes nothing
that anybody could see (`SAME`, with the reason), or a test is lacking. `--keep` writes the counts and the survivors to
the table beside this file.
"""

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flipcore.core.randomness import generator

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".md")
# room -> (its files, the tests that stand for it after those of a module's own name)
ROOMS = {
    "stats": ("flipcore/stats/**/*.py", "tests/stats tests/reports/browser_data tests/claims tests/reports"),
    "claims": ("flipcore/claims/*.py", "tests/claims tests/stats tests/reports tests/reports/exports tests/annotation"),
    "gates": (
        "flipcore/stats/base/gate_rules.py flipcore/claims/gates.py flipcore/annotation/gates.py",
        "tests/claims tests/stats/base tests/reports",
    ),
    "store": ("flipcore/store/**/*.py", "tests/store tests/runs"),
    "runs": ("flipcore/runs/*.py", "tests/runs"),
    "plan": ("flipcore/runs/plan.py flipcore/runs/runner.py flipcore/runs/cost.py", "tests/runs"),
    "spending": ("flipcore/runs/asking.py flipcore/store/queries/budgets.py", "tests/runs tests/store/queries tests/models"),
}
# For the tests of one change. Beside other work a minute of the clock may be a few seconds of a
# core, so it is processor time that ends them, and the clock only where they wait for ever.
CPU_SECONDS, SECONDS = 240, 1_800
NOTICED, SURVIVED, NOT_FINISHED = "noticed", "survived", "not finished"
# a survivor that changes nothing anybody could see -> why: (file, line as it stands, what it became)
SAME: dict[tuple[str, str, str], str] = {}
_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
}


@dataclass(frozen=True)
class Change:
    """`before` and `after` are the changed expression as text, `source` the whole module with it."""

    path: Path
    line: int
    before: str
    after: str
    source: str

    @property
    def place(self) -> str:
        """File and line, as an editor opens them."""
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def changes(path: Path) -> Iterator[Change]:
    """Every change of one module that `altered` knows; annotations, docstrings and calls of `require` are left alone."""
    source = path.read_text(encoding="utf-8")
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    for node in _walked(ast.parse(source)):
        for new in altered(node):
            first, last = node.lineno - 1, node.end_lineno - 1
            head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            after = ast.unparse(new)
            text = b"".join([*lines[:first], head, f"({after})".encode(), tail, *lines[last + 1 :]])
            yield Change(path, node.lineno, ast.unparse(node), after, text.decode())


def _walked(node: ast.AST) -> Iterator[ast.AST]:
    """Expressions that are computed when a function is called; f-strings are words, and stay."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.Compare | ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.Constant):
                yield child
            yield from _walked(child)


def altered(node: ast.AST) -> list[ast.expr]:
    """What an expression may become: one operator, number or condition is another."""
    match node:
        case ast.Compare(ops=[one]):
            return [ast.Compare(node.left, [_COMPARED[type(one)]()], node.comparators)]
        case ast.BinOp(op=one) if type(one) in _COMPUTED and not _is_text(node):
            return [ast.BinOp(node.left, _COMPUTED[type(one)](), node.right)]
        case ast.BoolOp(op=one):
            return [ast.BoolOp(ast.Or() if isinstance(one, ast.And) else ast.And(), node.values)]
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return [node.operand]
        case ast.Constant(value=bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(value=int(value)):
            return [ast.Constant(value + 1)]
        case ast.Constant(value=float(value)):
            return [ast.Constant(value * 1.5 + 0.01)]
    return []


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(one, ast.JoinedStr | ast.List | ast.Tuple) or isinstance(getattr(one, "value", None), str)
               for one in (node.left, node.right))  # fmt: skip


def drawn(room: str, n: int, seed: int) -> list[Change]:
    """This many changes of a room, the same ones for a seed and a tree."""
    files = sorted({path for pattern in ROOMS[room][0].split() for path in ROOT.glob(pattern)})
    every = [change for path in files for change in changes(path)]
    rng = generator(seed)
    return [every[i] for i in rng.choice(len(every), size=min(n, len(every)), replace=False)]


def tests_of(change: Change, room: str) -> list[list[str]]:
    """The tests of the module's own name, then those of its room."""
    inside = change.path.relative_to(ROOT / "flipcore")
    own = (ROOT / "tests" / inside.parent).glob(f"test_{inside.stem}*.py")
    return [[str(path.relative_to(ROOT)) for path in own], ROOMS[room][1].split()]


def outcome_of(change: Change, room: str, tree: Path) -> str:
    """Run the tests on a changed copy of the tree, which is put right again.

    NOTICED where one fails. NOT_FINISHED where none fails and some did not end in time: nobody
    knows whether they would have.
    """
    copy = tree / change.path.relative_to(ROOT)
    whole = copy.read_text(encoding="utf-8")
    copy.write_text(change.source, encoding="utf-8")
    try:
        is_late = False
        for tests in tests_of(change, room):
            outcome = _tested(tree, tests) if tests else SURVIVED
            if outcome == NOTICED:
                return NOTICED
            is_late |= outcome == NOT_FINISHED
        return NOT_FINISHED if is_late else SURVIVED
    finally:
        copy.write_text(whole, encoding="utf-8")


def _tested(tree: Path, tests: list[str]) -> str:
    there = [name for name in tests if (tree / name).exists()]
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *there]
    command = ["bash", "-c", f'ulimit -t {CPU_SECONDS}; exec "$@"', "bash", *pytest]
    try:
        run = subprocess.run(
            command, cwd=tree, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return NOT_FINISHED
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return NOT_FINISHED
    return SURVIVED if run.returncode in (0, 5) else NOTICED


def row(room: str, n: int, survivors: list[Change], late: list[Change], seed: int) -> list[str]:
    """A room's lines of the table. What did not finish is counted apart, as neither."""
    same = [change for change in survivors if _reason(change)]
    finished = n - len(same) - len(late)
    n_noticed = finished - (len(survivors) - len(same))
    share = n_noticed / max(finished, 1)
    head = f"| {room} | {n} | {len(same)} | {len(late)} | {n_noticed} of {finished} | {share:.2f} | {seed} |"
    lines = [head]
    for change in survivors:
        lines.append(f"<!-- {room} --> - {_shown(change)}{_reason(change)}")
    for change in late:
        lines.append(f"<!-- {room} --> - {NOT_FINISHED}: {_shown(change)}")
    return lines


def _shown(change: Change) -> str:
    return f"`{change.place}` `{change.before}` → `{change.after}`"


def _reason(change: Change) -> str:
    reason = SAME.get((str(change.path.relative_to(ROOT)), change.before, change.after), "")
    return f": {reason}" if reason else ""


def keep(room: str, lines: list[str]) -> None:
    """Puts the room's lines in the place of its older ones in the table."""
    stored = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    of_rooms = [line for line in stored if line.startswith(("| ", "<!-- ")) and not line.startswith(("| room", "| ---"))]
    others = [line for line in of_rooms if not re.match(rf"(\| {room} \||<!-- {room} -->)", line)]
    rows = sorted(line for line in [*others, *lines] if line.startswith("| "))
    notes = sorted(line for line in [*others, *lines] if line.startswith("<!-- "))
    head = ["# Changes of the core that the quick tests notice", "", *(__doc__ or "").splitlines()[2:], ""]
    head += ["| room | changes | that change nothing | not finished | noticed | share | seed |", "|" + " --- |" * 7]
    TABLE.write_text("\n".join([*head, *rows, "", "Survivors:", "", *notes]) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Makes the changes one after another, and says which survive; 0 when all are noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--room", nargs="+", choices=tuple(ROOMS), default=list(ROOMS))
    parser.add_argument("--n", type=int, default=30, help="changes a room (default 30)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help=f"writes {TABLE.name}")
    options = parser.parse_args(arguments)
    survived = []
    with tempfile.TemporaryDirectory(prefix="flipscope-mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "*.duckdb*"))
        for room in options.room:
            chosen = drawn(room, options.n, options.seed)
            survivors, late = [], []
            for change in chosen:
                outcome = outcome_of(change, room, tree)
                if outcome != NOTICED:
                    (late if outcome == NOT_FINISHED else survivors).append(change)
                    print(f"{outcome}: {change.place} {change.before} -> {change.after}{_reason(change)}", flush=True)
            lines = row(room, len(chosen), survivors, late, options.seed)
            print(lines[0], flush=True)
            survived += [one for one in survivors if not _reason(one)]
            if options.keep:
                keep(room, lines)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
