"""Cells of the claims about two sets of texts: the semantic test and the prediction test, at their margins and without difference.

The margin of a cell is its true difference: MMD^2 of the populations, or the classifier's mean balanced accuracy at this size.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from flipcore.claims.holdout import SETS_DIFFER_BEYOND, SETS_EQUIVALENT, SETS_WITHIN
from flipcore.core.randomness import generator
from flipcore.stats.base.separability import separability
from flipcore.stats.holdout.copies import cross_neighbours
from flipcore.stats.holdout.verdict import HoldoutTest, prediction_test, semantic_test
from tests.lab.claims.cell import Cell
from tests.lab.claims.copied import nearest_by_vector, passes_fewer
from tests.lab.claims.holdout import AT, N_SLOW, UNEQUAL, Draw, Rng, no_difference, slow
from tests.lab.claims.likeness import embedded, entries

SPREAD = "at the margin, unequal spread"


@lru_cache(maxsize=32)
def _true_mmd2(shift: float, spread: float, rho: float) -> float:
    rng = generator(1, "true MMD^2")
    T, R = _vectors(rng, 200_000, 200_000, shift, spread, rho)
    return float(((T.mean(axis=0) - R.mean(axis=0)) ** 2).sum())


def _vectors(rng: Rng, n: int, m: int, shift: float, spread: float, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors in 16 dimensions of falling variance around a common mean; `rho` is what source pairs share."""
    scale, middle = 2.5 / np.sqrt(np.arange(1, 17)), np.eye(1, 16)[0] * 4
    own = [rng.standard_normal((k, 16)) for k in (n, m)]
    if rho:
        own[1] = np.sqrt(rho) * own[0] + np.sqrt(1 - rho) * own[1]
    rows = [own[0] * scale + middle, own[1] * scale * spread + middle + shift * np.eye(2, 16)[1]]
    return tuple(one / np.linalg.norm(one, axis=1, keepdims=True) for one in rows)


def _texts(n: int, m: int, shift: float = 0.0, spread: float = 1.0, rho: float = 0.0) -> Draw:
    """Embeddings whose margin is their true MMD^2 (none where they do not differ)."""

    def draw(rng: Rng) -> HoldoutTest:
        margin = _true_mmd2(shift, spread, rho) if shift else None
        sets = _vectors(rng, n, m, shift, spread, rho)
        return semantic_test(*sets, margin, paired=rho > 0, m=99, seed=int(rng.integers(2**31)))

    return draw


def _copied(n: int, share: float, n_retro: int = 0) -> Draw:
    """A holdout of which a share are entries of the target, lightly changed; the margin is wide, so that nothing but the copies can keep
    the sets from being equivalent."""

    def draw(rng: Rng) -> HoldoutTest:
        m = n_retro or n
        target, retro = _vectors(rng, n, m, 0.0, 1.0, 0.0)
        k = round(share * m)
        retro[:k] = target[:k] + 0.02 * rng.standard_normal((k, target.shape[1]))
        retro /= np.linalg.norm(retro, axis=1, keepdims=True)
        seed = int(rng.integers(2**31))
        near = nearest_by_vector(np.vstack([target, retro]))
        copies = [cross_neighbours(near, np.repeat([0, 1], [n, m]), None, seed, 199)]
        return semantic_test(target, retro, 0.5, m=99, seed=seed, copies=copies)

    return draw


def _beside(n: int, templates: int, paired: bool) -> Draw:
    """Two sets without difference whose entries share sources, within a set (`templates` each) or across (`paired`), and the neighbours
    that are counted of them."""
    items = entries(n, n, templates, paired)
    labels = np.repeat([0, 1], n)
    sources = np.unique([item.source_id or item.item_id for item in items], return_inverse=True)[1]
    first = np.sort(np.unique(2 * sources + labels, return_index=True)[1])
    half = len(first) // 2

    def draw(rng: Rng) -> HoldoutTest:
        units, seed = embedded(rng, items, n, 0.9, 0.0), int(rng.integers(2**31))
        copies = [cross_neighbours(nearest_by_vector(units, sources), labels, sources, seed, 199)]
        return semantic_test(units[first[:half]], units[first[half:]], 0.5, paired=paired, m=99, seed=seed, copies=copies)

    return draw


