"""An Estimate: a number never travels without its interval, its method, its n and its seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

# An en dash, not "nan" or 0: what is missing is shown as missing.
MISSING = "–"
MIN_N = 10
# Measured coverage from which a 95% interval is not labelled short: four Monte Carlo errors of
# 2,000 simulated sets below 95%.
SHORT = 0.93
NARROW = 0.05  # width of an interval below which its percentages have a decimal
TOO_SHORT = 0.85  # measured coverage below which an interval is shown but supports no claim
# Effective families (N²/Σn²) needed for an interval, and for a claim.
MIN_FAMILIES, MIN_CLAIM_FAMILIES = (3, 6)


@dataclass(frozen=True, slots=True)
class Estimate:
    """`value` with the interval [`low`, `high`] at `level`, over `n` items or clusters.

    `method` is the interval's name (`methods.words` describes it), or "none". `seed` is None if
    nothing was drawn. NaN is missing. `note` is a sentence for people: why there is no interval, or
    which fallback is used. `coverage` is the simulated coverage of such intervals
    (`measured_coverage`), None if they were not simulated. `effective` is the number of equal
    families that weigh as much as the items' families, None if items share none.
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    n: int
    seed: int | None
    note: str = ""
    coverage: float | None = None
    effective: float | None = None

    @property
    def has_interval(self) -> bool:
        return not (math.isnan(self.low) or math.isnan(self.high))

    def excludes_zero(self) -> bool | None:
        """Return True if the interval excludes 0; None without an interval."""
        return (self.low > 0 or self.high < 0) if self.has_interval else None

    def text(self, digits: int = 2) -> str:
        """Return "0.58 [0.31, 0.69]", with "(about 90%)" after an interval of short coverage.

        The value alone without an interval; a dash for a missing value."""
        if math.isnan(self.value):
            return MISSING
        value = number_text(self.value, digits)
        if not self.has_interval:
            return value
        return (
            f"{value} [{number_text(self.low, digits)}, "
            f"{number_text(self.high, digits)}]{self._shortness()}"
        )

    def text_percent(self, digits: int | None = None) -> str:
        """Return a share in percent: "87% [80, 92]", or "86.4% [85.7, 87.1]" for a narrow interval.

        `digits` are the decimals of all three numbers; None chooses them by the interval's
        width."""
        if math.isnan(self.value):
            return MISSING
        shown = self.percent_digits if digits is None else digits
        if not self.has_interval:
            return percent_text(self.value, shown)
        low, high = (number_text(100 * limit, shown) for limit in (self.low, self.high))
        return f"{percent_text(self.value, shown)} [{low}, {high}]{self._shortness()}"

    @property
    def percent_digits(self) -> int:
        """Number of decimals of a percentage: 1 for a narrow interval, else 0."""
        return 1 if self.has_interval and self.high - self.low < NARROW else 0

    def text_points(self, digits: int = 1) -> str:
        """Return a difference of shares in points with its sign: "+16.0 points [+2.3, +28.9]"."""
        if math.isnan(self.value):
            return MISSING
        value, low, high = (
            number_text(100 * x, digits, sign=True) for x in (self.value, self.low, self.high)
        )
        if self.has_interval:
            return f"{value} points [{low}, {high}]{self._shortness()}"
        return f"{value} points"

    def likely_percent(self) -> str:
        """Return a share as headlines say it: "40% (likely 34 to 46%)"."""
        shown = percent_text(self.value, self.percent_digits)
        low = number_text(100 * self.low, self.percent_digits)
        return shown + self._likely(low, percent_text(self.high, self.percent_digits))

    def likely_points(self) -> tuple[str, str]:
        """Return a difference as headlines say it: "24.4 points" and " (likely 16.8 to 31.6)"."""
        low, high = (number_text(100 * limit, 1) for limit in (self.low, self.high))
        return f"{number_text(100 * self.value, 1)} points", self._likely(low, high)

    def _likely(self, low: str, high: str) -> str:
        if not self.has_interval:
            return ""
        label = coverage_label(self.coverage)
        return f" (likely {low} to {high}, {label})" if label else f" (likely {low} to {high})"

    @property
    def is_too_short(self) -> bool:
        """True if nothing may be claimed: simulated coverage is too low, or there are too few
        effective families."""
        is_few = self.effective is not None and self.effective < MIN_CLAIM_FAMILIES
        return is_few or (self.coverage is not None and self.coverage < TOO_SHORT)

    def _shortness(self) -> str:
        label = coverage_label(self.coverage)
        return f" ({label})" if label else ""

    def noted(self, note: str) -> Estimate:
        """Return a copy with `note` after the notes so far."""
        return replace(self, note=f"{self.note} {note}".strip())


def coverage_label(coverage: float | None) -> str:
    """Return the coverage of a short interval, "about 90%"; "" if it is enough or unknown."""
    return "" if coverage is None or coverage >= SHORT else f"about {percent_text(coverage)}"


def missing(n: int = 0, level: float = 0.95, note: str = "") -> Estimate:
    """Return an Estimate without a value; `note` says why."""
    return Estimate(
        math.nan, math.nan, math.nan, level=level, method="none", n=n, seed=None, note=note
    )


def without_interval(value: float, n: int, level: float = 0.95, note: str = "") -> Estimate:
    """Return an Estimate without an interval. An empty note becomes `few_items` below `MIN_N`."""
    note = note or (few_items(n) if n < MIN_N else "")
    return Estimate(
        float(value), math.nan, math.nan, level=level, method="none", n=n, seed=None, note=note
    )


def few_items(n: int) -> str:
    """Return the note that says why so few items have no interval."""
    return f"No interval: {n} item{'' if n == 1 else 's'}; at least {MIN_N} items are needed."


def number_text(x: float, digits: int = 2, *, sign: bool = False) -> str:
    """Return `x` with a typographic minus, thousands separators and no negative zero; NaN is a
    dash."""
    if math.isnan(x):
        return MISSING
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    # First to twelve digits, so that 38.749999999999996 rounds as the 38.75 that it stands for.
    rounded = round(float(f"{x:.12g}"), digits)
    text = f"{abs(rounded):,.{digits}f}"
    return ("−" if rounded < 0 else "+" if sign and rounded > 0 else "") + text


def percent_text(share: float, digits: int = 0) -> str:
    """Return a share in percent: "5%", "79.5%"; NaN is a dash."""
    return MISSING if math.isnan(share) else f"{number_text(100 * share, digits)}%"


def level_text(level: float) -> str:
    """Return a confidence level as a slider shows it: "95%", "99.9%"."""
    # The sliders have steps of 0.1% from 99% on, and 99.9% would round to 100%.
    return percent_text(level, 1 if level > 0.989 else 0)


def p_text(p: float) -> str:
    """Return "p = .012", "p = .43", "p < .001" or "p > .99"; NaN is "p –"."""
    if math.isnan(p):
        return f"p {MISSING}"
    if p < 0.001:
        return "p < .001"
    if p > 0.99:
        return "p > .99"
    # .0995 rounds to .100, so from there on two digits are enough.
    digits = 2 if p >= 0.0995 else 3
    return "p = " + f"{p:.{digits}f}".lstrip("0")
