"""Cells of the claims about memory: drop gaps (`memory_gaps`), published scores (`memory_scores`), tests of a set, pages of several
detectors and models, doses."""

import base64
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from flipcore.claims.claim import Claim
from flipcore.claims.memory import ANY_DETECTOR, Witness, adjusted, summary_claim
from flipcore.claims.memory_gap import MARGIN, gap_claim
from flipcore.claims.memory_score import score_claim
from flipcore.claims.memory_sets import (
    ANY_CUTOFF,
    AT_LEAST,
    AT_LEAST_ANYWHERE,
    ITEMS_NAMED,
    SET_BEYOND,
    any_cutoff_claim,
    at_least_claim,
    named_claim,
    set_claim,
)
from flipcore.claims.memory_truth import SEES, SHIFTS, detector_claim
from flipcore.reports.browser_data.cutoffs import loss_line
from flipcore.stats.base.multiplicity import bh
from flipcore.stats.memory.exceedance import SetTest, chance_count, largest_excess_p, least_contaminated, rank, set_p, set_test
from flipcore.stats.memory.gap_decision import RANDOM, gap_decision
from flipcore.stats.memory.ground_truth import detector
from flipcore.stats.memory.loss_analysis import loss_test
from flipcore.stats.memory.loss_test import pval_conformal
from tests.lab.claims.cell import Cell, Simulation, each
from tests.lab.claims.memory_gaps import FEWEST, GAP_CELLS, promising
from tests.lab.claims.memory_scores import SCORE_CELLS, score_gap_of
from tests.lab.claims.memory_worlds import WORLDS, studies

CHUNK = 20_000_000  # values drawn at once


@lru_cache(maxsize=200_000)
def _test_of(c: int, n: int, m: int) -> SetTest:
    """The test of a set of which c items lie beyond the mark; spread decides nothing and is left out."""
    k, nan = rank(m), float("nan")
    return SetTest(n, m, k, c, chance_count(n, k, m), set_p(c, n, k, m), least_contaminated(c, n, k, m), nan, nan, nan)


