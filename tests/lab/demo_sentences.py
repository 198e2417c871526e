"""The sentences of the demo studies before and after the third corrections of the statistics.

    flipscope stats --json Demo > flips.json
    flipscope stats --json Which > ranking.json
    python -m tests.lab.demo_sentences flips.json ranking.json            print the tables
    python -m tests.lab.demo_sentences flips.json ranking.json --write    to docs/demo-sentences.md

A file is named as its study in the stored ones. The sentences before are those of `BEFORE_COMMIT`
on the same answers; they are stored beside this file, made from its `stats --json` by `--store`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "demo-sentences.md"
BEFORE = Path(__file__).with_name("demo_sentences.json")
BEFORE_COMMIT = "c09dea19"
START, END = "<!-- table -->", "<!-- end of table -->"
KEYS = ("headline", "sentence", "notes")  # of `stats --json`, whose texts are shown as sentences

WORDS = "Words only: shares as percentages, an extractor is no reader, noise is reruns alone."
COMBINATIONS = "Words only: a prompt with an extractor is a combination, and shares are percentages."
BEST = "Words only: who may be best, and who is not."
UNDECIDED = "What is not shown is called undecided, and differences are in points."
LEFT_OUT = "It said that nothing was measured, where other prompts were asked and are left out."
LIKE_THESE = (
    "It speaks of prompts like these, because a kind of prompt that was not met may be worse. "
    "Shares are rounded as percentages."
)
SHARED = "New: where two extractors share a misreading the model seems to change, and only people's labels can tell."
COPIES = (
    "Problems of one template are near twins, and hid copies: they no longer count as neighbors, "
    "so fewer copies can be excluded."
)
PROMPT = "Words only: a wording of a question is called a prompt."
BENCHMARK = "Words only: a target is a benchmark, and differences are in points."
# Why sentences changed: a part of the place, a part of the sentence now, the reason. The first
# whose parts are both there holds.
REASONS = (
    ("additivity", "", UNDECIDED),
    ("score", "leaves them out", LEFT_OUT),
    ("score", "prompts like these", LIKE_THESE),
    ("", "to some prompt", PROMPT),
    ("", "checked by people", SHARED),
    ("", "close copies", COPIES),
    ("holdout", "", BENCHMARK),
    ("inflation", "", BENCHMARK),
    ("ranking", "is best", BEST),
    ("ranking", "", COMBINATIONS),
    ("models", "", WORDS),
)


def sentences(found: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield (place, sentence) of `stats --json`.

    A place names the model, axis and extractor, so it stays where the order of a list changes.
    """
    if isinstance(found, list):
        for number, part in enumerate(found):
            yield from sentences(part, f"{place} {_name_of(part, number)}")
        return
    if not isinstance(found, dict):
        return
    for key, value in found.items():
        if key in KEYS and isinstance(value, str) and value:
            yield f"{place} {key}".strip(), value
        elif key in KEYS and isinstance(value, list):
            for number, text in enumerate(value):
                yield f"{place} {key} {number + 1}".strip(), str(text)
        else:
            yield from sentences(value, f"{place} {key}".strip())


def _name_of(part: Any, number: int) -> str:
    if isinstance(part, dict):
        names = [str(part[key]) for key in ("model", "axis", "extractor") if part.get(key)]
        if names:
            return ", ".join(names)
    return str(number + 1)


def reason_of(place: str, sentence: str) -> str:
    """Return why the sentence at this place changed; "" where no reason is known."""
    for part, words, reason in REASONS:
        if part in place and words in sentence:
            return reason
    return ""


def table(before: dict[str, str], after: dict[str, str]) -> str:
    """Return the rows of all places, in the order of `after`, and then those that are gone."""
    lines = ["| Before | Now | Why |", "|---|---|---|"]
    for place in [*after, *(place for place in before if place not in after)]:
        old, new = before.get(place, ""), after.get(place, "")
        reason = "the same" if old == new else reason_of(place, new)
        cells = (old or "(nothing)", new or "(nothing)", reason)
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    return "\n".join(lines)


def write(text: str) -> None:
    """Put a table in its place on the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("stats", type=Path, nargs="+", help="what `flipscope stats --json` printed")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--store", action="store_true", help="keep these as the sentences before")
    options = parser.parse_args(arguments)
    found = {}
    for path in options.stats:
        found[path.stem] = dict(sentences(json.loads(path.read_text(encoding="utf-8"))))
    if options.store:
        text = json.dumps(found, indent=1, ensure_ascii=False)
        BEFORE.write_text(text + "\n", encoding="utf-8")
        return 0
    before = json.loads(BEFORE.read_text(encoding="utf-8"))
    tables = []
    for name, after in found.items():
        tables.append(f"## {name.capitalize()}\n\n{table(before.get(name, {}), after)}")
    text = "\n\n".join(tables)
    print(text)
    if options.write:
        write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
