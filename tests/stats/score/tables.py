"""Rows of a crossed table with planted effects on the logit."""

import numpy as np
import pandas as pd

from flipcore.core.randomness import generator


def rows_of(n: int = 12, m: int = 5, s: int = 3, seed: int = 0) -> pd.DataFrame:
    rng = generator(seed, "rows")
    p = 1 / (1 + np.exp(-(rng.normal(1, 1.5, (n, 1)) + rng.normal(0, 0.7, (1, m)) + rng.normal(0, 0.4, (n, m)))))
    runs = (rng.random((n, m, s)) < p[:, :, None]).astype(float)
    at = np.indices(runs.shape).reshape(3, -1)
    return pd.DataFrame(
        {"item_id": [f"q{i:02}" for i in at[0]], "wording": [f"w{j}" for j in at[1]], "score": runs.ravel(), "sample": at[2]}
    )
