"""Cells of the claims about memory: drop gaps, tests of a set, families of detectors, doses."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from flipcore.claims.claim import Claim
from flipcore.claims.memory import ANY_DETECTOR, adjusted, summary_claim
from flipcore.claims.memory_gap import GAP_OTHER, GAP_PAIRED, GAP_RANDOM, GAP_WITHIN, MARGIN, gap_claim
from flipcore.claims.memory_sets import (
    ANY_CUTOFF,
    AT_LEAST,
    ITEMS_NAMED,
    SET_BEYOND,
    any_cutoff_claim,
    at_least_claim,
    named_claim,
    set_claim,
)
from flipcore.claims.memory_truth import SEES, SHIFTS, detector_claim
from flipcore.lab.claims.cell import Cell, Simulation, each
from flipcore.lab.claims.memory_worlds import WORLDS, World, logistic_pairs, sides_of, templated
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.memory.exceedance import SetTest, chance_count, largest_excess_p, least_contaminated, rank, set_p, set_test
from flipcore.stats.memory.gap_decision import OTHER, PAIRED, RANDOM, gap_decision
from flipcore.stats.memory.ground_truth import detector
from flipcore.stats.memory.loss_test import pval_conformal

DIFFICULTY = (
    "brittle, .9 v .5",
    "logit shift, easier benchmark",
    "logit shift, harder benchmark",
    "additive loss, .9 v .5",
    "chance floor 1/4",
    "chance floor, .9 v .5",
)
CHUNK = 20_000_000  # values drawn at once
FEWEST = 499  # permutations to start with, where the product starts with 9,999; both draw more while p straddles the level


def _gap(control: str, world: World, n: int, m: int) -> Simulation:
    """Is a larger loss claimed? Claims of "none beyond the margin" are other claims and do not count here."""

    def run(rng: np.random.Generator) -> bool:
        claim = gap_claim(gap_decision(sides_of(world, n, m, rng, control), control, int(rng.integers(2**31)), FEWEST))
        return claim.is_made and claim.assertion is not GAP_WITHIN

    return each(run)


def _within(control: str, world: World, n: int, m: int) -> Simulation:
    def run(rng: np.random.Generator) -> bool:
        claim = gap_claim(gap_decision(sides_of(world, n, m, rng, control), control, int(rng.integers(2**31)), FEWEST))
        return claim.is_made and claim.assertion is GAP_WITHIN

    return each(run)


def _templated(n: int, m: int) -> Simulation:
    return each(lambda rng: gap_claim(gap_decision(templated(n, m, rng), RANDOM, int(rng.integers(2**31)), FEWEST)))


def _pairs(n: int) -> Simulation:
    def run(rng: np.random.Generator) -> Claim:
        return gap_claim(gap_decision(logistic_pairs(n, rng), PAIRED, int(rng.integers(2**31)), FEWEST))

    return each(run)


@lru_cache(maxsize=200_000)
def _test_of(c: int, n: int, m: int) -> SetTest:
    """The test of a set of which c items lie beyond the mark; spread decides nothing and is left out."""
    k, nan = rank(m), float("nan")
    return SetTest(n, m, k, c, chance_count(n, k, m), set_p(c, n, k, m), least_contaminated(c, n, k, m), nan, nan, nan)


def _counts(rng: np.random.Generator, runs: int, n: int, m: int, draw: Callable, n_contaminated: int = 0) -> np.ndarray:
    """(runs,) items strictly beyond the controls' mark; the first `n_contaminated` are beyond every control."""
    counts, k = [], rank(m)
    for start in range(0, runs, step := max(1, CHUNK // (n + m))):
        size = min(step, runs - start)
        d, d0 = draw(rng, (size, n)), draw(rng, (size, m))
        mark = np.partition(d0, m - k, axis=1)[:, m - k]
        d[:, :n_contaminated] = np.inf
        counts.append((d > mark[:, None]).sum(axis=1))
    return np.concatenate(counts)


def _set(say: Callable[[SetTest], bool], n: int, m: int, draw: Callable, n_contaminated: int = 0) -> Simulation:
    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        values, times = np.unique(_counts(rng, runs, n, m, draw, n_contaminated), return_counts=True)
        flags = [bool(say(_test_of(c, n, m))) for c in values.tolist()]
        return int(times @ np.array(flags, dtype=int)), runs

    return simulate


def _normal(rng, size):
    return rng.standard_normal(size)


def _coarse(rng, size):
    return np.round(rng.standard_normal(size))


def _heavy(rng, size):
    return rng.standard_t(2, size)


def _beyond(test: SetTest) -> bool:
    return set_claim(test, control=RANDOM).is_made


def _too_much(test: SetTest, n_true: int = 0) -> bool:
    """More is claimed than is contaminated."""
    claim = at_least_claim(test, set_claim(test, control=RANDOM))
    return claim.is_made and claim.numbers["n_least"] > n_true


def _naming(n: int, m: int) -> Simulation:
    def run(rng: np.random.Generator) -> Claim:
        d, d0 = rng.standard_normal(n), rng.standard_normal(m)
        n_named = int((np.asarray(bh(pval_conformal(d, d0))) <= 0.05).sum())
        return named_claim(n_named, set_claim(set_test(d, d0), control=RANDOM))

    return each(run)


def _templated_set(rng: np.random.Generator) -> Claim:
    """40 templates of benchmark, other 40 of control: such a set makes no claim."""
    d, d0 = (np.repeat(rng.standard_normal(20), 4) + rng.standard_normal(80) for _ in range(2))
    return set_claim(set_test(d, d0), control=RANDOM, templated=True)


def _any_cutoff(n: int, m: int, draw: Callable, shift: float = 0.0) -> Simulation:
    def run(rng: np.random.Generator) -> Claim:
        p = largest_excess_p(draw(rng, n) + shift, draw(rng, m), int(rng.integers(2**31)), 199).p
        return any_cutoff_claim(p, RANDOM)

    return each(run)


def _clean_page(rng: np.random.Generator) -> Claim:
    """Two drop gaps and four losses that share items, controls and part of their scores; nothing is memorized."""
    gaps = [gap_decision(sides_of(WORLDS["brittle both"], 80, 120, rng, RANDOM), RANDOM, int(rng.integers(2**31)), FEWEST)]
    gaps += [gap_decision(sides_of(WORLDS["clean with noise"], 80, 120, rng, RANDOM), RANDOM, int(rng.integers(2**31)), FEWEST)]
    d, d0 = rng.standard_normal(80), rng.standard_normal(120)
    tests = [set_test(d + rng.standard_normal(80), d0 + rng.standard_normal(120)) for _ in range(4)]
    gap_ps, set_ps = adjusted([one.p for one in gaps], [one.p for one in tests])
    claims = [gap_claim(one, MARGIN, p, 6) for one, p in zip(gaps, gap_ps, strict=True)]
    claims += [set_claim(one, "problems", RANDOM, p, 6) for one, p in zip(tests, set_ps, strict=True)]
    return summary_claim(claims, "problems", 80, 120)


def _blind(outcome: str, n: int, m: int) -> Simulation:
    def run(rng: np.random.Generator) -> bool:
        by_dose = {dose: rng.standard_normal(n) for dose in (1, 4, 16, 64, 256)}
        return detector_claim(detector("x", rng.standard_normal(m), rng.standard_normal(m), by_dose)).outcome == outcome

    return each(run)


def _gap_cells() -> list[Cell]:
    sizes = {
        "nothing changing": ((10, 10), (40, 150)),
        "rare events": ((15, 40), (150, 19)),
        "brittle both": ((40, 150), (80, 120)),
        "clean with noise": ((10, 19), (80, 120), (1_319, 1_200)),
        "several rewrites": ((40, 150), (150, 20)),
    }
    cells = []
    for world, both in sizes.items():
        for n, m in both:
            cells += [
                Cell(assertion, world, f"{n:,} v {m:,}", _gap(control, WORLDS[world], n, m))
                for assertion, control in ((GAP_RANDOM, RANDOM), (GAP_OTHER, OTHER))
            ]
    for world, n in (("nothing changing", 40), ("rare events", 60), ("brittle both", 80)):
        cells.append(Cell(GAP_PAIRED, world, f"{n} pairs", _gap(PAIRED, WORLDS[world], n, n)))
    cells += [Cell(GAP_PAIRED, "pairs of one difficulty", f"{n} pairs", _pairs(n)) for n in (15, 150)]
    cells += [Cell(GAP_RANDOM, "templated items", "20 v 30 templates", _templated(20, 30))]
    for world in DIFFICULTY:
        cells += [Cell(GAP_OTHER, world, f"{n} v {n}", _gap(OTHER, WORLDS[world], n, n)) for n in (15, 40, 150, 500)]
    return cells


def _margin_cells() -> list[Cell]:
    return [
        Cell(GAP_WITHIN, "gap at the margin", "150 v 150", _within(RANDOM, WORLDS["gap at the margin"], 150, 150)),
        Cell(GAP_WITHIN, "gap at the margin", "500 v 500", _within(RANDOM, WORLDS["gap at the margin"], 500, 500)),
        Cell(GAP_WITHIN, "gap at the margin, rare events", "150 v 20", _within(RANDOM, WORLDS["margin, rare"], 150, 20)),
        Cell(
            GAP_WITHIN, "gap at the margin, several rewrites", "150 v 20", _within(RANDOM, WORLDS["margin, rewrites"], 150, 20)
        ),
        Cell(
            GAP_WITHIN,
            "gap at the margin, several rewrites",
            "300 v 300",
            _within(RANDOM, WORLDS["margin, rewrites"], 300, 300),
        ),
        Cell(GAP_WITHIN, "gap at the margin, pairs", "300 pairs", _within(PAIRED, WORLDS["gap at the margin"], 300, 300)),
    ]


def _set_cells() -> list[Cell]:
    sizes = ((10, 19), (15, 30), (80, 120), (150, 150), (500, 30), (1_319, 120), (1_000, 19), (5_000, 1_200))
    cells = []
    for n, m in sizes:
        cells.append(Cell(SET_BEYOND, "clean", f"{n:,} v {m:,}", _set(_beyond, n, m, _normal)))
        cells.append(Cell(AT_LEAST, "clean", f"{n:,} v {m:,}", _set(_too_much, n, m, _normal)))
        tenth = n // 10
        say = partial(_too_much, n_true=tenth)
        cells.append(Cell(AT_LEAST, "a tenth contaminated", f"{n:,} v {m:,}", _set(say, n, m, _normal, tenth)))
    for name, draw in (("clean, ties", _coarse), ("clean, heavy tail", _heavy)):
        for n, m in ((80, 120), (500, 30)):
            cells.append(Cell(SET_BEYOND, name, f"{n} v {m}", _set(_beyond, n, m, draw)))
            cells.append(Cell(AT_LEAST, name, f"{n} v {m}", _set(_too_much, n, m, draw)))
    cells.append(Cell(SET_BEYOND, "clean, templated items", "80 v 80", each(_templated_set)))
    cells += [Cell(ITEMS_NAMED, "clean", f"{n:,} v {m:,}", _naming(n, m)) for n, m in ((80, 120), (150, 1_200))]
    for name, draw in (("clean", _normal), ("clean, ties", _coarse)):
        cells.append(Cell(ANY_CUTOFF, name, "40 v 60", _any_cutoff(40, 60, draw), n_runs=2_000))
    return cells


def _power_cells() -> list[Cell]:
    cells = []
    for n, gap in ((80, "gap .15"), (150, "gap .15"), (40, "gap .26")):
        for assertion, control in ((GAP_RANDOM, RANDOM), (GAP_OTHER, OTHER)):
            cells.append(Cell(assertion, gap, f"{n} v 150", _gap(control, WORLDS[gap], n, 150), "planted"))
    for n, m in ((80, 120), (1_319, 120)):
        say = partial(_set, _beyond, n, m, _normal, n // 10)
        cells.append(Cell(SET_BEYOND, "a tenth contaminated", f"{n:,} v {m}", say(), "planted"))
    cells.append(Cell(ANY_CUTOFF, "shifted by 1 sd", "40 v 60", _any_cutoff(40, 60, _normal, 1.0), "planted", 2_000))
    return cells


ALL_CELLS: tuple[Cell, ...] = (
    *_gap_cells(),
    *_margin_cells(),
    *_set_cells(),
    Cell(ANY_DETECTOR, "clean page of six detectors", "80 v 120", each(_clean_page)),
    Cell(SEES, "nothing seen at any dose", "40 v 150", _blind("sees", 40, 150), n_runs=2_000),
    Cell(SHIFTS, "nothing seen at any dose", "40 v 150", _blind("group", 40, 150), n_runs=2_000),
    *_power_cells(),
)
# Cells enter the table with the run that filled them. The others stand ready in DRAWN; their assertions are no part of the
# catalogue, or do not name these worlds, before they are run: add them here and run ``--only memory --cell NAME``.
RUN = (
    "a set beyond its controls /",
    "at least X % beyond chance /",
    "loses more than the control / brittle, .9 v .5 /",
    "loses more than the control / nothing changing / 10 v 10",
    "memory by drop gap, random control / nothing changing / 10 v 10",
    "memory by drop gap, random control / brittle both / 40 v 150",
    "memory by drop gap, random control / rare events / 15 v 40",
    "no gap beyond the margin / gap at the margin / 150 v 150",
    "items named / clean / 80 v 120",
    "sees from dose /",
    "tells a group from dose /",
)
CELLS: tuple[Cell, ...] = tuple(cell for cell in ALL_CELLS if cell.name.startswith(RUN))
