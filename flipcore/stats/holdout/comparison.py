"""Two sets of entries in one embedding, and all that the tabs of the Holdout page ask of them; each answer is computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flipcore.core.records import Item, digest
from flipcore.stats.base.estimate import Estimate, number_text
from flipcore.stats.holdout import neighbours, projection
from flipcore.stats.holdout.duplicates import duplicates, words_in_common
from flipcore.stats.holdout.entries import entry_text, one_per_source, paired_rows, source_groups

N_BINS = 60
LOWEST = -0.5  # cosines of texts hardly go lower; the first bin takes what does


ALIKE_WORDS = 0.7  # in order, of both entries; fewer in common is what two entries of one kind have


@dataclass(frozen=True)
class AcrossPair:
    """A benchmark and a holdout entry as rows of a comparison: their `cosine`, the share of their `words` in common in order,
    and whether the sets declare that both have one source."""

    target: int
    retro: int
    cosine: float
    words: float
    is_declared: bool


@dataclass(frozen=True)
class Comparison:
    """`items` are the target's and then the retro's; rows of `units` (n, d) follow them. `described` names the embedding."""

    items: tuple[Item, ...]
    n_target: int
    units: np.ndarray
    described: str

    @cached_property
    def sets_id(self) -> str:
        return digest(self.n_target, [item.item_id for item in self.items])

    @cached_property
    def texts(self) -> list[str]:
        return [entry_text(item) for item in self.items]

    @cached_property
    def labels(self) -> np.ndarray:
        """0 for the target, 1 for the retro-holdout."""
        return (np.arange(len(self.items)) >= self.n_target).astype(int)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.array([len(text.split()) for text in self.texts])

    @cached_property
    def principal(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (n, 2) and the share of variance of either direction."""
        return projection.principal_places(self.units)

    @cached_property
    def near(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) nearest other entries of either set, and their cosines."""
        return neighbours.nearest(self.units, self.units, neighbours.N_NEAREST, skip_self=True)

    @cached_property
    def across(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) nearest entries of the other set, and their cosines."""
        n, k = self.n_target, min(neighbours.N_NEAREST, self.n_target, len(self.items) - self.n_target)
        to_retro = neighbours.nearest(self.units[:n], self.units[n:], k)
        to_target = neighbours.nearest(self.units[n:], self.units[:n], k)
        return np.concatenate([to_retro[0] + n, to_target[0]]), np.concatenate([to_retro[1], to_target[1]])

    def nearest_own(self, row: int, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the k nearest other entries of the row's own set, and their cosines."""
        mine = np.flatnonzero((self.labels == self.labels[row]) & (np.arange(len(self.items)) != row))
        cosines = self.units[mine] @ self.units[row]
        order = np.argsort(-cosines, kind="stable")[:k]
        return mine[order], cosines[order]

    def within(self, spans: Sequence[tuple[float, float, int]]) -> list[int]:
        """Rows whose nearest entry of the other set has a cosine in one of the (low, high, label) spans, ends included."""
        closest = self.across[1][:, 0]
        mask = np.zeros(len(self.items), dtype=bool)
        for low, high, label in spans:
            mask |= (closest >= low - 1e-9) & (closest <= high + 1e-9) & (self.labels == label)
        return np.flatnonzero(mask).tolist()

    def per_item(self, values: Mapping[str, float]) -> np.ndarray:
        """(n,) the value of each entry's item id, NaN where there is none."""
        return np.array([values.get(item.item_id, np.nan) for item in self.items], dtype=float)

    @cached_property
    def loneliest(self) -> np.ndarray:
        """Rows from the one whose nearest neighbours, of either set, are farthest away."""
        return np.argsort(self.near[1].mean(axis=1), kind="stable")

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """Rows of the source-paired entries, target's first, where every holdout entry has a source of its own."""
        return paired_rows(self.items[: self.n_target], self.items[self.n_target :])

    @cached_property
    def mixing(self) -> neighbours.Mixing:
        """Do neighbours keep to their own set? Of source-paired sets the pairs alone are compared."""
        if self.pairs is None:
            return neighbours.mixing(self.near[0], self.labels)
        units = self.units[self.pairs]
        rows = neighbours.nearest(units, units, neighbours.N_NEAREST, skip_self=True)[0]
        return neighbours.mixing(rows, self.labels[self.pairs], paired=True)

    @cached_property
    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        return self.units[: self.n_target], self.units[self.n_target :]

    @cached_property
    def likeness(self) -> tuple[Estimate, Estimate]:
        """Mean cosine inside the target and inside the retro-holdout."""
        target, retro = self.sets
        return neighbours.mean_cosine(target), neighbours.mean_cosine(retro)

    @cached_property
    def distinct(self) -> Comparison:
        """The same with the first entry of each template or source, which is what a test may count."""
        target, retro, left_out = one_per_source(self.items[: self.n_target], self.items[self.n_target :])
        if not left_out:
            return self
        ids = {item.item_id for item in (*target, *retro)}
        rows = [i for i, item in enumerate(self.items) if item.item_id in ids]
        return Comparison((*target, *retro), len(target), self.units[rows], self.described)

    @property
    def likeness_difference(self) -> Estimate:
        """Mean cosine inside the retro-holdout less that inside the target; pair by pair where they are source-paired."""
        if self.pairs is None:
            return neighbours.likeness_difference(*self.sets)
        half = len(self.pairs) // 2
        return neighbours.likeness_difference(self.units[self.pairs[:half]], self.units[self.pairs[half:]], paired=True)

    @cached_property
    def likeness_counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges (N_BINS + 1,) and pairs in each bin, of the target and of the retro-holdout."""
        target, retro = (neighbours.cosine_counts(units, N_BINS, LOWEST, 1.0) for units in self.sets)
        return np.linspace(LOWEST, 1.0, N_BINS + 1), target, retro

    def most_alike(self, k: int = 10) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
        """The k most alike pairs inside the target and inside the retro-holdout, as rows of `items`."""
        n = self.n_target
        return (
            neighbours.most_alike(self.sets[0], k),
            [(i + n, j + n, cosine) for i, j, cosine in neighbours.most_alike(self.sets[1], k)],
        )

    @cached_property
    def alike_across(self) -> tuple[AcrossPair, ...]:
        """The ten most alike pairs of a benchmark and a holdout entry by embedding, and the ten by words (from `ALIKE_WORDS` on); first the
        pair that is most alike by either."""
        by_vector = [(i, j) for i, j, _ in neighbours.most_alike(self.units, labels=self.labels)]
        by_words = [(one.first, one.second) for one in duplicates(self.texts, ALIKE_WORDS)]
        across = [(i, j) for i, j in by_words if self.labels[i] != self.labels[j]][: neighbours.N_NEAREST]
        groups = source_groups(self.items[: self.n_target], self.items[self.n_target :])
        pairs = [
            AcrossPair(
                i,
                j,
                float(self.units[i] @ self.units[j]),
                words_in_common(self.texts[i], self.texts[j]),
                groups[i] == groups[j],
            )
            for i, j in dict.fromkeys([*by_vector, *across])
        ]
        return tuple(sorted(pairs, key=lambda one: (-max(one.cosine, one.words), one.target, one.retro)))

    def coverage_sentence(self) -> str:
        """How close the other set comes to an entry of either."""
        closest = self.across[1][:, 0]
        middle = [float(np.median(closest[self.labels == label])) for label in (0, 1)]
        return (
            f"The middle benchmark entry has its nearest holdout entry at a cosine of {number_text(middle[0])}, the middle "
            f"holdout entry its nearest benchmark entry at {number_text(middle[1])}."
        )
