"""One decomposition over all axes, from the mean of each item over its axes."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from flipcore.core.errors import BadInput
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
from flipcore.stats.flips.noise_floor import NOT_MEASURED
from flipcore.stats.flips.unread import Bounds, Unread

ALL_AXES = "all_changes"


def across_axes(
    cells: Sequence[Decomposition], *, kind: str = "default", seed: int = 0, n_boot: int = N_BOOT
) -> list[Decomposition]:
    """Return one Decomposition per extractor, over the axes of its `cells`.

    The value of an item is its mean over the axes that define it. Values beyond the noise floor
    need a floor on all of these axes. The axis is named `ALL_AXES`, or keeps its name if only one
    axis has pairs. `p_artifact` and `share` are not computed. `warnings`, `n_excluded` and
    `n_left_out` are those of the first axis.
    """
    by_extractor: dict[str, list[Decomposition]] = {}
    for cell in cells:
        by_extractor.setdefault(cell.extractor, []).append(cell)
    groups = list(by_extractor.values())
    if not groups:
        return []
    group_values = [over_axes([cell.item_values for cell in group]) for group in groups]
    level, families = cells[0].T.level, cells[0].families
    table = JointMeans(np.hstack(group_values), seed, n_boot, families).estimates(
        kind, [level], list(COLUMNS.values()) * len(groups)
    )
    # `table` has the columns of the groups one after another, with one estimate per level.
    estimates = [levels[0] for levels in table]
    width = len(COLUMNS)
    pooled = []
    for j, (group, values) in enumerate(zip(groups, group_values, strict=True)):
        by_name = dict(zip(COLUMNS, estimates[j * width : (j + 1) * width], strict=True))
        pooled.append(_pooled(group, values, by_name))
    return pooled


def over_axes(cells: Sequence[np.ndarray]) -> np.ndarray:
    """Return (items, quantities) means over axes. `cells` are (items, quantities) in the order of
    `COLUMNS`. A quantity is NaN if any axis with pairs for the item lacks it (a floor). Raises
    BadInput without an axis."""
    if not len(cells):
        raise BadInput("A mean over axes needs the values of at least one axis, and got none.")
    values = np.array(cells)
    has_pairs = ~np.isnan(values[:, :, :1])
    means = _mean(values)
    # Otherwise the mean floor of some axes would be subtracted from the mean flips of all axes.
    is_lacking = (np.isnan(values) & has_pairs).any(axis=0)
    means[is_lacking] = np.nan
    return means


def _pooled(
    group: Sequence[Decomposition], values: np.ndarray, by_name: dict[str, Estimate]
) -> Decomposition:
    """Return the first cell with the values over all axes in place of its own."""
    first = group[0]
    with_pairs = [cell for cell in group if not math.isnan(cell.T.value)]
    measured = [cell.floor_source for cell in with_pairs if cell.floor_source != NOT_MEASURED]
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
        axis=with_pairs[0].axis if len(with_pairs) == 1 else ALL_AXES,
        share=missing(first.T.n, first.T.level, "Not computed over all axes."),
        p_artifact=math.nan,
        p_more=paired_t_p(quantities(values, "A_minus_G")[:, 0], first.families),
        floor_source=", ".join(dict.fromkeys(measured)) or NOT_MEASURED,
        n_items=int((~np.isnan(quantities(values, "T"))).sum()),
        unread=_unread(group),
        item_values=values,
    )


def _unread(group: Sequence[Decomposition]) -> Unread:
    """Return bounds as means over the axes with pairs for the item; beyond the floor only if all of
    these axes have a floor."""
    by_axis = [cell.unread for cell in group]
    raw = Bounds(
        _mean(np.array([axis_unread.raw.low for axis_unread in by_axis])),
        _mean(np.array([axis_unread.raw.high for axis_unread in by_axis])),
    )
    beyond = Bounds(
        _beyond_over_axes(by_axis, [axis_unread.beyond.low for axis_unread in by_axis]),
        _beyond_over_axes(by_axis, [axis_unread.beyond.high for axis_unread in by_axis]),
    )
    share, share_ref = (
        float(_mean(np.array([axis_unread.shares[i] for axis_unread in by_axis]))) for i in (0, 1)
    )
    n = sum(axis_unread.n for axis_unread in by_axis)
    return Unread(n, (share, share_ref), raw, beyond)


def _beyond_over_axes(by_axis: Sequence[Unread], limits: Sequence[np.ndarray]) -> np.ndarray:
    """Return (items, rates) means over axes of the lower or upper bounds beyond the floor."""
    with_pairs = []
    for axis_unread, axis_limits in zip(by_axis, limits, strict=True):
        # `over_axes` takes the items as having pairs where the first column is defined.
        with_pairs.append(np.column_stack([axis_unread.raw.low[:, 0], axis_limits]))
    return over_axes(with_pairs)[:, 1:]


def _mean(values: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        # numpy warns about items that no axis defines; their mean is NaN on purpose.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(values, axis=0)
