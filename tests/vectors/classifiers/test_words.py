"""Word weights: rare words in many rows still get theirs."""

import numpy as np
import pytest

from flipcore.core.randomness import generator
from flipcore.vectors.classifiers.words import linear_decisions


@pytest.mark.slow
def test_rare_words_in_many_rows_still_get_their_weights():
    # the optimum to eight digits by another solver; lbfgs at a loose tolerance stops at zero here
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    rng = generator(10)
    n, k = 6_000, 3_000
    places = np.repeat(np.arange(n, dtype=np.int32), 8), rng.integers(0, k, 8 * n, dtype=np.int32)
    rows = csr_array((np.full(8 * n, 8**-0.5), places), shape=(n, k))
    labels = (rng.random(n) < 0.85).astype(int)
    found, weights = linear_decisions(rows, labels, rows[:50])
    best = LogisticRegression(C=10.0, class_weight="balanced", solver="newton-cholesky", tol=1e-8).fit(rows, labels)
    assert np.corrcoef(weights, best.coef_[0])[0, 1] > 0.999 and weights.std() == pytest.approx(best.coef_[0].std(), rel=0.02)
    assert np.corrcoef(found, best.decision_function(rows[:50]))[0, 1] > 0.999
