"""Maps are computed in a thread of their own, once, and kept."""

import re
import time

import numpy as np
import pytest

from flipcore.core.errors import BadInput
from flipcore.vectors import map_jobs
from flipcore.vectors.map_jobs import Drawing, Layouts
from tests.vectors.embeddings.items import topical

ITEMS = topical("animals", 6)


@pytest.fixture
def computed(monkeypatch):
    """A quick stand-in for UMAP that remembers how often it was asked."""
    calls = []

    def places(units, *drawing, **settings):
        calls.append(len(units))
        return np.column_stack([units[:, 0], -units[:, 1]]).astype(np.float32)

    monkeypatch.setattr(map_jobs, "umap_places", places)
    monkeypatch.setattr(map_jobs, "why_no_umap", lambda: "")
    return calls


def units(n=6):
    return np.arange(2.0 * n, dtype=np.float32).reshape(n, 2)


def settled(known: Layouts, key="lsa-1", items=ITEMS, rows=None):
    rows = units() if rows is None else rows
    found = known.places(key, items, rows)
    for _ in range(500):
        if found is not None or known.problem(key, items):
            break
        time.sleep(0.01)
        found = known.places(key, items, rows)
    return found


def test_the_first_look_does_not_wait_and_a_later_one_has_the_map(store, computed, monkeypatch):
    quick = map_jobs.umap_places

    def slow(rows, *drawing, **settings):
        time.sleep(0.2)
        return quick(rows)

    monkeypatch.setattr(map_jobs, "umap_places", slow)
    known = Layouts(store)
    assert known.places("lsa-1", ITEMS, units()) is None and known.seconds("lsa-1", ITEMS) > 0
    assert settled(known).tolist() == [[x, -y] for x, y in units().tolist()] and not known.seconds("lsa-1", ITEMS)
    assert computed == [6]


def test_a_map_is_kept_for_the_next_process(store, computed):
    first = settled(Layouts(store))
    again = Layouts(store).places("lsa-1", ITEMS, units())
    assert np.array_equal(first, again) and computed == [6]


def test_other_entries_or_another_embedding_are_another_map(store, computed):
    known = Layouts(store)
    settled(known)
    settled(known, key="mpnet-1")
    settled(known, items=ITEMS[:5], rows=units(5))
    assert computed == [6, 6, 5]


def test_entries_in_another_order_keep_their_places(store, computed):
    known = Layouts(store)
    there = settled(known)
    back = settled(known, items=ITEMS[::-1], rows=units()[::-1])
    assert np.array_equal(back, there[::-1])


@pytest.mark.parametrize(
    "error, said",
    [
        (BadInput("UMAP needs at least five entries."), "at least five"),
        (ValueError("inside"), r"could not be computed \(ValueError: inside\)"),
    ],
)
def test_a_map_that_fails_is_a_sentence_and_is_not_tried_again(store, computed, monkeypatch, error, said):
    def failing(rows, *drawing, **settings):
        computed.append(0)
        raise error

    monkeypatch.setattr(map_jobs, "umap_places", failing)
    known = Layouts(store)
    assert settled(known) is None
    assert re.search(said, known.problem("lsa-1", ITEMS))
    assert known.places("lsa-1", ITEMS, units()) is None and computed == [0] and not known.seconds("lsa-1", ITEMS)


def test_without_umap_there_is_a_sentence(store, monkeypatch):
    monkeypatch.setattr(map_jobs, "why_no_umap", lambda: "UMAP is not installed: pip install -r requirements.txt.")
    assert "requirements.txt" in Layouts(store).problem("lsa-1", ITEMS)


def test_another_drawing_is_another_map_and_the_last_one_stays_until_it_is_there(store, computed):
    known, other = Layouts(store), Drawing(seed=3, n_neighbours=5, min_distance=0.5)
    first = settled(known)
    assert known.places("lsa-1", ITEMS, units(), other) is None
    assert np.array_equal(known.latest("lsa-1", ITEMS), first)
    for _ in range(500):
        if known.places("lsa-1", ITEMS, units(), other) is not None:
            break
        time.sleep(0.01)
    assert computed == [6, 6] and known.latest("lsa-1", ITEMS) is known.places("lsa-1", ITEMS, units(), other)


def test_the_quality_of_a_map_comes_after_the_map(store, computed):
    known = Layouts(store)
    assert known.quality("lsa-1", ITEMS, units()) is None and not known.seconds("lsa-1", ITEMS), "there is no map to judge yet"
    settled(known)
    quality = known.quality("lsa-1", ITEMS, units())
    for _ in range(500):
        if quality is not None:
            break
        time.sleep(0.01)
        quality = known.quality("lsa-1", ITEMS, units())
    assert quality.agreement.value == 1.0, "the stand-in draws the same map for every seed"
