"""Means of items that share families (one template, one source, one subject): the only clustered
variance of the product.

Families are of unequal size. The usual clustered error (Miller's, CR1) with G - 1 degrees of
freedom is then far too small: in simulation its 95% interval held the truth in .07-.95. Here the
variance is CR2 (Bell & McCaffrey 2002): each family's squared residual sum is divided by 1 - n_g/N,
where n_g of the N items are its own. The degrees of freedom are Satterthwaite's under a correlation
of 1 within families, the least favourable one, because nobody knows the true one. A mean in [0, 1]
has Wilson's limits on the number of independent items that would vary as much. A difference has
linear limits. Where few items differ, the sample may lack those that would reverse it, so one
unseen item is added at either end of the possible values (simulated:
`tests/lab/simulations/coverage.md`). An item that shares nothing is a family of its own. Screens
call families clusters; the code keeps the name of the column in the readouts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_FAMILIES, MIN_N, Estimate, missing, without_interval

UNIT = (0.0, 1.0)
# A difference whose sum rests on effectively fewer families gets an unseen item at either end.
FEW_FAMILIES = 8
Bounds = tuple[float, float] | None


def by_family(values: np.ndarray, families: np.ndarray | None) -> np.ndarray:
    """Return one row per family (families, k) from values (items, k) and each item's family number.

    A row is mean + (sum - mean * count) / mean count. The mean of the rows is then the mean over
    items, so callers can resample or permute whole families as rows. NaN items are left out of
    their column; a family without a value is NaN. `families` None returns `values` unchanged.
    """
    if families is None:
        return values
    sums, counts = _sums(values, families)
    total, n_defined = counts.sum(axis=0), (counts > 0).sum(axis=0)
    mean = np.divide(sums.sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)
    size = np.divide(total, n_defined, out=np.ones(total.shape), where=n_defined > 0)
    # Family totals about the mean, each over the mean family size: this keeps the mean over items,
    # which plain family means would not where sizes differ.
    return np.where(counts > 0, mean + (sums - mean * counts) / size, np.nan)


def family_numbers(families: ArrayLike) -> np.ndarray:
    """Number families 0, 1, 2, … from their names or numbers, one per item."""
    names = np.asarray(families)
    # Objects may mix types, which numpy can sort only as text.
    return np.unique(names.astype(str) if names.dtype == object else names, return_inverse=True)[1]


def _sums(
    values: np.ndarray, families: np.ndarray, n_families: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (families, k) sums and counts of the defined values. `n_families` None takes the
    largest number in `families`, plus 1."""
    is_defined = ~np.isnan(values)
    if n_families is None:
        n_families = int(families.max(initial=-1)) + 1
    sums, counts = np.zeros((2, n_families, values.shape[1]))
    np.add.at(sums, families, np.where(is_defined, values, 0.0))
    np.add.at(counts, families, is_defined)
    return sums, counts


