"""What tests name of the product exists: ``python -m tests.named_parts``, some seconds.

A slow test that patches or calls a function by a name that is gone fails only in the run of CI that
begins with its part. This reads the code without running it: `module.name`, `from module import
name`, and the texts in `monkeypatch.setattr(module, "name", …)` and `setattr("module.name", …)`.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("flipcore", "pages", "tests")


@cache
def names_of(module: str) -> frozenset[str] | None:
    """Return the names at the top of a module, and a package's modules; None if there is no such module."""
    folder = ROOT / Path(*module.split("."))
    path = folder.with_suffix(".py")
    names = set()
    if folder.is_dir():
        path = folder / "__init__.py"
        names |= {child.stem for child in folder.iterdir() if child.suffix == ".py" or child.is_dir()}
    elif not path.exists():
        return None
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    if "__getattr__" in names:
        return None
    return frozenset(names)


def missing_in(path: Path) -> Iterator[str]:
    """Yield a line for each name of a file that its module does not have."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: dict[str, set[str]] = {}  # alias -> modules that it stands for anywhere in the file; "" for anything else
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            names = names_of(node.module)
            for alias in node.names:
                if names is not None and alias.name not in names:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}.{alias.name}"
                module = f"{node.module}.{alias.name}"
                found.setdefault(alias.asname or alias.name, set()).add(module if names_of(module) is not None else "")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name, set()).add(alias.name if alias.asname else "")
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, set()).add("")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, set()).add("")
    modules = {alias: next(iter(those)) for alias, those in found.items() if len(those) == 1}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module, name = modules.get(node.value.id, ""), node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            module, name = _patched(node, modules)
        else:
            continue
        names = names_of(module) if module else None
        if names is not None and name not in names and not name.startswith("__"):
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {module}.{name}"


def _patched(call: ast.Call, modules: dict[str, str]) -> tuple[str, str]:
    """Return (module, name) of a patch; "" for the module where it patches something else."""
    texts = [argument.value if isinstance(argument, ast.Constant) else None for argument in call.args]
    if texts and isinstance(texts[0], str) and texts[0].split(".")[0] in PACKAGES:
        module, _, name = texts[0].rpartition(".")
        return module, name
    if len(texts) > 1 and isinstance(texts[1], str) and isinstance(call.args[0], ast.Name):
        return modules.get(call.args[0].id, ""), texts[1]
    return "", ""


def main() -> int:
    """Print the names that are missing; return 1 if there are any."""
    missing = [line for path in sorted((ROOT / "tests").rglob("*.py")) for line in missing_in(path)]
    for line in missing:
        print(f"{line} does not exist")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
