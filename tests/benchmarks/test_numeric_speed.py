"""The whole test split of GSM8K, numbers resampled: seconds, not minutes. The time is printed, not asserted."""

import time

import pytest

from flipcore.axes.numeric_resample import AXIS
from flipcore.core.study import ItemSource
from flipcore.datasets import load
from tests.axes.coverage import coverage


@pytest.mark.stand_in("axes/test_numeric_resample.py::test_the_pocket_models_problems_are_resampled")
@pytest.mark.soak
def test_1319_problems_are_resampled(shared_data, capsys):
    items = list(load(ItemSource("gsm8k", path=str(shared_data / "gsm8k" / "test.jsonl"))))
    start = time.perf_counter()
    found = coverage(AXIS, items, seed=0)
    with capsys.disabled():
        print(
            f"\n{len(found):,} problems, {sum(one.is_covered for one in found):,} resampled: "
            f"{time.perf_counter() - start:.1f} s"
        )
    assert len(found) == 1_319
