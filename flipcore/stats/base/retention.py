"""Retention of an audit: the share of reviewed pairs that a stated rule kept."""

import math
from collections.abc import Sequence

from flipcore.core.errors import BadInput
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.base.intervals import wilson

RULES = ("majority", "unanimous")


def passes(votes: Sequence[bool], rule: str = "majority") -> bool:
    """Return True if `votes` keep a pair: more than half of them for `majority`, all for
    `unanimous`. Without a vote it is not kept. Raises BadInput for an unknown rule."""
    if rule not in RULES:
        raise BadInput(f"The rule {rule!r} is not one of {', '.join(RULES)}.")
    n_yes = sum(bool(vote) for vote in votes)
    return n_yes > 0 and (2 * n_yes > len(votes) if rule == "majority" else n_yes == len(votes))


def retention(kept: int, total: int) -> dict[str, float]:
    """Return {rate, lo, hi}: the share kept with Wilson's interval; NaN where `total` is 0."""
    low, high = wilson(kept, total)
    return {"rate": kept / total if total else math.nan, "lo": low, "hi": high}


def retention_estimate(
    kept: int, total: int, rule: str = "majority", level: float = 0.95
) -> Estimate:
    """Return retention as an Estimate whose note names the rule."""
    rate, (low, high) = retention(kept, total)["rate"], wilson(kept, total, level)
    note = f"Kept: {rule} of the reviewers on both checks."
    return Estimate(rate, low, high, level=level, method="wilson", n=total, seed=None, note=note)
