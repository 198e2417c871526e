"""The data behind the lines that are dragged: what stands beside a position is what the interval says there."""

import base64

import numpy as np
import pytest

from flipcore.boards.cutoffs import MARGINS, margin_line
from flipcore.stats.memory.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.memory.rewritten import Rewritten


def items(name, n_right, n_broken, n=200):
    before, after = np.zeros(n), np.zeros(n)
    before[:n_right], after[n_broken:n_right] = 1, 1
    return Rewritten.make([f"{name}{i}" for i in range(n)], before, after[:, None], None)


@pytest.mark.parametrize(
    ("n_broken", "at", "word"), [(100, 0.05, "lies beyond"), (0, 0.1, "lies within"), (10, 0.05, "may lie within or beyond")]
)
def test_a_gap_is_within_a_margin_beyond_it_or_neither(n_broken, at, word):
    line = margin_line(drop_gap_analysis(items("b", 180, n_broken), items("c", 180, 0), n_boot=50, m=99), at)
    table = line["tables"]["inside"]
    states = np.frombuffer(base64.b64decode(table["data"] if isinstance(table, dict) else table), dtype=np.float32)
    assert line["words"]["inside"][int(states[np.argmin(np.abs(MARGINS - at))])] == word
