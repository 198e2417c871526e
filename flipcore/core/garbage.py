"""Search for reference cycles less often while many live objects have none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 2_000_000  # new objects between two searches for cycles


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Search for cycles less often during the block. An import has some hundred thousand live rows
    without a cycle, and searching them would take a tenth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
