"""Cells on the pocket model's own items: what it never read, split at random again and again, and what it read (planted).

Scores and answers are those stored beside the card (`tests.lab.pocket.scores`); a run draws which of the 550 never-seen items
of a family are the benchmark and which the control.
"""

from functools import cache

import numpy as np

from flipcore.claims.claim import Assertion, Claim
from flipcore.claims.memory import ANY_DETECTOR, Witness, adjusted, summary_claim
from flipcore.claims.memory_gap import GAP_OTHER, GAP_RANDOM, MARGIN, gap_claim
from flipcore.claims.memory_sets import ANY_CUTOFF, SET_BEYOND, any_cutoff_claim, set_claim
from flipcore.claims.memory_truth import SEES, SHIFTS, detector_claim
from flipcore.stats.memory.exceedance import largest_excess_p
from flipcore.stats.memory.gap_decision import OTHER, RANDOM, GapDecision, Sides, gap_decision
from flipcore.stats.memory.ground_truth import detector
from flipcore.stats.memory.rewritten import Rewritten
from tests.lab.claims.cell import Cell, Simulation, each
from tests.lab.claims.memory_gaps import FEWEST
from tests.lab.pocket.scores import AFTER, BEFORE, DETECTORS, PEARL, own_test, read_scores

Rng = np.random.Generator
NEVER = "never seen by the pocket model"
N, M = 40, 150
DOSES = (1, 4, 16, 64, 256)
PROBLEMS = tuple(name for name in DETECTORS if name.endswith("problems"))


@cache
def _scores() -> dict[str, dict[str, np.ndarray]]:
    return read_scores()[1]


@cache
def _never(title: str) -> np.ndarray:
    """(550,) values of what was never read, controls first; an item has the same place under every title of its family."""
    return np.concatenate([_scores()[title]["0"], _scores()[title]["fresh"]])


def _split(rng: Rng, n_items: int, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(n_items)
    return order[:n], order[n : n + m]


def _set(title: str, n: int, m: int, dose: str = "") -> Simulation:
    """The set's verdict on never-seen items, or on those of a dose, against a random part of the never-seen."""

    def run(rng: Rng) -> Claim:
        values = _never(title)
        first, second = _split(rng, len(values), 0 if dose else n, m)
        scores = _scores()[title][dose] if dose else values[first]
        return set_claim(own_test(title, scores, values[second]), control=RANDOM)

    return each(run)


def _cutoff(title: str, n: int, m: int) -> Simulation:
    def run(rng: Rng) -> Claim:
        first, second = _split(rng, len(_never(title)), n, m)
        values = _never(title)
        return any_cutoff_claim(largest_excess_p(values[first], values[second], int(rng.integers(2**31)), 199).p, RANDOM)

    return each(run)


def _answers(name: str, before: np.ndarray, after: np.ndarray) -> Rewritten:
    there = ~np.isnan(after)
    return Rewritten.make([f"{name}{i}" for i in range(int(there.sum()))], before[there], after[there])


def _decision(rng: Rng, first: np.ndarray | None, second: np.ndarray, control: str, dose: str) -> GapDecision:
    before, after = _never(BEFORE), _never(AFTER)
    if first is None:
        benchmark = _answers("b", _scores()[BEFORE][dose], _scores()[AFTER][dose])
    else:
        benchmark = _answers("b", before[first], after[first])
    sides = Sides(benchmark, _answers("c", before[second], after[second]))
    return gap_decision(sides, control, int(rng.integers(2**31)), FEWEST)


def _gap(assertion: Assertion, control: str, n: int, m: int, dose: str = "") -> Simulation:
    """The drop gap under new numbers."""

    def run(rng: Rng) -> bool:
        first, second = _split(rng, len(_never(BEFORE)), 0 if dose else n, m)
        claim = gap_claim(_decision(rng, None if dose else first, second, control, dose))
        return claim.is_made and claim.assertion is assertion

    return each(run)


def _page(rng: Rng) -> Claim:
    """Every detector of problems on one split of never-seen ones: losses, min-k and the drop gap."""
    first, second = _split(rng, len(_never(BEFORE)), N, M)
    gap = _decision(rng, first, second, RANDOM, "")
    tests = [own_test(name, _never(name)[first], _never(name)[second]) for name in PROBLEMS]
    gap_ps, set_ps = adjusted([gap.p], [one.p for one in tests])
    claims = [gap_claim(gap, MARGIN, gap_ps[0], 1 + len(tests))]
    claims += [set_claim(one, "problems", RANDOM, p, 1 + len(tests)) for one, p in zip(tests, set_ps, strict=True)]
    return summary_claim([Witness("problems", "losses", one) for one in claims], {"problems": f"{N} problems"}, M)


def _doses(title: str, outcome: str) -> Simulation:
    """Ground truth whose doses are all never-seen items: 150 set the cut-off, 200 check it, five times 40 stand for doses."""

    def run(rng: Rng) -> bool:
        values = rng.permutation(_never(title))
        never, fresh, rest = values[:M], values[M : M + 200], values[M + 200 :]
        by_dose = dict(zip(DOSES, np.split(rest, len(DOSES)), strict=True))
        return detector_claim(detector(title, never, fresh, by_dose, "tolerance")).outcome == outcome

    return each(run)


def _size(n: int, m: int, title: str) -> str:
    return f"{n} v {m}, {title}"


def _cells() -> list[Cell]:
    titles = [*DETECTORS, PEARL] if PEARL in _scores() else list(DETECTORS)
    cells = [Cell(SET_BEYOND, NEVER, _size(n, m, title), _set(title, n, m)) for title in titles for n, m in ((N, M),)]
    for n, m in ((N, M), (27, 60)):
        cells += [
            Cell(assertion, NEVER, _size(n, m, "numbers resampled"), _gap(assertion, control, n, m))
            for assertion, control in ((GAP_RANDOM, RANDOM), (GAP_OTHER, OTHER))
        ]
    cells += [Cell(ANY_CUTOFF, NEVER, _size(N, M, PROBLEMS[0]), _cutoff(PROBLEMS[0], N, M))]
    cells += [Cell(ANY_DETECTOR, NEVER, _size(N, M, "all of problems"), each(_page))]
    for title in (PROBLEMS[0], "min-k %, prose"):
        cells += [
            Cell(assertion, NEVER, f"5 x {N} v {M}, {title}", _doses(title, outcome), n_runs=2_000)
            for assertion, outcome in ((SEES, "sees"), (SHIFTS, "group"))
        ]
    for dose in ("16", "64", "256"):
        cells += [
            Cell(
                assertion,
                f"read {dose} times",
                f"all v {M}, numbers resampled",
                _gap(assertion, control, 0, M, dose),
                "planted",
            )
            for assertion, control in ((GAP_RANDOM, RANDOM), (GAP_OTHER, OTHER))
        ]
    for dose in ("4", "16"):
        cells += [
            Cell(SET_BEYOND, f"read {dose} times", f"{N} v {M}, {title}", _set(title, N, M, dose), "planted")
            for title in titles
        ]
    return cells


CELLS: tuple[Cell, ...] = tuple(_cells())
