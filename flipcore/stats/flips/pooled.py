"""One decomposition over all axes: the mean of each item over the changes that were made to it."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipcore.stats.base.estimate import Estimate, missing
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.resample import N_BOOT
from flipcore.stats.flips.decomposition import (
    COLUMNS,
    FLOORS,
    Decomposition,
    paired_t_p,
    quantities,
)
from flipcore.stats.flips.unread import Bounds, Unread

ALL_AXES = "all_changes"


def across_axes(
    cells: Sequence[Decomposition], *, kind: str = "default", seed: int = 0, n_boot: int = N_BOOT
) -> list[Decomposition]:
    """Return one Decomposition per extractor, from the cells of its axes; items that an axis does
    not define leave that axis only. Above a floor only where every axis has one. One axis that has
    pairs alone keeps its name. `p_artifact` and `share` are not computed."""
    by_extractor: dict[str, list[Decomposition]] = {}
    for cell in cells:
        by_extractor.setdefault(cell.extractor, []).append(cell)
    groups = list(by_extractor.values())
    if not groups:
        return []
    columns = [over_axes([cell.item_values for cell in group]) for group in groups]
    level, families = cells[0].T.level, cells[0].families
    table = JointMeans(np.hstack(columns), seed, n_boot, families).estimates(
        kind, [level], list(COLUMNS.values()) * len(groups)
    )
    estimates = [column[0] for column in table]
    width = len(COLUMNS)
    pooled = []
    for j, (group, values) in enumerate(zip(groups, columns, strict=True)):
        by_name = dict(zip(COLUMNS, estimates[j * width : (j + 1) * width], strict=True))
        pooled.append(_pooled(group, values, by_name))
    return pooled


def over_axes(cells: Sequence[np.ndarray]) -> np.ndarray:
    """Return (items, quantities) means over axes, in the order of `COLUMNS`; a floor is NaN where
    an axis that the item defines lacks it."""
    values = np.array(cells)
    defined = ~np.isnan(values[:, :, :1])
    means = _mean(values)
    # A mean of some floors would be taken off flips on all axes.
    lacking = (np.isnan(values) & defined).any(axis=0)
    means[lacking] = np.nan
    return means


def _pooled(
    group: Sequence[Decomposition], values: np.ndarray, by_name: dict[str, Estimate]
) -> Decomposition:
    first, axes = group[0], [cell.axis for cell in group if not math.isnan(cell.T.value)]
    if first.is_reference:
        by_name |= {
            name: getattr(first, name)
            for name in ("A", "A_plus", "A_minus", "A_excess", "A_plus_excess", "A_minus_excess")
        }
    if np.isnan(quantities(values, "W")).all():
        by_name |= dict.fromkeys(
            FLOORS, missing(level=first.T.level, note="Not measured on every axis.")
        )
    estimates: dict[str, Any] = dict(by_name)
    return replace(
        first,
        **estimates,
        axis=axes[0] if len(axes) == 1 else ALL_AXES,
        share=missing(first.T.n, first.T.level, "Not computed over all axes."),
        p_artifact=math.nan,
        p_more=paired_t_p(quantities(values, "A_minus_G")[:, 0], first.families),
        n_items=int((~np.isnan(quantities(values, "T"))).sum()),
        unread=_unread(group),
        item_values=values,
    )


def _unread(group: Sequence[Decomposition]) -> Unread:
    """Bounds as means over the axes that an item has pairs on; beyond the floor only where every
    axis has one."""
    by_axis = [cell.unread for cell in group]
    raw = Bounds(
        _mean(np.array([bounds.raw.low for bounds in by_axis])),
        _mean(np.array([bounds.raw.high for bounds in by_axis])),
    )
    beyond = Bounds(
        _beyond_over_axes(by_axis, [bounds.beyond.low for bounds in by_axis]),
        _beyond_over_axes(by_axis, [bounds.beyond.high for bounds in by_axis]),
    )
    share, share_ref = (_mean(np.array([bounds.shares[i] for bounds in by_axis])) for i in (0, 1))
    n = sum(bounds.n for bounds in by_axis)
    return Unread(n, (float(share), float(share_ref)), raw, beyond)


def _beyond_over_axes(by_axis: Sequence[Unread], limits: Sequence[np.ndarray]) -> np.ndarray:
    """Return the means of one side's limits beyond the floor, (items, rates)."""
    marked = []
    for bounds, axis_limits in zip(by_axis, limits, strict=True):
        # `over_axes` takes its first column as the mark of the items that have pairs at all.
        marked.append(np.column_stack([bounds.raw.low[:, 0], axis_limits]))
    return over_axes(marked)[:, 1:]


def _mean(x: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        # numpy warns of an item that no axis defines; NaN is meant.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(x, axis=0)
