"""The map of the house in CONTRIBUTING, drawn from the imports: `python -m tests.house_map` writes it, `--check` only says whether it
is that of the tree."""

import argparse
import ast
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map: python -m tests.house_map -->\n```text\n", "```\n<!-- end of map -->\n"
WIDTH = 110  # characters of a purpose
OTHERS = {
    "app": "What `streamlit run` is given: the server around the pages",
    "pages": "The screen: layout only, a folder a page, listed in `pages/navigation.py`",
    "api": "`import flipcore` in a notebook: a study's numbers and figures",
    "launch": "The command `flipscope` of an installed package",
    "__main__": "`python -m flipcore`",
}


def rooms() -> dict[str, list[Path]]:
    """Each folder of flipcore, each module that stands beside them, pages and app -> its modules."""
    core = ROOT / "flipcore"
    folders = {path.name: sorted(path.rglob("*.py")) for path in core.iterdir() if (path / "__init__.py").is_file()}
    beside = {path.stem: [path] for path in core.glob("*.py") if path.stem != "__init__"}
    return folders | beside | {"pages": sorted((ROOT / "pages").rglob("*.py")), "app": [ROOT / "app.py"]}


def imports(paths: list[Path], names: set[str]) -> set[str]:
    """The rooms that these modules import."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [f"flipcore.{one.name}" for one in node.names] if modules == ["flipcore"] else []
            modules += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            found |= {part for module in modules for part in module.removeprefix("flipcore.").split(".")[:1]}
    return found & names


def floors() -> dict[str, int]:
    """Room -> 1 where it imports no other, else one above the highest that it imports."""
    every = rooms()
    below = {name: imports(paths, set(every)) - {name} for name, paths in every.items()}
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max(map(height, below[name]), default=0)
        return heights[name]

    for name in every:
        height(name)
    return heights


def purpose(name: str) -> str:
    """The first sentence of the room's docstring."""
    if name in OTHERS:
        return OTHERS[name]
    text = ast.get_docstring(ast.parse((ROOT / "flipcore" / name / "__init__.py").read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\w)\.\s", " ".join(text.split()) + " ")[0]


def house() -> str:
    """One line a room, the floors from the roof to the ground: nothing imports what stands above it."""
    heights = floors()
    lines = []
    for floor in range(max(heights.values()), 0, -1):
        for number, name in enumerate(sorted(one for one, at in heights.items() if at == floor)):
            mark = "" if number else str(floor)
            lines.append(f"{mark:>2}  {name:<12} {textwrap.shorten(purpose(name), WIDTH, placeholder=' …')}")
    return "\n".join(lines) + "\n"


def with_map(text: str) -> str:
    """CONTRIBUTING's text with the map of the tree as it is."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{house()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.house_map", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where the map is another")
    now = CONTRIBUTING.read_text(encoding="utf-8")
    if parser.parse_args().check:
        sys.exit(now != with_map(now))
    CONTRIBUTING.write_text(with_map(now), encoding="utf-8")