def _counts(
    rng: np.random.Generator, runs: int, n: int, m: int, draw: Callable, n_contaminated: int = 0, spread: float = 1.0
) -> np.ndarray:
    """(runs,) items strictly beyond the controls' mark; the first `n_contaminated` are beyond every control, the others lie
    `spread` times as far apart as controls."""
    counts, k = [], rank(m)
    for start in range(0, runs, step := max(1, CHUNK // (n + m))):
        size = min(step, runs - start)
        d, d0 = draw(rng, (size, n)) * spread, draw(rng, (size, m))
        mark = np.partition(d0, m - k, axis=1)[:, m - k]
        d[:, :n_contaminated] = np.inf
        counts.append((d > mark[:, None]).sum(axis=1))
    return np.concatenate(counts)


def _set(
    say: Callable[[SetTest], bool], n: int, m: int, draw: Callable, n_contaminated: int = 0, spread: float = 1.0
) -> Simulation:
    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        values, times = np.unique(_counts(rng, runs, n, m, draw, n_contaminated, spread), return_counts=True)
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


def _naming(n: int, m: int, n_contaminated: int = 0) -> Simulation:
    def run(rng: np.random.Generator) -> Claim:
        d, d0 = rng.standard_normal(n), rng.standard_normal(m)
        d[:n_contaminated] += 5
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


def _dragged(n: int, m: int, draw: Callable, n_contaminated: int = 0, more_than: int | None = None) -> Simulation:
    """Is more claimed than is contaminated (or than `more_than`) wherever the line is dragged? Read off the data behind the line."""
    most = n_contaminated if more_than is None else more_than

    def run(rng: np.random.Generator) -> bool:
        d = draw(rng, n)
        d[:n_contaminated] += 10.0
        line = loss_line(
            loss_test([str(i) for i in range(n)], d, draw(rng, m)), 0.0, "", ("benchmark", "control"), simultaneous=True
        )
        low = np.frombuffer(base64.b64decode(line.numbers["low"]), dtype="<f4")
        return "{low|percent}" in line.lines[0][0][1] and bool(np.nanmax(low) > most / n + 1e-6)

    return each(run)


def _page(n: int, m: int, detectors: int = 6, shift: float = 0.0) -> Simulation:
    """A page of two drop gaps and losses that share items, controls and part of their scores; nothing is memorized, or every item's loss
    lies `shift` higher. Pages on which no detector comes near a p that Holm would leave are not put into words."""
    worlds = ("brittle both", "clean with noise")

    def simulate(rng: np.random.Generator, runs: int) -> tuple[int, int]:
        by_gap = [studies(WORLDS[world], n, m, rng, runs) for world in worlds]
        near = np.isin(np.arange(runs), np.concatenate([promising(one, RANDOM, False, 1.5) for one in by_gap]))
        return sum(_is_claimed(rng, by_gap, run, n, m, detectors, bool(near[run]), shift) for run in range(runs)), runs

    return simulate


def _is_claimed(
    rng: np.random.Generator, by_gap: list, run: int, n: int, m: int, detectors: int, near: bool, shift: float
) -> bool:
    d, d0 = rng.standard_normal(n) + shift, rng.standard_normal(m)
    tests = [set_test(d + rng.standard_normal(n), d0 + rng.standard_normal(m)) for _ in range(detectors - len(by_gap))]
    if not near and detectors * min(one.p for one in tests) > ANY_DETECTOR.error_rate:
        return False
    gaps = [gap_decision(one.sides(run, RANDOM), RANDOM, int(rng.integers(2**31)), FEWEST) for one in by_gap]
    gap_ps, set_ps = adjusted([one.p for one in gaps], [one.p for one in tests])
    claims = [gap_claim(one, MARGIN, p, detectors) for one, p in zip(gaps, gap_ps, strict=True)]
    claims += [set_claim(one, "problems", RANDOM, p, detectors) for one, p in zip(tests, set_ps, strict=True)]
    return summary_claim([Witness("problems", "losses", one) for one in claims], {"problems": f"{n} problems"}, m).is_made


def _models(n: int, m: int, models: int = 8, detectors: int = 6) -> Simulation:
    """Clean models on the same items, which are as hard for all: is any one of them accused?"""

    def run(rng: np.random.Generator) -> bool:
        hard, hard_control = rng.standard_normal(n), rng.standard_normal(m)
        sets = [
            set_test(hard + rng.standard_normal(n), hard_control + rng.standard_normal(m))
            for _ in range(models * (detectors - 1))
        ]
        scores = [
            score_gap_of((int((hard > draw[:n]).sum()), n), (int((hard_control > draw[n:]).sum()), m), RANDOM)
            for draw in rng.standard_normal((models, n + m))
        ]
        score_ps, set_ps = adjusted([one.p for one in scores], [one.p for one in sets])
        size = models * detectors
        claims = [score_claim(one, p, size) for one, p in zip(scores, score_ps, strict=True)]
        claims += [set_claim(one, "problems", RANDOM, p, size) for one, p in zip(sets, set_ps, strict=True)]
        return any(claim.is_made for claim in claims)

    return each(run)


def _doses(outcome: str, n: int, m: int, shift: float = 0.0) -> Simulation:
    """Five doses; those of the largest lie `shift` higher."""

    def run(rng: np.random.Generator) -> bool:
        by_dose = {dose: rng.standard_normal(n) + shift * (dose == 256) for dose in (1, 4, 16, 64, 256)}
        return detector_claim(detector("x", rng.standard_normal(m), rng.standard_normal(m), by_dose)).outcome == outcome

    return each(run)


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
    cells.append(
        Cell(SET_BEYOND, "spread of scores 1.2 v 1", "500 v 500", _set(_beyond, 500, 500, _normal, spread=1.2), "outside")
    )
    cells += [Cell(ITEMS_NAMED, "clean", f"{n:,} v {m:,}", _naming(n, m)) for n, m in ((80, 120), (150, 1_200))]
    for n, m in ((10, 19), (40, 60)):
        for name, draw in (("clean", _normal), ("clean, ties", _coarse)):
            cells.append(Cell(ANY_CUTOFF, name, f"{n} v {m}", _any_cutoff(n, m, draw)))
    for n, m in ((15, 30),):
        cells += [
            Cell(AT_LEAST_ANYWHERE, name, f"{n} v {m}", _dragged(n, m, draw, k))
            for name, draw, k in (
                ("clean", _normal, 0),
                ("clean, ties", _coarse, 0),
                ("a tenth contaminated", _normal, n // 10),
            )
        ]
    return cells


def _power_cells() -> list[Cell]:
    cells = []
    for n, m in ((80, 120), (1_319, 120)):
        say = partial(_set, _beyond, n, m, _normal, n // 10)
        cells.append(Cell(SET_BEYOND, "a tenth contaminated", f"{n:,} v {m}", say(), "planted"))
        least = partial(_too_much, n_true=n // 10)
        cells.append(
            Cell(AT_LEAST, "a fifth contaminated, a tenth said", f"{n:,} v {m}", _set(least, n, m, _normal, n // 5), "planted")
        )
    cells.append(Cell(ITEMS_NAMED, "a tenth shifted by 5 sd", "150 v 1,200", _naming(150, 1_200, 15), "planted", 2_000))
    dragged = _dragged(15, 30, _normal, 12, 0)
    cells.append(Cell(AT_LEAST_ANYWHERE, "12 contaminated, one said", "15 v 30", dragged, "planted", 2_000))
    cells.append(
        Cell(
            ANY_DETECTOR, "page of six detectors, losses shifted by 1 sd", "80 v 120", _page(80, 120, 6, 1.0), "planted", 2_000
        )
    )
    for assertion, outcome, shift in ((SEES, "sees", 4.0), (SHIFTS, "group", 1.0)):
        cells.append(
            Cell(assertion, f"shifted by {shift:g} sd at 256", "40 v 150", _doses(outcome, 40, 150, shift), "planted", 2_000)
        )
    cells.append(Cell(ANY_CUTOFF, "shifted by 1 sd", "40 v 60", _any_cutoff(40, 60, _normal, 1.0), "planted", 2_000))
    return cells


CELLS: tuple[Cell, ...] = (
    *GAP_CELLS,
    *SCORE_CELLS,
    *_set_cells(),
    Cell(ANY_DETECTOR, "clean page of six detectors", "80 v 120", _page(80, 120)),
    Cell(ANY_DETECTOR, "clean page of six detectors", "15 v 40", _page(15, 40)),
    Cell(ANY_DETECTOR, "eight clean models", "80 v 120", _models(80, 120), n_runs=2_000),
    Cell(SEES, "nothing seen at any dose", "40 v 150", _doses("sees", 40, 150), n_runs=2_000),
    Cell(SHIFTS, "nothing seen at any dose", "40 v 150", _doses("group", 40, 150), n_runs=2_000),
    *_power_cells(),
)
