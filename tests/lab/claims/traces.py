"""The first runs of a cell, kept so that a row stays valid while its decisions do.

A row of the claims table costs thousands of runs. Whether today's code would still give it is asked
by running `N_TRACED` of them again, on the stream of the cell's name (the first ones of the row where
a cell runs one after another, forty runs of their own where it draws all at once): which claims were
made, and the numbers behind them. A renamed module, a reworded sentence or a faster loop changes
nothing here; another threshold, estimator or seed does, and only then is the row simulated anew.
"""

import hashlib
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from flipcore.claims.claim import Assertion, Claim
from flipcore.core.randomness import generator
from tests.lab.claims.cell import Cell

N_TRACED = 40
N_TRACED_SLOW = 8  # of a cell whose single run takes a second or more
SLOW_RUNS = 500  # such a cell has this many runs or fewer
TOLERANCE = 1e-9  # relative, for sums that another order of additions may change
_LONGEST_BITS = 80
_DEEPEST = 3  # dataclasses and mappings inside of a claim's numbers


@dataclass(frozen=True)
class Trace:
    """Decisions and numbers of a cell's first runs.

    `made` has one character per claim of the cell's assertion, "1" where it is made (its digest
    where there are many). `total` and `weighted` are sums of the finite numbers of these claims;
    in the second each claim counts by its place.
    """

    n_runs: int
    n_asserted: int
    n_claims: int
    made: str
    total: float
    weighted: float


def trace_cell(cell: Cell, seed: int = 0) -> Trace:
    """Run the first runs of a cell and return what they decided."""
    n_runs = min(cell.n_runs, N_TRACED_SLOW if cell.n_runs <= SLOW_RUNS else N_TRACED)
    _forget_simulations()
    with recorded_claims(cell.assertion) as claims:
        n_asserted, n_done = cell.simulate(generator(seed, "claims", cell.name), n_runs)
    bits = "".join("1" if claim.is_made else "0" for claim in claims)
    total, weighted = 0.0, 0.0
    for place, claim in enumerate(claims, start=1):
        value = math.fsum(_finite_numbers(claim.numbers))
        total += value
        weighted += place * value
    is_long = len(bits) > _LONGEST_BITS
    made = hashlib.sha256(bits.encode()).hexdigest()[:16] if is_long else bits
    return Trace(int(n_done), int(n_asserted), len(bits), made, _rounded(total), _rounded(weighted))


@contextmanager
def recorded_claims(assertion: Assertion) -> Iterator[list[Claim]]:
    """Collect every claim of this assertion that is built inside of the block.

    A claim that is built from another (withheld for a reason) takes its place: both hold the same
    numbers.
    """
    claims: list[Claim] = []
    token = _recording.set((assertion, claims))
    try:
        yield claims
    finally:
        _recording.reset(token)


# A thread sees its own recording only: cells may run side by side.
_recording: ContextVar[tuple[Assertion, list[Claim]] | None] = ContextVar("recording", default=None)
_build = Claim.__init__


def _build_and_record(self: Claim, *args: Any, **kwargs: Any) -> None:
    _build(self, *args, **kwargs)
    recording = _recording.get()
    if recording is None or self.assertion != recording[0]:
        return
    claims = recording[1]
    if claims and self.numbers and claims[-1].numbers is self.numbers:
        claims[-1] = self
    else:
        claims.append(self)


Claim.__init__ = _build_and_record  # type: ignore[method-assign]


def difference(stored: Trace, again: Trace) -> str:
    """Say what is decided otherwise than before; "" where nothing is."""
    if stored.n_runs != again.n_runs:
        return f"{again.n_runs} runs where {stored.n_runs} were traced"
    if stored.n_asserted != again.n_asserted:
        return f"asserted in {again.n_asserted} of {again.n_runs} runs, {stored.n_asserted} before"
    if (stored.n_claims, stored.made) != (again.n_claims, again.made):
        return f"claims {again.made} ({again.n_claims}), {stored.made} ({stored.n_claims}) before"
    for name in ("total", "weighted"):
        before, now = getattr(stored, name), getattr(again, name)
        if not math.isclose(before, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            return f"the numbers sum to {now!r}, {before!r} before"
    return ""


def _forget_simulations() -> None:
    """Clear what simulations remember: a claim that another cell built would not be built again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tests.lab.claims."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _finite_numbers(value: Any, depth: int = 0) -> Iterator[float]:
    """Yield the finite numbers of a claim's numbers, whatever they are called."""
    if isinstance(value, (bool, np.bool_, int, float, np.integer, np.floating)):
        if math.isfinite(value):
            yield float(value)
    elif depth >= _DEEPEST:
        return
    elif isinstance(value, np.ndarray):
        if np.issubdtype(value.dtype, np.number):
            yield float(np.nansum(np.where(np.isfinite(value), value, 0.0)))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _finite_numbers(part, depth + 1)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _finite_numbers(part, depth + 1)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _finite_numbers(getattr(value, field.name), depth + 1)


def _rounded(value: float) -> float:
    """Twelve digits: three more than are compared."""
    return float(f"{value:.12g}")