def nearest_mean(train: np.ndarray, labels: np.ndarray, test: np.ndarray) -> np.ndarray:
    """A classifier: 1 where a row lies nearer to the mean of label 1."""
    if len(set(labels.tolist())) < 2:
        return np.full(len(test), 0.5)
    means = [train[labels == label].mean(axis=0) for label in (0, 1)]
    away = [((test - mean) ** 2).sum(axis=1) for mean in means]
    return (away[0] > away[1]).astype(float)


def _told(
    n: int, m: int, shift: float, rng: Rng, permutations: int, rho: float = 0.0, templates: int = 0, paired: bool = False
):
    """One cross-validation of a classifier by nearest means, in two folds."""
    items = entries(n, m, templates, paired)
    groups = np.unique([item.source_id or item.item_id for item in items], return_inverse=True)[1]
    rows, seed = embedded(rng, items, n, rho, shift), int(rng.integers(2**31))
    return separability(
        rows, np.repeat([0, 1], [n, m]), nearest_mean, groups, paired=paired, n_folds=2, m=permutations, seed=seed
    )


@lru_cache(maxsize=32)
def _true_accuracy(n: int, m: int, shift: float, more: tuple) -> float:
    rng = generator(1, "true balanced accuracy")
    return float(np.mean([_told(n, m, shift, rng, 1, *more).balanced.value for _ in range(2_000)]))


def _classified(n: int, m: int, shift: float, *more) -> Draw:
    """The prediction test whose margin is the balanced accuracy that this classifier has on average."""
    return lambda rng: prediction_test(_told(n, m, shift, rng, 39, *more), _true_accuracy(n, m, shift, more))


def _at(world: str, n: str, draw: Callable, *claims) -> list[Cell]:
    return [slow(claim, world, n, draw) for claim in claims]


BOTH = (SETS_EQUIVALENT, SETS_DIFFER_BEYOND)
CELLS: tuple[Cell, ...] = (
    *_at(AT, "15 v 15 texts", _texts(15, 15, 1.1), SETS_EQUIVALENT),
    *_at(AT, "80 v 80 texts", _texts(80, 80, 0.5), *BOTH, SETS_WITHIN),
    *_at(AT, "80 pairs of texts, rho .9", _texts(80, 80, 0.5, rho=0.9), SETS_EQUIVALENT),
    *_at(UNEQUAL, "150 v 20 texts", _texts(150, 20, 1.1), *BOTH),
    *_at(SPREAD, "80 v 80 texts, spread 1.5", _texts(80, 80, 1.1, 1.5), *BOTH),
    no_difference("identical sets", "15 v 15 texts", _texts(15, 15), n_runs=N_SLOW),
    no_difference("identical sets", "80 v 80 texts", _texts(80, 80), n_runs=N_SLOW),
    no_difference("identical sets of unequal size", "150 v 20 texts", _texts(150, 20), n_runs=N_SLOW),
    no_difference("source-paired sets", "80 pairs of texts, rho .9", _texts(80, 80, rho=0.9), n_runs=N_SLOW),
    *(
        Cell(
            SETS_EQUIVALENT, f"copied holdout, {share} %", size, passes_fewer(_copied(n, share / 100, m), share), n_runs=N_SLOW
        )
        for size, n, m in (("150 v 150 texts", 150, 150), ("400 v 50 texts", 400, 50))
        for share in (10, 30)
    ),
    no_difference("copied holdout, 30 %", "150 v 150 texts", _copied(150, 0.3), "planted", N_SLOW),
    no_difference("copied holdout, 10 %", "150 v 150 texts", _copied(150, 0.1), "planted", N_SLOW),
    no_difference("identical sets", "80 v 80 texts, neighbours", _copied(80, 0.0), n_runs=N_SLOW),
    no_difference("source-paired sets", "80 pairs of texts, neighbours", _beside(80, 0, True), n_runs=N_SLOW),
    no_difference("templated entries", "30 x 5 v 30 x 5 texts, neighbours", _beside(150, 5, False), n_runs=N_SLOW),
    *_at(AT, "20 v 20 texts, classified", _classified(20, 20, 0.4), SETS_EQUIVALENT),
    *_at(AT, "80 v 80 texts, classified", _classified(80, 80, 0.3), SETS_EQUIVALENT),
    *_at(UNEQUAL, "60 v 15 texts, classified", _classified(60, 15, 0.4), SETS_EQUIVALENT),
)
