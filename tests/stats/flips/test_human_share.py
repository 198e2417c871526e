import math

import pytest
from scipy.stats import binomtest

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.flips.human_share import human_share

T = Estimate(0.5, 0.4, 0.6, 0.95, "clt_cluster", 100, None)
G = Estimate(0.2, 0.1, 0.3, 0.95, "clt_cluster", 100, None)


def marks(**counts):
    return [{"flip": f"{verdict}{i}", "reviewer": "Ada", "verdict": verdict} for verdict, n in counts.items() for i in range(n)]


def test_g_lies_between_what_is_marked_genuine_and_what_is_not_marked_artifact():
    # 10 of 20 genuine, 4 unclear: .5 * 10/20 = .25 to .5 * 14/20 = .35
    found = human_share(marks(genuine=10, artifact=6, ambiguous=4))
    low, high, outer_low, outer_high = found.bounds(T)
    assert (low, high) == (pytest.approx(0.25), pytest.approx(0.35)) and outer_low < low < high < outer_high
    assert outer_low == pytest.approx(0.4 * found.interval[0]) and "measured it is 20%" in found.sentence(T, G)


def test_a_reviewers_last_word_counts_and_then_the_majority_and_a_tie_is_ambiguous():
    rows = [{"flip": "f", "reviewer": "Ada", "verdict": "artifact"}, {"flip": "f", "reviewer": "Ada", "verdict": "genuine"}]
    assert human_share(rows).n_genuine == 1
    tied = [*rows, {"flip": "f", "reviewer": "Bea", "verdict": "artifact"}]
    assert human_share(tied).n_ambiguous == 1
    assert human_share([*tied, {"flip": "f", "reviewer": "Cem", "verdict": "artifact"}]).n_artifact == 1


def test_without_marks_or_with_few_nothing_is_bounded():
    assert all(map(math.isnan, human_share([]).bounds(T))) and "Nobody" in human_share([]).sentence(T, G)
    assert "10 are needed" in human_share(marks(genuine=9)).sentence(T, G)
    assert "[–, –]" in human_share(marks(genuine=12)).sentence(missing(), G)


def test_the_outer_bounds_hold_the_truth_as_often_as_they_say():
    # truth: 60% genuine, 10% unclear of which half are genuine, so 65% of T; T itself known to its interval's noise
    rng, n_held, n_runs = generator(3, "human share"), 0, 400
    for _ in range(n_runs):
        kinds = rng.choice(["genuine", "artifact", "ambiguous"], 40, p=[0.6, 0.3, 0.1])
        found = human_share([{"flip": i, "reviewer": "Ada", "verdict": kind} for i, kind in enumerate(kinds)])
        noise = rng.normal(0, 0.05)
        total = Estimate(0.5 + noise, 0.5 + noise - 0.098, 0.5 + noise + 0.098, 0.95, "clt_cluster", 100, None)
        low, high = found.bounds(total)[2:]
        n_held += low <= 0.5 * 0.65 <= high
    assert binomtest(n_held, n_runs, 0.90, alternative="less").pvalue > 0.01
