"""Source 001's counts with their excess over chance, as an independent computation gives them."""

import pytest

from flipcore.reports.published import GAP_ANSWERS, gap_notes, gap_rows, inconsistency_rows, loss_notes, loss_rows
from tests.stats.memory.test_drop_gap_analysis import BRITTLE, MEMORIZED


def test_source_000s_table_is_recomputed_from_its_answers():
    memorized, brittle = ({row["simulated models"]: row[model] for row in gap_rows()} for model in GAP_ANSWERS)
    assert memorized["gap, recomputed"] == "0.260 [0.189, 0.331]" and memorized["the source's rule"] == "flag"
    assert brittle["gap, recomputed"] == "0.023 [−0.064, 0.115]" and brittle["the source's rule"] == "no evidence"
    assert memorized["benchmark alone, χ² corrected"] == "p = 2.5e-08"
    assert memorized["benchmark alone, exact"] == "p = 2.3e-10"
    earlier, verdict = "the rule of an earlier release", "verdict, control from elsewhere"
    assert (memorized[earlier], brittle[earlier]) == ("flag", "no evidence")
    assert memorized[verdict].startswith("The benchmark loses more than the control") and "No larger loss" in brittle[verdict]
    assert memorized["inputs"] == "simulated; seed of the bootstrap 1" and "SIMULATED" in gap_notes()
    assert "0.847 [0.780, 0.896]" in gap_notes()


def test_the_answers_are_those_of_the_fixed_cases():
    for (_, _, *held), cases in zip(GAP_ANSWERS.values(), (MEMORIZED, BRITTLE), strict=True):
        assert [format(int(one, 16), f"0{len(case)}b") for one, case in zip(held, cases, strict=True)] == [
            "".join(str(int(bit)) for bit in case) for case in cases
        ]


@pytest.mark.parametrize(("name", "beyond", "least"), [("MATH", 8.28, 7.61), ("GSM8K", 2.13, 1.38)])
def test_the_excess_and_its_lower_bound(name, beyond, least):
    row = next(row for row in loss_rows() if row["benchmark"] == name)
    assert row["beyond chance, %"] == pytest.approx(beyond, abs=0.006)
    assert row["at least, %"] == pytest.approx(least, abs=0.006)


@pytest.mark.parametrize(("name", "by_chance"), [("GSM8K", 32), ("ARC-Challenge", 30), ("TriviaQA", 7)])
def test_the_share_of_the_flags_that_chance_explains(name, by_chance):
    row = next(row for row in loss_rows() if row["benchmark"] == name)
    assert round(row["of the flags, chance %"]) == by_chance


def test_what_does_not_add_up_is_computed():
    # (2,640 - 418.6) of 4,540 = .4893; 354 of 400 is 88.5%, 355 is 88.75%.
    assert "48.9%, not the published 49.1%" in loss_notes() and "0.0008" in loss_notes()
    assert "16,400 pairs" in loss_notes() and "their mean is .04" in loss_notes()


def test_every_source_has_what_does_not_fit():
    rows = inconsistency_rows()
    assert [row["source"][-4:-1] for row in rows] == ["001", "000", "002", "003", "004"]
    assert all(row["what does not fit"] for row in rows)
