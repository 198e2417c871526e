"""Items that can be counted in several ways: per setting, their values and which of them count."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.base.intervals import SIGNED
from flipcore.stats.choices.choice import (
    CATEGORIES,
    KEY,
    ORIGIN,
    REPEATED,
    WEIGHTS,
    Choice,
    Setting,
)

ALIKE = "alike"  # option of WEIGHTS: all categories weigh the same
# Choices that decide which items count, and with which weight. All others decide their values.
ITEM_CHOICES = (KEY, REPEATED, CATEGORIES, ORIGIN, WEIGHTS)


class Material(ABC):
    """Items under all settings of `choices`.

    value_choices : names of the choices that `values` depends on.
    left_out : "choice=option" -> (items,), True if the option leaves an item out.
    clusters, categories, origins : (items,) numbers; `origins` is None if there is one origin.
    bounds : least and largest value: (-1, 1) of a difference, (0, 1) of a score.
    """

    choices: tuple[Choice, ...]
    value_choices: tuple[str, ...]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float]
    origins: np.ndarray | None = None

    @abstractmethod
    def values(self, setting: Setting) -> np.ndarray:
        """Return (items,) values under a setting; NaN for items without a value."""

    def ends(self) -> "tuple[Material, Material] | None":
        """Return this material with all unread answers against the decision, and with all of them
        for it; None if none is unread. Their values do not depend on how unread answers count."""
        return None

    def is_counted(self, setting: Setting) -> np.ndarray:
        """Return (items,), True for items that no option of the setting leaves out."""
        mask = np.ones(len(self.clusters), dtype=bool)
        for name in ITEM_CHOICES:
            option = f"{name}={setting.get(name)}"
            if option in self.left_out:
                mask &= ~self.left_out[option]
        return mask


@dataclass(frozen=True, eq=False)
class ArrayMaterial(Material):
    """Material from given values: `states` is options of `value_choices` -> (items,) values.

    `filled` has the materials of `ends`."""

    choices: tuple[Choice, ...]
    value_choices: tuple[str, ...]
    states: Mapping[tuple[str, ...], np.ndarray]
    left_out: Mapping[str, np.ndarray]
    clusters: np.ndarray
    categories: np.ndarray
    bounds: tuple[float, float] = SIGNED
    filled: "tuple[ArrayMaterial, ArrayMaterial] | None" = None

    def ends(self) -> "tuple[ArrayMaterial, ArrayMaterial] | None":
        return self.filled

    def values(self, setting: Setting) -> np.ndarray:
        return self.states[tuple(setting[name] for name in self.value_choices)]


def coarsest_units(material: Material, choices: Sequence[Choice]) -> np.ndarray:
    """Return (items,) numbers of the coarsest units that an option of these choices leaves out.

    These are the clusters. If whole categories or origins can be left out, they are these, and
    those that share a cluster are one unit.
    """
    varied = {choice.name for choice in choices}
    units = np.unique(material.clusters, return_inverse=True)[1]
    for name, groups in ((CATEGORIES, material.categories), (ORIGIN, material.origins)):
        if name in varied and groups is not None:
            units = _joined_units(units, groups)
    return units


def _joined_units(units: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return (items,) numbers of units in which items that share a unit or a group are together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_units = int(units.max(initial=-1)) + 1
    size = n_units + int(groups.max(initial=-1)) + 1
    links = coo_array((np.ones(len(units)), (units, n_units + groups)), shape=(size, size))
    labels = connected_components(links, directed=False)[1]
    return np.unique(labels[units], return_inverse=True)[1]
