"""What differs between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def word_differences(original: str, changed: str) -> list[list[str]]:
    """`changed` cut into ["same", text] and ["new", text] runs; their texts join to `changed` again."""
    before, after = _WORDS.findall(original), _WORDS.findall(changed)
    runs: list[list[str]] = []
    for kind, _, _, low, high in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        text = "".join(after[low:high])
        if text:
            runs.append(["same" if kind == "equal" else "new", text])
    return runs
