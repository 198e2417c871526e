"""The data behind the lines that are dragged: what stands beside a position is what the interval says there."""

import base64

import numpy as np
import pytest

from flipcore.claims.memory_gap import gap_claim
from flipcore.reports.browser_data.cutoffs import MARGINS, margin_line
from flipcore.reports.memory import Measurement, family_tests
from flipcore.stats.memory.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.memory.rewritten import Rewritten


def items(name, n_right, n_broken, n=200):
    before, after = np.zeros(n), np.zeros(n)
    before[:n_right], after[n_broken:n_right] = 1, 1
    return Rewritten.make([f"{name}{i}" for i in range(n)], before, after[:, None], None)


@pytest.mark.parametrize(
    ("n_broken", "at", "word"),
    [(100, 0.05, "Memory: "), (0, 0.1, "Rewriting costs the benchmark at most"), (10, 0.05, "5 pp cannot be ruled out")],
)
def test_the_sentence_at_every_margin_is_the_verdicts_own_claim(n_broken, at, word):
    found = drop_gap_analysis(items("b", 180, n_broken), items("c", 180, 4), n_boot=50, m=999, what="random")
    (verdict,) = family_tests(
        {"m": [Measurement("number", "drop gap", "numeric_resample", "regex", found.decided)]}, "random", {}
    )["m"]
    line = margin_line(found, at, verdict)
    states = np.frombuffer(base64.b64decode(line["tables"]["claim"]), dtype=np.float32)
    said = line["words"]["claim"][int(states[np.argmin(np.abs(MARGINS - at))])]
    assert word in said and said == gap_claim(found.decided, at, verdict.numbers["p_adjusted"]).text


def test_a_closed_gate_withholds_the_sentence_at_every_margin():
    found = drop_gap_analysis(items("b", 180, 100), items("c", 180, 4), n_boot=50, m=999, what="random")
    one = Measurement("number", "drop gap", "paraphrase", "regex", found.decided)
    (verdict,) = family_tests({"m": [one]}, "random", {"paraphrase": "Nobody has reviewed them."})["m"]
    assert margin_line(found, 0.05, verdict)["words"]["claim"] == ["Not claimed: Nobody has reviewed them."]
