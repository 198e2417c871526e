"""Source 001's counts with their excess over chance, as statistics.md, section 3, gives them."""

import pytest

from flipcore.stats.published import loss_rows


@pytest.mark.parametrize(("name", "beyond", "least"), [("MATH", 8.28, 7.61), ("GSM8K", 2.13, 1.38)])
def test_the_excess_and_its_lower_bound(name, beyond, least):
    row = next(row for row in loss_rows() if row["benchmark"] == name)
    assert row["beyond chance, %"] == pytest.approx(beyond, abs=0.006)
    assert row["at least, %"] == pytest.approx(least, abs=0.006)


@pytest.mark.parametrize(("name", "by_chance"), [("GSM8K", 32), ("ARC-Challenge", 30), ("TriviaQA", 7)])
def test_the_share_of_the_flags_that_chance_explains(name, by_chance):
    row = next(row for row in loss_rows() if row["benchmark"] == name)
    assert round(row["of the flags, chance %"]) == by_chance
