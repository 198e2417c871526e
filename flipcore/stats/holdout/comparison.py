"""Two sets of entries in one embedding, with all results of the tabs of the Holdout page; each is
computed once."""

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
LOWEST = -0.5  # cosines of texts hardly go lower; the first bin takes those that do
ALIKE_WORDS = 0.7  # in order, of both entries; fewer in common is what two entries of one kind have


@dataclass(frozen=True)
class AcrossPair:
    """A benchmark and a holdout entry as rows of a comparison: their `cosine`, the share of their
    `words` in common in order, and whether the sets declare that both have one source."""

    target: int
    retro: int
    cosine: float
    words: float
    is_declared: bool


@dataclass(frozen=True)
class Comparison:
    """The two sets. `items` are the benchmark's and then the holdout's; rows of `units` (n, d)
    follow them. `described` names the embedding."""

    items: tuple[Item, ...]
    n_target: int
    units: np.ndarray
    described: str

    @cached_property
    def sets_id(self) -> str:
        """Name of the two sets, by what they hold."""
        return digest(self.n_target, [item.item_id for item in self.items])

    @cached_property
    def texts(self) -> list[str]:
        return [entry_text(item) for item in self.items]

    @cached_property
    def labels(self) -> np.ndarray:
        """0 for the benchmark, 1 for the holdout."""
        return (np.arange(len(self.items)) >= self.n_target).astype(int)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.array([len(text.split()) for text in self.texts])

    @cached_property
    def principal(self) -> tuple[np.ndarray, np.ndarray]:
        """The places (n, 2) and the share of variance of either direction."""
        return projection.principal_places(self.units)

    @cached_property
    def near(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) nearest other entries of either set, and their cosines."""
        return neighbours.nearest(self.units, self.units, neighbours.N_NEAREST, skip_self=True)

    @cached_property
    def across(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) nearest entries of the other set, and their cosines."""
        n = self.n_target
        k = min(neighbours.N_NEAREST, n, len(self.items) - n)
        holdout_rows, holdout_cosines = neighbours.nearest(self.units[:n], self.units[n:], k)
        rows, cosines = neighbours.nearest(self.units[n:], self.units[:n], k)
        # Rows of the holdout follow those of the benchmark.
        return (
            np.concatenate([holdout_rows + n, rows]),
            np.concatenate([holdout_cosines, cosines]),
        )

    def nearest_own(self, row: int, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the k nearest other entries of the row's set, and their cosines."""
        own_rows = np.flatnonzero(
            (self.labels == self.labels[row]) & (np.arange(len(self.items)) != row)
        )
        cosines = self.units[own_rows] @ self.units[row]
        order = np.argsort(-cosines, kind="stable")[:k]
        return own_rows[order], cosines[order]

    def within(self, spans: Sequence[tuple[float, float, int]]) -> list[int]:
        """Return the rows whose nearest entry of the other set has a cosine in one of the (low,
        high, label) spans, ends included."""
        closest = self.across[1][:, 0]
        mask = np.zeros(len(self.items), dtype=bool)
        for low, high, label in spans:
            # Ends of a span come from drawn bins, whose borders are rounded.
            mask |= (closest >= low - 1e-9) & (closest <= high + 1e-9) & (self.labels == label)
        return np.flatnonzero(mask).tolist()

    def per_item(self, values: Mapping[str, float]) -> np.ndarray:
        """Return (n,) the value of each entry's item id, NaN where there is none."""
        return np.array([values.get(item.item_id, np.nan) for item in self.items], dtype=float)

    @cached_property
    def loneliest(self) -> np.ndarray:
        """Rows from the one whose nearest neighbours, of either set, are farthest away."""
        # Small cosines first; a stable sort keeps equals in the order of the sets.
        return np.argsort(self.near[1].mean(axis=1), kind="stable")

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """Rows of the source-paired entries, target's first, where no two holdout entries share a
        source."""
        return paired_rows(self.items[: self.n_target], self.items[self.n_target :])

    @cached_property
    def mixing(self) -> neighbours.Mixing:
        """The test of whether neighbours keep to their set. Of source-paired sets only the pairs
        are compared."""
        if self.pairs is None:
            return neighbours.mixing(self.near[0], self.labels)
        units = self.units[self.pairs]
        rows = neighbours.nearest(units, units, neighbours.N_NEAREST, skip_self=True)[0]
        return neighbours.mixing(rows, self.labels[self.pairs], paired=True)

    @cached_property
    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors of the benchmark and of the holdout."""
        return self.units[: self.n_target], self.units[self.n_target :]

    @cached_property
    def likeness(self) -> tuple[Estimate, Estimate]:
        """Mean cosine inside the target and inside the retro-holdout."""
        target, retro = self.sets
        return neighbours.mean_cosine(target), neighbours.mean_cosine(retro)

    @cached_property
    def distinct(self) -> Comparison:
        """Comparison of the first entry per template or source, as a test may count them."""
        target, retro, left_out = one_per_source(
            self.items[: self.n_target], self.items[self.n_target :]
        )
        if not left_out:
            return self
        ids = {item.item_id for item in (*target, *retro)}
        # Their vectors are kept: nothing is embedded again.
        rows = [i for i, item in enumerate(self.items) if item.item_id in ids]
        return Comparison((*target, *retro), len(target), self.units[rows], self.described)

    @property
    def likeness_difference(self) -> Estimate:
        """Mean cosine inside the retro-holdout less that inside the target; pair by pair where they
        are source-paired."""
        if self.pairs is None:
            return neighbours.likeness_difference(*self.sets)
        half = len(self.pairs) // 2
        return neighbours.likeness_difference(
            self.units[self.pairs[:half]], self.units[self.pairs[half:]], paired=True
        )

    @cached_property
    def likeness_counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges (N_BINS + 1,) and pairs in each bin, of the target and of the retro-holdout."""
        target, retro = (
            neighbours.cosine_counts(units, N_BINS, LOWEST, 1.0) for units in self.sets
        )
        return np.linspace(LOWEST, 1.0, N_BINS + 1), target, retro

    def most_alike(
        self, k: int = 10
    ) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
        """Return the k most alike pairs inside the target and inside the retro-holdout, as rows of
        `items`."""
        # Rows within the holdout become rows of `items`.
        n = self.n_target
        return (
            neighbours.most_alike(self.sets[0], k),
            [(i + n, j + n, cosine) for i, j, cosine in neighbours.most_alike(self.sets[1], k)],
        )

    @cached_property
    def alike_across(self) -> tuple[AcrossPair, ...]:
        """The ten most alike pairs of a benchmark and a holdout entry by embedding, and the ten by
        words (from `ALIKE_WORDS` on); first the pair that is most alike by either."""
        by_vector = [(i, j) for i, j, _ in neighbours.most_alike(self.units, labels=self.labels)]
        by_words = [(pair.first, pair.second) for pair in duplicates(self.texts, ALIKE_WORDS)]
        across = [(i, j) for i, j in by_words if self.labels[i] != self.labels[j]][
            : neighbours.N_NEAREST
        ]
        groups = source_groups(self.items[: self.n_target], self.items[self.n_target :])
        # A pair may be found by both likenesses; `fromkeys` keeps it once, in order.
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
        return tuple(
            sorted(pairs, key=lambda pair: (-max(pair.cosine, pair.words), pair.target, pair.retro))
        )

    def coverage_sentence(self) -> str:
        """Say how close the other set comes to an entry of either."""
        closest = self.across[1][:, 0]
        middle = [float(np.median(closest[self.labels == label])) for label in (0, 1)]
        return (
            f"A typical benchmark entry is {number_text(middle[0])} alike (cosine) to its nearest "
            f"holdout entry, a typical holdout entry {number_text(middle[1])} to its nearest "
            "benchmark entry."
        )
