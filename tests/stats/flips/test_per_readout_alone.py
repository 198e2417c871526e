"""Readouts by themselves, on a table of a few rows."""

import math

import pandas as pd

from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.per_readout import alone, arriving


def coded(n_samples=2):
    """Twelve items; the variant always gets another answer, every sample of a variant the same one."""
    rows = [
        (f"i{i}", axis, variant, sample, "regex", "ok", answer)
        for i in range(12)
        for axis, variant, answer in (("order", "base", "0"), ("order", "turn", "1"))
        for sample in range(n_samples)
    ]
    return coded_answers(pd.DataFrame(rows, columns=["item_id", "axis", "variant", "sample", "extractor", "status", "answer"]))


def test_a_change_that_always_flips_is_beyond_asking_again():
    ((summary, p),) = alone(coded())
    assert (summary.T.value, summary.any_flip.value, summary.n_items) == (1, 1, 12)
    assert p <= 1 / 500 + 1e-12


def test_where_nothing_was_asked_twice_there_is_no_p():
    ((summary, p),) = alone(coded(n_samples=1))
    assert math.isnan(p) and (summary.lowest, summary.highest) == (1, 1)


def test_the_rate_as_items_arrive_ends_at_the_rate():
    path = arriving(coded(), "order")["regex"]
    assert len(path.t) == 12 and path.means[-1] == 1 and path.low[-1] > 0.2 and path.high[-1] == 1
