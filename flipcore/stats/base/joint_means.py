"""Means of many columns over the same items, with intervals from one joint item draw per replicate.

Columns are cells of a study (axis, extractor, quantity) and rows are items. NaN marks an item that
a cell lacks. The draws are made when a kind of interval first needs them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.bootstrap import bca_percentiles
from flipcore.stats.base.estimate import (
    MIN_FAMILIES,
    MIN_N,
    Estimate,
    few_items,
    missing,
    without_interval,
)
from flipcore.stats.base.families import UNIT, FamilyMeans, by_family, few_families
from flipcore.stats.base.proportions import stand_in, wilson
from flipcore.stats.base.resample import N_BOOT, SLACK, replicate_means

KINDS = ("default", "clt_cluster", "percentile", "bca", "studentized")
RESAMPLING = ("percentile", "bca", "studentized")
CLT_MIN_N = 30
# The t and bootstrap intervals are too short for shares below this, and above 1 minus this.
RARE = 0.10


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of k columns at several levels; all arrays are (levels, k). `low` and `high` are
    NaN without an interval, and `methods` is then "none". `notes` are sentences for people.
    `is_stand_in` is True if the chosen kind had no width."""

    low: np.ndarray
    high: np.ndarray
    methods: np.ndarray
    notes: np.ndarray
    is_stand_in: np.ndarray


