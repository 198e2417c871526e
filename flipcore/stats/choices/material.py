"""Items that can be counted in several ways: their values and which of them count, per setting."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import CATEGORIES, KEY, REPEATED, WEIGHTS, Choice, Setting

ALIKE = "alike"


class Material(ABC):
    """Items under every setting of `choices`, of which some change values and others leave out.

    `clusters` and `categories` (items,) are numbers. `bounds` are those of a value: (-1, 1) of a
    difference, (0, 1) of a score.
    """

    choices: tuple[Choice, ...]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float]

    @property
    @abstractmethod
    def value_choices(self) -> tuple[str, ...]:
        """Names of the choices that `values` depends on."""

    @abstractmethod
    def values(self, setting: Setting) -> np.ndarray:
        """(items,) values, NaN for an item that is left out."""

    @property
    @abstractmethod
    def item_choices(self) -> tuple[str, ...]:
        """Names of the choices that `kept` depends on."""

    @abstractmethod
    def kept(self, setting: Setting) -> np.ndarray:
        """(items,) True where an item counts."""

    def why_closed(self, setting: Setting) -> str:
        """Return why a setting may not be claimed beyond what its options say; "" if it may."""
        return ""

    @property
    def n_items(self) -> int:
        return len(self.clusters)

    def is_clustered(self) -> bool:
        return len(np.unique(self.clusters)) < self.n_items


@dataclass(frozen=True, eq=False)
class ArrayMaterial(Material):
    """Arrays by the options of the choices that they depend on.

    `states` maps the options of `state_names` to values (items,). `left_out` maps "choice=option"
    to (items,) True where that option leaves an item out.
    """

    choices: tuple[Choice, ...]
    state_names: tuple[str, ...]
    states: Mapping[tuple[str, ...], np.ndarray]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float] = SIGNED

    @property
    def value_choices(self) -> tuple[str, ...]:
        return self.state_names

    def values(self, setting: Setting) -> np.ndarray:
        return self.states[tuple(setting[name] for name in self.state_names)]

    @property
    def item_choices(self) -> tuple[str, ...]:
        return tuple(name for name in (KEY, REPEATED, CATEGORIES, WEIGHTS) if self._has(name))

    def _has(self, name: str) -> bool:
        return any(choice.name == name for choice in self.choices)

    def kept(self, setting: Setting) -> np.ndarray:
        is_kept = np.ones(self.n_items, dtype=bool)
        for name, option in setting.items():
            is_kept &= ~self.left_out.get(f"{name}={option}", np.zeros(self.n_items, dtype=bool))
        return is_kept


def coarsest_units(
    clusters: np.ndarray, categories: np.ndarray, choices: Sequence[Choice]
) -> np.ndarray:
    """(items,) numbers of the coarsest thing that an option of these choices leaves out.

    Clusters; where whole categories can be left out, categories joined with the clusters that they
    share.
    """
    if not any(choice.name == CATEGORIES for choice in choices):
        return np.unique(clusters, return_inverse=True)[1]
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_clusters = int(clusters.max(initial=-1)) + 1
    size = n_clusters + int(categories.max(initial=-1)) + 1
    links = coo_array(
        (np.ones(len(clusters)), (clusters, n_clusters + categories)), shape=(size, size)
    )
    labels = connected_components(links, directed=False)[1]
    return np.unique(labels[clusters], return_inverse=True)[1]
