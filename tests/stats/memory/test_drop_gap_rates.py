"""Independently simulated rates of the drop gap, reproduced with 400 simulations a cell instead of 2,000.

The source's bootstrap is drawn by counts here (a multinomial of broken, fixed and unchanged items): the same distribution
as its loop, in a thousandth of the time. Stated and simulated shares are compared by Fisher's exact test at 1e-4, because
198 of them are.
"""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from flipcore.core.randomness import generator
from flipcore.stats.base import paired
from flipcore.stats.memory import drop_gap
from tests import source_statistics
from tests.lab.simulations.planted_memory import GAP_SCENARIOS, before_after, gap_sets

RUNS, STATED_RUNS = 400, 2_000
RULES = ("literal", "directional", "score", "perm", "cond", "recommended")
STATED = {  # scenario -> n -> share flagged by each rule
    "N0 no drop at all": dict.fromkeys((50, 150, 500), (0,) * 6),
    "N1 clean + decode noise": {
        50: (0.048, 0.022, 0.007, 0.008, 0.009, 0.002),
        150: (0.035, 0.020, 0.018, 0.016, 0.021, 0.005),
        500: (0.041, 0.022, 0.021, 0.019, 0.024, 0.009),
    },
    "N2 brittle both": {
        50: (0.044, 0.023, 0.017, 0.017, 0.023, 0.013),
        150: (0.047, 0.022, 0.021, 0.019, 0.025, 0.014),
        500: (0.046, 0.022, 0.024, 0.021, 0.025, 0.015),
    },
    "N3 brittle, control harder": {
        50: (0.140, 0.139, 0.100, 0.100, 0.024, 0.024),
        150: (0.363, 0.363, 0.353, 0.327, 0.028, 0.028),
        500: (0.861, 0.861, 0.862, 0.841, 0.026, 0.026),
    },
    "N4 brittle, control easier": {
        50: (0.144, 0.002, 0.002, 0.002, 0.029, 0.002),
        150: (0.361, 0, 0, 0, 0.019, 0),
        500: (0.847, 0, 0, 0, 0.026, 0),
    },
    "gap .05": {
        50: (0.140, 0.139, 0.052, 0.065, 0.097, 0.062),
        150: (0.384, 0.384, 0.332, 0.325, 0.347, 0.311),
        500: (0.886, 0.886, 0.883, 0.872, 0.841, 0.837),
    },
    "gap .10": {50: (0.390, 0.390, 0.263, 0.277, 0.352, 0.271), 150: (0.857, 0.857, 0.841, 0.823, 0.832, 0.809), 500: (1,) * 6},
    "gap .15": {50: (0.670, 0.670, 0.543, 0.564, 0.640, 0.556), 150: (0.990, 0.990, 0.989, 0.985, 0.985, 0.984), 500: (1,) * 6},
    "gap .10 + brittle .16": {
        50: (0.204, 0.203, 0.167, 0.165, 0.177, 0.147),
        150: (0.551, 0.551, 0.548, 0.518, 0.484, 0.457),
        500: (0.974, 0.974, 0.979, 0.973, 0.943, 0.941),
    },
    "gap .26": {50: (0.952, 0.952, 0.923, 0.928, 0.931, 0.920), 150: (1,) * 6, 500: (1,) * 6},
}


def bootstrap_by_counts(bo, bp, co, cp, rng, n_boot=2_000):
    means = []
    for o, p in ((bo, bp), (co, cp)):
        b, c, n = paired.discordant(o, p)
        drawn = rng.multinomial(n, [b / n, c / n, 1 - (b + c) / n], size=n_boot)
        means.append((drawn[:, 0] - drawn[:, 1]) / n)
    return np.percentile(means[0] - means[1], [2.5, 97.5])


def flagged(sets, rng, seed):
    bo, bp, co, cp = sets
    low, high = bootstrap_by_counts(*sets, rng)
    perm = source_statistics.stud_perm(bo - bp, co - cp, seed=seed, m=1_999)["p_one_sided"] <= 0.025
    cond = drop_gap.cond_gap(*sets)["flag"]
    return low > 0 or high < 0, low > 0, drop_gap.gap_score(*sets)["flag"], perm, cond, perm and cond


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.parametrize("scenario", STATED)
@pytest.mark.parametrize("n", [50, 150, 500])
def test_shares_flagged_are_the_stated_ones(scenario, n):
    rng = generator(n, scenario)
    hits = np.sum([flagged(gap_sets(scenario, n, rng), rng, seed) for seed in range(RUNS)], axis=0)
    for rule, k, stated in zip(RULES, hits.tolist(), STATED[scenario][n], strict=True):
        k_stated = round(stated * STATED_RUNS)
        p = fisher_exact([[k, RUNS - k], [k_stated, STATED_RUNS - k_stated]]).pvalue
        assert p > 1e-4, f"{rule}: {k / RUNS:.3f} instead of {stated}"


@pytest.mark.slow
def test_the_bootstrap_by_counts_is_the_sources_loop():
    bo, bp, co, cp = gap_sets("gap .15", 150, generator(0))
    loop = drop_gap.drop_gap_source(bo, bp, co, cp, n_boot=20_000)
    by_counts = bootstrap_by_counts(bo, bp, co, cp, generator(1), 20_000)
    assert by_counts.tolist() == pytest.approx([loop["gap_lo"], loop["gap_hi"]], abs=0.007)  # one lattice step is .0067


@pytest.mark.slow
@pytest.mark.parametrize(("n", "stated"), [(20, 0.32), (50, 0.62), (127, 0.91)])
def test_a_control_that_never_drops_breaks_the_percentile_interval_but_not_the_score_interval(n, stated):
    # gap .02, control 0: percentile coverage .32 / .62 / .91 at n = 20 / 50 / 127, MOVER 1.00
    rng, runs = generator(n), 400
    hits = np.zeros(2)
    for _ in range(runs):
        bo, bp = before_after(n, 1.0, 0.02, 0.0, rng)
        still = np.ones(n)
        low, high = bootstrap_by_counts(bo, bp, still, still, rng, 500)
        score = drop_gap.gap_score(bo, bp, still, still)
        hits += (low <= 0.02 <= high, score["lo"] <= 0.02 <= score["hi"])
    assert hits[1] / runs >= 0.98
    assert hits[0] / runs == pytest.approx(stated, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["N1 clean + decode noise", "N2 brittle both", "gap .10", "gap .26"])
def test_the_score_interval_covers(scenario):
    # MOVER coverage .950 to .993 in every row
    (a1, q1, r1), (a2, q2, r2) = GAP_SCENARIOS[scenario]
    truth = (a1 * q1 - (1 - a1) * r1) - (a2 * q2 - (1 - a2) * r2)
    rng, runs, hits = generator(3, scenario), 1_500, 0
    for _ in range(runs):
        result = drop_gap.gap_score(*gap_sets(scenario, 150, rng))
        hits += result["lo"] <= truth <= result["hi"]
    assert hits / runs > 0.935
