"""The scripts of a browser part are joined into one, in which a name may be bound once."""

import re
from collections import Counter
from pathlib import Path

import pytest

from flipcore.reports.browser_data.parts import BOARD, part

ROOT = Path(__file__).resolve().parents[3]
DECLARED = re.compile(r"^(?:async )?(?:const|let|class|function) (\w+)", re.MULTILINE)
CALLED = re.compile(r"component\(\s*\"(\w+)\"((?:, *\"[\w.]+\")*)")


def parts_of_pages() -> dict[str, tuple[str, ...]]:
    """Each part that a page draws, and the scripts that stand before its own."""
    parts = {}
    for path in (ROOT / "pages").rglob("*.py"):
        for name, shared in CALLED.findall(path.read_text(encoding="utf-8")):
            parts[name] = tuple(re.findall(r"\"([\w.]+)\"", shared))
    return parts | {"board": BOARD}


@pytest.mark.parametrize(("name", "shared"), parts_of_pages().items(), ids=list(parts_of_pages()))
def test_a_part_binds_each_name_once(name, shared):
    counts = Counter(DECLARED.findall(part(name, shared).js))
    assert [bound for bound, n in counts.items() if n > 1] == []


def test_all_parts_are_looked_at():
    assert len(DECLARED.findall(part("flip_map", ("numbers.js",)).js)) > 10
    assert {"flip_map", "pair_review", "board", "keys"} <= set(parts_of_pages())
