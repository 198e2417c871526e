"""Differences between two texts, word by word."""

import os
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# difflib takes cubic time on words that come again and again, so longer texts are compared by their
# rarer words, and very long ones by what they begin and end with alone
EXACT_CELLS, MOST_CELLS = 160_000, 4_000_000
END_LETTERS = 240


def word_differences(original: str, changed: str) -> list[list[str]]:
    """`changed` as ["same", text] and ["new", text] runs; their texts join to `changed`."""
    before, after = _WORDS.findall(original), _WORDS.findall(changed)
    head = len(os.path.commonprefix([before, after]))  # noqa: RUF071 -- of two lists of words
    tail = len(os.path.commonprefix([before[head:][::-1], after[head:][::-1]]))  # noqa: RUF071
    end = len(after) - tail
    pieces = [
        ("same", after[:head]),
        *_middle(before[head : len(before) - tail], after[head:end]),
        ("same", after[end:]),
    ]
    runs: list[list[str]] = []
    for kind, words in pieces:
        if runs and runs[-1][0] == kind:
            runs[-1][1] += "".join(words)
        elif words:
            runs.append([kind, "".join(words)])
    return runs


def _middle(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    cells = len(before) * len(after)
    if cells > MOST_CELLS:
        return [("new", after)]
    opcodes = SequenceMatcher(None, before, after, autojunk=cells > EXACT_CELLS).get_opcodes()
    return [
        ("same" if kind == "equal" else "new", after[low:high]) for kind, _, _, low, high in opcodes
    ]


def ends_of(text: str) -> str:
    """A long stretch that two texts have alike, as its two ends and how many letters lie between; a
    short one as it is."""
    left_out = len(text) - 2 * END_LETTERS
    if left_out <= END_LETTERS:
        return text
    return f"{text[:END_LETTERS]}\n[… {left_out:,} letters alike …]\n{text[-END_LETTERS:]}"