@dataclass(frozen=True, eq=False)
class FamilyMeans:
    """Means `values` of k columns over the same items, with CR2 standard errors `se`.

    `sums` and `sizes` (number of items) are (families, k); the other arrays are (k,). `n` counts
    items, `n_families` families. `n_effective` = N²/Σn_g² is the number of equal families that
    weigh as much. A column without a value is NaN; `se` and `df` are NaN below two families.
    """

    sums: np.ndarray
    sizes: np.ndarray
    n: np.ndarray = field(init=False)
    n_families: np.ndarray = field(init=False)
    n_effective: np.ndarray = field(init=False)
    values: np.ndarray = field(init=False)
    se: np.ndarray = field(init=False)

    @classmethod
    def from_values(cls, values: np.ndarray, families: np.ndarray) -> FamilyMeans:
        """Make the means from values (items, k), NaN left out, and each item's family number."""
        return cls(*_sums(values, families))

    def __post_init__(self) -> None:
        n, squares = self.sizes.sum(axis=0), (self.sizes**2).sum(axis=0)
        values = np.divide(self.sums.sum(axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
        effective = np.divide(n**2, squares, out=np.zeros(n.shape), where=n > 0)
        for name, value in (
            ("n", n),
            ("n_families", (self.sizes > 0).sum(axis=0)),
            ("n_effective", effective),
            ("values", values),
        ):
            object.__setattr__(self, name, value)
        # CR2: a residual sum varies less than the sum itself, by 1 - n_g/N where items are
        # independent, because the family is part of the mean.
        squared = (self.weights * (self.sums - values * self.sizes) ** 2).sum(axis=0)
        variance = np.divide(squared, n**2, out=np.full(n.shape, np.nan), where=self.n_families > 1)
        object.__setattr__(self, "se", np.sqrt(variance))

    @cached_property
    def weights(self) -> np.ndarray:
        """CR2's correction 1 / (1 - n_g/N), (families, k); 0 for a family that holds all items."""
        n_outside = self.n - self.sizes
        return np.divide(self.n, n_outside, out=np.zeros(self.sizes.shape), where=n_outside > 0)

    @cached_property
    def residual_covariance(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Covariance of the weighted residual sums over N, from which `df` follows.

        A correlation of 1 within families is assumed. Returns (diagonal, U, C) with shapes
        (families, k), (k, families, 2) and (k, 2, 2); the covariance is diag(diagonal) + U C U'.
        """
        n = np.where(self.n > 0, self.n, 1.0)
        root, share, square = np.sqrt(self.weights) / n, self.sizes / n, self.sizes**2
        # Taking out the estimated mean makes the residual sums of different families correlated;
        # the low rank of that part keeps the cost linear in the number of families.
        core = np.zeros((self.n.size, 2, 2))
        core[:, 0, 0], core[:, 0, 1], core[:, 1, 0] = square.sum(axis=0), -1.0, -1.0
        return root**2 * square, np.stack([(root * share).T, (root * square).T], axis=-1), core

    @cached_property
    def df(self) -> np.ndarray:
        """Satterthwaite's degrees of freedom (k,), tr(A)²/tr(A²) of `residual_covariance`."""
        return np.where(self.n_families > 1, satterthwaite(*self.residual_covariance), np.nan)

    @cached_property
    def is_sum_of_few(self) -> np.ndarray:
        """(k,) True where effectively fewer than `FEW_FAMILIES` families make up the sum."""
        squares, fourth = (self.sums**2).sum(axis=0), (self.sums**4).sum(axis=0)
        return squares**2 < FEW_FAMILIES * np.where(fourth > 0, fourth, 1.0)

    def methods(self, bounds: Bounds = UNIT) -> np.ndarray:
        """Return the (k,) names of the methods that `limits` uses."""
        unguarded = "wilson_t" if bounds == UNIT else "clt_cluster"
        names = np.where(is_signed(bounds) & self.is_sum_of_few, "guarded t", unguarded)
        return np.where(self.n_families < self.n, "families", names).astype(object)

    def limits(self, levels: ArrayLike, bounds: Bounds = UNIT) -> np.ndarray:
        """Return (2, levels, k) limits: Wilson's for values in [0, 1], else linear ones. They are
        cut at `bounds`, the lowest and highest possible value; None cuts nowhere."""
        t = _t_quantiles(0.5 + np.asarray(levels, dtype=float)[:, None] / 2, self.df)
        if bounds == UNIT:
            # The lower limit of a share is 1 less the upper limit of its complement.
            largest = _largest_upper(
                self.sums, self.sizes, self.weights, self.n, self.n_effective, t
            )
            smallest = 1 - _largest_upper(
                self.sizes - self.sums, self.sizes, self.weights, self.n, self.n_effective, t
            )
            return np.array([np.minimum(smallest, self.values), np.maximum(largest, self.values)])
        limits = np.array([self.values - t * self.se, self.values + t * self.se])
        if bounds is None:
            return limits
        if is_signed(bounds):
            guarded_limits = []
            for end in bounds:
                mean, se = self._with_unseen(end)
                guarded_limits.append(mean + math.copysign(1, end) * t * se)
            limits = np.where(self.is_sum_of_few, guarded_limits, limits)
        return np.clip(limits, *bounds)

    def first_column(self, level: float, bounds: Bounds = UNIT) -> ClusteredMean:
        """Return the mean of the first column with its interval."""
        low, high = self.limits([level], bounds)[:, 0, 0].tolist()
        return ClusteredMean(
            float(self.values[0]),
            float(self.se[0]),
            df=float(self.df[0]),
            low=low,
            high=high,
            level=level,
            n=int(self.n[0]),
            n_families=int(self.n_families[0]),
            n_effective=float(self.n_effective[0]),
            method=str(self.methods(bounds)[0]),
        )

    def _with_unseen(self, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Return (k,) means and standard errors with an unseen item at the bound `end`. The item's
        weight 1/|end| moves the sum by one."""
        weight = 1 / abs(end)
        n = np.maximum(self.n, 1.0) + weight
        mean = (self.sums.sum(axis=0) + math.copysign(1, end)) / n
        squares = ((self.sums - mean * self.sizes) ** 2 / (1 - self.sizes / n)).sum(axis=0)
        return mean, np.sqrt(squares + weight * (end - mean) ** 2 / (1 - 1 / n)) / n


def is_signed(bounds: Bounds) -> bool:
    """Return True if a value can be on either side of 0, as a difference can."""
    return bounds is not None and bounds[0] < 0 < bounds[1]


def satterthwaite(diagonal: np.ndarray, factors: np.ndarray, core: np.ndarray) -> np.ndarray:
    """Return (k,) tr(A)²/tr(A²) of A = diag(diagonal) + U C U', without building A. `diagonal` is
    (families, k), `factors` U is (k, families, r) and `core` C is (k, r, r)."""
    inner = core @ (factors.transpose(0, 2, 1) @ factors)
    low_rank_diagonal = ((factors @ core) * factors).sum(axis=2).T
    trace = diagonal.sum(axis=0) + np.trace(inner, axis1=1, axis2=2)
    square = (diagonal**2 + 2 * diagonal * low_rank_diagonal).sum(axis=0)
    square += np.trace(inner @ inner, axis1=1, axis2=2)
    return np.divide(trace**2, square, out=np.full(trace.shape, np.nan), where=square > 0)


def _largest_upper(
    sums: np.ndarray,
    sizes: np.ndarray,
    weights: np.ndarray,
    n: np.ndarray,
    n_effective: np.ndarray,
    t: np.ndarray,
) -> np.ndarray:
    """Return (levels, k) upper Wilson limits, the largest over the rows of `partial_shares`.
    `t` are Student's quantiles (levels, k)."""
    shares, n_items = partial_shares(sums, sizes, weights, n, n_effective)
    return np.array([np.max(wilson_upper(shares, n_items, quantiles), axis=0) for quantiles in t])


def partial_shares(
    sums: np.ndarray, sizes: np.ndarray, weights: np.ndarray, n: np.ndarray, n_effective: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return shares m and their effective items min(N, m (1 - m)/V), (families + 1, k) each.

    Row j counts the events of the j fullest families only. A variance estimated from few events is
    small by chance, so one event more could lower the limit. Callers therefore take the largest
    limit over all rows. Where all values are 0, or all are 1, the effective items are N²/Σn_g².
    """
    # Equal sums are ordered by size, so no limit depends on the order of the rows.
    order = np.lexsort((-sizes, -sums.round(12)), axis=0)
    s, size, weight = (np.take_along_axis(x, order, axis=0) for x in (sums, sizes, weights))
    total = np.where(n > 0, n, 1.0)
    no_family = np.zeros((1, n.size))
    mean, squares, products = (
        np.vstack([no_family, np.cumsum(terms, axis=0)])
        for terms in (s / total, weight * s**2, weight * s * size)
    )
    variance = (squares - 2 * mean * products + mean**2 * (weight * size**2).sum(axis=0)) / total**2
    binomial = mean * (1 - mean)
    # A variance of 0 gives infinitely many items; no more than N can vary.
    n_items = np.minimum(
        np.divide(binomial, variance, out=np.full(binomial.shape, np.inf), where=variance > 1e-15),
        n,
    )
    # Where all are 0 or all are 1 no variance can be estimated, so the sizes alone decide.
    n_items = np.where(binomial <= 1e-12, n_effective, n_items)
    return mean, np.where(n_items > 0, n_items, np.nan)


def wilson_upper(mean: np.ndarray, n: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return upper Wilson limits of the shares `mean` of `n` items, with quantile `t`."""
    z = t**2 / n
    return np.minimum(
        (mean + z / 2 + np.sqrt(np.maximum(mean * (1 - mean), 0.0) * z + z**2 / 4)) / (1 + z), 1.0
    )


def _t_quantiles(shares: np.ndarray, df: np.ndarray) -> np.ndarray:
    from scipy.special import stdtrit

    return np.where(df > 0, stdtrit(np.where(df > 0, df, 1.0), shares), np.nan)


@dataclass(frozen=True)
class ClusteredMean:
    """Mean of `n` items with `se`, `df` and the interval [`low`, `high`] at `level`. The
    `n_families` families weigh as much as `n_effective` equal ones. A difference of two sets has
    the smaller of both numbers. NaN where undefined."""

    value: float
    se: float
    df: float
    low: float
    high: float
    level: float
    n: int
    n_families: int
    n_effective: float
    method: str = "families"

    def p_above(self, null: float = 0.0) -> float:
        """Return the one-sided p of a true value of `null` or less, by the linear t."""
        from scipy.special import stdtr

        if not self.se > 0:
            return math.nan if math.isnan(self.se) else float(self.value <= null)
        return float(stdtr(self.df, -(self.value - null) / self.se))

    @property
    def p(self) -> float:
        """Two-sided p of a true value of 0."""
        above = self.p_above()
        if self.se > 0:
            return min(1.0, 2 * min(above, 1 - above))
        # Without spread the mean is certain: p is 1 for a mean of 0, and 0 for any other.
        return math.nan if math.isnan(self.se) else float(not self.value)

    def estimate(self) -> Estimate:
        """Return the Estimate that pages show. It has no interval below 10 items or 3 effective
        families. A claim needs 6 effective families (`Estimate.is_too_short`)."""
        if self.n == 0:
            return missing(level=self.level, note="No value is defined.")
        if self.n < MIN_N:
            return without_interval(self.value, self.n, self.level)
        if self.n_effective < MIN_FAMILIES or math.isnan(self.low):
            return without_interval(
                self.value, self.n_families, self.level, few_families(self.n_effective)
            )
        if not self.low < self.high:
            return without_interval(
                self.value, self.n_families, self.level, "No interval: all values are equal."
            )
        effective = self.n_effective if self.n_families < self.n else None
        return Estimate(
            self.value,
            self.low,
            self.high,
            level=self.level,
            method=self.method,
            n=self.n_families,
            seed=None,
            effective=effective,
        )


def few_families(n_effective: float) -> str:
    """Return the note that says why so few families have no interval."""
    return (
        f"No interval: the items come in families that weigh as much as {n_effective:.1f} equal "
        f"ones; at least {MIN_FAMILIES} are needed."
    )


def clustered_mean(
    values: ArrayLike, families: ArrayLike, *, level: float = 0.95, bounds: Bounds = UNIT
) -> ClusteredMean:
    """Return the mean of items that share families, with CR2 errors.

    Parameters
    ----------
    values : (items,) numbers, NaN left out.
    families : (items,) names or numbers of families.
    bounds : lowest and highest possible value. (0, 1) gives Wilson's limits; other bounds give
        linear limits, cut there. None cuts nowhere.

    Raises
    ------
    BadInput
        For unequal lengths.

    References
    ----------
    Bell & McCaffrey (2002), *Survey Methodology* 28, for CR2; Satterthwaite (1946) for the degrees
    of freedom.
    """
    x, names = np.asarray(values, dtype=float), np.asarray(families)
    if names.size != x.size:
        raise BadInput(
            f"{x.size} values came with {names.size} names of families; give one name per value."
        )
    is_defined = ~np.isnan(x)
    means = FamilyMeans.from_values(x[is_defined, None], family_numbers(names[is_defined]))
    return means.first_column(level, _bounds_of(x, bounds))


def _bounds_of(values: ArrayLike, bounds: Bounds) -> Bounds:
    """Return `bounds`, or None if a value lies outside: the bounds are then wrong."""
    x = np.asarray(values, dtype=float)
    if bounds is None or (x < bounds[0] - 1e-9).any() or (x > bounds[1] + 1e-9).any():
        return None
    return bounds


def clustered_difference(
    first: ArrayLike,
    first_families: ArrayLike,
    second: ArrayLike,
    second_families: ArrayLike,
    *,
    level: float = 0.95,
    bounds: Bounds = UNIT,
) -> ClusteredMean:
    """Return the mean of `first` less the mean of `second`, two sets of different items.

    A family, known by its name, may have items in both sets. Shares without such a family get
    Wilson's limits of each set, combined by squares; all other values get linear limits.

    Parameters
    ----------
    first, second : (items,) numbers, NaN left out.
    first_families, second_families : (items,) names of families.
    bounds : lowest and highest value of an item, as for `clustered_mean`.

    References
    ----------
    Zou & Donner (2008), *Statistics in Medicine* 27, for the squares (MOVER).
    """
    from flipcore.stats.base.proportions import mover

    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    names = [np.asarray(families).astype(str) for families in (first_families, second_families)]
    numbers = family_numbers(np.concatenate(names))
    n_families = int(numbers.max(initial=-1)) + 1
    x_means = FamilyMeans(*_sums(x[:, None], numbers[: x.size], n_families))
    y_means = FamilyMeans(*_sums(y[:, None], numbers[x.size :], n_families))
    value = float(x_means.values[0] - y_means.values[0])
    residuals = []
    for means in (x_means, y_means):
        residual = means.sums - means.values * means.sizes
        residuals.append(np.sqrt(means.weights) * residual / np.maximum(means.n, 1))
    # Subtract before squaring: a family with items in both sets moves both means together.
    if min(x_means.n_families[0], y_means.n_families[0]) > 1:
        se = float(np.linalg.norm(residuals[0] - residuals[1]))
    else:
        se = math.nan
    x_diagonal, x_factors, x_core = x_means.residual_covariance
    y_diagonal, y_factors, y_core = y_means.residual_covariance
    core = np.zeros((1, 4, 4))
    core[:, :2, :2], core[:, 2:, 2:] = x_core, y_core
    factors = np.concatenate([x_factors, y_factors], axis=2)
    df = float(satterthwaite(x_diagonal + y_diagonal, factors, core)[0])
    has_shared_family = bool(((x_means.sizes > 0) & (y_means.sizes > 0)).any())
    set_bounds = [_bounds_of(v, bounds) for v in (x, y)]
    # MOVER needs independent sets, which a family in both is not.
    if set_bounds == [UNIT, UNIT] and not has_shared_family:
        x_limits, y_limits = (
            means.limits([level], UNIT)[:, 0, 0].tolist() for means in (x_means, y_means)
        )
        low, high = mover(float(x_means.values[0]), x_limits, float(y_means.values[0]), y_limits)
    else:
        half = float(_t_quantiles(np.array([0.5 + level / 2]), np.array([df]))[0]) * se
        low, high = value - half, value + half
        if bounds is not None and None not in set_bounds:
            width = bounds[1] - bounds[0]
            low, high = max(low, -width), min(high, width)
    return ClusteredMean(
        value,
        se,
        df=df,
        low=low,
        high=high,
        level=level,
        n=int(x_means.n[0] + y_means.n[0]),
        n_families=min(int(x_means.n_families[0]), int(y_means.n_families[0])),
        n_effective=min(float(x_means.n_effective[0]), float(y_means.n_effective[0])),
    )
