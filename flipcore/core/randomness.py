"""The one place that makes random generators. A seed and names give a stream of their own, the same on every machine."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from flipcore.core.errors import BadInput


def generator(seed: int, *names: object) -> np.random.Generator:
    """PCG64. Without names exactly ``numpy.random.default_rng(seed)``; with names a stream of its own for each name
    (sha256 of their text), the same on every machine. Raises BadInput for a negative seed."""
    if seed < 0:
        raise BadInput(f"A seed must be 0 or more; got {seed}. Choose a non-negative whole number.")
    if not names:
        return np.random.default_rng(seed)
    words = np.frombuffer(hashlib.sha256("\x1f".join(map(str, names)).encode()).digest(), dtype="<u4")
    return np.random.default_rng([int(seed), *map(int, words)])


def world_generator(seed: int, *names: str) -> np.random.Generator:
    """The stream of the pocket model's world for this seed and these names; its items and golden outputs rest on it."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])
