"""PEARL's test of a set stands only where the continuations that a filter ended could not have changed it."""

import numpy as np
import pandas as pd

from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.pearl_truncation import settled_set

JUDGED = {f"b{i}": 0.9 for i in range(30)}
COMPARED = {f"c{i}": 0.01 * i for i in range(60)}
TEST = set_test(list(JUDGED.values()), list(COMPARED.values()))


def frame(n_cut: int) -> pd.DataFrame:
    """One continuation an item; the first `n_cut` of the benchmark were ended by a filter."""
    cut = {f"b{i}" for i in range(n_cut)}
    return pd.DataFrame(
        {
            "item_id": item,
            "axis": "bit_flip",
            "extractor": "rouge_l",
            "status": "cut" if item in cut else "ok",
            "role": "benchmark" if item in JUDGED else "control",
        }
        for item in (*JUDGED, *COMPARED)
    )


def settled(n_cut: int):
    return settled_set(TEST, frame(n_cut), "bit_flip", "rouge_l", JUDGED, COMPARED)


def test_few_continuations_that_were_cut_off_change_nothing():
    assert TEST.p < 0.05 and settled(4) == (TEST, "")


def test_many_that_could_not_have_changed_the_verdict_leave_it_with_the_larger_p():
    test, why = settled(10)
    assert why == "" and TEST.p < test.p < 0.05


def test_where_they_could_have_changed_it_nothing_is_claimed():
    test, why = settled(30)
    assert test.p > 0.05 and "33 % of the continuations were cut off" in why and np.isfinite(test.p)
