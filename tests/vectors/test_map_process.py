"""UMAP in a process of its own."""

import threading

import numpy as np
import pytest

from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.randomness import generator
from flipcore.stats.holdout import projection
from flipcore.vectors import map_process

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(projection.why_no_umap()), reason=projection.why_no_umap()),
    pytest.mark.filterwarnings("ignore:Tensorflow not installed:ImportWarning"),  # umap's own, on its first import
]
DRAWING = (0, 15, 0.1)


def units(n=40):
    rows = generator(1).standard_normal((n, 8))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_a_map_of_the_process_is_that_of_this_one_and_a_mistake_comes_back_as_it_was_raised():
    assert np.array_equal(map_process.umap_places(units(), *DRAWING), projection.umap_places(units(), *DRAWING))
    with pytest.raises(BadInput, match="at least five entries and 4 came"):
        map_process.umap_places(units(4), *DRAWING)


def test_a_process_that_ends_is_said_and_the_next_map_is_drawn(monkeypatch):
    drawer = map_process._Drawer()
    monkeypatch.setattr(map_process, "_DRAWER", drawer)
    threading.Timer(0.3, drawer.begin().kill).start()  # it imports UMAP for longer
    with pytest.raises(FlipscopeError, match="ended with code -9"):
        map_process.umap_places(units(), *DRAWING)
    assert map_process.umap_places(units(), *DRAWING).shape == (40, 2)
    drawer.end()
