"""How often a model is said to score higher by people's labels, or to have a rank, that it has not."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from flipcore.claims.corrected_ranks import HIGHER_BY_PEOPLE, Labelled, pairs_by_people, ranks_by_people
from flipcore.stats.score.corrected import corrected
from tests.lab.claims.cell import Cell, each


def _models(
    rng: np.random.Generator, n: int, labels: int, errors: Sequence[float], better: float, mean: float, size: int
) -> list[Labelled]:
    """Models that answer the same questions in two wordings; the first is right `better` more often. The extractor errs on each at its
    own rate, three times as often on right answers, and people label a random part of each model's outputs. Families hold up to
    `size` questions, which lean to one model."""
    family = np.repeat(np.arange(n), rng.integers(1, size + 1, n))[:n]
    ease = rng.beta(4 * mean, 4 * (1 - mean), n)
    lean = (0.15 if size > 1 else 0.0) * rng.choice([-1, 1], n)[family]
    out = []
    for at, error in enumerate(errors):
        side = (1 if at == 0 else -1 if at == 1 else 0) * lean + (better if at == 0 else 0.0)
        right = rng.random((n, 2)) < np.clip(ease + np.minimum(side, 1), 0, 1)[:, None]
        misread = rng.random((n, 2)) < np.where(right, 1.5 * error, 0.5 * error)
        people = np.full(2 * n, np.nan)
        asked = rng.permutation(2 * n)[:labels]
        people[asked] = right.ravel()[asked]
        units = np.repeat(family, 2).astype(str)
        out.append(Labelled(str(at), corrected((right != misread).ravel(), people, units), units))
    return out


def _said(rng: np.random.Generator, n: int, labels: int, errors=(0.05, 0.25), better=0.0, mean=0.7, size=1) -> bool:
    """Whether some model is said to be ahead of another; with `better` the first of the second."""
    pairs = pairs_by_people(_models(rng, n, labels, errors, better, mean, size))
    ranks = ranks_by_people(pairs)
    made = [one for one in pairs if one.claim.is_made]
    if better:
        return any((one.first, one.second) == ("0", "1") for one in made)
    return bool(made) or bool(ranks and ranks.is_made)


_WORLDS = {
    "equal models, the reader misreads one": {},
    "equal models, nearly always right": {"mean": 0.95, "errors": (0.1, 0.3)},
    "equal models, questions in families": {"size": 6},
    "three equal models, two of them misread": {"errors": (0.05, 0.2, 0.4)},
}
_SIZES = ((100, 60), (300, 60), (300, 200))
CELLS = (
    *(
        Cell(HIGHER_BY_PEOPLE, world, f"{n}, {labels} labels", each(partial(_said, n=n, labels=labels, **how)))
        for world, how in _WORLDS.items()
        for n, labels in _SIZES
    ),
    *(
        Cell(
            HIGHER_BY_PEOPLE,
            "one is right 15 pp more often and misread less",
            f"{n}, {labels} labels",
            each(partial(_said, n=n, labels=labels, errors=(0.1, 0.25), better=0.15, mean=0.6)),
            "planted",
            2_000,
        )
        for n, labels in _SIZES
    ),
)
