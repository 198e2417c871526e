import math

import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as t_distribution

from flipcore.claims.memory_truth import (
    SEES,
    SHIFTS,
    KnownDose,
    Record,
    best_detector,
    detector_claim,
    record_claim,
    truth_claim,
)
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.memory.ground_truth import GroundTruth, auc_interval, detector, exact_share, ground_truth, roc, share_text
from flipcore.stats.memory.pearl_alpha import alpha_conformal


def test_auc_counts_pairs_and_halves_ties():
    # pairs (2,1) (2,2) (3,1) (3,2): won, tied, won, won -> 3.5 of 4
    few = auc_interval(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
    assert few.value == 0.875 and not few.has_interval  # below ten items a group there is none
    assert math.isnan(auc_interval(np.array([]), np.array([1.0])).value)


def test_the_limits_lie_where_their_own_standard_error_reaches_the_area():
    # n = 20, m = 30, all 600 pairs won: A = 1. The lower limit t solves 1 - t = 1.96 se(t) with Hanley and McNeil's
    # se^2 = t(1-t)(1 + 24((1-t)/(2-t) + t/(1+t)))/600. At t = .91594: .07700 * (1 + 24(.07754 + .47806)) / 600 = .0018395,
    # se = .042889, and 1.959964 * .042889 = .08406 = 1 - t
    found = auc_interval(np.arange(30.0, 50.0), np.arange(30.0))
    t = found.low
    se = math.sqrt(t * (1 - t) * (1 + 24 * ((1 - t) / (2 - t) + t / (1 + t))) / 600)
    assert found.value == found.high == 1.0 and 1 - t == pytest.approx(1.959964 * se, abs=1e-6)
    assert t == pytest.approx(0.91594, abs=1e-5)


def test_turning_the_scores_round_turns_the_interval_round():
    rng = generator(1, "turn")
    a, b = rng.normal(0.5, 1, 25), rng.normal(0, 1, 40)
    one, other = auc_interval(a, b), auc_interval(-a, -b)
    assert (1 - one.value, 1 - one.high, 1 - one.low) == pytest.approx((other.value, other.low, other.high), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("area", "spread"), [(0.5, 1), (0.8, 1), (0.97, 1), (0.5, 3), (0.75, 3), (0.75, 1 / 3)])
def test_the_interval_of_the_area_covers(area, spread):
    # two normals d apart have the area Phi(d / sqrt(1 + spread^2)); 40 seen and 150 never-seen, as in the shipped manifest.
    # Where the seen spread three times as wide Newcombe's interval covered .87 and .86
    from scipy.special import ndtri

    rng, n_runs = generator(2, "area", str(area)), 600
    shift = math.sqrt(1 + spread**2) * ndtri(area)
    hits = 0
    for _ in range(n_runs):
        found = auc_interval(rng.normal(shift, spread, 40), rng.normal(0, 1, 150))
        hits += found.low <= area <= found.high
    assert binomtest(hits, n_runs, 0.93, alternative="less").pvalue > 0.01


def test_the_curve_has_the_area_and_moves_ties_together():
    a, b = np.array([2.0, 3.0]), np.array([1.0, 2.0])
    false, true = roc(a, b)
    # cut-offs 3, 2, 1: negatives at or above 0, 1/2, 1; positives 1/2, 1, 1
    assert false.tolist() == [0, 0, 0.5, 1] and true.tolist() == [0, 0.5, 1, 1]
    assert np.trapezoid(true, false) == auc_interval(a, b).value


def test_a_share_is_exact():
    share = exact_share(2, 40)
    assert [share.low, share.high] == clopper_pearson(2, 40) and share_text(share) == "5% [1, 17]"
    assert share_text(exact_share(0, 0)) == "–"


def made(shift: float, seed: int = 0, name: str = "a"):
    rng = generator(seed, "truth", name)
    scores = {f"never{i}": float(rng.normal()) for i in range(200)}
    for dose in (1, 16, 256):
        scores |= {f"{dose}-{i}": float(rng.normal() + shift * math.log2(dose)) for i in range(40)}
    doses = {item: 0 if item.startswith("never") else int(item.split("-")[0]) for item in scores}
    return scores, doses


def test_a_detector_that_sees_is_told_from_one_that_sees_nothing():
    sharp, doses = made(1.0)
    blind, _ = made(0.0, name="b")
    truth = ground_truth({"question loss": sharp, "answer loss": blind}, doses)
    assert [one.items_from for one in truth.detectors] == [16, None]
    claim = truth_claim(truth)
    assert claim.text == (
        "Question loss finds single items that were read 16 times or more (98% [87, 100] of them); 1 of 2 detectors find any."
    )
    assert claim.detail == (
        "At 5% false positives. Single items are found by question loss if read 16 times or more. Nothing is shown by answer loss."
    )
    assert claim.is_made and claim.outcome == "sees" and claim.assertion is SEES
    seen, none = (detector_claim(one) for one in truth.detectors)
    assert (seen.is_made, seen.outcome, none.is_made, none.outcome) == (True, "sees", False, "none shown")
    assert detector_claim(truth.detectors[1]).text == "answer loss shows nothing, however often items were read."
    assert detector_claim(truth.detectors[0]).text.startswith(
        "question loss finds single items that were read 16 times or more ("
    )


def test_the_cut_off_comes_from_items_that_do_not_check_it():
    scores, doses = made(1.0)
    fresh = [f"never{i}" for i in range(100, 200)]
    one = ground_truth({"x": scores}, doses, fresh).detectors[0]
    setting = np.array([scores[f"never{i}"] for i in range(100)])
    assert one.cutoff == alpha_conformal(setting, 0.05)[0] and one.false_positives.n == 100
    k = sum(scores[item] > one.cutoff for item in fresh)
    assert one.false_positives == exact_share(k, 100)
    halves = ground_truth({"x": scores}, doses).detectors[0]
    assert (len(halves.never_seen), halves.false_positives.n) == (100, 100)


@pytest.mark.slow
def test_a_blind_detector_is_rarely_said_to_see():
    wrong = 0
    for seed in range(150):
        scores, doses = made(0.0, seed)
        wrong += ground_truth({"x": scores}, doses).detectors[0].items_from is not None
    assert binomtest(wrong, 150, 0.05, alternative="greater").pvalue > 0.01


def test_scores_that_no_cut_off_can_split_are_seen_of_groups_only():
    # a drop is -1, 0 or 1, so no item exceeds a cut-off of 1; at dose 16 the mean is .5 and above the never-seen's .1
    never = np.repeat([0.0, 1.0], [90, 10])
    one = detector("drop", never, never, {1: np.repeat([0.0, 1.0], [36, 4]), 16: np.repeat([0.0, 1.0], [20, 20])})
    assert (one.cutoff, one.items_from, one.groups_from) == (1.0, None, 16)
    assert one.doses[1].above.value == pytest.approx(0.4) and one.doses[0].above.low < 0 < one.doses[0].above.high
    assert detector_claim(one).text.startswith(
        "drop finds no single item, but groups of items that were read 16 times or more (mean 0.40 ["
    )
    scores = {f"n{i}": x for i, x in enumerate(never)} | {f"s{i}": float(i % 2) for i in range(40)}
    doses = {item: 0 if item[0] == "n" else 16 for item in scores}
    claim = truth_claim(ground_truth({"drop": scores}, doses))
    group = detector_claim(one)
    assert group.is_made and group.assertion is SHIFTS and group.outcome == "group"
    assert claim.is_made and claim.assertion is SHIFTS and claim.outcome == "group"
    assert claim.text == "No detector shows memory of a single item; 1 of 1 tell whole groups from never-seen items."
    assert claim.detail == "At 5% false positives. Only whole groups are found by drop if read 16 times or more."


def test_detectors_whose_names_have_a_comma_are_told_apart_in_a_list():
    never = {f"n{i}": float(i % 10 == 0) for i in range(100)}
    scores = never | {f"s{i}": float(i % 2) for i in range(40)}
    doses = {item: 0 if item[0] == "n" else 1 for item in scores}
    names = ("drop gap, names changed", "drop gap, paraphrased")
    claim = truth_claim(ground_truth(dict.fromkeys(names, scores), doses))
    assert claim.detail.endswith("by drop gap (names changed) and drop gap (paraphrased) if read once or more.")


def test_the_best_detector_sees_the_smallest_dose_and_there_tells_best():
    sharp, doses = made(1.0)
    weak, _ = made(0.35, name="b")
    assert best_detector(ground_truth({"weak": weak, "sharp": sharp}, doses)).name == "sharp"
    assert best_detector(ground_truth({"blind": made(0.0, name="b")[0]}, doses)) is None


def test_a_dose_is_seen_only_if_every_larger_one_is():
    never, fresh = np.arange(100.0), np.arange(100.0)
    high, low = np.full(20, 1000.0), np.full(20, 50.0)
    assert detector("x", never, fresh, {1: high, 4: low, 16: high}).items_from == 16
    assert detector("x", never, fresh, {1: low, 4: high, 16: high}).items_from == 4
    assert detector("x", never, fresh, {1: high, 4: high, 16: low}).items_from is None


def test_too_few_never_seen_items_set_no_cut_off_and_say_so():
    one = detector("x", np.arange(10.0), np.arange(10.0), {16: np.arange(20.0)})
    assert one.cutoff is None and one.items_from is None and math.isnan(one.false_positives.value)
    assert not detector_claim(one).is_made and detector_claim(one).outcome == "no claim"
    none = truth_claim(GroundTruth((one, one), "conformal", 0.05, 0))
    assert none.text.startswith("Not enough never-seen items to set any cut-off") and none.outcome == "no claim"
    assert "10 never-seen items, too few" in detector_claim(one).text and math.isnan(one.doses[0].detected.value)


def test_what_is_unknown_or_missing_is_in_no_number():
    scores, doses = made(1.0)
    scores |= {"16-0": math.nan, "elsewhere": 3.0}
    truth = ground_truth({"x": scores}, {**doses, "elsewhere": None})
    assert truth.n_unknown == 1
    assert next(one for one in truth.detectors[0].doses if one.dose == 16).detected.n == 39


def test_without_both_kinds_of_items_it_is_a_sentence():
    with pytest.raises(BadInput, match="at dose 0"):
        ground_truth({"x": {"a": 1.0}}, {"a": 16})
    with pytest.raises(BadInput, match="conformal"):
        detector("x", np.zeros(40), np.zeros(40), {1: np.zeros(4)}, rule="none")


def test_of_detectors_that_see_the_same_dose_the_better_one_is_best():
    near, doses = made(1.0)
    nearer = {item: score + (0.1 if doses[item] else 0.0) for item, score in near.items()}
    first, second = (ground_truth({"a": one, "b": other}, doses) for one, other in ((near, nearer), (nearer, near)))
    assert first.detectors[0].items_from is not None and len({one.items_from for one in first.detectors}) == 1
    assert (best_detector(first).name, best_detector(second).name) == ("b", "a")


def test_that_all_detectors_show_nothing_is_said_once():
    blind, doses = made(-1.0)
    claim = truth_claim(ground_truth({"a": blind}, doses))
    assert not claim.is_made and "Nothing is shown by" not in claim.detail
    assert claim.text == "No detector shows memory of a single item." and claim.outcome == "none shown"


def test_the_limits_are_delongs_on_the_logit():
    seen, never = np.array([0.2, 0.9, 1.4, 1.6, 2.0, 2.2, 2.9, 3.1, 3.3, 4.0, 4.4]), np.arange(10) / 4
    above = (seen[:, None] > never).astype(float) + 0.5 * (seen[:, None] == never)
    area = above.mean()
    variances = [above.mean(axis=1).var(ddof=1) / 11, above.mean(axis=0).var(ddof=1) / 10]
    variance = sum(variances)
    df = variance**2 / (variances[0] ** 2 / 10 + variances[1] ** 2 / 9)
    half = t_distribution.ppf(0.975, df) * math.sqrt(variance) / (area * (1 - area))
    limits = [1 / (1 + math.exp(-(math.log(area / (1 - area)) + sign * half))) for sign in (-1, 1)]
    found = auc_interval(seen, never)
    assert [found.value, found.low, found.high] == pytest.approx([area, *limits], abs=1e-9)


def test_detectors_are_listed_by_the_dose_that_they_see():
    sharp, doses = made(1.0)
    dull = {item: score if doses[item] in (0, 256) else 0.0 for item, score in sharp.items()}
    truth = ground_truth({"z": sharp, "y": dull, "x": sharp}, doses)
    assert [one.items_from for one in truth.detectors] == [16, 256, 16]
    detail = truth_claim(truth).detail
    assert "Single items are found by z and x if read 16 times or more; by y if read 256 times or more." in detail
    assert truth_claim(truth).text.endswith("; 3 of 3 detectors find any.")


def test_hits_and_false_accusations_are_counted_over_all_records():
    decisions = tuple(KnownDose("a", dose, 40, 0.01, is_claimed) for dose, is_claimed in ((1, False), (16, True), (256, True)))
    records = [Record("a", decisions, 10, 1), Record("b", decisions[:2], 20, 2)]
    assert [record.hits for record in records] == [2, 1]
    claim = record_claim(records)
    assert (
        claim.text == "The decisions accuse 3 of 5 sets that were read, and 3 of 30 sets that never were." and not claim.is_made
    )
    assert claim.numbers == {"hits": 3, "known": 5, "wrong": 3, "clean": 30}


def test_a_detector_is_said_to_see_falsely_in_one_of_forty():
    assert (SEES.error_rate, SEES.sides) == (SHIFTS.error_rate, SHIFTS.sides) == (0.025, 1)
