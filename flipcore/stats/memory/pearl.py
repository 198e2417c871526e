"""PEARL (source 003): flip a few bits of a prompt and see how abruptly the output leaves its
reference.

Scores are similarities (1 - NCD, ROUGE-L F1), so memory shows as a drop from one level to the next.
The share of BITS is not the share of characters: 1% of bits changes 7.8% of the characters, 5%
changes 33.6%.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from flipcore.core.randomness import generator

SLACK = 1e-12


def level_means(scores: Sequence[Sequence[float | None]]) -> list[float]:
    """Return the mean of the sample scores of each level; None and NaN are dropped and a level
    without any score is NaN."""
    means = []
    for level in scores:
        samples = present(level)
        means.append(float(np.mean(samples)) if samples else math.nan)
    return means


def present(scores: Iterable[float | None]) -> list[float]:
    """Return the scores that exist."""
    return [float(score) for score in scores if score is not None and not math.isnan(score)]


def drops(means: Sequence[float]) -> np.ndarray:
    """Return m_k - m_{k+1}, one per step."""
    levels = np.asarray(means, dtype=float)
    return levels[:-1] - levels[1:]


def sensitivity(means: Sequence[float]) -> float:
    """Return the largest drop between neighbouring levels; may be negative. A NaN level or fewer
    than two levels: NaN.

    A gap is never bridged: the drop over a missing level would be that of two steps.
    """
    steps = drops(means)
    # The maximum of NaN is NaN.
    return float(steps.max()) if len(steps) else math.nan


def sensitivity_repository(means: Sequence[float]) -> float:
    """Return the largest ABSOLUTE difference between neighbours, as in the paper's public code
    (mode `repository`)."""
    steps = np.abs(drops(means))
    # The maximum of NaN is NaN.
    return float(steps.max()) if len(steps) else math.nan


def abruptness(means: Sequence[float]) -> float:
    """Return the largest drop over the whole decline m_0 - min m: 1 is one cliff. NaN where nothing
    declined."""
    largest = sensitivity(means)
    decline = float(means[0] - min(means)) if not math.isnan(largest) else math.nan
    return largest / decline if decline > SLACK else math.nan


def perm_maxdrop(
    scores: Sequence[Sequence[float | None]], seed: int = 0, m: int = 1999
) -> dict[str, float]:
    """Test one item by permutation: its samples shuffled across levels; H0: the level changes
    nothing.

    `scores[level]` are sample scores. Returns {p, sens} with p = (b + 1) / (m + 1); NaN where the
    sensitivity is.
    """
    levels = [present(level) for level in scores]
    observed = sensitivity(level_means(levels))
    if math.isnan(observed):
        return {"p": math.nan, "sens": math.nan}
    sizes = np.array([len(level) for level in levels])
    pool = np.tile(np.concatenate(levels), (m, 1))
    shuffled = generator(seed).permuted(pool, axis=1)
    # Levels may hold unequal numbers of samples: sums from each level's start to the next.
    means = np.add.reduceat(shuffled, np.cumsum(sizes) - sizes, axis=1) / sizes
    n_as_extreme = int(np.sum((-np.diff(means, axis=1)).max(axis=1) >= observed - SLACK))
    return {"p": (n_as_extreme + 1) / (m + 1), "sens": observed}
