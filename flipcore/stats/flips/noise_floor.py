"""The null-flip floor: the share of answers that change when nothing but the sample does.

W_i is measured where a variant was asked more than once: on the axis itself, or else by the
identity axis, which asks the base prompt again. Excess = B - W is 0 in expectation exactly where
the perturbation changes nothing.
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
    """`rates` (items,) are W_i, NaN if not measured; `source` says what was asked twice."""

    rates: np.ndarray
    source: str


def item_floor(
    answers: CodedAnswers, axis: str, extractor: str, policy: str = "own_class"
) -> Floor:
    """Return W_i from samples of the axis, or of identity if the axis has no second sample."""
    rates = within(answers.codes[axis, extractor], policy)
    if not np.isnan(rates).all():
        return Floor(rates, OWN)
    reruns = answers.codes.get((IDENTITY, extractor))
    if reruns is None:
        return Floor(rates, NOT_MEASURED)
    # On identity each sample is coded as a variant of its own.
    rates = between(reruns, policy).rate
    return Floor(rates, NOT_MEASURED if np.isnan(rates).all() else FROM_IDENTITY)


def split_floor(
    answers: CodedAnswers, axis: str, extractor: str, reference: str, policy: str = "own_class"
) -> PairSplit:
    """Return the floor of each part: the flips among reruns of one prompt under one extractor alone
    or under both; NaN where not measured."""
    split = pair_split(
        answers.codes[axis, extractor], answers.codes[axis, reference], policy, of_one_prompt=True
    )
    if not np.isnan(split.both).all() or any(
        (IDENTITY, name) not in answers.codes for name in (extractor, reference)
    ):
        return split
    return pair_split(
        answers.codes[IDENTITY, extractor], answers.codes[IDENTITY, reference], policy
    )


def excess_test(
    codes: np.ndarray, seed: int = 0, policy: str = "own_class", m: int = 999, alpha: float = 0.05
) -> MonteCarloP:
    """Test if the variant matters: the mean excess against permutations of variant labels over the
    readouts of an item, one-sided.

    NaN where no variant has two samples.
    """
    b, w = between(codes, policy).rate, within(codes, policy)
    observed = float(np.nanmean(b - w)) if not np.isnan(b - w).all() else float("nan")
    # Items that never flip stay at 0 under any permutation: leave them out of the draws.
    moving = codes[(b > 0) | (w > 0)]
    rng = generator(seed, "excess")
    # The mean is over all items that have an excess, moving or not.
    scale = max(int((~np.isnan(b - w)).sum()), 1)

    def draw(k: int) -> np.ndarray:
        out = np.empty(k)
        for row in range(k):
            shuffled = permuted_readouts(moving, rng)
            out[row] = np.nansum(between(shuffled, policy).rate - within(shuffled, policy)) / scale
        return out

    return monte_carlo_p(observed, draw, m, alpha, max_m=4 * m)


def permuted_readouts(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return each item's readouts in random order over the places where it has one; absent places
    stay absent."""
    n, v, s = codes.shape
    flat = codes.reshape(n, v * s)
    absent = flat == ABSENT
    if not absent.any():
        return rng.permuted(flat, axis=1).reshape(n, v, s)
    # Random keys below 1 shuffle what is present; the key 2 keeps absent ones last.
    order = np.argsort(np.where(absent, 2.0, rng.random(flat.shape)), axis=1)
    places = np.argsort(absent, axis=1, kind="stable")
    out = np.empty_like(flat)
    np.put_along_axis(out, places, np.take_along_axis(flat, order, axis=1), axis=1)
    return out.reshape(n, v, s)
