"""Sentences of plans: which rule they ask, and where there is none."""

import math

import pytest

from flipcore.claims import plans
from flipcore.claims.plans import equality_design, gap_design, gap_plan
from flipcore.stats.base.power import n_for_gap, n_to_author
from flipcore.stats.holdout.planning import MAX_ENTRIES
from flipcore.stats.memory.gap_power import GapDesign, detectable_sentence


@pytest.mark.parametrize(
    ("gap", "drop", "coverage", "power", "gains"),
    [(0.2, 0.1, 0.5, 0.8, 0.0), (0.2, 0.1, 1.0, 0.9, 0.04), (0.05, 0.0, 0.9, 0.8, 0.0)],
)
def test_a_gap_needs_so_many_items_that_losses_and_gains_change(gap, drop, coverage, power, gains):
    n = n_for_gap(gap, gap + drop + 2 * gains, gap + drop, drop + 2 * gains, drop, power=power)
    claim = gap_plan(gap, drop, coverage, power, gains)
    assert claim.text == f"{n:,.0f} rewritten items a set, so {n_to_author(n, coverage):,.0f} items to start from."
    assert claim.numbers == {"n": n} and claim.outcome == "plan" and claim.detail.startswith("Normal approximation")
    assert gap_plan(gap, drop, coverage, gains=gains) == gap_plan(gap, drop, coverage, 0.8, gains)


def test_a_gap_that_cannot_be_has_no_plan_and_a_large_one_takes_ten_items():
    impossible = gap_plan(0.51, 0.5, 1.0)
    assert impossible.text == "No benchmark can drop by 101 points: lower the gap or the drop on the control."
    assert impossible.outcome == "impossible" and gap_plan(0.5, 0.5, 1.0).outcome == "plan"
    for gap in (0.0, 1.0):  # no gap at all, and one that every item shows
        assert gap_plan(gap, 0.0, 1.0).text == "Such a gap has no plan: every item changes alike, so lower the gap."
    assert gap_plan(0.9, 0.0, 0.5).text == "10 rewritten items a set, so 20 items to start from."


def test_the_gap_that_two_sets_show_is_that_of_the_rule_of_their_control(monkeypatch):
    asked = []
    monkeypatch.setattr(plans, "detectable_gap", lambda design, n_runs: asked.append(design) or 0.123)
    claim = gap_design(11, 12, "other")
    design = GapDesign((11, 12), (0.7, 0.7), breaks=0.1, fixes=0.1, control="other")
    assert asked == [design] and claim.text == detectable_sentence(design, 0.123)
    assert claim.numbers == {"gap": 0.123} and claim.outcome == "plan"
    assert gap_design(11, 12, "other").text == claim.text and len(asked) == 1  # simulated once
    plans._detectable_gap.cache_clear()


@pytest.mark.parametrize(("sizes", "n"), [((300, 40), 40), ((40, 300), 40), ((10**6, 10**7), MAX_ENTRIES)])
def test_two_sets_are_shown_alike_within_what_the_smaller_one_allows(monkeypatch, sizes, n):
    asked = []
    monkeypatch.setattr(plans, "detectable_margin", lambda accuracy, n: asked.append((accuracy, n)) or 0.25)
    claim = equality_design(*sizes)
    assert asked == [(0.7, n)] and claim.numbers == {"margin": 0.25}
    assert (
        claim.text
        == f"Two sets of equal accuracy are shown alike within 25 points four times in five, from {min(sizes):,} items a set."
    )
    monkeypatch.setattr(plans, "detectable_margin", lambda accuracy, n: math.nan)
    none = equality_design(*sizes)
    assert none.text == f"With {min(sizes):,} items in the smaller set no margin up to 50 points can be shown."
    assert none.outcome == "impossible"
