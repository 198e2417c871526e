import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.gap_truncation import settled_set
from flipcore.stats.memory.pearl_alpha import Setting, alpha_tolerance
from flipcore.stats.memory.pearl_analysis import alpha_curve, pearl, perm_maxdrop, sensitivities, sensitivity
from tests.lab.simulations.planted_memory import pearl_scores

LEVELS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
SETTING = Setting("pocket", "completion", "ncd", "xz", LEVELS, 10)
GENTLE, CLIFF = np.linspace(0.6, 0.5, 6), np.array([0.9, 0.4, 0.35, 0.3, 0.3, 0.3])


def named(scores, prefix):
    return {f"{prefix}{k}": item.tolist() for k, item in enumerate(scores)}


def judged(rng, n_members=40, n_non_members=100, **options):
    members = np.concatenate(
        [pearl_scores(rng, n_members // 2, CLIFF, sd=0.05), pearl_scores(rng, n_members // 2, GENTLE, sd=0.05)]
    )
    return pearl(named(members, "m"), named(pearl_scores(rng, n_non_members, GENTLE, sd=0.05), "n"), SETTING, m=199, **options)


def test_cliffs_are_flagged_and_gentle_declines_are_not():
    found = judged(generator(0))
    assert found.flagged[:20].all() and found.flagged[20:].sum() <= 3
    assert found.detection.n == 40 and found.abruptness[:20].min() > 0.7
    assert found.sentence().startswith(f"{int(found.flagged.sum())} of 40 texts lie beyond α = ")
    assert "with 95% confidence at most 5% of texts like them exceed it" in found.sentence()
    assert (found.q[:20] <= 0.05).all() and np.isfinite(found.p).all()


def test_too_few_non_members_flag_nothing_and_say_so():
    found = judged(generator(1), n_non_members=30)
    assert not found.flagged.any() and "59 are needed" in found.sentence()
    assert judged(generator(1), n_non_members=30, rule="conformal").flagged.any()


def test_an_item_with_an_empty_level_is_undefined_and_counted():
    scores = named(pearl_scores(generator(2), 3, CLIFF, sd=0.05), "m")
    scores["m1"][2] = [None] * 10
    found = pearl(scores, named(pearl_scores(generator(3), 60, GENTLE, sd=0.05), "n"), SETTING, m=99)
    assert found.n_undefined == 1 and not found.flagged[1] and math.isnan(found.p[1]) and found.detection.n == 2
    assert "1 without a defined sensitivity" in found.sentence()


def test_a_text_cannot_be_its_own_non_member():
    scores = named(pearl_scores(generator(4), 2, CLIFF), "x")
    with pytest.raises(BadInput, match="'x0' is judged"):
        pearl(scores, scores, SETTING)


def test_another_grid_of_levels_is_refused():
    scores = named(pearl_scores(generator(5), 2, CLIFF[:4]), "m")
    with pytest.raises(BadInput, match="came with 4 levels and the setting has 6"):
        pearl(scores, {}, SETTING)


def test_no_text_has_no_detection():
    found = pearl({}, named(pearl_scores(generator(6), 60, GENTLE), "n"), SETTING)
    assert math.isnan(found.detection.value) and found.means.shape == (0, 6)


def test_the_repository_mode_takes_rises_for_drops_and_is_labelled():
    rising = {"a": [[0.1], [0.6]]}
    assert sensitivities(rising, "repository")[0] == pytest.approx(0.5) and sensitivities(rising)[0] == pytest.approx(-0.5)
    with pytest.raises(BadInput, match="'other'"):
        sensitivities(rising, "other")
    setting = Setting("pocket", "completion", "rouge_l", "", (0.0, 0.1), 1, mode="repository")
    non_members = {f"n{k}": [[0.1], [0.1 + k / 1_000]] for k in range(60)}
    assert "public code" in pearl(rising, non_members, setting, m=9).sentence()


def test_the_curve_gives_both_rates_at_every_alpha():
    # members .1 .3 .3, non-members .2: at alpha .1 two members and one non-member lie above
    curve = alpha_curve([0.3, 0.1, 0.3, math.nan], [0.2])
    assert curve.alphas.tolist() == [-math.inf, 0.1, 0.2, 0.3]
    assert curve.n_detected.tolist() == [3, 2, 2, 0] and curve.n_false.tolist() == [1, 1, 0, 0]
    assert curve.fpr.tolist() == [1, 1, 0, 0] and curve.detection[1] == pytest.approx(2 / 3)
    assert np.isnan(curve.fpr_limits).all() and np.isnan(curve.detection_limits).all()  # below ten texts there is no interval
    larger = alpha_curve(np.linspace(0, 1, 12), np.linspace(0, 1, 10))
    assert (larger.fpr_limits[:, 0] <= larger.fpr).all() and (larger.fpr <= larger.fpr_limits[:, 1]).all()
    assert np.isnan(alpha_curve([0.1], []).fpr).all()


def test_a_dragged_alpha_reads_the_curve_by_look_up():
    found = judged(generator(7))
    curve = found.curve()
    for x in (-1.0, 0.03, float(found.sensitivity[3]), found.calibration.alpha, 9.0):
        at = np.searchsorted(curve.alphas, x, side="right") - 1
        assert curve.n_detected[at] == (found.sensitivity > x).sum()
        assert curve.n_false[at] == (found.non_members > x).sum()


def test_the_rate_of_false_positives_is_the_one_that_was_asked_for():
    found = judged(generator(8), n_non_members=300)
    assert found.false_positives.value <= 0.05 and "set alpha" in found.false_positives.note


@pytest.mark.parametrize(
    ("levels", "mean", "q95"), [(3, 0.031, 0.087), (6, 0.056, 0.104), (11, 0.071, 0.115), (21, 0.085, 0.126)]
)
def test_the_largest_drop_grows_with_the_number_of_levels(levels, mean, q95):
    # no effect, sd .1, 10 samples
    scores = pearl_scores(generator(9, levels), 4_000, np.full(levels, 0.5), sd=0.1).mean(axis=2)
    largest = (-np.diff(scores, axis=1)).max(axis=1)
    assert largest.mean() == pytest.approx(mean, abs=0.003) and np.quantile(largest, 0.95) == pytest.approx(q95, abs=0.004)


def test_a_gradual_decline_of_a_tenth_a_level_reads_more():
    # .157
    scores = pearl_scores(generator(10), 4_000, 1 - 0.1 * np.arange(6), sd=0.1).mean(axis=2)
    assert (-np.diff(scores, axis=1)).max(axis=1).mean() == pytest.approx(0.157, abs=0.003)


@pytest.mark.slow
def test_one_alpha_flags_noisy_texts_and_a_permutation_of_each_does_not():
    """F21 with 1,200 texts: false positives by tercile of noise 0 / .003 / .147 under one alpha, .045 / .042 / .053 under
    each text's own permutation."""
    rng, n = generator(11), 1_200
    flat = np.full(6, 0.5)
    calibrated = [sensitivity(row) for row in pearl_scores(rng, 300, flat).mean(axis=2)]
    alpha = np.quantile(calibrated, 0.95)
    scores = pearl_scores(rng, n, flat)
    order = np.argsort(scores.std(axis=(1, 2)))
    one_alpha = np.array([sensitivity(row) for row in scores.mean(axis=2)]) > alpha
    permuted = np.array([perm_maxdrop(item.tolist(), seed, 199)["p"] <= 0.05 for seed, item in enumerate(scores)])
    low, middle, high = (one_alpha[third].mean() for third in np.array_split(order, 3))
    assert low == 0 and middle < 0.02 and high == pytest.approx(0.147, abs=0.05)
    for third in np.array_split(order, 3):
        assert binomtest(int(permuted[third].sum()), len(third), 0.05).pvalue > 1e-3


@pytest.mark.slow
def test_an_alpha_chosen_on_the_judged_data_shows_detection_without_signal():
    # the best TPR - FPR over alphas is .17 / .12 / .06 at n = 20 / 50 / 200; with a split it is 0 on average
    rng = generator(12)
    for n, stated in ((20, 0.17), (50, 0.12), (200, 0.06)):
        best = []
        for _ in range(200):
            curve = alpha_curve(rng.random(n), rng.random(n))
            best.append((curve.detection - curve.fpr).max())
        assert np.mean(best) == pytest.approx(stated, abs=0.045)
    k = alpha_tolerance(range(100), 0.05)[1]
    held_out = [np.mean(rng.random(100) > np.sort(rng.random(100))[k - 1]) for _ in range(400)]
    assert np.mean(held_out) < 0.05


# PEARL's test of a set stands only where the continuations that a filter ended could not have changed it.


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
    assert test.p > 0.05 and "33% of the continuations were cut off" in why and np.isfinite(test.p)
