"""Every assertion of the product: the sentence, its error rate, and the worlds of its simulation.

Each module of claims has one tuple `ASSERTIONS` and is listed in `MODULES`.
"""

from itertools import chain

from flipcore.claims import (
    audit,
    choices,
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
    choices,
)
ASSERTIONS: tuple[Assertion, ...] = tuple(
    chain.from_iterable(module.ASSERTIONS for module in MODULES)
)
BY_NAME = {assertion.name: assertion for assertion in ASSERTIONS}
