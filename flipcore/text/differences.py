"""Differences between two texts, word by word."""

import os
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# difflib takes cubic time on repeated words. So above _EXACT_CELLS pairs of words, only rarer words
# are compared, and above _MAX_CELLS only the common beginning and end.
_EXACT_CELLS, _MAX_CELLS = 160_000, 4_000_000
END_LETTERS = 240


def word_differences(original: str, changed: str) -> list[list[str]]:
    """Return `changed` as runs ["same", text] and ["new", text], whose texts join to `changed`."""
    before, after = _WORDS.findall(original), _WORDS.findall(changed)
    n_head = len(os.path.commonprefix([before, after]))  # noqa: RUF071 -- of two lists of words
    n_tail = len(os.path.commonprefix([before[n_head:][::-1], after[n_head:][::-1]]))  # noqa: RUF071
    end = len(after) - n_tail
    pieces = [
        ("same", after[:n_head]),
        *_compare_middle(before[n_head : len(before) - n_tail], after[n_head:end]),
        ("same", after[end:]),
    ]
    runs: list[list[str]] = []
    for kind, words in pieces:
        if runs and runs[-1][0] == kind:
            runs[-1][1] += "".join(words)
        elif words:
            runs.append([kind, "".join(words)])
    return runs


def _compare_middle(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Return (kind, words of `after`) of each run between the common beginning and end."""
    n_cells = len(before) * len(after)
    if n_cells > _MAX_CELLS:
        return [("new", after)]
    matcher = SequenceMatcher(None, before, after, autojunk=n_cells > _EXACT_CELLS)
    return [
        ("same" if kind == "equal" else "new", after[low:high])
        for kind, _, _, low, high in matcher.get_opcodes()
    ]


def ends_of(text: str) -> str:
    """Return the two ends of a long text and the number of letters between them; a short text as it
    is. The text is the same in both versions."""
    n_left_out = len(text) - 2 * END_LETTERS
    if n_left_out <= END_LETTERS:
        return text
    return f"{text[:END_LETTERS]}\n[… {n_left_out:,} letters alike …]\n{text[-END_LETTERS:]}"
