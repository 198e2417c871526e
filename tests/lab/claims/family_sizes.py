"""Sizes of families in which clustered claims were false: the uneven worlds of every module of this folder."""

from collections.abc import Callable
from functools import partial

import numpy as np

from flipcore.core.randomness import generator

MMLU = (100, 135, 152, 100, 265, 144, 100, 100, 100, 173, 102, 100, 235, 114, 145, 378, 126, 100, 310, 203)
MMLU += (100, 165, 198, 193, 390, 270, 238, 151, 545, 216, 204, 237, 223, 131, 121, 108, 163, 112, 103, 234, 100)
MMLU += (783, 346, 895, 306, 311, 324, 282, 1534, 272, 612, 110, 245, 201, 100, 166, 171)
"""Test questions of MMLU's 57 subjects (Hendrycks et al. 2021)."""


def eights(n_families: int) -> np.ndarray:
    """A quarter of the families have eight items, the others one."""
    sizes = np.ones(n_families, dtype=int)
    sizes[: n_families // 4] = 8
    return sizes


def pareto(n_families: int, shape: float = 1.1) -> np.ndarray:
    """Quantiles of a Pareto distribution, rounded down: a few large families and many of one item."""
    return np.floor((1 - (np.arange(n_families) + 0.5) / n_families) ** (-1 / shape)).astype(int)


def mmlu(n_items: int = 1_000) -> np.ndarray:
    """MMLU's subjects in a sample of about so many questions, each subject in its share."""
    share = np.array(MMLU) / sum(MMLU)
    return np.maximum(1, np.round(n_items * share)).astype(int)


PATTERNS: dict[str, np.ndarray] = {
    "12 families, 3 of 8": eights(12),
    "30 families, 7 of 8": eights(30),
    "60 families, 15 of 8": eights(60),
    "6 x 12 + 18 singles": np.repeat([12, 1], [6, 18]),
    "one of 40 + 13 singles": np.repeat([40, 1], [1, 13]),
    "40 families, Pareto 1.1": pareto(40),
    "MMLU's 57 subjects": mmlu(),
}
"""Name -> sizes of the families. The five patterns, the first at three sizes."""


def _sample(n_items: int) -> np.ndarray:
    """Subjects of so many random questions of MMLU."""
    drawn = generator(0, "MMLU", n_items).multinomial(n_items, np.array(MMLU) / sum(MMLU))
    return drawn[drawn > 0]


def _about(shape: Callable[[int], np.ndarray], n_items: int) -> np.ndarray:
    """The sizes of so many families of a shape that have about so many items."""
    return min((shape(k) for k in range(2, n_items + 1)), key=lambda sizes: abs(int(sizes.sum()) - n_items))


def _some_and_singles(n_large: int, share: float, n_items: int) -> np.ndarray:
    """`n_large` equal families with this share of the items, the rest single."""
    size = max(1, round(share * n_items / n_large))
    return np.repeat([size, 1], [n_large, n_items - n_large * size])


SHAPES: dict[str, Callable[[int], np.ndarray]] = {
    "none": lambda n: np.ones(n, dtype=int),
    "a quarter of 8": partial(_about, eights),
    "6 with .8 of the items": partial(_some_and_singles, 6, 0.8),
    "one with .75 of the items": partial(_some_and_singles, 1, 0.75),
    "Pareto 1.1": partial(_about, pareto),
    "MMLU's subjects": _sample,
}
"""The same patterns at about so many items, and items without families."""


def numbers(sizes: np.ndarray) -> np.ndarray:
    """The family of every item: (sum of sizes,)."""
    return np.repeat(np.arange(len(sizes)), sizes)


def shared(rng: np.random.Generator, sizes: np.ndarray, runs: int, correlation: float) -> np.ndarray:
    """(runs, items) uniform values: with this chance an item has its family's value and else its own, so that any 0/1 event made
    of them has this correlation within a family."""
    family = numbers(sizes)
    own, of_family = rng.random((runs, family.size)), rng.random((runs, len(sizes)))
    return np.where(rng.random(own.shape) < correlation, of_family[:, family], own)
