"""One decomposition over all axes: what an item does on average over the changes that were made to it."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.resample import N_BOOT
from flipcore.stats.flips.decomposition import COLUMNS, FLOORS, Decomposition, paired_t_p
from flipcore.stats.flips.unread import Bounds, Unread

ALL_AXES = "all_changes"


def across_axes(
    cells: Sequence[Decomposition], *, kind: str = "default", seed: int = 0, n_boot: int = N_BOOT
) -> list[Decomposition]:
    """One Decomposition an extractor, from the cells of its axes; items that an axis does not define leave that axis only.
    Above a floor only where every axis has one. One axis that has pairs alone keeps its name. `p_artifact` and `share` are not computed."""
    names = list(dict.fromkeys(one.extractor for one in cells))
    groups = [[one for one in cells if one.extractor == name] for name in names]
    if not groups:
        return []
    columns = [over_axes([one.item_values for one in group]) for group in groups]
    level, families = cells[0].T.level, cells[0].families
    table = JointMeans(np.hstack(columns), seed, n_boot, families).estimates(
        kind, [level], list(COLUMNS.values()) * len(groups)
    )
    estimates = [column[0] for column in table]
    width = len(COLUMNS)
    return [
        _pooled(group, values, dict(zip(COLUMNS, estimates[at * width : (at + 1) * width], strict=True)))
        for at, (group, values) in enumerate(zip(groups, columns, strict=True))
    ]


def over_axes(cells: Sequence[np.ndarray]) -> np.ndarray:
    """(items, quantities) means over axes, in the order of `COLUMNS`; a floor is NaN where an axis that the item defines lacks it."""
    values = np.array(cells)
    defined = ~np.isnan(values[:, :, :1])
    means = _mean(values)
    lacking = (np.isnan(values) & defined).any(axis=0)
    means[lacking] = np.nan
    return means


def _pooled(group: Sequence[Decomposition], values: np.ndarray, by_name: dict[str, Estimate]) -> Decomposition:
    first, axes = group[0], [one.axis for one in group if not math.isnan(one.T.value)]
    if first.is_reference:
        by_name |= {
            name: getattr(first, name) for name in ("A", "A_plus", "A_minus", "A_excess", "A_plus_excess", "A_minus_excess")
        }
    if np.isnan(values[:, list(COLUMNS).index("W")]).all():
        by_name |= dict.fromkeys(FLOORS, missing(level=first.T.level, note="Not measured on every axis."))
    estimates: dict[str, Any] = dict(by_name)
    return replace(
        first,
        **estimates,
        axis=axes[0] if len(axes) == 1 else ALL_AXES,
        share=missing(first.T.n, first.T.level, "Not computed over all axes."),
        p_artifact=math.nan,
        p_more=paired_t_p(values[:, list(COLUMNS).index("A_minus_G")], first.families),
        n_items=int((~np.isnan(values[:, 0])).sum()),
        unread=_unread(group),
        item_values=values,
    )


def _unread(group: Sequence[Decomposition]) -> Unread:
    """Bounds as means over the axes that an item has pairs on; beyond the floor only where every axis has one."""
    every = [one.unread for one in group]
    raw = Bounds(*(_mean(np.array([getattr(one.raw, side) for one in every])) for side in ("low", "high")))
    beyond = Bounds(*(over_axes([_with_raw(one, side) for one in every])[:, 1:] for side in ("low", "high")))
    shares = [_mean(np.array([one.shares[i] for one in every])) for i in (0, 1)]
    return Unread(sum(one.n for one in every), (float(shares[0]), float(shares[1])), raw, beyond)


def _with_raw(one: Unread, side: str) -> np.ndarray:
    """Bounds beyond the floor behind a column that says which items have pairs at all."""
    return np.column_stack([one.raw.low[:, 0], getattr(one.beyond, side)])


def _mean(x: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an item that no axis defines
        return np.nanmean(x, axis=0)