@dataclass(frozen=True)
class JointMeans:
    """Means `values` of `columns` (items, k), each over the items that are not NaN.

    `families` (items,) are the items' family numbers; None if items share no families. With
    families, whole families are drawn, `n` counts families, `columns` become (families, k) and
    `items` keeps the original columns. The default interval is then that of the module `families`,
    which differences always have. `values` are NaN without an item, `se` below two.
    """

    columns: np.ndarray
    seed: int = 0
    n_boot: int = N_BOOT
    families: np.ndarray | None = None
    is_defined: np.ndarray = field(init=False)
    n: np.ndarray = field(init=False)
    values: np.ndarray = field(init=False)
    se: np.ndarray = field(init=False)
    items: np.ndarray = field(init=False)
    family_means: FamilyMeans | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", self.columns)
        if self.families is not None:
            object.__setattr__(
                self, "family_means", FamilyMeans.from_values(self.columns, self.families)
            )
            object.__setattr__(self, "columns", by_family(self.columns, self.families))
        is_defined = ~np.isnan(self.columns)
        n = is_defined.sum(axis=0)
        total = np.where(is_defined, self.columns, 0.0).sum(axis=0)
        values = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
        squares = (self._centred(is_defined, values) ** 2).sum(axis=0)
        se = np.sqrt(np.divide(squares, n * (n - 1.0), out=np.full(n.shape, np.nan), where=n > 1))
        for name, value in (("is_defined", is_defined), ("n", n), ("values", values), ("se", se)):
            object.__setattr__(self, name, value)

    def _centred(self, is_defined: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.where(is_defined, self.columns - np.where(np.isnan(values), 0.0, values), 0.0)

    @cached_property
    def replicates(self) -> np.ndarray:
        """(n_boot, k) means over the same drawn items."""
        return replicate_means(self.columns, self.n_boot, generator(self.seed))

    @cached_property
    def studentized(self) -> np.ndarray:
        """(n_boot, k) values of (mean* - mean)/SE*; NaN where a replicate has no spread."""
        # Center first: mean square - mean² of values far from 0 would lose all digits.
        x = self._centred(self.is_defined, self.values)
        k = x.shape[1]
        x_or_nan = np.where(self.is_defined, x, np.nan)
        moments = replicate_means(
            np.hstack([x_or_nan, x_or_nan**2, self.is_defined]), self.n_boot, generator(self.seed)
        )
        mean, square, n = moments[:, :k], moments[:, k : 2 * k], moments[:, 2 * k :] * len(x)
        # This divides by n, not n - 1; the standard error below corrects the factor.
        variance = square - mean**2
        has_spread = (n > 1) & (
            variance > SLACK * np.maximum((x**2).max(axis=0, initial=0.0), SLACK)
        )
        return np.divide(
            mean,
            np.sqrt(variance / np.maximum(n - 1, 1), where=has_spread, out=np.ones_like(mean)),
            out=np.full_like(mean, np.nan),
            where=has_spread,
        )

    @cached_property
    def acceleration(self) -> np.ndarray:
        """(k,) jackknife acceleration of each mean."""
        x = self._centred(self.is_defined, self.values)
        spread = (x**2).sum(axis=0)
        return np.divide(
            (x**3).sum(axis=0), 6 * spread**1.5, out=np.zeros(x.shape[1]), where=spread > SLACK**2
        )

    def limits(self, kind: str, levels: Sequence[float]) -> np.ndarray:
        """Return (2, levels, k) limits of one kind other than "default"; NaN where undefined.
        Raises BadInput for an unknown kind."""
        shares = np.asarray(levels, dtype=float)
        sides = np.repeat(
            np.array([0.5 - shares / 2, 0.5 + shares / 2])[:, :, None], self.n.size, axis=2
        )
        if kind == "clt_cluster":
            return self.values + t_quantiles(sides, self.n - 1) * self.se
        if kind == "percentile":
            return column_quantiles(self.replicates, sides)
        if kind == "studentized":
            # The sides are reversed: the upper quantile of t* gives the lower limit.
            return self.values - column_quantiles(self.studentized, sides[::-1]) * self.se
        if kind == "bca":
            percentiles = []
            for reps, value, accel in zip(
                self.replicates.T, self.values, self.acceleration, strict=True
            ):
                percentiles.append(bca_percentiles(reps[~np.isnan(reps)], value, accel, shares))
            return column_quantiles(self.replicates, np.array(percentiles).transpose(1, 2, 0))
        raise BadInput(f"There is no joint interval {kind!r}; choose one of {', '.join(KINDS)}.")

    def intervals(
        self, kind: str, levels: Sequence[float], bounds: Sequence[tuple[float, float]]
    ) -> Intervals:
        """Return the interval of each column at each level.

        `bounds[j]` are the lowest and highest possible value of an item in column j. A `stand_in`
        replaces an interval without width. The kind "default" has no interval below 10 items.
        Raises BadInput for an unknown kind.
        """
        if kind not in KINDS:
            raise BadInput(
                f"There is no joint interval {kind!r}; choose one of {', '.join(KINDS)}."
            )
        kinds = self._kinds(kind, bounds)
        notes = np.full(kinds.shape, "", dtype=object)
        if kind == "default" and "studentized" in kinds:
            skipped = np.isnan(self.studentized).mean(axis=0)
            for j in np.flatnonzero((kinds == "studentized") & is_undetermined(skipped)).tolist():
                kinds[j], notes[j] = "bca", no_spread_note(skipped[j]) if self.se[j] > 0 else ""
        low, high = self._limits_by_kinds(kinds, levels, bounds)
        has_no_width = (kinds != "none") & ~(high - low > SLACK)
        low, high = self._cut_at_bounds(low, high, bounds)
        methods = np.tile(kinds, (len(levels), 1))
        notes = np.tile(notes, (len(levels), 1))
        for j in np.flatnonzero(has_no_width.any(axis=0)).tolist():
            x = self.columns[self.is_defined[:, j], j]
            substitute = stand_in(x, x, np.ones(x.size), bounds[j], kinds[j])
            for row in np.flatnonzero(has_no_width[:, j]).tolist():
                low[row, j], high[row, j] = (
                    substitute.limits(levels[row]) if substitute.limits else (np.nan, np.nan)
                )
                methods[row, j] = substitute.method
                notes[row, j] = f"{substitute.note} {notes[row, j]}".strip()
        return Intervals(low, high, methods, notes, has_no_width)

    def estimates(
        self, kind: str, levels: Sequence[float], bounds: Sequence[tuple[float, float]]
    ) -> list[list[Estimate]]:
        """Return one list per column, with one Estimate per level, from `intervals`."""
        intervals = self.intervals(kind, levels, bounds)
        coverages: dict[tuple[int, bool], float | None] = {}
        estimates = []
        for column, (n, column_bounds) in enumerate(zip(self.n.tolist(), bounds, strict=True)):
            signed = column_bounds != UNIT
            # Coverage was simulated only for items without families.
            if self.family_means is None and (n, signed) not in coverages:
                coverages[n, signed] = measured_coverage(kind, n, signed=signed)
            coverage = coverages.get((n, signed))
            estimates.append(
                [
                    self._estimate(intervals, row, column, level, coverage)
                    for row, level in enumerate(levels)
                ]
            )
        return estimates

    def _limits_by_kinds(
        self, kinds: np.ndarray, levels: Sequence[float], bounds: Sequence[tuple[float, float]]
    ) -> np.ndarray:
        """Return (2, levels, k) limits, each column by its entry in `kinds`; NaN for "none"."""
        limits = np.full((2, len(levels), kinds.size), np.nan)
        for kind in {*kinds} - {"none"}:
            columns = np.flatnonzero(kinds == kind)
            if kind == "wilson":
                limits[:, :, columns] = self._wilson(columns, levels)
            elif kind in KINDS:
                limits[:, :, columns] = self.limits(kind, levels)[:, :, columns]
            else:
                # All other kinds are names from `FamilyMeans.methods`, whose limits need bounds.
                for shared_bounds in {bounds[j] for j in columns.tolist()}:
                    bounded = [j for j in columns.tolist() if bounds[j] == shared_bounds]
                    unit_limits = self.unit_means.limits(levels, shared_bounds)
                    limits[:, :, bounded] = unit_limits[:, :, bounded]
        return limits

    @cached_property
    def unit_means(self) -> FamilyMeans:
        """Means over the families, or over the items as families of one."""
        return self.family_means or FamilyMeans(
            np.where(self.is_defined, self.columns, 0.0), self.is_defined.astype(float)
        )

    def _why_no_interval(self, j: int) -> str:
        """Say why column j has no interval by default; "" if it has one."""
        families = self.family_means
        n = int(self.n[j] if families is None else families.n[j])
        if n < MIN_N:
            return few_items(n)
        if families is None or families.n_effective[j] >= MIN_FAMILIES:
            return ""
        return few_families(float(families.n_effective[j]))

    def _cut_at_bounds(
        self, low: np.ndarray, high: np.ndarray, bounds: Sequence[tuple[float, float]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut every column and level as `intervals.cut_at_bounds` does one interval."""
        is_hole = np.isnan(self.items)
        smallest = np.where(is_hole, np.inf, self.items).min(axis=0, initial=np.inf)
        largest = np.where(is_hole, -np.inf, self.items).max(axis=0, initial=-np.inf)
        low_bound, high_bound = np.reshape(bounds, (-1, 2)).T
        can_cut = (smallest >= low_bound) & (largest <= high_bound)
        low = np.where(can_cut & (low < low_bound), low_bound, low)
        return low, np.where(can_cut & (high > high_bound), high_bound, high)

    def _kinds(self, kind: str, bounds: Sequence[tuple[float, float]]) -> np.ndarray:
        """Return the (k,) kind of each column's interval; "none" where it has no interval."""
        if kind != "default":
            return np.where(self.n > 0, kind, "none").astype(object)
        unit_methods = {}
        kinds = []
        for j, column_bounds in enumerate(bounds):
            if self._why_no_interval(j):
                kinds.append("none")
            elif self.family_means is None and column_bounds == UNIT:
                kinds.append(self._kind_of_share(j))
            else:
                if column_bounds not in unit_methods:
                    unit_methods[column_bounds] = self.unit_means.methods(column_bounds)
                kinds.append(str(unit_methods[column_bounds][j]))
        return np.array(kinds, dtype=object)

    def _kind_of_share(self, j: int) -> str:
        """Choose the default kind of column j, whose items do not share families. Wilson's for rare
        and nearly certain shares, and for 0/1 items below 30. All others have Student's t from 30
        items on, and the studentised bootstrap below."""
        values = self.columns[self.is_defined[:, j], j]
        is_extreme = min(self.values[j], 1 - self.values[j]) < RARE
        if is_extreme and values.min() >= 0 and values.max() <= 1:
            return "wilson"
        if self.n[j] >= CLT_MIN_N:
            return "clt_cluster"
        return "wilson" if np.isin(values, (0, 1)).all() else "studentized"

    def _wilson(self, columns: np.ndarray, levels: Sequence[float]) -> np.ndarray:
        """Return (2, levels, columns) Wilson limits, with each column's sum as the number of hits.

        An item between 0 and 1 varies less than a 0/1 item, so the limits cover at least their
        level. Below `RARE` they stay within the t interval of a mean of exactly `RARE`, the kind
        that takes over there, so no bound falls when a flip is added. Above 1 - `RARE` the same
        holds from the other end.
        """
        sizes, values = self.n[columns], self.values[columns]
        by_level = []
        for level in levels:
            # Means of shares may lie outside [0, 1] by rounding, which `wilson` would refuse.
            by_level.append(
                [
                    wilson(min(max(value, 0.0), 1.0) * n, n, level)
                    for n, value in zip(sizes.tolist(), values.tolist(), strict=True)
                ]
            )
        limits = np.array(by_level).transpose(2, 0, 1)
        t = t_quantiles(0.5 + np.asarray(levels, dtype=float)[:, None] / 2, sizes - 1)
        half = t * np.sqrt(RARE * (1 - RARE) / (sizes - 1))
        low, high = limits
        if_rare = np.minimum(low, np.maximum(RARE - half, 0.0)), np.minimum(high, RARE + half)
        high_at_rare = np.minimum(1 - RARE + half, 1.0)
        if_frequent = np.maximum(low, 1 - RARE - half), np.maximum(high, high_at_rare)
        has_many_items = sizes >= CLT_MIN_N
        limits = np.where(has_many_items & (values > 1 - RARE), if_frequent, limits)
        return np.where(has_many_items & (values < RARE), if_rare, limits)

    def _estimate(
        self, intervals: Intervals, row: int, j: int, level: float, coverage: float | None
    ) -> Estimate:
        value, n = float(self.values[j]), int(self.n[j])
        if n == 0:
            return missing(level=level, note="No item defines it.")
        low, high = float(intervals.low[row, j]), float(intervals.high[row, j])
        method, note = str(intervals.methods[row, j]), str(intervals.notes[row, j])
        if method == "none":
            return without_interval(value, n, level, note or self._why_no_interval(j))
        seed, effective = None, None
        # A stand-in draws no resamples and knows no families.
        if not intervals.is_stand_in[row, j]:
            seed = self.seed if method in RESAMPLING else None
            if self.family_means is not None:
                effective = float(self.family_means.n_effective[j])
        return Estimate(
            value,
            low,
            high,
            level=level,
            method=method,
            n=n,
            seed=seed,
            note=note,
            coverage=coverage,
            effective=effective,
        )


def t_quantiles(shares: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Return quantiles of Student's t at `shares` (..., k) with `df` (k,); NaN where df < 1."""
    from scipy.special import stdtrit

    return np.where(df < 1, np.nan, stdtrit(np.maximum(df, 1), shares))


def joint_means(
    columns: np.ndarray,
    kind: str = "default",
    level: float = 0.95,
    seed: int = 0,
    n_boot: int = N_BOOT,
    families: np.ndarray | None = None,
) -> list[Estimate]:
    """Return the mean share of each column, with intervals from one joint item draw.

    For the same items in the same order the draws, and so the limits, are those of a decomposition.

    Parameters
    ----------
    columns : (items, k) values in [0, 1], NaN where an item does not define the column.
    kind : one of `KINDS`.
    families : (items,) family numbers; whole families are then drawn. None: single items are drawn.

    Returns
    -------
    One Estimate per column.

    Raises
    ------
    BadInput
        For an unknown kind.
    """
    joint = JointMeans(columns, seed, n_boot, families)
    return [column[0] for column in joint.estimates(kind, [level], [UNIT] * columns.shape[1])]


def column_quantiles(sample: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return linear quantiles (..., k) of each column of `sample` (B, k), NaN left out. `shares`
    (..., k) may differ by column. NaN for a column without values."""
    if not len(sample):
        return np.full(np.broadcast_shapes(np.shape(shares), sample.shape[1:]), np.nan)
    # NaN sorts to the end, so each column's values fill its first rows.
    ordered = np.sort(sample, axis=0)
    last = (~np.isnan(sample)).sum(axis=0) - 1  # row of the largest value
    position = np.clip(shares, 0, 1) * np.maximum(last, 0)
    low = np.floor(np.nan_to_num(position)).astype(int)
    high = np.minimum(low + 1, np.maximum(last, 0))
    columns = np.broadcast_to(np.arange(sample.shape[1]), low.shape)
    below, above = ordered[low, columns], ordered[high, columns]
    return np.where(last < 0, np.nan, below + (above - below) * (position - low))


def is_undetermined(skipped: np.ndarray) -> np.ndarray:
    """Return (k,) True where too many resamples, shares `skipped` (k,), have no spread.

    Such resamples belong at the far ends of the studentised distribution. If they are more than a
    tail holds, its quantile is lost: simulated coverage falls to .63-.88 at 10-26 items of which
    few flip, where BCa keeps .95.
    """
    # The tail of a 99% interval at every level: if the method changed with the level, the interval
    # of a lower level could be wider than that of a higher one.
    return skipped > 0.005


def no_spread_note(skipped: float) -> str:
    """Return the note of an interval for which a share `skipped` of resamples has no spread."""
    return (
        f"{100 * skipped:.0f}% of the resamples had no spread to studentise with, so BCa stands in."
    )


# Coverage of the intervals: the share of simulated sets whose interval held the truth.
# `python -m tests.lab.simulations.coverage` writes `measured_coverage.json` from planted worlds of
# 26 to 500 items. Short intervals are labelled with their measured coverage. Those that are too
# short are shown, but no claim rests on them.


SIGNED_QUANTITIES = ("A", "A_minus_G")
TABLE = Path(__file__).with_name("measured_coverage.json")


def measured_coverage(
    kind: str, n: int, *, signed: bool = False, rows: Sequence[dict] | None = None
) -> float | None:
    """Return the lowest simulated coverage of a 95% interval over `n` items.

    It is the minimum over the planted worlds of one size: the largest simulated size up to `n`, or
    the smallest of all. `kind` is one of `intervals.KINDS`; `signed` means a difference (A or
    A − G), not a share. None for a kind that was not simulated. `rows` replace the stored table.
    """
    kind_rows = [
        row
        for row in rows or _table_rows()
        if row["kind"] == kind and (row["quantity"] in SIGNED_QUANTITIES) == signed
    ]
    sizes = sorted({row["n"] for row in kind_rows})
    if not sizes:
        return None
    # Coverage improves with n: the next smaller size never promises too much.
    size = max((size for size in sizes if size <= n), default=sizes[0])
    return min(row["covered"] for row in kind_rows if row["n"] == size)


@cache
def _table_rows() -> list[dict]:
    return json.loads(TABLE.read_text(encoding="utf-8"))["rows"]
