"""Rarer searches for reference cycles while many live objects have none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FEWEST = 500_000  # new objects between two searches for cycles


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Search for cycles more rarely during the block. An import has some hundred thousand live rows
    without a cycle. Searching them takes a tenth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(FEWEST, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
