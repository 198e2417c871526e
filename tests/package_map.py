"""The map of packages in CONTRIBUTING, made from the imports.

`python -m tests.package_map` writes it, `--check` only says whether it is that of the tree.
"""

import argparse
import ast
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
BEGIN = "<!-- map: python -m tests.package_map -->\n```text\n"
END = "```\n<!-- end of map -->\n"
MAX_PURPOSE = 110  # characters
# Modules, and folders outside of flipcore, whose docstrings say more than the map needs.
PURPOSES = {
    "app": "The script of `streamlit run`: the server around the pages",
    "pages": "Screens: layout only, a folder per page, listed in `pages/navigation.py`",
    "api": "`import flipcore` in a notebook: a study's numbers and figures",
    "launch": "The command `flipscope` of an installed package",
    "__main__": "`python -m flipcore`",
}


def package_files() -> dict[str, list[Path]]:
    """Return the modules of each package: those of flipcore, its root modules, pages and app."""
    files = {"pages": sorted((ROOT / "pages").rglob("*.py")), "app": [ROOT / "app.py"]}
    for path in (ROOT / "flipcore").iterdir():
        if (path / "__init__.py").is_file():
            files[path.name] = sorted(path.rglob("*.py"))
        elif path.suffix == ".py" and path.stem != "__init__":
            files[path.stem] = [path]
    return files


def imported_packages(paths: list[Path], packages: set[str]) -> set[str]:
    """Return which of the packages these modules import."""
    imported = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
                if node.module == "flipcore":
                    # `from flipcore import api` names the package after the import.
                    modules += [f"flipcore.{alias.name}" for alias in node.names]
            for module in modules:
                imported.add(module.removeprefix("flipcore.").split(".")[0])
    return imported & packages


def package_layers() -> dict[str, int]:
    """Number the layers: 1 imports no other package, n imports one of layer n - 1."""
    files = package_files()
    imports = {}
    for name, paths in files.items():
        imports[name] = imported_packages(paths, set(files)) - {name}
    layers: dict[str, int] = {}

    def layer(name: str) -> int:
        if name not in layers:
            layers[name] = 1 + max(map(layer, imports[name]), default=0)
        return layers[name]

    for name in files:
        layer(name)
    return layers


def purpose(name: str) -> str:
    """Return the first sentence of the package's docstring."""
    if name in PURPOSES:
        return PURPOSES[name]
    text = (ROOT / "flipcore" / name / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    return re.split(r"(?<=\w)\.\s", " ".join(docstring.split()) + " ")[0]


def package_map() -> str:
    """Draw the map: one line per package, the outermost layer first."""
    layers = package_layers()
    lines = []
    for number in range(max(layers.values()), 0, -1):
        label = str(number)
        for name in sorted(name for name, layer in layers.items() if layer == number):
            short_purpose = textwrap.shorten(purpose(name), MAX_PURPOSE, placeholder=" …")
            lines.append(f"{label:>2}  {name:<12} {short_purpose}")
            label = ""
    return "\n".join(lines) + "\n"


def with_map(text: str) -> str:
    """Return CONTRIBUTING's text with the map of the tree as it is."""
    before, _, after = text.partition(BEGIN)
    return f"{before}{BEGIN}{package_map()}{END}{after.partition(END)[2]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.package_map", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it differs")
    current = CONTRIBUTING.read_text(encoding="utf-8")
    if parser.parse_args().check:
        sys.exit(current != with_map(current))
    CONTRIBUTING.write_text(with_map(current), encoding="utf-8")
