"""Quality of a map: the share of neighbours on it that are neighbours in all dimensions, and that
are the same under another seed."""

from dataclasses import dataclass

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate, without_interval

N_NEAREST = 10
MOST_ROWS = 1_000  # beyond that many entries a drawn part of them is looked at, each among all


@dataclass(frozen=True)
class MapQuality:
    """Both are shares from 0 to 1; `k` neighbours were looked at. They describe one map, so they
    carry no interval."""

    trustworthiness: Estimate
    agreement: Estimate
    k: int


def map_quality(
    units: np.ndarray, places: np.ndarray, reseeded: np.ndarray, seed: int = 0
) -> MapQuality:
    """Judge a map: `units` (n, d) unit rows, `places` (n, 2) their map and `reseeded` (n, 2) the
    map of another seed.

    Trustworthiness is Venna and Kaski's (2001): neighbours on the map that are none in all
    dimensions count by their rank there. Raises BadInput for fewer than five entries.
    """
    n = len(units)
    if n < 5:
        raise BadInput(f"The quality of a map needs at least five entries and {n} came.")
    # Trustworthiness is defined for k below half the entries.
    k = min(N_NEAREST, (n - 1) // 2)
    rows = np.arange(n) if n <= MOST_ROWS else generator(seed).choice(n, MOST_ROWS, replace=False)
    on_map, on_other = _nearest_places(places, rows, k), _nearest_places(reseeded, rows, k)
    excess = np.maximum(_ranks(units, rows, on_map) - k, 0).sum(axis=1)
    # Venna and Kaski's factor: the worst possible map has a trustworthiness of 0.
    trust = 1 - 2 * excess / (k * (2 * n - 3 * k - 1))
    shared = (on_map[:, :, None] == on_other[:, None, :]).any(axis=2).mean(axis=1)
    trustworthiness, agreement = (
        without_interval(float(shares.mean()), len(rows), note="Describes this map.")
        for shares in (trust, shared)
    )
    return MapQuality(trustworthiness, agreement, k)


def _nearest_places(places: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """Return (rows, k) the k nearest other entries on a map."""
    squares = ((places[rows, None, :].astype(float) - places[None, :, :]) ** 2).sum(axis=2)
    # An entry is not its own neighbour.
    squares[np.arange(len(rows)), rows] = np.inf
    return np.argsort(squares, axis=1, kind="stable")[:, :k]


def _ranks(units: np.ndarray, rows: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return (rows, k) the rank, from 1, that each of `near` has among a row's neighbours in all
    dimensions."""
    cosines = units[rows] @ units.T
    # An entry itself comes first and takes rank 0.
    cosines[np.arange(len(rows)), rows] = np.inf
    places = np.argsort(np.argsort(-cosines, axis=1, kind="stable"), axis=1, kind="stable")
    return np.take_along_axis(places, near, axis=1)
