"""The one place that makes random generators. A seed and names give a stream of their own, the same
on every machine."""

import hashlib
import random
import threading
import zlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from flipcore.core.errors import BadInput


def generator(seed: int, *names: object) -> np.random.Generator:
    """PCG64. Without names exactly ``numpy.random.default_rng(seed)``; with names a stream of its
    own for each name (sha256 of their text), the same on every machine. Raises BadInput for a
    negative seed."""
    if seed < 0:
        raise BadInput(f"A seed must be 0 or more; got {seed}. Choose a non-negative whole number.")
    if not names:
        return np.random.default_rng(seed)
    words = np.frombuffer(
        hashlib.sha256("\x1f".join(map(str, names)).encode()).digest(), dtype="<u4"
    )
    return np.random.default_rng([int(seed), *map(int, words)])


def world_generator(seed: int, *names: str) -> np.random.Generator:
    """The stream of the pocket model's world for this seed and these names; its items and golden
    outputs rest on it."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])


def nth_sample(seed: int, size: int, n: int, place: int) -> list[int]:
    """Result of the call number `place` (from 0) of ``random.Random(seed).sample(range(size), n)``:
    the stream of Python's own generator, for set-ups of others that rest on it. BadInput where
    `size` holds fewer than n."""
    if n > size:
        raise BadInput(
            f"{n} examples were asked for, and there are {size}. Ask for fewer, or give a larger "
            "split."
        )
    with _sampling:
        samples = _samples(seed, size, n=n)
        while len(samples.so_far) <= place:
            samples.so_far.append(samples.stream.sample(range(size), n))
        return list(samples.so_far[place])


@dataclass
class _Samples:
    """Samples of one stream as far as somebody needed them: the next place is drawn after the last,
    not from the beginning."""

    stream: random.Random
    so_far: list[list[int]] = field(default_factory=list)


@lru_cache(maxsize=16)
def _samples(seed: int, size: int, n: int) -> _Samples:
    return _Samples(random.Random(seed))


_sampling = threading.Lock()
