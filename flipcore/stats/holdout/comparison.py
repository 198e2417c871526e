"""Two sets of entries in one embedding: the results on the tabs of the Holdout page, each computed
only once."""

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
LOWEST = -0.5  # lower end of the first bin; lower cosines of texts are rare and counted there
ALIKE_WORDS = 0.7  # share of words in common, in order; entries of one kind share less


@dataclass(frozen=True)
class AcrossPair:
    """A benchmark and a holdout entry, as rows of a comparison. `words` is the share of words in
    common, in order. `is_declared` is True if the sets declare a common source."""

    target: int
    retro: int
    cosine: float
    words: float
    is_declared: bool


@dataclass(frozen=True)
class Comparison:
    """The two sets: `items` of the benchmark first, then of the holdout. `units` (n, d) are their
    unit vectors in the same order. `described` names the embedding."""

    items: tuple[Item, ...]
    n_target: int
    units: np.ndarray
    described: str

    @cached_property
    def sets_id(self) -> str:
        """Identifier of the two sets, made from their item ids."""
        return digest(self.n_target, [item.item_id for item in self.items])

    @cached_property
    def texts(self) -> list[str]:
        return [entry_text(item) for item in self.items]

    @cached_property
    def labels(self) -> np.ndarray:
        """(n,) 0 for the benchmark, 1 for the holdout."""
        return (np.arange(len(self.items)) >= self.n_target).astype(int)

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.array([len(text.split()) for text in self.texts])

    @cached_property
    def principal(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (n, 2) on the principal components, and the share of variance of each (2,)."""
        return projection.principal_places(self.units)

    @cached_property
    def near(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (n, k) of the nearest other entries of both sets together, and their cosines."""
        return neighbours.nearest(self.units, self.units, neighbours.N_NEAREST, skip_self=True)

    @cached_property
    def across(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (n, k) of the nearest entries of the other set, and their cosines."""
        n = self.n_target
        target, retro = self.sets
        k = min(neighbours.N_NEAREST, len(target), len(retro))
        retro_rows, target_cosines = neighbours.nearest(target, retro, k)
        target_rows, retro_cosines = neighbours.nearest(retro, target, k)
        # Rows of the holdout follow those of the benchmark, hence + n.
        rows = np.concatenate([retro_rows + n, target_rows])
        return rows, np.concatenate([target_cosines, retro_cosines])

    def nearest_own(self, row: int, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows (k,) of the nearest other entries of the row's own set, and their
        cosines."""
        is_other = np.arange(len(self.items)) != row
        own_rows = np.flatnonzero((self.labels == self.labels[row]) & is_other)
        cosines = self.units[own_rows] @ self.units[row]
        order = np.argsort(-cosines, kind="stable")[:k]
        return own_rows[order], cosines[order]

    def within(self, spans: Sequence[tuple[float, float, int]]) -> list[int]:
        """Return the rows whose nearest entry in the other set has a cosine in one of the spans
        (low, high, label), ends included."""
        closest = self._closest_across
        is_selected = np.zeros(len(self.items), dtype=bool)
        for low, high, label in spans:
            # The slack allows for rounding: the ends of a span are borders of drawn bins.
            is_inside = (closest >= low - 1e-9) & (closest <= high + 1e-9)
            is_selected |= is_inside & (self.labels == label)
        return np.flatnonzero(is_selected).tolist()

    @property
    def _closest_across(self) -> np.ndarray:
        """(n,) cosine of each entry with its nearest entry of the other set."""
        return self.across[1][:, 0]

    def per_item(self, values: Mapping[str, float]) -> np.ndarray:
        """Return (n,) the values by item id in the order of `items`; NaN for an id without one."""
        return np.array([values.get(item.item_id, np.nan) for item in self.items], dtype=float)

    @cached_property
    def loneliest(self) -> np.ndarray:
        """(n,) rows, the entry with the farthest nearest neighbours first."""
        # A stable sort keeps equal entries in the order of the sets.
        return np.argsort(self.near[1].mean(axis=1), kind="stable")

    @cached_property
    def pairs(self) -> np.ndarray | None:
        """Rows of the source-paired entries, the target's first; None if the sets are not
        paired (`paired_rows`)."""
        return paired_rows(self.items[: self.n_target], self.items[self.n_target :])

    @cached_property
    def mixing(self) -> neighbours.Mixing:
        """Test of whether neighbours belong to the same set. Source-paired sets are compared by
        their pairs only."""
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
        """Mean cosine within the target and within the retro-holdout."""
        target, retro = self.sets
        return neighbours.mean_cosine(target), neighbours.mean_cosine(retro)

    @cached_property
    def distinct(self) -> Comparison:
        """Comparison of the first entry per template or source only: these are independent."""
        target, retro, left_out = one_per_source(
            self.items[: self.n_target], self.items[self.n_target :]
        )
        if not left_out:
            return self
        ids = {item.item_id for item in (*target, *retro)}
        # Reuse the vectors, so that nothing is embedded again.
        rows = [i for i, item in enumerate(self.items) if item.item_id in ids]
        return Comparison((*target, *retro), len(target), self.units[rows], self.described)

    @property
    def likeness_difference(self) -> Estimate:
        """Mean cosine within the retro-holdout minus that within the target; only over pairs if
        the sets are source-paired."""
        if self.pairs is None:
            return neighbours.likeness_difference(*self.sets)
        half = len(self.pairs) // 2
        return neighbours.likeness_difference(
            self.units[self.pairs[:half]], self.units[self.pairs[half:]], paired=True
        )

    @cached_property
    def likeness_counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges (N_BINS + 1,) of the cosine bins, and the numbers of pairs (N_BINS,) in the target
        and in the retro-holdout."""
        target, retro = (
            neighbours.cosine_counts(units, N_BINS, LOWEST, 1.0) for units in self.sets
        )
        return np.linspace(LOWEST, 1.0, N_BINS + 1), target, retro

    def most_alike(
        self, k: int = 10
    ) -> tuple[list[tuple[int, int, float]], list[tuple[int, int, float]]]:
        """Return the k most alike pairs within the target and within the retro-holdout, as (row,
        row, cosine) with rows of `items`."""
        n = self.n_target
        target, retro = (neighbours.most_alike(units, k) for units in self.sets)
        return target, [(i + n, j + n, cosine) for i, j, cosine in retro]

    @cached_property
    def alike_across(self) -> tuple[AcrossPair, ...]:
        """The ten most alike pairs of a benchmark and a holdout entry by embedding, and the ten by
        words (from `ALIKE_WORDS` on), sorted by the larger of the two measures."""
        by_vector = [(i, j) for i, j, _ in neighbours.most_alike(self.units, labels=self.labels)]
        by_words = []
        for pair in duplicates(self.texts, ALIKE_WORDS):
            if self.labels[pair.first] != self.labels[pair.second]:
                by_words.append((pair.first, pair.second))
        groups = source_groups(self.items[: self.n_target], self.items[self.n_target :])
        pairs = []
        # `fromkeys` keeps the order, and once each pair that both measures found.
        for i, j in dict.fromkeys([*by_vector, *by_words[: neighbours.N_NEAREST]]):
            cosine = float(self.units[i] @ self.units[j])
            words = words_in_common(self.texts[i], self.texts[j])
            pairs.append(AcrossPair(i, j, cosine, words, groups[i] == groups[j]))
        pairs.sort(key=lambda pair: (-max(pair.cosine, pair.words), pair.target, pair.retro))
        return tuple(pairs)

    def coverage_sentence(self) -> str:
        """Say how near the nearest entry of the other set typically is, for each set."""
        target, retro = (np.median(self._closest_across[self.labels == label]) for label in (0, 1))
        return (
            f"A typical benchmark entry is {number_text(float(target))} alike (cosine) to its "
            f"nearest holdout entry, a typical holdout entry {number_text(float(retro))} to its "
            "nearest benchmark entry."
        )
