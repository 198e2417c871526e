"""Every assertion of the product: what is said, how often it may be false, and in which worlds that was simulated.

A module of claims ends in one tuple ``ASSERTIONS`` and stands in `MODULES`.
"""

from flipcore.claims import (
    audit,
    corrected_ranks,
    flips,
    gates,
    holdout,
    likeness,
    locks,
    memory,
    ranking,
    regression,
    score,
)
from flipcore.claims.claim import Assertion

MODULES = (
    flips,
    memory,
    holdout,
    likeness,
    gates,
    locks,
    audit,
    ranking,
    score,
    corrected_ranks,
    regression,
)
ASSERTIONS: tuple[Assertion, ...] = tuple(one for module in MODULES for one in module.ASSERTIONS)
BY_NAME = {one.name: one for one in ASSERTIONS}
