"""Gates that are looked at more than once: how often they open falsely, and evidence that holds at
every look.

Reviewing until a gate opens is a test repeated after every pair. The evidence that holds whenever
it is looked at is a mixture of likelihood ratios (Ville's inequality; Robbins 1970): its supremum
over all looks reaches 1/e with a chance of at most e.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

ANY_LOOK = 0.03  # the error of one look at the gate, kept over all looks


def evidence(n_accepted: int, n_reviewed: int, threshold: float) -> float:
    """Return the likelihood ratio of these pairs: under an acceptance above `threshold` (uniform on
    (threshold, 1)) against exactly at it; 1 without any pair."""
    from scipy.special import betainc, betaln

    k, n = n_accepted, n_reviewed
    above = 1.0 - float(betainc(k + 1, n - k + 1, threshold))
    if above <= 0:
        return 0.0
    # On the log scale: the products of powers underflow at some hundred pairs.
    mixture = float(betaln(k + 1, n - k + 1)) + math.log(above) - math.log(1 - threshold)
    return math.exp(mixture - k * math.log(threshold) - (n - k) * math.log(1 - threshold))


def holds_at_any_look(n_accepted: int, n_reviewed: int, threshold: float) -> bool:
    """Return True where the evidence is so large that, at `threshold` exactly, it would get as far
    at any look with a chance of at most `ANY_LOOK`."""
    return evidence(n_accepted, n_reviewed, threshold) >= 1 / ANY_LOOK


@cache
def false_openings(opens: Callable[[int, int], bool], rate: float, most: int) -> float:
    """Return the exact chance that a rule (accepted, reviewed) -> open opens at some look, taken
    after every pair up to `most`, where each pair is accepted with `rate`."""
    chance, total = np.ones(1), 0.0
    for n in range(1, most + 1):
        chance = np.append(chance * (1 - rate), 0.0) + np.append(0.0, chance * rate)
        open_now = np.array([opens(k, n) if chance[k] > 0 else False for k in range(n + 1)])
        total += float(chance[open_now].sum())
        # Opened gates are reviewed no further, so their probability leaves the walk.
        chance[open_now] = 0.0
    return total
