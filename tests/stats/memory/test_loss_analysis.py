import math
from dataclasses import replace

import numpy as np
import pytest

from flipcore.claims.memory_sets import at_least_claim, set_claim
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory.loss_analysis import cutoff_curve, loss_test, reach
from tests.lab.simulations.planted_memory import loss_differences


def names(n):
    return [f"i{k}" for k in range(n)]


def test_the_reach_of_the_published_design_is_stated_before_it_runs():
    found = reach(5_000, 1_200)
    assert found.sentence() == (
        "With 5,000 items and 1,200 controls Bonferroni on conformal p-values can flag nothing (it needs 99,999 controls); "
        "Benjamini-Hochberg needs 84 items or more beyond every control. The source's own "
        "correction would flag something in 81% of clean benchmarks."
    )
    # 19 controls: the floor is 1/20 and all 5,000 items would have to lie there; 18 are too few for any of them
    assert reach(5_000, 19).bh_needs_discoveries == 5_000 and "can flag nothing either" in reach(5_000, 18).sentence()
    assert "Bonferroni on conformal p-values can flag single items" in reach(5, 99).sentence()


def test_the_curve_counts_both_sets_at_every_cut_off():
    # items 1 2 2 3, controls 0 2: at 2 three items and one control, so as above the second largest of two: 4 * 2/3 by chance,
    # excess (3/4 - 2/3)/(1/3); above the largest 4 * 1/3
    curve = cutoff_curve([1, 2, 2, 3, math.nan], [0, 2, math.inf])
    assert curve.cutoffs.tolist() == [0, 1, 2, 3, math.inf]
    assert curve.n_flagged.tolist() == [4, 4, 3, 1, 0] and curve.n_controls_flagged.tolist() == [2, 1, 1, 0, 0]
    assert curve.n_expected == pytest.approx([4, 8 / 3, 8 / 3, 4 / 3, 4 / 3])
    assert math.isnan(curve.excess[0]) and curve.excess[1:] == pytest.approx([1.0, 0.25, -0.125, -0.5])
    assert (curve.excess_low[2:] == 0).all()


def test_a_dragged_line_reads_the_curve_by_look_up():
    d, d0, _ = loss_differences(generator(0), n=300, m=100)
    curve = cutoff_curve(d, d0)
    for x in (-5.0, -0.2, 0.3, float(d[7]), 99.0):
        at = np.searchsorted(curve.cutoffs, x, side="left")
        assert (curve.n_flagged[at], curve.n_controls_flagged[at]) == ((d >= x).sum(), (d0 >= x).sum())


@pytest.mark.simulation
@pytest.mark.slow
def test_the_lower_bound_of_the_excess_holds_at_a_cut_off_fixed_beforehand():
    rng, runs = generator(1), 100
    too_high = 0
    for _ in range(runs):
        d, d0, _ = loss_differences(rng, n=400, m=300)
        curve = cutoff_curve(d, d0)
        too_high += curve.excess_low[np.searchsorted(curve.cutoffs, 0.7)] > 0
    assert too_high / runs < 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_a_set_without_a_finite_value_has_no_curve():
    with pytest.raises(BadInput, match="got 0 items"):
        cutoff_curve([math.nan], [1.0])


def test_items_without_a_finite_loss_are_counted_and_left_out():
    result = loss_test(names(4), [math.nan, 9.0, math.inf, 0.0], [*np.linspace(-1, 1, 30), math.nan])
    assert (result.item_ids, result.n_excluded, result.n_controls_excluded) == (("i1", "i3"), 2, 1)
    with pytest.raises(BadInput, match="None of the 1 items"):
        loss_test(names(1), [math.nan], range(30))
    with pytest.raises(BadInput, match="18 usable controls"):
        loss_test(names(1), [1.0], range(18))
    with pytest.raises(BadInput, match="2 ids and 1 values"):
        loss_test(names(2), [1.0], range(30))


