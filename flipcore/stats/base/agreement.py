"""Agreement of raters beyond chance: Cohen's, Fleiss' kappa, Krippendorff's alpha, with intervals
over items.

With one category in use, chance alone always agrees and the coefficient is 0/0. It is then NaN,
never 1 or 0; the raw agreement is reported too. A missing rating is None (or NaN).
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from statistics import NormalDist

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import MIN_N, Estimate, missing, percent_text, without_interval
from flipcore.stats.base.intervals import wilson
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.base.resample import SLACK

WEIGHTS = (None, "linear", "quadratic")
SUSPICIOUS_N = 30  # on this many items two people differ at least once
PREVALENT = 0.9  # share of the most frequent rating from which kappa needs a warning


def is_missing(rating: Hashable | None) -> bool:
    """Return True for None and NaN."""
    return rating is None or (isinstance(rating, float) and math.isnan(rating))


def _paired(first: Sequence, second: Sequence) -> list[tuple]:
    """Return the pairs of ratings of the items that both raters rated. Raises BadInput for unequal
    lengths."""
    if len(first) != len(second):
        raise BadInput(
            f"Two raters must rate the same items: got {len(first)} and {len(second)} ratings."
        )
    pairs = zip(first, second, strict=True)
    return [(x, y) for x, y in pairs if not (is_missing(x) or is_missing(y))]


def raw_agreement(first: Sequence, second: Sequence) -> float:
    """Return the share of equal ratings among the items that both rated; NaN for no item."""
    pairs = _paired(first, second)
    return sum(x == y for x, y in pairs) / len(pairs) if pairs else math.nan


def disagreement_weights(n: int, weights: str | None) -> np.ndarray:
    """Return (n, n) weights: 0/1 (None), |i - j| (`linear`), (i - j)^2 (`quadratic`)."""
    if weights not in WEIGHTS:
        raise BadInput(f"Weights {weights!r} are not offered: choose None, linear or quadratic.")
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    if weights is None:
        return (distance > 0).astype(float)
    return distance if weights == "linear" else distance**2


def _kappa(table: np.ndarray, weights: np.ndarray) -> float:
    """Return kappa of a square table of counts with `disagreement_weights`; NaN for 0/0."""
    # Counts of independent raters with the same marginal shares.
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1)
    chance = float((weights * expected).sum())
    return 1 - float((weights * table).sum()) / chance if chance > 0 else math.nan


def _codes(pairs: list[tuple]) -> tuple[np.ndarray, int]:
    """Return the category numbers (pairs, 2), and the number of categories."""
    categories = _categories(pairs)
    number_of = {category: number for number, category in enumerate(categories)}
    codes = np.array([(number_of[x], number_of[y]) for x, y in pairs], dtype=int).reshape(-1, 2)
    return codes, len(categories)


def _all_ratings(units: Sequence[Sequence]) -> list:
    return list(chain.from_iterable(units))


def _categories(units: Sequence[Sequence]) -> list:
    """Return the distinct ratings in order; mixed numbers and texts sort by type first."""
    return sorted(set(_all_ratings(units)), key=lambda rating: (str(type(rating)), rating))


def _table(codes: np.ndarray, n: int) -> np.ndarray:
    """Return the (n, n) counts of pairs of category numbers."""
    return np.bincount(codes[:, 0] * n + codes[:, 1], minlength=n * n).reshape(n, n).astype(float)


def cohen_kappa(a: Sequence, b: Sequence, weights: str | None = None) -> float:
    """Return Cohen's kappa of the ratings `a` and `b`, as scikit-learn does; categories are sorted.

    Items that only one rater rated are dropped. NaN without an item and with one category in all.
    `weights` is one of `WEIGHTS`.
    """
    codes, n_categories = _codes(_paired(a, b))
    if not n_categories:
        return math.nan
    table = _table(codes, n_categories)
    return _kappa(table, disagreement_weights(n_categories, weights))


def fleiss_kappa(table: Sequence[Sequence[int]] | np.ndarray) -> float:
    """Return Fleiss' kappa; `table[item][category]` counts raters.

    NaN without items, below 2 raters per item and with one category in use. Raises BadInput if
    items have different numbers of raters.
    """
    if len({len(row) for row in table}) > 1:
        raise BadInput(
            "Every row of the table counts the same categories: these rows differ in length."
        )
    counts = np.asarray(table, dtype=float)
    if counts.size == 0:
        return math.nan
    n_raters = counts.sum(axis=1)
    if len(set(n_raters.tolist())) > 1:
        raise BadInput(
            "Fleiss' kappa needs the same number of raters for every item and got "
            f"{int(n_raters.min())} to {int(n_raters.max())}: use Krippendorff's alpha, which "
            "allows gaps."
        )
    n = n_raters[0]
    if n < 2:
        return math.nan
    # An item has n (n - 1) ordered pairs of raters; no rater is paired with themselves.
    observed = float(((counts**2).sum(axis=1) - n).mean() / (n * (n - 1)))
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (observed - chance) / (1 - chance) if chance < 1 else math.nan


def _units(ratings: Sequence[Sequence]) -> list[list]:
    """Return the present ratings of each unit, from `ratings[rater][unit]`."""
    if len({len(rater) for rater in ratings}) > 1:
        raise BadInput(
            "Every rater has a place for every unit, None where missing: got "
            f"{sorted(map(len, ratings))} ratings."
        )
    units = []
    for unit in zip(*ratings, strict=True):
        units.append([rating for rating in unit if not is_missing(rating)])
    return units


def _unit_counts(units: list[list]) -> tuple[np.ndarray, list]:
    """Return the (units, categories) numbers of ratings, and the categories in order."""
    categories = _categories(units)
    number_of = {category: number for number, category in enumerate(categories)}
    counts = np.zeros((len(units), len(categories)))
    for row, unit in enumerate(units):
        for rating in unit:
            counts[row, number_of[rating]] += 1
    return counts, categories


def _alpha_of_counts(counts: np.ndarray, distance: np.ndarray) -> float:
    """Return 1 - D_observed / D_expected from counts (unit, category); NaN if nothing is expected.
    An ordered pair of ratings weighs 1 / (ratings of the unit - 1)."""
    n_ratings = counts.sum(axis=1)
    within = np.einsum("uc,cd,ud->u", counts, distance, counts) / (n_ratings - 1)
    totals = counts.sum(axis=0)
    # The total minus 1, because a rating is not paired with itself.
    expected = float(totals @ distance @ totals) / (totals.sum() - 1)
    return float(1 - within.sum() / expected) if expected > 0 else math.nan


@dataclass(frozen=True)
class Agreement:
    """Coefficient `estimate` with its interval over items, the raw agreement, and warnings."""

    estimate: Estimate
    raw: float
    n_items: int
    warnings: tuple[str, ...]

    def sentence(self) -> str:
        """Say the agreement in words, or why there is no coefficient."""
        if not self.n_items:
            return "No item has been rated by two people yet."
        if math.isnan(self.estimate.value):
            return (
                f"The raters agree on {percent_text(self.raw)} of {self.n_items} items, but kappa "
                "is undefined: chance alone would agree always."
            )
        return f"Agreement beyond chance is {self.estimate.text()} on {self.n_items} items."


def prevalence_warning(ratings: Sequence) -> str:
    """Return a warning where one category has 90% or more of `ratings`, else "". Kappa is then low
    at any quality (Feinstein 1990)."""
    present_ratings = [rating for rating in ratings if not is_missing(rating)]
    if not present_ratings:
        return ""
    most_frequent = max(set(present_ratings), key=present_ratings.count)
    share = present_ratings.count(most_frequent) / len(present_ratings)
    # With a single answer kappa is undefined, and `Agreement.sentence` says so.
    if not PREVALENT <= share < 1:
        return ""
    return (
        f"{percent_text(share)} of the ratings are {most_frequent!r}: kappa reads low when one "
        "answer prevails; look at the raw agreement too."
    )


def identical_raters_warning(first: Sequence, second: Sequence) -> str:
    """Warn where two raters never differ on many items: one file may be loaded twice."""
    pairs = _paired(first, second)
    never_differ = all(x == y for x, y in pairs)
    # Two raters who always choose one category may well agree.
    has_categories = len({x for x, _ in pairs}) > 1
    if len(pairs) >= SUSPICIOUS_N and never_differ and has_categories:
        return (
            f"The two raters agree on all {len(pairs)} items: check that the same ratings were "
            "not loaded twice."
        )
    return ""


def log_limits(table: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return limits of the unweighted kappa of a square table of counts.

    The delta method is used on log(1 - kappa), with the variance of Fleiss, Cohen & Everitt (1969)
    from the influence of each item. Simulated lower limits lie above a true kappa of .60 in .004 to
    .022 of tables (100 to 1,000 items, 2 and 4 answers, prevalence .5 to .9; nominal .025); those
    of the percentile bootstrap do in up to .039. NaN where kappa is 1 or has no variance.
    """
    shares = table / table.sum()
    row_shares, column_shares = shares.sum(axis=1), shares.sum(axis=0)
    agreed, chance = float(np.trace(shares)), float(row_shares @ column_shares)
    # log(1 - kappa) is undefined for a kappa of 1, and kappa itself for a single category.
    if chance >= 1 or agreed >= 1:
        return math.nan, math.nan
    influence = np.eye(len(table)) / (1 - chance)
    marginals = column_shares[:, None] + row_shares[None, :]
    influence = influence - (1 - agreed) / (1 - chance) ** 2 * marginals
    variance = float((shares * influence**2).sum()) - float((shares * influence).sum()) ** 2
    if variance <= SLACK:
        return math.nan, math.nan
    complement = (1 - agreed) / (1 - chance)  # 1 - kappa
    error = math.sqrt(variance / float(table.sum()))
    step = NormalDist().inv_cdf((1 + level) / 2) * error / complement
    return max(-1.0, 1 - complement * math.exp(step)), 1 - complement * math.exp(-step)


