"""Number of items that a design needs, and the smallest effect that it detects (normal
approximations)."""

import math

from flipcore.core.errors import BadInput
from flipcore.stats.base.intervals import z_quantile

SLACK = 1e-9  # keeps `ceil` from rounding up a whole number with a rounding error


def _z_sum(alpha: float, power: float, *, two_sided: bool = True) -> float:
    return z_quantile(1 - alpha / (2 if two_sided else 1)) + z_quantile(power)


def drop_variance(discordant: float, drop: float) -> float:
    """Return the variance of one item's drop (-1, 0, 1): P(discordant) - drop^2."""
    return discordant - drop**2


def n_for_gap(
    gap: float,
    disc_b: float,
    drop_b: float,
    disc_c: float,
    drop_c: float,
    alpha: float = 0.05,
    power: float = 0.8,
    *,
    two_sided: bool = True,
) -> float:
    """Return the number of items per set to detect a difference `gap` between two drops.

    `disc` is the share of items that change and `drop` the net drop, of the benchmark (b) and of
    the control (c). Infinite for a gap of 0. `n_to_author` adds items that the rewrite method
    cannot perturb.
    """
    if gap == 0:
        return math.inf
    variance = drop_variance(disc_b, drop_b) + drop_variance(disc_c, drop_c)
    return math.ceil(_z_sum(alpha, power, two_sided=two_sided) ** 2 * variance / gap**2 - SLACK)


def n_to_author(n: float, coverage: float) -> float:
    """Return the number of items to start from so that `n` remain, if the rewrite method perturbs a
    share `coverage` of them. Raises BadInput for a coverage outside (0, 1]."""
    if not 0 < coverage <= 1:
        raise BadInput(f"Coverage came as {coverage}: it is a share above 0 and at most 1.")
    return math.ceil(n / coverage - SLACK) if math.isfinite(n) else math.inf


def mde_two_prop(p: float, n1: int, n2: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference from `p` that two independent proportions of `n1` and `n2`
    items detect; NaN without items."""
    if min(n1, n2) < 1:
        return math.nan
    return _z_sum(alpha, power) * math.sqrt(p * (1 - p) * (1 / n1 + 1 / n2))


def n_tost_two_prop(p: float, margin: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the number of items per arm to show |p1 - p2| < margin when both are `p` (two
    one-sided tests; Chow, Shao & Wang 2008)."""
    if margin <= 0:
        raise BadInput(f"The margin came as {margin}: equivalence needs a margin above 0.")
    # Both one-sided tests must succeed, so the error 1 - power is split between them.
    z = z_quantile(1 - alpha) + z_quantile(1 - (1 - power) / 2)
    return math.ceil(z**2 * 2 * p * (1 - p) / margin**2 - SLACK)
