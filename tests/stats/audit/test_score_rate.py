"""SCORE's rate counts an answer at the original place as right whatever stood there."""

import numpy as np
import pytest

from flipcore.stats.audit.score_rate import score_rates


def test_scores_rate_for_a_model_that_always_says_a():
    n, k = 1000, 10
    original = np.where(np.arange(n) < 95, 0, 1 + np.arange(n) % 9)
    shown = np.tile(np.arange(k), (n, 1))
    harness, true = score_rates(np.zeros((n, k), dtype=int), shown, original)
    assert (round(harness, 3), round(true, 3)) == (0.819, 0.724)
    # by hand, with the share that has its right option there: share + (1 - share)(K - 2)/K, and (1 - share)(K - 2)/K
    assert (harness, true) == pytest.approx((0.095 + 0.905 * 8 / 10, 0.905 * 8 / 10))