def cohen_log_agreement(first: Sequence, second: Sequence) -> Agreement:
    """Return Cohen's kappa with the limits of `log_limits`, for gates; draws no random numbers."""
    pairs = _paired(first, second)
    codes, n_categories = _codes(pairs)
    value, raw = cohen_kappa(first, second), raw_agreement(first, second)
    warnings = prevalence_warning(_all_ratings(pairs)), identical_raters_warning(first, second)
    estimate = _without_limits(value, len(pairs))
    if estimate is None:
        low, high = log_limits(_table(codes, n_categories))
        if math.isnan(low):
            estimate = _from_raw(value, raw, pairs)
        else:
            method = "delta, log(1 - kappa)"
            estimate = Estimate(
                value, low, high, level=0.95, method=method, n=len(pairs), seed=None
            )
    return Agreement(estimate, raw, len(pairs), tuple(filter(None, warnings)))


def cohen_agreement(first: Sequence, second: Sequence) -> Agreement:
    """Return Cohen's kappa with the limits of `_jackknife_estimate`."""
    pairs = _paired(first, second)
    value, raw = cohen_kappa(first, second), raw_agreement(first, second)
    codes, n_categories = _codes(pairs)
    weights = disagreement_weights(n_categories, None)
    warnings = prevalence_warning(_all_ratings(pairs)), identical_raters_warning(first, second)

    def coefficient(resampled_codes: np.ndarray) -> float:
        return _kappa(_table(resampled_codes, n_categories), weights)

    estimate = _jackknife_estimate(coefficient, codes, value, raw, pairs)
    return Agreement(estimate, raw, len(pairs), tuple(filter(None, warnings)))


