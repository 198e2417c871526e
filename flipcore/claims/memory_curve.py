"""The description of a score above the hardness curve.

Nothing is claimed of it, as its detector has no full row of known doses.
"""

from typing import Any

from flipcore.claims.claim import Claim, description
from flipcore.stats.base.estimate import p_text
from flipcore.stats.memory.hardness_curve import Excess

NO_DOSES = (
    "Its false verdicts are simulated, and known doses were tried once, so this is a description."
)
BLIND = (
    "What all reference models have read, too, raises their curve and is not seen; what some have "
    "read widens the interval."
)


def curve_claim(curve: Excess) -> Claim:
    """Give the figures and why they make no verdict, or say which condition the detector lacks."""
    numbers: dict[str, Any] = {"excess": curve.excess, "expected": curve.expected, "p": curve.p}
    if curve.withheld:
        return description("No curve.", "described", **numbers).not_claimed(curve.withheld)
    figures = (
        f"the benchmark score lies {curve.excess.text_points()} from what {curve.n_references} "
        f"reference models expect ({p_text(curve.p)})."
    )
    detail = (
        f"{curve.benchmark.text_percent()} of {curve.benchmark.n:,} benchmark items, "
        f"{curve.expected.text_percent()} expected; {BLIND}"
    )
    # The figures stay readable within the reason: nothing else shows them.
    claim = description(figures, "described", detail=detail, **numbers)
    return claim.not_claimed(f"{figures} {NO_DOSES}")
