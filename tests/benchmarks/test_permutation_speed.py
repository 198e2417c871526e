"""10,000 permutations of 2,600 x 384 embeddings against permuting a precomputed Gram matrix. The ratio is printed."""

import time

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.stats.holdout.semantic import _mean_cos, perm_test_semantic, random_sums, unit_vectors

N_EACH, DIMENSIONS, PERMUTATIONS, SAMPLE = 1_300, 384, 10_000, 20


def from_the_gram_matrix(gram, chosen):
    block = gram[np.ix_(chosen, chosen)]
    n = len(chosen)
    return (block.sum() - np.trace(block)) / (n * (n - 1))


@pytest.mark.soak
def test_ten_thousand_regroupings_equal_those_of_the_gram_matrix(capsys):
    rng = generator(0)
    target, retro = rng.standard_normal((2, N_EACH, DIMENSIONS)) + 0.3
    start = time.perf_counter()
    found = perm_test_semantic(target, retro, m=PERMUTATIONS, seed=1)
    seconds = time.perf_counter() - start

    units = unit_vectors(np.concatenate([target, retro]))
    member = np.zeros(2 * N_EACH, dtype=np.uint8)
    member[:N_EACH] = 1
    masks = generator(1).permuted(np.tile(member, (SAMPLE, 1)), axis=1)  # the first draws of the test itself
    gram = units @ units.T
    start = time.perf_counter()  # from the finished matrix on, which favours the Gram way
    slow = [from_the_gram_matrix(gram, np.flatnonzero(mask)) for mask in masks]
    gram_seconds = (time.perf_counter() - start) * PERMUTATIONS / SAMPLE
    fast = _mean_cos(next(random_sums(units, N_EACH, SAMPLE, generator(1))), N_EACH)
    assert fast == pytest.approx(np.array(slow), abs=1e-12)
    assert found["n_perm"] == PERMUTATIONS and 0 < found["p"] <= 1
    with capsys.disabled():
        print(
            f"\n{PERMUTATIONS:,} permutations of {2 * N_EACH:,} x {DIMENSIONS}: {seconds:.2f} s; Gram matrix "
            f"{gram_seconds:.0f} s (from {SAMPLE} of them): {gram_seconds / seconds:.0f} x"
        )
