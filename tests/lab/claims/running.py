"""One cell, run. A module of its own: a process that is spawned cannot import `__main__`."""

from flipcore.core.randomness import generator
from tests.lab.claims import cells_of
from tests.lab.claims.acceptance import Row
from tests.lab.claims.traces import Trace, trace_cell

Place = tuple[str, int]  # module, index among its cells


def finished(place: Place, seed: int = 0, runs: int | None = None, commit: str = "") -> Row:
    """One cell run: all of its runs, on the stream of its name."""
    module, index = place
    cell = cells_of(module)[index]
    limit = min(runs or cell.n_runs, cell.n_runs)
    n_asserted, n_runs = cell.simulate(generator(seed, "claims", cell.name), limit)
    claim = cell.assertion
    return Row(
        cell.name,
        claim.name,
        cell.world,
        cell.n,
        cell.truth,
        int(n_asserted),
        int(n_runs),
        claim.error_rate,
        commit,
        trace_cell(cell, seed),
    )


def traced(place: Place) -> tuple[Place, Trace]:
    """The first runs of one cell, run again."""
    module, index = place
    return place, trace_cell(cells_of(module)[index])