def fleiss_agreement(ratings: Sequence[Sequence]) -> Agreement:
    """Return Fleiss' kappa of `ratings[rater][unit]` with the limits of `_jackknife_estimate`.

    Fleiss' kappa needs equally many raters per unit. So only the units with the most frequent
    number of ratings (two or more) are used, and `n_items` counts them. Of two equally frequent
    numbers the larger is used.
    """
    rated_units = [unit for unit in _units(ratings) if len(unit) >= 2]
    sizes = [len(unit) for unit in rated_units]
    common_size = max(set(sizes), key=lambda size: (sizes.count(size), size), default=0)
    units = [unit for unit in rated_units if len(unit) == common_size]
    counts, _ = _unit_counts(units)
    value, raw = fleiss_kappa(counts) if units else math.nan, _raw_of_pairs(units)
    warning = prevalence_warning(_all_ratings(units))
    estimate = _jackknife_estimate(fleiss_kappa, counts, value, raw, units)
    return Agreement(estimate, raw, len(units), (warning,) if warning else ())


def krippendorff_agreement(ratings: Sequence[Sequence]) -> Agreement:
    """Return Krippendorff's nominal alpha of `ratings[rater][unit]`, with the limits of
    `_jackknife_estimate`. The raw agreement is over all pairs of ratings within units."""
    units = [unit for unit in _units(ratings) if len(unit) >= 2]
    counts, categories = _unit_counts(units)
    distance = 1 - np.eye(len(categories))
    warning = prevalence_warning(_all_ratings(units))

    def coefficient(resampled_counts: np.ndarray) -> float:
        return _alpha_of_counts(resampled_counts, distance)

    value = coefficient(counts) if len(categories) > 1 else math.nan
    raw = _raw_of_pairs(units)
    estimate = _jackknife_estimate(coefficient, counts, value, raw, units)
    return Agreement(estimate, raw, len(units), (warning,) if warning else ())


