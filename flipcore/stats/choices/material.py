"""Items that can be counted in several ways: their values and which of them count, per setting."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import CATEGORIES, KEY, REPEATED, WEIGHTS, Choice, Setting

ALIKE = "alike"
# Choices that say which items count; all others say what their values are.
ITEM_CHOICES = (KEY, REPEATED, CATEGORIES, WEIGHTS)


class Material(ABC):
    """Items under every setting of `choices`.

    `clusters` and `categories` (items,) are numbers. `left_out` maps "choice=option" to (items,)
    True where that option leaves an item out. `value_choices` are names of the choices that
    `values` depends on. `bounds` are those of a value: (-1, 1) of a difference, (0, 1) of a score.
    """

    choices: tuple[Choice, ...]
    value_choices: tuple[str, ...]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float]

    @abstractmethod
    def values(self, setting: Setting) -> np.ndarray:
        """(items,) values, NaN for an item that is left out."""

    def kept(self, setting: Setting) -> np.ndarray:
        """(items,) True where an item counts."""
        is_kept = np.ones(len(self.clusters), dtype=bool)
        for name in ITEM_CHOICES:
            option = f"{name}={setting.get(name)}"
            if option in self.left_out:
                is_kept &= ~self.left_out[option]
        return is_kept


@dataclass(frozen=True, eq=False)
class ArrayMaterial(Material):
    """Arrays: `states` maps the options of `value_choices` to values (items,)."""

    choices: tuple[Choice, ...]
    value_choices: tuple[str, ...]
    states: Mapping[tuple[str, ...], np.ndarray]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float] = SIGNED

    def values(self, setting: Setting) -> np.ndarray:
        return self.states[tuple(setting[name] for name in self.value_choices)]


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
