"""Maps of entries in two dimensions, by principal components (fast) or UMAP (slow).

Distances on a map are not evidence.
"""

import warnings
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from flipcore.core.errors import BadInput, MissingPackage
from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import Estimate, without_interval
from flipcore.stats.holdout.neighbours import nearest

N_NEIGHBOURS = 15
MIN_DISTANCE = 0.1
N_EPOCHS = 200


def principal_places(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places (n, 2) on the first two principal components, and the shares (2,) of the
    variance that these explain.

    Signs are fixed: the entry farthest out on each component has a positive value there. Raises
    BadInput below three entries, and if all vectors are equal.
    """
    if len(units) < 3:
        raise BadInput(
            f"A map needs at least three entries and {len(units)} came: load more items."
        )
    centered = np.asarray(units, dtype=np.float64) - units.mean(axis=0)
    # The matrix is (d, d) for any number of entries; `eigh` returns the largest variance last.
    variances, directions = np.linalg.eigh(centered.T @ centered)
    if variances[-1] <= 1e-12 * len(units):
        raise BadInput(
            "All entries have the same vector, so there is nothing to map: choose another "
            "embedding."
        )
    first_two = slice(None, -3, -1)
    places = centered @ directions[:, first_two]
    # Vectors of one dimension have no second component.
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    # The sign of a component is arbitrary, and could differ between machines.
    farthest = places[np.abs(places).argmax(axis=0), [0, 1]]
    shares = np.append(variances[first_two], 0.0)[:2] / variances.sum()
    return (places * np.where(farthest < 0, -1, 1)).astype(np.float32), shares


def on_top_of(places: np.ndarray, row: int, reach: float = 0.01) -> np.ndarray:
    """Return the rows of the other entries whose marks overlap that of `row` on a map (n, 2),
    nearest first: those within the share `reach` of the map's width and height. Raises BadInput
    for a row that the map lacks."""
    if not 0 <= row < len(places):
        raise BadInput(f"The map has {len(places):,} entries, and no row {row:,} (from 0).")
    spans = np.maximum(np.ptp(places, axis=0), 1e-12)
    distances = np.abs((places - places[row]) / spans).max(axis=1)
    order = np.argsort(distances, kind="stable")
    return order[(distances[order] <= reach) & (order != row)]


def why_no_umap() -> str:
    """Say how to install UMAP; "" if it is installed."""
    if find_spec("umap"):
        return ""
    return (
        "UMAP is not installed: pip install -r requirements.txt (numba must have a wheel for this "
        "Python)."
    )


def umap_places(
    units: np.ndarray,
    seed: int = 0,
    n_neighbours: int = N_NEIGHBOURS,
    min_distance: float = MIN_DISTANCE,
) -> np.ndarray:
    """Return (n, 2) places by UMAP (McInnes et al. 2018).

    It uses exact nearest neighbours, starts from the principal components and runs 200 epochs.
    `min_distance` (0 to 1) is the smallest distance of two entries on the map. The same rows and
    seed give the same places on one machine. Raises MissingPackage without umap-learn, BadInput for
    fewer than five entries.
    """
    if why_no_umap():
        raise MissingPackage(why_no_umap())
    if len(units) < 5:
        raise BadInput(
            f"UMAP needs at least five entries and {len(units)} came: look at the principal "
            "components."
        )
    import umap

    k = min(n_neighbours, len(units) - 1)
    rows, cosines = nearest(units, units, k - 1, skip_self=True)
    # UMAP expects each entry as its own first neighbour, at distance 0. The distance of two unit
    # vectors follows from their cosine.
    own_rows = np.arange(len(units))[:, None]
    distances = np.hstack([np.zeros_like(own_rows), np.sqrt(np.maximum(0, 2 - 2 * cosines))])
    neighbours = (np.hstack([own_rows, rows]), distances.astype(np.float32), None)
    start = principal_places(units)[0]
    # One job, because with more threads the places would differ between runs.
    model = umap.UMAP(
        n_neighbors=k,
        min_dist=min_distance,
        n_epochs=N_EPOCHS,
        init=10 * start / np.abs(start).max(),
        random_state=seed,
        n_jobs=1,
        precomputed_knn=neighbours,
    )
    with warnings.catch_warnings():
        # UMAP warns that with given neighbours it cannot place later entries, but there are none.
        warnings.filterwarnings("ignore", message="precomputed_knn")
        return model.fit_transform(units).astype(np.float32)


N_NEAREST = 10
# With more entries, only a random sample of this size is judged. Its neighbours are sought among
# all entries.
MAX_ROWS = 1_000


@dataclass(frozen=True)
class MapQuality:
    """Two shares from 0 to 1 over `k` neighbours per entry. They describe one map, so they have no
    interval. `agreement` is the share of neighbours that are neighbours on the map of another seed
    too."""

    trustworthiness: Estimate
    agreement: Estimate
    k: int


def map_quality(
    units: np.ndarray, places: np.ndarray, reseeded: np.ndarray, seed: int = 0
) -> MapQuality:
    """Judge the map `places` (n, 2) of unit vectors `units` (n, d); `reseeded` (n, 2) is the map of
    another seed.

    Trustworthiness is Venna and Kaski's (2001): each false neighbour on the map counts the more,
    the farther down it ranks among the neighbours in all dimensions. Raises BadInput for fewer than
    five entries.
    """
    n = len(units)
    if n < 5:
        raise BadInput(f"The quality of a map needs at least five entries and {n} came.")
    # Trustworthiness is defined for k below half the entries.
    k = min(N_NEAREST, (n - 1) // 2)
    rows = np.arange(n) if n <= MAX_ROWS else generator(seed).choice(n, MAX_ROWS, replace=False)
    near_on_map = _nearest_places(places, rows, k)
    near_on_reseeded = _nearest_places(reseeded, rows, k)
    excess = np.maximum(_ranks(units, rows, near_on_map) - k, 0).sum(axis=1)
    # Venna and Kaski's factor: the worst possible map has a trustworthiness of 0.
    trust_by_row = 1 - 2 * excess / (k * (2 * n - 3 * k - 1))
    is_near_on_both = (near_on_map[:, :, None] == near_on_reseeded[:, None, :]).any(axis=2)
    note = "Describes this map."
    trustworthiness = without_interval(float(trust_by_row.mean()), len(rows), note=note)
    shared_by_row = is_near_on_both.mean(axis=1)
    agreement = without_interval(float(shared_by_row.mean()), len(rows), note=note)
    return MapQuality(trustworthiness, agreement, k)


def _nearest_places(places: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """Return the `k` nearest other entries of each of `rows` on a map, (rows, k)."""
    differences = places[rows, None, :].astype(float) - places[None, :, :]
    squared_distances = (differences**2).sum(axis=2)
    # An entry is not its own neighbour.
    squared_distances[np.arange(len(rows)), rows] = np.inf
    return np.argsort(squared_distances, axis=1, kind="stable")[:, :k]


def _ranks(units: np.ndarray, rows: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the rank (rows, k), from 1 on, of each entry of `near` (rows, k) among the neighbours
    of its row in all dimensions."""
    cosines = units[rows] @ units.T
    # The entry itself comes first and takes rank 0.
    cosines[np.arange(len(rows)), rows] = np.inf
    # Sorting the order once more turns it into ranks.
    ranks = np.argsort(np.argsort(-cosines, axis=1, kind="stable"), axis=1, kind="stable")
    return np.take_along_axis(ranks, near, axis=1)