def _raw_of_pairs(units: list[list]) -> float:
    """Return the share of equal ratings among all pairs within units; NaN without a pair."""
    n_pairs, n_alike = 0, 0
    for unit in units:
        for x, y in combinations(unit, 2):
            n_pairs += 1
            n_alike += x == y
    return n_alike / n_pairs if n_pairs else math.nan


def _without_limits(value: float, n: int) -> Estimate | None:
    """Return the Estimate of a coefficient that can have no interval; None if it can."""
    if math.isnan(value):
        return missing(n, 0.95, "Undefined: chance alone would agree always.")
    return without_interval(value, n) if n < MIN_N else None


def _jackknife_estimate(
    coefficient: Callable[[np.ndarray], float],
    rows: np.ndarray,
    value: float,
    raw: float,
    units: list,
) -> Estimate:
    """Return the union of the limits of `log_jackknife` and of Wilson's on the raw agreement.
    Neither alone covers well where one answer prevails."""
    estimate = _without_limits(value, len(units))
    if estimate is not None:
        return estimate
    raw_estimate = _from_raw(value, raw, units)
    low, high = log_jackknife(coefficient, rows)
    if math.isnan(low):
        return raw_estimate
    low, high = min(low, raw_estimate.low), max(high, raw_estimate.high)
    method = "jackknife, log(1 - coefficient)"
    return Estimate(value, low, high, level=0.95, method=method, n=len(units), seed=None)


def _from_raw(value: float, raw: float, units: list) -> Estimate:
    """Return Wilson's limits of the raw agreement, rescaled to the coefficient. The rescaling
    removes the chance agreement that the coefficient implies."""
    if value < 1:
        chance = (raw - value) / (1 - value)
    else:
        # A coefficient of 1 does not imply its chance agreement; the shares of the answers do.
        ratings = _all_ratings(units)
        chance = sum((ratings.count(rating) / len(ratings)) ** 2 for rating in set(ratings))
    low, high = (
        max(-1.0, (limit - chance) / (1 - chance))
        for limit in wilson(round(raw * len(units)), len(units))
    )
    low, high = min(low, value), max(high, value)
    note = (
        "Every resample gives the same coefficient, so the bounds are Wilson's on the raw "
        "agreement."
    )
    n = len(units)
    return Estimate(value, low, high, level=0.95, method="wilson", n=n, seed=None, note=note)


def log_jackknife(
    coefficient: Callable[[np.ndarray], float], units: np.ndarray, level: float = 0.95
) -> tuple[float, float]:
    """Return jackknife limits of a coefficient, by Student's t on log(1 - coefficient).

    `units` is (n, k), one row per unit; `coefficient` takes such an array. NaN where leaving out a
    unit makes the coefficient 1 or undefined, or never changes it.
    """
    n = len(units)
    value = coefficient(units)
    if n < 2 or not value < 1:
        return math.nan, math.nan
    # Leaving out either of two units with the same ratings gives the same coefficient, so each
    # kind of unit is left out once.
    _, first_rows, kinds = np.unique(units, axis=0, return_index=True, return_inverse=True)
    by_kind = np.array([coefficient(np.delete(units, row, axis=0)) for row in first_rows])
    leave_one_out = by_kind[kinds.ravel()]
    if not (leave_one_out < 1).all():
        return math.nan, math.nan
    logs = np.log(1 - leave_one_out)
    error = math.sqrt((n - 1) / n * float(((logs - logs.mean()) ** 2).sum()))
    if error < 1e-12:
        return math.nan, math.nan
    step = t_quantile(0.5 + level / 2, n - 1) * error
    return max(-1.0, 1 - (1 - value) * math.exp(step)), 1 - (1 - value) * math.exp(-step)
