"""Random generators of the world and its sampling: one stream per seed and name, the same on every machine."""

from __future__ import annotations

import zlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """An independent stream for this seed and these names."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])
