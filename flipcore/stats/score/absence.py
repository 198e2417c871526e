"""Absent scores, for example of calls that failed, and how far they could move a mean.

Calls fail more often on hard questions than on easy ones. With 7% of scores lost this way, the mean
was 56% where the truth was 47%, and the interval missed the truth in .54 of studies. So where
absence matters, the limits allow for any score that the absent ones could have had.
"""

from dataclasses import replace

from flipcore.stats.base.estimate import Estimate, number_text

MAX_SHARE = 0.01  # a larger share of absent calls is always stated
MAX_SHIFT = 0.5  # standard errors; a larger possible shift of the score is always stated


def absence_matters(share: float, shift: float, se: float) -> bool:
    """Return True if a `share` of absent scores, which could move the mean by `shift`, must be
    stated and included in the limits."""
    return share > MAX_SHARE or (share > 0 and shift > MAX_SHIFT * se)


def widen_for_absence(
    estimate: Estimate, lowest: Estimate, highest: Estimate, share: float
) -> Estimate:
    """Widen the interval to the limits of `lowest` and `highest`, the estimates with the `share` of
    absent scores at either end of the scale."""
    if not (estimate.has_interval and lowest.has_interval and highest.has_interval):
        return estimate
    low, high = min(estimate.low, lowest.low), max(estimate.high, highest.high)
    return replace(estimate, low=low, high=high).noted(absence_words(share))


def absence_words(share: float, *, has_interval: bool = True) -> str:
    """Say which share is absent and that the interval, if there is one, allows for it."""
    # A share below .95% has a decimal, or it would read as 1%, the bound of `MAX_SHARE`.
    digits = 0 if share >= 0.0095 else 1
    allowed_for = "; the interval holds whatever they were" if has_interval else ""
    return f"{number_text(100 * share, digits)}% of calls have no score{allowed_for}."
