"""The noise floor W: the share of answers that change between reruns of the same prompt.

W_i of an item is measured on the axis itself, if any of its variants was asked more than once.
Otherwise it is measured on the identity axis, which asks the base prompt again. The excess is
B - W, where B is the flip rate between variants. Its expectation is 0 exactly if the variant
changes nothing.
"""

from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.core.records import IDENTITY
from flipcore.stats.base.resample import MonteCarloP, monte_carlo_p
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.disagreement import ABSENT, PairSplit, between, pair_split, within

OWN = "samples of every variant"
FROM_IDENTITY = "re-asking the base prompt"
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Floor:
    """`rates` (items,) are W_i, NaN if not measured; `source` says which prompts were rerun."""

    rates: np.ndarray
    source: str


def item_floor(
    answers: CodedAnswers, axis: str, extractor: str, policy: str = "own_class"
) -> Floor:
    """Return W_i from samples of the axis, or of the identity axis if it has no second sample."""
    rates = within(answers.codes[axis, extractor], policy)
    if not np.isnan(rates).all():
        return Floor(rates, OWN)
    reruns = answers.codes.get((IDENTITY, extractor))
    if reruns is None:
        return Floor(rates, NOT_MEASURED)
    # On the identity axis each sample is coded as a variant, hence `between`.
    rates = between(reruns, policy).rate
    return Floor(rates, NOT_MEASURED if np.isnan(rates).all() else FROM_IDENTITY)


def split_floor(
    answers: CodedAnswers, axis: str, extractor: str, reference: str, policy: str = "own_class"
) -> PairSplit:
    """Return the floor of each part: shares of pairs of reruns that flip under one extractor alone
    or under both. NaN where not measured."""
    split = pair_split(
        answers.codes[axis, extractor], answers.codes[axis, reference], policy, of_one_prompt=True
    )
    has_reruns = all((IDENTITY, name) in answers.codes for name in (extractor, reference))
    if not np.isnan(split.both).all() or not has_reruns:
        return split
    return pair_split(
        answers.codes[IDENTITY, extractor], answers.codes[IDENTITY, reference], policy
    )


def excess_test(
    codes: np.ndarray, seed: int = 0, policy: str = "own_class", m: int = 999, alpha: float = 0.05
) -> MonteCarloP:
    """Test if the variant matters: whether the mean excess is above 0, one-sided.

    The null distribution permutes variant labels over the readouts of an item. NaN if no variant
    has two samples. `codes` is (items, variants, samples).
    """
    b, w = between(codes, policy).rate, within(codes, policy)
    excess = b - w
    observed = float(np.nanmean(excess)) if not np.isnan(excess).all() else float("nan")
    # An item that never flips has excess 0 under any permutation, so it is not drawn.
    flipping = codes[(b > 0) | (w > 0)]
    rng = generator(seed, "excess")
    # Such items still count in the mean.
    n = max(int((~np.isnan(excess)).sum()), 1)

    def draw(k: int) -> np.ndarray:
        means = np.empty(k)
        for i in range(k):
            shuffled = permuted_readouts(flipping, rng)
            means[i] = np.nansum(between(shuffled, policy).rate - within(shuffled, policy)) / n
        return means

    # More than m permutations are drawn only while the p is too close to alpha.
    return monte_carlo_p(observed, draw, m, alpha, max_m=4 * m)


def permuted_readouts(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return (items, variants, samples) codes with the present readouts of each item in random
    order; absent ones stay where they are."""
    n, v, s = codes.shape
    flat = codes.reshape(n, v * s)
    is_absent = flat == ABSENT
    if not is_absent.any():
        return rng.permuted(flat, axis=1).reshape(n, v, s)
    # Random keys below 1 shuffle the present readouts; the key 2 puts absent ones last.
    order = np.argsort(np.where(is_absent, 2.0, rng.random(flat.shape)), axis=1)
    positions = np.argsort(is_absent, axis=1, kind="stable")
    shuffled = np.empty_like(flat)
    np.put_along_axis(shuffled, positions, np.take_along_axis(flat, order, axis=1), axis=1)
    return shuffled.reshape(n, v, s)
