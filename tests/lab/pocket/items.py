"""The manifest as files: one JSONL a family, each row an item with its dose and its other wordings."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.paths import POCKET
from tests.lab.pocket.world import FAMILIES, Entry, entries

ITEMS = POCKET / "items"


def write_items(folder: Path = ITEMS) -> None:
    """Write `problems.jsonl`, `choices.jsonl` and `prose.jsonl`; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = entries()
    for family in FAMILIES:
        rows = (json.dumps(asdict(entry), ensure_ascii=False) for entry in manifest if entry.family == family)
        (folder / f"{family}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


def read_items(family: str, folder: Path = ITEMS) -> Iterator[Entry]:
    """The manifest entries of one family; `.item` is the pipeline's Item. BadInput for an unknown family."""
    if family not in FAMILIES:
        raise BadInput(f"There is no pocket family {family!r}; choose one of {', '.join(FAMILIES)}.")
    with (folder / f"{family}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Entry(**{**row, "options": tuple(row["options"]), "paraphrases": tuple(row["paraphrases"])})
