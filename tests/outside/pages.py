"""Code blocks of README and docs: what a reader copies into a shell, and what the page says it prints.

A block of `sh` is run line by line, as a reader would; a block of `text` right below it is what its
last line prints. The `run:` steps of a workflow are commands too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+#\s.*$")


@dataclass(frozen=True)
class Command:
    """One command of a page; `printed` are the lines that the page shows below it."""

    page: str
    language: str
    text: str
    printed: tuple[str, ...] = ()


def page_names() -> list[str]:
    """README and docs, as paths from the root."""
    return ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]


def commands_of(page: str) -> list[Command]:
    """Every command of a page's code blocks, in order."""
    commands: list[Command] = []
    for language, text in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if language == "sh":
            lines = [_COMMENT.sub("", line).strip() for line in text.splitlines()]
            commands += [Command(page, language, line) for line in lines if line]
        elif language == "python":
            commands.append(Command(page, language, text))
        elif language == "yaml":
            commands += [Command(page, language, step) for step in _steps(text)]
        elif language == "text" and commands and "reference" not in page:
            last = commands.pop()
            commands.append(Command(page, last.language, last.text, tuple(text.strip().splitlines())))
        elif language != "text":
            raise AssertionError(f"{page} has a block of {language}, which nothing here runs")
    return commands


def _steps(workflow: str) -> Iterator[str]:
    """The `run:` steps of a workflow or of a part of one."""
    import yaml

    document = yaml.safe_load(workflow)
    steps = document if isinstance(document, list) else []
    if isinstance(document, dict):
        for job in document["jobs"].values():
            steps += job["steps"]
    for step in steps:
        if "run" in step:
            yield step["run"]


_INLINE = re.compile(r"`(?:\.venv/bin/)?(?:python -m flipcore|flipscope)\s+([a-z][^`]*)`")


def words_of_commands(page: str) -> list[list[str]]:
    """Words of every command of the product on a page, in blocks and within sentences."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [match.replace("\n", " ") for match in _INLINE.findall(text)]
    for command in commands_of(page):
        lines += re.findall(r"(?:python -m flipcore|bin/flipscope|^flipscope) ([^|&;\n]*)", command.text, re.MULTILINE)
    return [line.split() for line in lines]
