"""Limits at every level, computed in advance, for the threshold board's slider."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from flipcore.core.records import IDENTITY
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.resample import N_BOOT
from flipcore.stats.flips.coded_answers import CodedAnswers
from flipcore.stats.flips.decomposition import COLUMNS, item_rates, stated_parts
from flipcore.stats.flips.pooled import ALL_AXES, over_axes

# The three parts of flips as sentences state them: beyond the noise floor where it was measured.
LEADS = ("compared", "reference", "both")
QUANTITIES = ("T", "G", "A", "A_minus_G", *LEADS)
KINDS = ("default", "percentile", "bca", "studentized")
_GRID = np.concatenate([np.arange(0.5, 0.9901, 0.005), np.arange(0.991, 0.9991, 0.001)])
LEVELS = tuple(round(level, 3) for level in _GRID)


@dataclass(frozen=True)
class LevelLimits:
    """Estimates and limits of every row, under each reference, policy and kind of interval.

    A row is (axis, extractor). Policies treat unreadable answers. The arrays are

    - `values` (references, policies, rows, quantities), float64;
    - `low` and `high` (references, policies, kinds, rows, quantities, levels), float64, NaN where
      there is no interval;
    - `n` (references, policies, rows), the number of items;
    - `floors` (references, policies, rows, 2), mean W under the row's extractor and the reference;
    - `methods` (references, policies, kinds, rows, quantities), the method of each interval, or
      "reference" where A is 0 by definition.
    """

    rows: tuple[tuple[str, str], ...]
    references: tuple[str, ...]
    policies: tuple[str, ...]
    kinds: tuple[str, ...]
    levels: tuple[float, ...]
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    floors: np.ndarray
    n: np.ndarray
    methods: np.ndarray
    seed: int
    n_boot: int


def level_limits(
    answers: CodedAnswers,
    references: Sequence[str],
    *,
    policies: Sequence[str] = ("own_class",),
    kinds: Sequence[str] = KINDS,
    levels: Sequence[float] = LEVELS,
    pooled: Sequence[str] = (),
    seed: int = 0,
    n_boot: int = N_BOOT,
) -> LevelLimits:
    """Compute the limits of every (axis, extractor) under each reference and policy.

    Each reference and policy has a joint bootstrap, with the same draws of items in all. Where
    `pooled` names several axes, a row per extractor over these axes follows. Raises BadInput for an
    unknown name.
    """
    rows = _rows(answers, pooled)
    shape = (len(references), len(policies), len(kinds), len(rows), len(QUANTITIES))
    low = np.full((*shape, len(levels)), np.nan, dtype="<f8")
    high = low.copy()
    values = np.full((*shape[:2], len(rows), len(QUANTITIES)), np.nan, dtype="<f8")
    floors = np.full((*shape[:2], len(rows), 2), np.nan, dtype="<f8")
    n, methods = np.zeros((*shape[:2], len(rows)), int), np.full(shape, "none", object)
    # Where every answer was read all policies give the same columns, so limits are computed once.
    limits_of: dict[bytes, list] = {}
    for r, reference in enumerate(references):
        for p, policy in enumerate(policies):
            rates = _rates(answers, rows, reference, policy, pooled)
            parts, bounds = [], []
            for row_rates in rates:
                stated = stated_names(row_rates)
                parts.append(row_rates[:, _column_indices(stated)])
                bounds += [COLUMNS[name] for name in stated]
            joint = JointMeans(np.hstack(parts), seed, n_boot, answers.families)
            values[r, p] = joint.values.reshape(len(rows), -1)
            n[r, p] = joint.n.reshape(len(rows), -1)[:, 0]
            floor_columns = _column_indices(("W", "W_ref"))
            row_floors = np.hstack([row_rates[:, floor_columns] for row_rates in rates])
            floors[r, p] = JointMeans(row_floors).values.reshape(-1, 2)
            key = joint.columns.tobytes()
            if key not in limits_of:
                limits_of[key] = [_limits(joint, kind, levels, bounds) for kind in kinds]
            for k, limits in enumerate(limits_of[key]):
                low[r, p, k], high[r, p, k], methods[r, p, k] = limits
            # For the reference itself A is 0 by definition, so only T and G, the first two, have
            # limits.
            reference_rows = [i for i, (_, name) in enumerate(rows) if name == reference]
            for array, filler in ((low, np.nan), (high, np.nan), (methods, "reference")):
                array[r, p, :, reference_rows, 2:] = filler
    names = tuple(references), tuple(policies), tuple(kinds), tuple(levels)
    return LevelLimits(rows, *names, values, low, high, floors, n, methods, seed, n_boot)


def _rows(answers: CodedAnswers, pooled: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return (axis, extractor) per row; several `pooled` axes add rows over all axes."""
    axes = [axis for axis in answers.axes if axis != IDENTITY] + [ALL_AXES] * (len(pooled) > 1)
    return tuple(product(axes, answers.extractors))


def _rates(
    answers: CodedAnswers,
    rows: Sequence[tuple[str, str]],
    reference: str,
    policy: str,
    pooled: Sequence[str],
) -> list[np.ndarray]:
    """Return the item values (items, quantities) of each row."""
    values_of: dict[tuple[str, str], np.ndarray] = {}
    # Rows over all axes come last, because they are means of the other rows.
    for axis, extractor in rows:
        if axis == ALL_AXES:
            pooled_values = [values_of[pooled_axis, extractor] for pooled_axis in pooled]
            values_of[axis, extractor] = over_axes(pooled_values)
        else:
            rates = item_rates(answers, axis, extractor, reference, policy)
            values_of[axis, extractor] = rates.values
    return [values_of[row] for row in rows]


def stated_names(values: np.ndarray) -> tuple[str, ...]:
    """Return the columns of a cell's item values (items, columns) that `QUANTITIES` name."""
    return (*QUANTITIES[: -len(LEADS)], *stated_parts(values))


def _column_indices(names: Sequence[str]) -> list[int]:
    return [list(COLUMNS).index(name) for name in names]


def _limits(
    joint: JointMeans, kind: str, levels: Sequence[float], bounds: Sequence[tuple[float, float]]
) -> tuple[np.ndarray, ...]:
    """Return low and high limits (rows, quantities, levels), and methods (rows, quantities)."""
    intervals = joint.intervals(kind, levels, bounds)
    shape = (len(bounds) // len(QUANTITIES), len(QUANTITIES))
    low, high = intervals.low.T.reshape(*shape, -1), intervals.high.T.reshape(*shape, -1)
    return low, high, intervals.methods[-1].reshape(shape)
