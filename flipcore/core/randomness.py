"""Make all random generators. A seed and names give one stream, the same on every machine."""

import hashlib
import random
import threading
import zlib
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from flipcore.core.errors import BadInput


def generator(seed: int, *names: object) -> np.random.Generator:
    """Return a PCG64 generator; BadInput for a negative seed.

    Without names it is exactly ``numpy.random.default_rng(seed)``. With names, the sha256 of their
    text selects an independent stream.
    """
    if seed < 0:
        raise BadInput(f"A seed must be 0 or more; got {seed}. Choose a non-negative whole number.")
    if not names:
        return np.random.default_rng(seed)
    words = np.frombuffer(
        hashlib.sha256("\x1f".join(map(str, names)).encode()).digest(), dtype="<u4"
    )
    return np.random.default_rng([int(seed), *map(int, words)])


def world_generator(seed: int, *names: str) -> np.random.Generator:
    """Return the pocket model's stream for this seed and these names.
    It never changes, because the pocket model's items and stored outputs were drawn from it."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])


def nth_sample(seed: int, size: int, n: int, call: int) -> list[int]:
    """Return the result of call number `call` (from 0) of ``sample(range(size), n)``.

    The calls share one ``random.Random(seed)``. Other harnesses draw their examples in this way.
    Raises BadInput if n is larger than `size`.
    """
    if n > size:
        raise BadInput(
            f"{n} examples were asked for, and there are {size}. Ask for fewer, or give a larger "
            "split."
        )
    with _samples_lock:
        samples = _samples(seed, size, n=n)
        while len(samples.drawn) <= call:
            samples.drawn.append(samples.stream.sample(range(size), n))
        return list(samples.drawn[call])


@dataclass
class _Samples:
    """The samples drawn so far from one stream, so that no call starts from the beginning."""

    stream: random.Random
    drawn: list[list[int]] = field(default_factory=list)


@lru_cache(maxsize=16)
def _samples(seed: int, size: int, n: int) -> _Samples:
    return _Samples(random.Random(seed))


_samples_lock = threading.Lock()