def test_memory_is_claimed_of_the_set_and_its_items_are_named():
    d, d0, truth = loss_differences(generator(2), memorized=0.09, shift_sd=5)
    result = loss_test(names(5_000), d, d0)
    flagged = result.flagged["conformal_bh"]
    assert (flagged & truth).sum() > 0.9 * truth.sum()
    test = result.set_test()
    # k = 60 of 1,201: 249.8 of 5,000 clean items lie beyond it
    assert (test.k, round(test.chance, 1)) == (60, 249.8) and test.p < 1e-6
    claim = set_claim(test, "problems", "random")
    assert claim.text.startswith(f"Memory: {test.n_beyond} of 5,000 problems beyond the controls' mark, chance 250 ")
    assert 0.03 < at_least_claim(test, claim).numbers["share_least"] <= 0.09
    assert result.rate().value == flagged.mean() and result.cutoff() == d[flagged].min()


def test_a_clean_benchmark_says_that_no_memory_is_shown():
    d, d0, _ = loss_differences(generator(3))
    result = loss_test(names(5_000), d, d0)
    claim = set_claim(result.set_test(), "problems", "random")
    assert claim.text.startswith("No memory shown: ") and math.isinf(result.cutoff())
    assert not at_least_claim(result.set_test(), claim).is_made
    assert result.rate().low == 0 < result.rate().high


def clean_correctness(rng, n):
    """Losses before and after share ability and luck; D = difference of luck; right where the loss is small."""
    ability = rng.normal(0, 1, n)
    loss, other = ability + rng.normal(0, 0.44, n), ability + rng.normal(0.04, 0.44, n)
    return other - loss, (loss < 0.07).astype(float), (other < 0.07).astype(float)


def test_flagged_items_look_memorized_without_memory_and_the_controls_show_it():
    # without memory the top items by D read far better as published; controls beyond the same cut-off do too
    rng = generator(4)
    d, original, paraphrase = clean_correctness(rng, 5_000)
    d0, control_original, control_paraphrase = clean_correctness(rng, 1_200)
    result = loss_test(names(5_000), d, d0)
    by_id = [dict(zip(names(5_000), values, strict=True)) for values in (original, paraphrase)]
    found = result.paired_correctness(*by_id, control_original, control_paraphrase, rule="source_p01")
    assert found.original.value - found.paraphrase.value > 0.2
    assert found.control_original.value - found.control_paraphrase.value > 0.2
    assert "controls beyond the same cut-off" in found.sentence()


def test_excluding_flagged_items_lowers_accuracy_without_memory_and_the_placebo_shows_it():
    # 52.5 -> 52.2 when the top 1% by D leaves
    rng = generator(5)
    d, original, _ = clean_correctness(rng, 5_000)
    d0, control, _ = clean_correctness(rng, 1_200)
    result = loss_test(names(5_000), d, d0)
    found = result.corrected_accuracy(dict(zip(names(5_000), original, strict=True)), control, rule="source_p01")
    assert found.raw.value > found.corrected.value and found.control_raw.value > found.control_corrected.value
    assert abs(found.beyond_placebo) < 0.003
    assert found.n_flagged == result.flagged["source_p01"].sum() and found.n_controls_flagged > 0


def test_without_flags_accuracy_is_unchanged_and_pairs_are_missing():
    d, d0, _ = loss_differences(generator(3))
    result = loss_test(names(5_000), d, d0)
    right = dict.fromkeys(names(5_000), 1.0)
    found = result.corrected_accuracy(right, np.ones(1_200))
    assert (found.raw, found.control_raw) == (found.corrected, found.control_corrected)
    pairs = result.paired_correctness(right, right, np.ones(1_200), np.ones(1_200))
    assert pairs.sentence() == "No item lies beyond the cut-off." and math.isnan(pairs.original.value)
    with pytest.raises(BadInput, match="1200 controls, in the order"):
        result.corrected_accuracy(right, np.ones(3))


def test_fewer_ids_than_items_are_not_paired_with_the_flags_of_others():
    test = loss_test(["a", "b"], [9.0, 9.0], generator(0, "ids").normal(size=40))
    correctness = {"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 0.0}, np.ones(40), np.ones(40)
    assert test.paired_correctness(*correctness)
    with pytest.raises(ValueError, match="zip"):
        replace(test, item_ids=("a",)).paired_correctness(*correctness)
