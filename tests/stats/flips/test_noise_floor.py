"""The null-flip floor: what re-asking alone flips, and whether the variant adds to it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from flipcore.core.randomness import generator
from flipcore.stats.flips.coded_answers import coded_answers
from flipcore.stats.flips.disagreement import ABSENT, between, within
from flipcore.stats.flips.noise_floor import FROM_IDENTITY, NOT_MEASURED, OWN, excess_test, item_floor, permuted_readouts
from tests.lab.simulations.planted import planted_samples


def frame(axis, answers):
    """answers: {variant: samples} for one item."""
    return pd.DataFrame(
        [
            {"item_id": "i", "axis": axis, "variant": variant, "sample": s, "extractor": "e", "status": "ok", "answer": a}
            for variant, samples in answers.items()
            for s, a in enumerate(samples)
        ]
    )


def test_a_planted_floor_and_excess_are_given_back():
    codes = planted_samples(20_000, generator(1), floor=0.2, effect=0.1, v=4, s=2)
    b, w = between(codes).rate, within(codes)
    # W = .2, B = .2 + .1 - 2(.2)(.1) = .26; their standard errors are below .003
    assert w.mean() == pytest.approx(0.2, abs=0.01) and b.mean() == pytest.approx(0.26, abs=0.01)


def test_no_perturbation_effect_has_no_excess_however_noisy():
    codes = planted_samples(20_000, generator(2), floor=0.25, effect=0.0)
    assert (between(codes).rate - within(codes)).mean() == pytest.approx(0, abs=0.01)


def test_the_floor_comes_from_the_axis_or_from_identity_or_is_not_measured():
    own = coded_answers(pd.concat([frame("order", {"base": "00", "r": "01"}), frame("identity", {"base": "01"})]))
    assert item_floor(own, "order", "e").source == OWN and item_floor(own, "order", "e").rates[0] == 0.5
    again = coded_answers(pd.concat([frame("order", {"base": "0", "r": "1"}), frame("identity", {"base": "01"})]))
    assert item_floor(again, "order", "e").source == FROM_IDENTITY and item_floor(again, "order", "e").rates[0] == 1.0
    alone = coded_answers(frame("order", {"base": "0", "r": "1"}))
    assert item_floor(alone, "order", "e").source == NOT_MEASURED and np.isnan(item_floor(alone, "order", "e").rates).all()


def test_permuting_moves_readouts_within_their_item_and_never_into_a_gap():
    codes = np.array([[[0, 1], [2, ABSENT]], [[5, 5], [5, 6]]])
    for _ in range(20):
        shuffled = permuted_readouts(codes, generator(3, _))
        assert ((shuffled == ABSENT) == (codes == ABSENT)).all()
        assert [sorted(item.ravel()) for item in shuffled] == [sorted(item.ravel()) for item in codes]


@pytest.mark.slow
def test_the_permutation_distribution_is_the_exact_one():
    # one item, two variants of two samples, A A | B B: of the 3 ways to pair four readouts up one keeps the variants
    # together (excess 1) and two mix them (W = 1, B = 1/2), so p = 1/3
    found = excess_test(np.array([[[0, 0], [1, 1]]]), m=4000)
    assert found.low < 1 / 3 < found.high


@pytest.mark.simulation
@pytest.mark.slow
def test_the_excess_test_holds_its_size_and_finds_an_effect():
    rejected = 0
    for simulation in range(300):
        rng = generator(simulation, "size")
        codes = planted_samples(30, rng, floor=0.25, effect=0.0)
        rejected += excess_test(codes, simulation, m=99, alpha=-1).p <= 0.05
    assert binomtest(rejected, 300, 0.05, alternative="greater").pvalue > 0.01
    strong = planted_samples(60, generator(0, "effect"), floor=0.1, effect=0.25)
    assert excess_test(strong, m=199).p < 0.02


def test_without_a_second_sample_there_is_no_test():
    assert np.isnan(excess_test(np.zeros((5, 3, 1), dtype=int)).p)


def test_an_item_that_flips_between_variants_alone_is_permuted_too():
    """Two variants, two samples each, the same within: of three ways to pair four answers one is as far apart, so p is a third."""
    result = excess_test(np.array([[[0, 0], [1, 1]]]), seed=3)
    assert 0.2 < result.p < 0.45
