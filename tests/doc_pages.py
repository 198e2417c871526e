"""The pages of docs that are made from code: docs/method-*.md, what each method does, assumes and cannot see, and how often the claims
on it were false; docs/reference.md, every command, the notebook's functions, a study's fields and the tables of the database.

``python -m tests.doc_pages`` writes them.
"""

import argparse
import inspect
import os
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest import mock

from flipcore import api
from flipcore.__main__ import parser
from flipcore.claims.catalogue import BY_NAME
from flipcore.core import study
from flipcore.methods.words import PAPERS
from flipcore.store.connection import Store
from tests.lab.claims import MODULES, results
from tests.lab.claims.acceptance import Row

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "score": "How much of this score?",
    "flips": "Does the answer flip?",
    "ranking": "Which model is better?",
    "memory": "Is it memory?",
    "holdout": "Is the holdout fair?",
    "audit": "Can this log be trusted?",
    "gates": "What may be claimed?",
}


_TEXTS = tomllib.loads((ROOT / "flipcore" / "methods" / "methods.toml").read_text(encoding="utf-8"))


def methods() -> list[dict]:
    """Every method that has a place on a page."""
    return [one for name in PAGES for one in _TEXTS[name]]


def pages() -> dict[str, str]:
    """File name -> text."""
    rows: dict[str, list[Row]] = {}
    for module in MODULES:
        for row in results.rows_on_disk(module, ROOT / results.FOLDER).values():
            rows.setdefault(row.claim, []).append(row)
    return {f"method-{name}.md": _page(title, _TEXTS[name], rows) for name, title in PAGES.items()} | {
        "reference.md": _reference()
    }


def _page(title: str, methods: Iterable[dict], rows: dict[str, list[Row]]) -> str:
    lines = [f"# Methods: {title}", "", "Made by `python -m tests.doc_pages`; the whole table of claims is", CLAIMS, ""]
    for one in methods:
        lines += [f"## {one['name'][0].upper()}{one['name'][1:]}", "", one["says"], "", f"`{one['formula']}`", ""]
        lines += [f"- **It assumes:** {one['assumes']}", f"- **It fails, or cannot see:** {one['fails']}"]
        lines += [f"- **Claim:** {_claim(name, rows.get(name, []))}" for name in one.get("claims", ())]
        if not one.get("claims"):
            lines.append("- **Claim:** none of its own; it describes.")
        lines += [f"- **Paper:** {PAPERS[key].line}" for key in one.get("papers", ())]
        lines.append("")
    return "\n".join(lines)


CLAIMS = "[tests/stats/claims.md](../tests/stats/claims.md)."


def _claim(name: str, rows: list[Row]) -> str:
    """The claim with its worst world and how often it is found where it is true."""
    null = [row for row in rows if row.truth == "null"]
    true = sorted(row.rate for row in rows if row.truth == "planted")
    text = f"*{name}*: {BY_NAME[name].asserts}."
    if null:
        worst = max(null, key=lambda row: row.rate)
        where = f"{len(null)} worlds and sizes: {worst.world}, n {worst.n}"
        text += f" False at most {worst.rate:.4f} (nominal {worst.nominal:g}) over {where}."
    if true:
        text += f" Made in {true[0]:.2f} to {true[-1]:.2f} of runs where it is true, by size and n."
    return text


def _reference() -> str:
    parts = ["# Reference", "Made by `python -m tests.doc_pages`.", "## Commands", *_commands()]
    parts += ["## Notebook", "`import flipcore`, then `flipcore.open()`.", *_functions()]
    parts += ["## A study as TOML", *_declaration(), "## Tables of the database", *_tables()]
    return "\n\n".join(parts) + "\n"


def _commands() -> Iterator[str]:
    with mock.patch.dict(os.environ, {"COLUMNS": "120"}):
        for name, command in _parsers(parser()):
            yield f"### `{name}`\n\n```text\n{command.format_help().rstrip()}\n```"


def _parsers(above: argparse.ArgumentParser, words: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command with its words, and the commands below it: `models`, `models add`."""
    if above._subparsers is None:
        return
    for name, command in above._subparsers._group_actions[0].choices.items():
        yield f"{words}{name}", command
        yield from _parsers(command, f"{words}{name} ")


def _functions() -> Iterator[str]:
    for one in (api.open_store, api.study_in_memory, api.Flipscope, api.StudyView, api.Answer):
        yield f"### `{one.__name__}`\n\n{_doc(one)}"
        for name, part in vars(one).items() if inspect.isclass(one) else ():
            what = part.fget if isinstance(part, property) else part
            if not name.startswith("_") and inspect.isfunction(what):
                words = (
                    str(inspect.signature(what)).partition(" ->")[0].replace("self, ", "").replace("self", "").replace("'", "")
                )
                yield f"- `{name}{'' if isinstance(part, property) else words}`: {_doc(what)}"


def _declaration() -> Iterator[str]:
    for one in (study.Study, study.ItemSource, study.Part, study.ModelUse, study.OwnPrompt):
        names = ", ".join(f"`{field.name}`" for field in fields(one))
        yield f"### {one.__name__}\n\n{names}.\n\n{_doc(one)}"


def _tables() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "flips.duckdb")
        rows = store.rows(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY 1, column_index"
        )
        store.close()
    columns: dict[str, list[str]] = {}
    for table, column, kind in rows:
        columns.setdefault(table, []).append(f"`{column}` {kind}")
    yield "\n".join(f"- **{table}**: {', '.join(names)}" for table, names in columns.items())


def _doc(one: Any) -> str:
    return " ".join((inspect.getdoc(one) or "").split())


def write() -> None:
    for name, text in pages().items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
