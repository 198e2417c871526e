"""Two dimensions to look at: principal components at once, UMAP when it is ready. Distances on a
map are not evidence."""

import warnings
from importlib.util import find_spec

import numpy as np

from flipcore.core.errors import BadInput, MissingPackage
from flipcore.stats.holdout.neighbours import nearest

N_NEIGHBOURS = 15
MIN_DISTANCE = 0.1
N_EPOCHS = 200


def principal_places(units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, 2) places on the two directions of largest variance, and the share of the variance
    that each has (2,).

    Signs are fixed: the entry farthest out on each direction lies on its positive side.
    """
    if len(units) < 3:
        raise BadInput(
            f"A map needs at least three entries and {len(units)} came: load more items."
        )
    centred = np.asarray(units, dtype=np.float64) - units.mean(axis=0)
    # (d, d), whatever the number of entries; `eigh` gives the largest last.
    variances, directions = np.linalg.eigh(centred.T @ centred)
    if variances[-1] <= 1e-12 * len(units):
        raise BadInput(
            "All entries have the same vector, so there is nothing to map: choose another "
            "embedding."
        )
    places = centred @ directions[:, :-3:-1]
    # Vectors of one dimension have no second direction.
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(places))])
    # A direction has no sign of its own; without this a map could flip with the machine.
    farthest = places[np.abs(places).argmax(axis=0), [0, 1]]
    shares = np.append(variances[:-3:-1], 0.0)[:2] / variances.sum()
    return (places * np.where(farthest < 0, -1, 1)).astype(np.float32), shares


def on_top_of(places: np.ndarray, row: int, reach: float = 0.01) -> np.ndarray:
    """Return the rows of the other entries that lie so close to `row` on a map (n, 2) that their
    marks cover each other, nearest first: within `reach` of the map's width and height."""
    spans = np.maximum(np.ptp(places, axis=0), 1e-12)
    distances = np.abs((places - places[row]) / spans).max(axis=1)
    order = np.argsort(distances, kind="stable")
    return order[(distances[order] <= reach) & (order != row)]


def why_no_umap() -> str:
    """Return "" where UMAP is installed, otherwise the sentence that says how to have it."""
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
    """Return (n, 2) places by UMAP (McInnes et al. 2018): exact nearest neighbours, principal
    components to start from, 200 epochs.

    `min_distance` (0 to 1) is how close two entries may lie on the map. The same rows and seed give
    the same places on one machine. Raises MissingPackage without umap-learn, BadInput for fewer
    than five entries.
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
    # UMAP expects an entry as its own first neighbour.
    itself = np.arange(len(units))[:, None]
    neighbours = (
        np.hstack([itself, rows]),
        np.hstack([0 * itself, np.sqrt(np.maximum(0, 2 - 2 * cosines))]).astype(np.float32),
        None,
    )
    start = principal_places(units)[0]
    # One job and a fixed start: more threads would make the places differ between runs.
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
        # It warns that later entries cannot be placed; none are.
        warnings.filterwarnings("ignore", message="precomputed_knn")
        return model.fit_transform(units).astype(np.float32)
