"""Means of many columns over the same items, with intervals from one joint item draw a replicate.

Cells of a study (axis, extractor, quantity) are columns, items are rows, and an item that a cell does not have is NaN. The
draws are made when a kind of interval first needs them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.stats.base.bootstrap import bca_percentiles
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, few_items, missing, without_interval
from flipcore.stats.base.families import FamilyMeans, by_family, few_families
from flipcore.stats.base.intervals import CLT_MIN_N, UNIT, default_kind, fallback, no_spread_note, undetermined, wilson
from flipcore.stats.base.measured_coverage import measured_coverage
from flipcore.stats.base.resample import N_BOOT, SLACK, replicate_means

KINDS = ("default", "clt_cluster", "percentile", "bca", "studentized")
RESAMPLING = ("percentile", "bca", "studentized")
RARE = 0.10  # below it the t and bootstrap intervals of a share are too short


@dataclass(frozen=True)
class JointMeans:
    """`columns` is (items, k); `families` (items,) numbers what items share, None where each stands for itself. Then families are
    drawn, `n` counts them, and the default is the interval of `families`. Undefined where a column has no item; a standard error
    needs two."""

    columns: np.ndarray
    seed: int = 0
    n_boot: int = N_BOOT
    families: np.ndarray | None = None
    there: np.ndarray = field(init=False)
    n: np.ndarray = field(init=False)
    values: np.ndarray = field(init=False)
    se: np.ndarray = field(init=False)
    items: np.ndarray = field(init=False)
    of_families: FamilyMeans | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", self.columns)
        if self.families is not None:
            object.__setattr__(self, "of_families", FamilyMeans.of(self.columns, self.families))
            object.__setattr__(self, "columns", by_family(self.columns, self.families))
        there = ~np.isnan(self.columns)
        n = there.sum(axis=0)
        total = np.where(there, self.columns, 0.0).sum(axis=0)
        values = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
        squares = (self._centred(there, values) ** 2).sum(axis=0)
        se = np.sqrt(np.divide(squares, n * (n - 1.0), out=np.full(n.shape, np.nan), where=n > 1))
        for name, value in (("there", there), ("n", n), ("values", values), ("se", se)):
            object.__setattr__(self, name, value)

    def _centred(self, there: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.where(there, self.columns - np.where(np.isnan(values), 0.0, values), 0.0)

    @cached_property
    def replicates(self) -> np.ndarray:
        """(n_boot, k) means over the same drawn items."""
        return replicate_means(self.columns, self.n_boot, generator(self.seed))

    @cached_property
    def studentized(self) -> np.ndarray:
        """(n_boot, k) of (mean* - mean)/SE*; NaN where a replicate has no spread."""
        x = self._centred(self.there, self.values)
        k = x.shape[1]
        holes = np.where(self.there, 0.0, np.nan)
        moments = replicate_means(np.hstack([x + holes, x**2 + holes, self.there]), self.n_boot, generator(self.seed))
        mean, square, n = moments[:, :k], moments[:, k : 2 * k], moments[:, 2 * k :] * len(x)
        variance = square - mean**2
        spread = (n > 1) & (variance > SLACK * np.maximum((x**2).max(axis=0, initial=0.0), SLACK))
        return np.divide(
            mean,
            np.sqrt(variance / np.maximum(n - 1, 1), where=spread, out=np.ones_like(mean)),
            out=np.full_like(mean, np.nan),
            where=spread,
        )

    @cached_property
    def acceleration(self) -> np.ndarray:
        """(k,) jackknife acceleration of each mean."""
        x = self._centred(self.there, self.values)
        spread = (x**2).sum(axis=0)
        return np.divide((x**3).sum(axis=0), 6 * spread**1.5, out=np.zeros(x.shape[1]), where=spread > SLACK**2)

    def limits(self, kind: str, at: Sequence[float]) -> np.ndarray:
        """(2, levels, k) lower and upper limits of one kind other than "default"; NaN where undefined."""
        levels = np.asarray(at, dtype=float)
        sides = np.repeat(np.array([0.5 - levels / 2, 0.5 + levels / 2])[:, :, None], self.n.size, axis=2)
        if kind == "clt_cluster":
            return self.values + t_quantiles(sides, self.n - 1) * self.se
        if kind == "percentile":
            return column_quantiles(self.replicates, sides)
        if kind == "studentized":
            return self.values - column_quantiles(self.studentized, sides[::-1]) * self.se
        if kind == "bca":
            shares = [
                bca_percentiles(reps[~np.isnan(reps)], value, accel, levels)
                for reps, value, accel in zip(self.replicates.T, self.values, self.acceleration, strict=True)
            ]
            return column_quantiles(self.replicates, np.array(shares).transpose(1, 2, 0))
        raise BadInput(f"There is no joint interval {kind!r}; choose one of {', '.join(KINDS)}.")

    def estimates(
        self, kind: str, levels: Sequence[float], bounds: Sequence[tuple[float, float]], contrasts: Sequence[int] = ()
    ) -> list[list[Estimate]]:
        """For each column one Estimate a level. An interval without width gives way to a fallback of `intervals`.

        `bounds[j]` is what an item's value in column j can be. Under "default" the columns in `contrasts` (A - G) take the
        paired t below 30 items too; below 10 there is no interval.
        """
        if kind not in KINDS:
            raise BadInput(f"There is no joint interval {kind!r}; choose one of {', '.join(KINDS)}.")
        kinds = [kind if kind != "default" else self._default_kind(j, bounds[j], j in contrasts) for j in range(self.n.size)]
        replaceable = kind == "default" and "studentized" in kinds
        skipped = np.isnan(self.studentized).mean(axis=0) if replaceable else np.zeros(self.n.size)
        limits = {k: self.limits(k, levels) for k in {*kinds, *(["bca"] if replaceable else [])} & set(KINDS)}
        by_bounds = {b: self._family_limits(levels, b) for b in set(bounds)} if "families" in kinds else {}
        covers = [
            None if self.of_families is not None else measured_coverage(kind, int(n), contrast=j in contrasts)
            for j, n in enumerate(self.n)
        ]
        table: list[list[Estimate]] = []
        for j, of_column in enumerate(kinds):
            table.append([])
            for at, level in enumerate(levels):
                lost = of_column == "studentized" and undetermined(skipped[j])
                interval_kind = "bca" if lost else of_column
                own = by_bounds[bounds[j]] if interval_kind == "families" else limits.get(interval_kind)
                pair = None if own is None else own[:, at, j]
                estimate = self._estimate(j, interval_kind, level, pair, bounds[j], covers[j])
                table[-1].append(estimate.noted(no_spread_note(skipped[j])) if lost and self.se[j] > 0 else estimate)
        return table

    def _family_limits(self, levels: Sequence[float], bounds: tuple[float, float]) -> np.ndarray:
        return np.empty(0) if self.of_families is None else self.of_families.limits(levels, bounds)

    def _few(self, j: int) -> str:
        """Why families give a column no interval; "" where they do, or where items stand for themselves."""
        families = self.of_families
        if families is None or (families.n[j] >= MIN_N and families.n_effective[j] >= MIN_FAMILIES):
            return ""
        return few_items(int(families.n[j])) if families.n[j] < MIN_N else few_families(float(families.n_effective[j]))

    @cached_property
    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """(k,) smallest and largest value of an item in each column; infinities of an empty one."""
        smallest, largest = (np.where(np.isnan(self.items), hole, self.items) for hole in (np.inf, -np.inf))
        return smallest.min(axis=0, initial=np.inf), largest.max(axis=0, initial=-np.inf)

    def _within(self, low: float, high: float, j: int, bounds: tuple[float, float]) -> tuple[float, float]:
        """`intervals.within` without looking through the column again at every level."""
        smallest, largest = self.extremes
        if smallest[j] < bounds[0] or largest[j] > bounds[1]:
            return low, high
        return max(low, bounds[0]), min(high, bounds[1])

    def column(self, j: int) -> np.ndarray:
        """The defined values of one column."""
        if j not in self._of_column:
            self._of_column[j] = self.columns[self.there[:, j], j]
        return self._of_column[j]

    @cached_property
    def _of_column(self) -> dict[int, np.ndarray]:
        return {}

    def _default_kind(self, j: int, bounds: tuple[float, float], contrast: bool) -> str:
        if self.of_families is not None:
            return "none" if self._few(j) else "families"
        if self.n[j] < MIN_N:
            return "none"
        if bounds == UNIT and self.values[j] < RARE:
            return "wilson"
        return "clt_cluster" if contrast else default_kind(self.column(j), np.ones(self.n[j]), bounds)

    def _wilson(self, j: int, level: float) -> tuple[float, float]:
        """Wilson's limits of the sum among n. A share varies less than 0 or 1 would, so of shares they hold at least what they
        promise. Below `RARE` they stay within the t interval of a mean of `RARE`, which follows: a bound never falls when a
        flip is added."""
        n, value = int(self.n[j]), float(self.values[j])
        low, high = wilson(min(max(value, 0.0), 1.0) * n, n, level)
        if n < CLT_MIN_N or not value < RARE:
            return low, high
        half = float(t_quantiles(np.array([0.5 + level / 2]), np.array([n - 1]))[0]) * (RARE * (1 - RARE) / (n - 1)) ** 0.5
        return min(low, max(RARE - half, 0.0)), min(high, RARE + half)

    def _estimate(
        self, j: int, kind: str, level: float, limits: np.ndarray | None, bounds: tuple[float, float], coverage: float | None
    ) -> Estimate:
        value, n = float(self.values[j]), int(self.n[j])
        if n == 0:
            return missing(level=level, note="No item defines it.")
        effective = None if self.of_families is None else float(self.of_families.n_effective[j])
        if kind == "none":
            return without_interval(value, n, level, self._few(j))
        low, high = self._wilson(j, level) if limits is None else limits
        if not high - low > SLACK:
            instead = fallback(self.column(j), self.column(j), np.ones(n), level, bounds, kind)
            return replace(instead, coverage=coverage) if instead.has_interval else instead
        low, high = self._within(low, high, j, bounds)
        seed = self.seed if kind in RESAMPLING else None
        return Estimate(value, float(low), float(high), level, kind, n, seed, coverage=coverage, effective=effective)


def t_quantiles(shares: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Student's t at `shares` (..., k) with `df` (k,); NaN below one degree of freedom."""
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
    """The mean share of each column of (items, k), NaN where undefined: with the same items in the same order the same limits
    as a decomposition's, because the draws are."""
    joint = JointMeans(columns, seed, n_boot, families)
    return [column[0] for column in joint.estimates(kind, [level], [UNIT] * columns.shape[1])]


def column_quantiles(sample: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Linear percentiles of each column of (B, k), NaN left out; `shares` (..., k) differ by column. NaN without values."""
    ordered = np.sort(sample, axis=0)
    last = (~np.isnan(sample)).sum(axis=0) - 1
    at = np.clip(shares, 0, 1) * np.maximum(last, 0)
    low = np.floor(np.nan_to_num(at)).astype(int)
    columns = np.broadcast_to(np.arange(sample.shape[1]), low.shape)
    below, above = ordered[low, columns], ordered[np.minimum(low + 1, np.maximum(last, 0)), columns]
    return np.where(last < 0, np.nan, below + (above - below) * (at - low))
