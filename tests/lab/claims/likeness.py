"""Cells of the claims about how alike two sets look.

Every set here has its labels by chance alone, except where the world says otherwise. Fewer permutations than in the product
leave the size of a permutation test as it is.
"""

from collections.abc import Callable

import numpy as np

from flipcore.claims.claim import Claim
from flipcore.claims.likeness import MORE_ALIKE, NEIGHBOURS_DIFFER, WORDS_DIFFER, likeness_claim, mixing_claim, words_claim
from flipcore.core.records import Item
from flipcore.stats.holdout import neighbours
from flipcore.stats.holdout.comparison import Comparison
from flipcore.stats.holdout.ngrams import ngrams
from tests.lab.claims.cell import Cell, each

Rng = np.random.Generator
N_SLOW = 2_000
DIMENSIONS = 8
VOCABULARY = np.array([f"w{i}" for i in range(30)])


def entries(n: int, m: int, templates: int = 0, paired: bool = False) -> tuple[Item, ...]:
    """Entries by number; `templates` entries share one, and `paired` holdout entries name their benchmark entry."""
    rows = []
    for side, count in (("t", n), ("r", m)):
        for i in range(count):
            source = f"t{i}" if paired and side == "r" else f"{side}-{i // templates}" if templates else None
            rows.append(Item(f"{side}{i}", "made", "choice", f"{side} {i}", source_id=source))
    return tuple(rows)


def embedded(rng: Rng, items: tuple[Item, ...], n: int, rho: float, shift: float, spread: float = 1.0) -> np.ndarray:
    """Unit vectors around one mean; entries of a template, or of a pair, share a part `rho` of their place. The second set spreads
    `spread` times as wide."""
    own = rng.standard_normal((len(items), DIMENSIONS))
    if rho:
        roots = [item.source_id or item.item_id for item in items]
        _, code = np.unique(roots, return_inverse=True)
        own = np.sqrt(rho) * rng.standard_normal((code.max() + 1, DIMENSIONS))[code] + np.sqrt(1 - rho) * own
    own[n:] *= spread
    own[:, 0] += 2.0
    own[n:, 1] += shift
    own[:n, 1] -= shift
    return own / np.linalg.norm(own, axis=1, keepdims=True)


def _comparison_draw(
    n: int, m: int, rho: float, templates: int, paired: bool, shift: float, spread: float = 1.0
) -> Callable[[Rng], Comparison]:
    """Two sets in one embedding, of each template the first entry, as the page counts them."""
    items = entries(n, m, templates, paired)
    return lambda rng: Comparison(items, n, embedded(rng, items, n, rho, shift, spread), "made").distinct


def _neighbours(n: int, m: int, rho: float = 0.0, templates: int = 0, paired: bool = False, shift: float = 0.0) -> Callable:
    draw = _comparison_draw(n, m, rho, templates, paired, shift)

    def run(rng: Rng) -> Claim:
        sets, seed = draw(rng), int(rng.integers(2**31))
        units = sets.units if sets.pairs is None else sets.units[sets.pairs]
        labels = sets.labels if sets.pairs is None else sets.labels[sets.pairs]
        rows = neighbours.nearest(units, units, neighbours.N_NEAREST, skip_self=True)[0]
        return mixing_claim(neighbours.mixing(rows, labels, paired=sets.pairs is not None, m=79, seed=seed))

    return each(run)


def _inside(
    n: int, m: int, rho: float = 0.0, templates: int = 0, paired: bool = False, shift: float = 0.0, spread: float = 1.0
) -> Callable:
    draw = _comparison_draw(n, m, rho, templates, paired, shift, spread)

    def run(rng: Rng) -> Claim:
        sets = draw(rng)
        return likeness_claim(*sets.likeness, sets.likeness_difference)

    return each(run)


def _words(n: int, m: int, keep_rate: float = 0.0, first_word: float = 0.0) -> Callable:
    """Entries of eight words by chance; a paired holdout entry keeps each word of its source with chance `keep_rate`, and a holdout entry
    begins with one word with chance `first_word`."""

    def run(rng: Rng) -> Claim:
        words = rng.integers(0, len(VOCABULARY), (n + m, 8))
        if keep_rate:
            words[n:] = np.where(rng.random((m, 8)) < keep_rate, words[:m], words[n:])
        words[n:, 0] = np.where(rng.random(m) < first_word, 0, words[n:, 0]) if first_word else words[n:, 0]
        texts = [" ".join(VOCABULARY[row]) for row in words]
        return words_claim(ngrams(texts[:n], texts[n:], longest=1, paired=bool(keep_rate)))

    return each(run)


NULL, UNEQUAL, PAIRED, TEMPLATED = (
    "identical sets",
    "identical sets of unequal size",
    "source-paired sets",
    "templated entries",
)
CELLS: tuple[Cell, ...] = (
    Cell(NEIGHBOURS_DIFFER, NULL, "15 v 15", _neighbours(15, 15), n_runs=N_SLOW),
    Cell(NEIGHBOURS_DIFFER, UNEQUAL, "60 v 15", _neighbours(60, 15), n_runs=N_SLOW),
    Cell(NEIGHBOURS_DIFFER, PAIRED, "20, rho .9", _neighbours(20, 20, 0.9, paired=True), n_runs=N_SLOW),
    Cell(NEIGHBOURS_DIFFER, TEMPLATED, "60 v 60, 4 a template", _neighbours(60, 60, 0.9, 4), n_runs=N_SLOW),
    Cell(MORE_ALIKE, NULL, "10 v 10", _inside(10, 10)),
    Cell(MORE_ALIKE, NULL, "80 v 80", _inside(80, 80), n_runs=N_SLOW),
    Cell(MORE_ALIKE, UNEQUAL, "150 v 15", _inside(150, 15), n_runs=N_SLOW),
    Cell(MORE_ALIKE, PAIRED, "40, rho .9", _inside(40, 40, 0.9, paired=True), n_runs=N_SLOW),
    Cell(MORE_ALIKE, TEMPLATED, "60 v 60, 4 a template", _inside(60, 60, 0.9, 4), n_runs=N_SLOW),
    Cell(MORE_ALIKE, "shifted sets of equal likeness", "80 v 80", _inside(80, 80, shift=1.0), n_runs=N_SLOW),
    Cell(WORDS_DIFFER, NULL, "15 v 15", _words(15, 15), n_runs=N_SLOW),
    Cell(WORDS_DIFFER, NULL, "80 v 80", _words(80, 80), n_runs=N_SLOW),
    Cell(WORDS_DIFFER, UNEQUAL, "150 v 20", _words(150, 20), n_runs=N_SLOW),
    Cell(WORDS_DIFFER, PAIRED, "80, half of the words kept", _words(80, 80, 0.5), n_runs=N_SLOW),
    Cell(NEIGHBOURS_DIFFER, "shifted by half a spread", "80 v 80", _neighbours(80, 80, shift=0.5), "planted", N_SLOW),
    Cell(MORE_ALIKE, "a set spread half as wide", "80 v 80", _inside(80, 80, spread=0.5), "planted", N_SLOW),
    Cell(WORDS_DIFFER, "half of a set begin with one word", "80 v 80", _words(80, 80, first_word=0.5), "planted", N_SLOW),
)
