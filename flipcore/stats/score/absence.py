"""Absent scores, as of calls that failed, and how far they could move a mean.

Calls fail on hard questions more often than on easy ones. With 7% lost there, 56% was printed where
47% is true, and the interval missed it in .54 of studies. So where absence matters, limits hold for
the lowest and the highest score that the absent ones could have had.
"""

from dataclasses import replace

from flipcore.stats.base.estimate import Estimate, number_text

MOST_SHARE = 0.01  # of the calls, from which a sentence says so
MOST_SHIFT = 0.5  # standard errors by which the score could move


def absence_matters(share: float, shift: float, se: float) -> bool:
    """Return True where a share of absent scores, which could move the mean by `shift`, has to be
    stated and bounded."""
    return share > MOST_SHARE or (share > 0 and shift > MOST_SHIFT * se)


def bounded(estimate: Estimate, lowest: Estimate, highest: Estimate, share: float) -> Estimate:
    """Widen the interval to the lower limit of `lowest` and the upper one of `highest`.

    These are the estimates with absent scores at either end of the scale.
    """
    if not (estimate.has_interval and lowest.has_interval and highest.has_interval):
        return estimate
    wide = replace(
        estimate, low=min(estimate.low, lowest.low), high=max(estimate.high, highest.high)
    )
    return wide.noted(absence_words(share))


def absence_words(share: float) -> str:
    """Say how much is absent and that the interval allows for it."""
    # .95% would round to 1%, the bound from which it is always said.
    digits = 0 if share >= 0.0095 else 1
    return (
        f"{number_text(100 * share, digits)}% of calls have no score; the interval holds whatever "
        "they were."
    )
