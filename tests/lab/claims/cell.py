"""One cell of the claims table: one claim, one world, one size.

How to add cells (a module of this folder ends in ``CELLS``, a tuple of `Cell`)::

    from flipcore.claims.memory import DROP_GAP, drop_gap_claim
    from tests.lab.claims.cell import Cell, each

    def _nothing_changes(rng):                      # one simulated data set -> the Claim that the product would show
        return drop_gap_claim(..., draw(rng, 40), draw(rng, 150), ...)

    def _brittle(rng, runs):                        # or all of them at once, where that is faster
        return n_asserted, runs

    CELLS = (
        Cell(DROP_GAP, "nothing changing", "40 v 150", each(_nothing_changes)),
        Cell(DROP_GAP, "brittle", "150 v 150", _brittle),
        Cell(DROP_GAP, "memory at dose 256", "40 v 150", each(_planted), truth="planted"),
    )

- `assertion` is the constant that the claim carries; it must be in `flipcore.claims.catalogue`, and each name in its
  ``worlds`` needs a null cell with that ``world``.
- ``truth="null"``: the claim is false in that world, so the share of runs that assert it must stay at or below
  `assertion.error_rate`. ``truth="planted"``: it is true, and the share is power, which is printed and has no limit.
  ``truth="outside"``: a condition that the sentence names does not hold; how often it is said there is printed.
- Only a claim that is made counts: `each` reads `Claim.is_made` (asserted and not withheld), or a plain bool. Where one
  function makes claims with several outcomes, return a bool that says whether THIS false one was asserted.
- 4,000 runs a cell; 2,000 where a run costs more than .1 s, 500 above a second. The stream of a cell comes from its name.
- After adding cells run ``python -m tests.lab.claims --only NAME`` and commit what it wrote with them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flipcore.claims.claim import Assertion, Claim

N_RUNS = 4_000
TRUTHS = ("null", "planted", "outside")
Simulation = Callable[[np.random.Generator, int], tuple[int, int]]


@dataclass(frozen=True)
class Cell:
    """`simulate(rng, runs)` gives (runs that asserted, runs). `n` is text as the table shows it: "40", "40 v 150"."""

    assertion: Assertion
    world: str
    n: str
    simulate: Simulation
    truth: str = "null"
    n_runs: int = N_RUNS

    def __post_init__(self) -> None:
        if self.truth not in TRUTHS:
            raise ValueError(f"A cell's truth is one of {', '.join(TRUTHS)}; got {self.truth!r}.")

    @property
    def name(self) -> str:
        return f"{self.assertion.name} / {self.world} / {self.n}"


def each(run: Callable[[np.random.Generator], Claim | bool]) -> Simulation:
    """A simulation from the function that makes one run's claim."""

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        claims = (run(rng) for _ in range(runs))
        return sum(bool(one.is_made if isinstance(one, Claim) else one) for one in claims), runs

    return simulate
