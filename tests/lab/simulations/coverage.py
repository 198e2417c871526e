"""How often the intervals hold what they promise, and how often the rules decide wrongly: simulated, as a table.

`displayed` simulates every interval that a page shows, through the function that makes it, over families, sizes, rates and samples.
`coverage_row` simulates the kinds that a user may choose; what they hold labels them on pages (`measured_coverage`).
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from flipcore.core.randomness import generator
from flipcore.stats.audit.paired import paired_scores
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.estimate import MIN_CLAIM_FAMILIES, MIN_FAMILIES, MIN_N, Estimate
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import guarded_limits
from flipcore.stats.base.intervals import SIGNED, UNIT, mover
from flipcore.stats.base.joint_means import TABLE, JointMeans
from flipcore.stats.base.simultaneous import bounded_path
from flipcore.stats.flips.decomposition import COLUMNS
from flipcore.stats.holdout.verdict import difficulty_test, difficulty_test_clustered
from tests.lab.claims.family_sizes import SHAPES, numbers, shared
from tests.lab.simulations.looks import conf_seq_path, max_t_band
from tests.lab.simulations.planted import PlantedTruth, planted_columns

QUANTITIES = ("T", "G", "A", "A_minus_G")
SIZES = (26, 50, 150, 500)
KINDS = ("percentile", "bca", "studentized", "clt_cluster", "default")
TRUTHS = (PlantedTruth(0.31, 0.155), PlantedTruth(0.30, 0.10), PlantedTruth(0.16, 0.08))
RULES = ("source_nonoverlap (percentile)", "paired (percentile)", "paired (t)")
PAGE = Path(__file__).with_suffix(".md")
N_ITEMS = (10, 20, 50, 100)
RATES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 0.98)
SAMPLES = (1, 5)
CORRELATIONS = (0.0, 0.5, 0.9)
PARTS = (0.4, 0.2, 0.4)  # of what flips: under the compared extractor alone, the reference alone, both
RETRO = 0.8  # of the target's accuracy
FEW_SIMS, N_COMPARED = 10, 2


@dataclass(frozen=True)
class World:
    """About `n` items in families of this shape. An event has this `rate` and this `correlation` within a family. With several `samples`
    an item has its own chance (Beta of mean `rate`, α + β = 1), which its family shares, and its value is the share of samples."""

    shape: str
    n: int
    rate: float
    samples: int
    correlation: float

    @property
    def sizes(self) -> np.ndarray:
        return SHAPES[self.shape](self.n)

    @property
    def n_effective(self) -> float:
        return float(self.sizes.sum() ** 2 / (self.sizes**2).sum())

    @property
    def families(self) -> np.ndarray | None:
        return None if self.sizes.max() == 1 else numbers(self.sizes)

    def draw(self, rng: np.random.Generator, runs: int, rate: float | None = None) -> np.ndarray:
        """(runs, items) values from 0 to 1."""
        rate = self.rate if rate is None else rate
        u = shared(rng, self.sizes, runs, self.correlation)
        if self.samples == 1:
            return (u < rate).astype(float)
        grid = np.linspace(0, 1, 2001)
        return rng.binomial(self.samples, np.interp(u, grid, betaincinv(rate, 1 - rate, grid))) / self.samples

    def parts(self, rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray]:
        """(runs, items) under the compared extractor and under the reference."""
        values = self.draw(rng, runs)
        kind = np.digitize(shared(rng, self.sizes, runs, self.correlation), np.cumsum(PARTS[:2]))
        return values * (kind != 1), values * (kind != 0)


Columns = tuple[np.ndarray, ...]  # (runs, items) each


class Displayed(NamedTuple):
    """An interval that pages show: data sets with their truth, the page's own function on one, and, where a call a data set would take
    hours, the same on all of them, which every cell compares with it on its first data sets."""

    draw: Callable[[World, np.random.Generator, int], tuple[float, Columns]]
    page: Callable[[World, Columns], Estimate]
    every: Callable[[World, Columns], np.ndarray | None] = lambda world, columns: None


def _of_parts(t: float, g: float) -> Callable:
    """Item values t·T + g·G under two extractors, and their mean in the population."""

    def draw(world: World, rng: np.random.Generator, runs: int) -> tuple[float, Columns]:
        compared, reference = world.parts(rng, runs)
        rates = PARTS[0] + PARTS[2], PARTS[1] + PARTS[2]
        return world.rate * (t * rates[0] + g * rates[1]), (t * compared + g * reference,)

    return draw


def _share(world: World, rng: np.random.Generator, runs: int) -> tuple[float, Columns]:
    return world.rate, (world.draw(rng, runs),)


def _accuracies(world: World, columns: Columns) -> np.ndarray:
    units = np.arange(columns[0].shape[1]) if world.families is None else world.families
    return FamilyMeans.from_values(columns[0].T, units).limits([0.95])[:, 0]


def _joint(bounds: tuple[float, float]) -> Displayed:
    """T, G, a part and a floor are shares, so they have one interval; A and what is beyond a floor are differences."""

    def every(world: World, columns: Columns) -> np.ndarray:
        joint = JointMeans(columns[0].T, 1, 999, world.families)
        of = joint.intervals("default", [0.95], [bounds] * len(columns[0]))
        return np.array([of.low[0], of.high[0]])

    def page(world: World, columns: Columns) -> Estimate:
        return JointMeans(columns[0][:, None], 1, 999, world.families).estimates("default", [0.95], [bounds])[0][0]

    draw = {UNIT: _share, COLUMNS["A"]: _of_parts(1, -1), COLUMNS["A_minus_G"]: _of_parts(1, -2)}[bounds]
    return Displayed(draw, page, every)


def _pairs(world: World, rng: np.random.Generator, runs: int) -> tuple[float, Columns]:
    t, g = world.parts(rng, runs)
    return world.rate * (PARTS[0] - PARTS[1]), (g, t)


def _paired(world: World, columns: Columns) -> np.ndarray | None:
    if world.families is None:
        return None  # Tango's limits of 0/1 answers, kept by counts
    difference = columns[1] - columns[0]
    if world.n_effective < MIN_CLAIM_FAMILIES:
        return FamilyMeans.from_values(difference.T, world.families).limits([0.95], SIGNED)[:, 0]
    return np.array(guarded_limits(difference, difference, SIGNED, 0.025, world.families))


def _two_sets(world: World, rng: np.random.Generator, runs: int) -> tuple[float, Columns]:
    """Of one size, their families apart."""
    return world.rate * (1 - RETRO), (world.draw(rng, runs), world.draw(rng, runs, RETRO * world.rate))


def _inflation(world: World, columns: Columns) -> Estimate:
    target, retro = columns
    if world.families is None:
        return _of_counts(int(target.sum()), int(retro.sum()), target.size)
    names, is_retro = np.concatenate([world.families, world.families + target.size]), np.repeat([False, True], target.size)
    return difficulty_test_clustered(np.concatenate(columns), is_retro, names).estimate


@cache
def _of_counts(k_target: int, k_retro: int, n: int) -> Estimate:
    return difficulty_test(k_target, n, k_retro, n).estimate


def _inflations(world: World, columns: Columns) -> np.ndarray | None:
    if world.families is None:
        return None
    sides = [FamilyMeans.from_values(x.T, world.families) for x in columns]
    one, two = (zip(x.values.tolist(), x.limits([0.95])[:, 0].T.tolist(), strict=True) for x in sides)
    return np.array([mover(*first, *second) for first, second in zip(one, two, strict=True)]).T


DISPLAYED = {
    "accuracy": Displayed(_share, lambda world, columns: accuracy(columns[0], world.families), _accuracies),
    "T, G, a part, a floor": _joint(UNIT),
    "A, a part beyond its floor": _joint(COLUMNS["A"]),
    "A − G": _joint(COLUMNS["A_minus_G"]),
    "paired difference": Displayed(_pairs, lambda world, columns: paired_scores(*columns, world.families).difference, _paired),
    "inflation": Displayed(_two_sets, _inflation, _inflations),
}


@dataclass(frozen=True)
class Held:
    """Of `n_sims` data sets of a world `n_shown` had an interval, `n_held` one with the truth inside."""

    world: World
    n_sims: int
    n_shown: int
    n_held: int

    @property
    def share(self) -> float:
        return self.n_held / self.n_shown if self.n_shown else float("nan")


def displayed(quantity: str, world: World, n_sims: int, seed: int = 0) -> Held:
    """One cell of the table of displayed intervals; of too few families a few data sets show that there is none."""
    rng = generator(seed, "displayed", quantity, world.shape, world.n, world.rate, world.samples, world.correlation)
    of, n_sims = DISPLAYED[quantity], n_sims if world.n_effective >= MIN_FAMILIES else FEW_SIMS
    truth, columns = of.draw(world, rng, n_sims)
    limits = of.every(world, columns) if world.n_effective >= MIN_FAMILIES else None
    by_page = [
        of.page(world, tuple(x[i] for x in columns)) for i in range(n_sims if limits is None else min(N_COMPARED, n_sims))
    ]
    pages = np.array([(one.low, one.high) for one in by_page]).T
    low, high = pages if limits is None else limits
    np.testing.assert_allclose(pages, [low[: len(by_page)], high[: len(by_page)]], atol=1e-9)
    held = (low <= truth + 1e-9) & (high >= truth - 1e-9)
    return Held(world, n_sims, int((~np.isnan(low)).sum()), int(held.sum()))


def worlds(shape: str, n: int, quantity: str) -> Iterator[World]:
    """Every rate, number of samples and correlation; inflation is of one answer an item. None where the shape has no family at n."""
    if shape != "none" and SHAPES[shape](n).max() == 1:
        return
    for rate, samples, correlation in product(RATES, SAMPLES, CORRELATIONS if shape != "none" else (0.0,)):
        if samples == 1 or quantity != "inflation":
            yield World(shape, n, rate, samples, correlation)


def displayed_table(n_sims: int, seed: int = 0, sizes: Sequence[int] = N_ITEMS) -> dict[str, list[Held]]:
    """Quantity -> its cells."""
    return {
        quantity: [
            displayed(quantity, one, n_sims, seed) for shape in SHAPES for n in sizes for one in worlds(shape, n, quantity)
        ]
        for quantity in DISPLAYED
    }


@dataclass(frozen=True)
class CoverageRow:
    """Counts over `n_sims` data sets of n items: of each quantity's intervals that hold the truth, by kind, and of data
    sets in which each rule finds more artifact than genuine flips."""

    truth: PlantedTruth
    n: int
    n_sims: int
    covered: dict[str, np.ndarray]
    decided: dict[str, int]


def coverage_row(
    truth: PlantedTruth,
    n: int,
    n_sims: int,
    *,
    kinds: Sequence[str] = KINDS,
    n_boot: int = 999,
    level: float = 0.95,
    seed: int = 0,
) -> CoverageRow:
    """Simulates one row. Raises ValueError below the number of items that has intervals at all."""
    if n < MIN_N:
        raise ValueError(f"Coverage needs at least {MIN_N} items; got {n}.")
    rng = generator(seed, "coverage", truth.values, n)
    covered = {kind: np.zeros(len(QUANTITIES), dtype=int) for kind in kinds}
    decided = dict.fromkeys(RULES, 0)
    bounds = [COLUMNS[name] for name in QUANTITIES]
    for simulation in range(n_sims):
        joint = JointMeans(planted_columns(n, truth, rng), simulation, n_boot)
        limits = {}
        for kind in dict.fromkeys((*kinds, "percentile", "clt_cluster")):
            estimates = [column[0] for column in joint.estimates(kind, [level], bounds)]
            limits[kind] = np.array([(e.low, e.high) for e in estimates])
        for kind in kinds:
            low, high = limits[kind].T
            covered[kind] += (low <= np.array(truth.values) + 1e-12) & (high >= np.array(truth.values) - 1e-12)
        percentile, t = limits["percentile"], limits["clt_cluster"]
        outcomes = (percentile[2, 0] > percentile[1, 1], percentile[3, 0] > 0, t[3, 0] > 0)
        for rule, outcome in zip(RULES, outcomes, strict=True):
            decided[rule] += bool(outcome)
    return CoverageRow(truth, n, n_sims, covered, decided)


def coverage_table(
    n_sims: int = 2000, sizes: Sequence[int] = SIZES, truths: Sequence[PlantedTruth] = TRUTHS, **options
) -> list[CoverageRow]:
    """One row a truth and size; options go to `coverage_row`."""
    return [coverage_row(truth, n, n_sims, **options) for truth in truths for n in sizes]


@dataclass(frozen=True)
class LooksRow:
    """How often anything is wrong over many looks: shares of `n_sims` data sets, by the method that is looked at."""

    what: str
    n_sims: int
    wrong: dict[str, float]


def slider_row(n_sims: int, seed: int = 0, n: int = 150, n_settings: int = 20) -> LooksRow:
    """A slider over settings with correlation .5 and no effect: single 95% intervals and the max-|t| band."""
    rng = generator(seed, "slider")
    wrong = {"single intervals": 0, "max-t band": 0}
    for simulation in range(n_sims):
        columns = np.sqrt(0.5) * (rng.normal(size=(n, 1)) + rng.normal(size=(n, n_settings)))
        band = max_t_band(columns, seed=simulation, n_boot=999)
        wrong["single intervals"] += not _all_hold(*_single_limits(columns), 0.0)
        wrong["max-t band"] += not _all_hold(band.low, band.high, 0.0)
    return LooksRow(f"slider over {n_settings} settings, {n} items", n_sims, _shares(wrong, n_sims))


def watching_row(rate: float, n_sims: int, seed: int = 0) -> LooksRow:
    """0/1 outcomes watched 49 times from 20 to 500 items: single 95% intervals and the two confidence sequences."""
    rng = generator(seed, "watching", rate)
    looks = np.arange(19, 500, 10)
    wrong = {"single intervals": 0, "asymptotic sequence": 0, "bounded sequence": 0}
    for _ in range(n_sims):
        x = (rng.random(500) < rate).astype(float)
        asymptotic, bounded = conf_seq_path(x), bounded_path(x)
        means = asymptotic.means[looks]
        half = 1.96 * np.sqrt(means * (1 - means) / looks)  # looks are t - 1: the usual n - 1
        fixed = np.where(half > 0, half, np.nan)
        wrong["single intervals"] += not _all_hold(means - fixed, means + fixed, rate)
        wrong["asymptotic sequence"] += not _all_hold(asymptotic.low[looks], asymptotic.high[looks], rate)
        wrong["bounded sequence"] += not _all_hold(bounded.low[looks], bounded.high[looks], rate)
    return LooksRow(f"watching 49 times, 20 to 500 items, rate {rate}", n_sims, _shares(wrong, n_sims))


def _shares(counts: dict[str, int], n: int) -> dict[str, float]:
    return {name: count / n for name, count in counts.items()}


def _single_limits(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = JointMeans(columns).limits("clt_cluster", [0.95])[:, 0]
    return low, high


def _all_hold(low: np.ndarray, high: np.ndarray, truth: float) -> bool:
    """No look excludes the truth; a look without an interval excludes nothing."""
    return not bool(((low > truth) | (high < truth)).any())


def _least(cells: Sequence[Held]) -> Held | None:
    """The cell that held least, of those in which at least a tenth of the data sets have an interval."""
    return min((one for one in cells if 10 * one.n_shown >= one.n_sims), key=lambda one: one.share, default=None)


def _where(one: Held | None) -> str:
    if one is None:
        return "no interval"
    within = f", correlation {one.world.correlation:g}" if one.world.shape != "none" else ""
    return f"{_digits(one.share)} at {one.world.rate:g}{within}"


def _displayed_page(table: Mapping[str, Sequence[Held]], seed: int) -> list[str]:
    n_sims = max(one.n_sims for cells in table.values() for one in cells)
    n_cells = sum(map(len, table.values()))
    out = [
        "# Simulated coverage and size",
        "",
        "Written by `python -m tests.lab.simulations.coverage --store`.",
        "",
        "## Every interval that a page shows",
        "",
        f"95% intervals by the functions that pages call, {n_sims:,} data sets a cell, {n_cells:,} cells, seed {seed}: rates "
        f"{', '.join(f'{one:g}' for one in RATES)}, correlations within",
        f"families {', '.join(f'{one:g}' for one in CORRELATIONS)}, the five patterns of unequal families. A line stands for all of its "
        "cells: the least share that held the truth, and",
        "where, of cells in which a tenth of the data sets have an interval. Monte Carlo error of a share near .95 is "
        f"{np.sqrt(0.95 * 0.05 / n_sims):.4f}. Of 6 effective",
        "families and more something may be claimed, of 3 and more an interval is shown. The least of all:",
        "",
    ]
    for quantity, cells in table.items():
        one = _least(cells)
        if one is not None:
            asked = "" if quantity == "inflation" else f", {one.world.samples} sample{'s' * (one.world.samples > 1)}"
            out.append(f"- {quantity}: {_where(one)} ({one.world.shape}, {one.world.sizes.sum()} items{asked})")
    out += [
        "",
        "| interval of | families | items | effective families | one sample | five samples |",
        "|---|---|--:|--:|---|---|",
    ]
    for quantity, cells in table.items():
        for (shape, _), part in _by_place(cells).items():
            of = [_where(_least([one for one in part if one.world.samples == s])) for s in SAMPLES]
            of[1] = "–" if quantity == "inflation" else of[1]
            world = part[0].world
            out.append(f"| {quantity} | {shape} | {world.sizes.sum()} | {world.n_effective:.1f} | {of[0]} | {of[1]} |")
    return out


def _by_place(cells: Sequence[Held]) -> dict[tuple[str, int], list[Held]]:
    out: dict[tuple[str, int], list[Held]] = {}
    for one in cells:
        out.setdefault((one.world.shape, one.world.n), []).append(one)
    return out


def markdown(table: Mapping[str, Sequence[Held]], rows: Sequence[CoverageRow], looks: Sequence[LooksRow], seed: int = 0) -> str:
    """The page that is kept beside the tests. What the kinds hold that a user may choose is kept for their labels alone."""
    out = _displayed_page(table, seed)
    out += [
        "",
        "## How often A is found to be more than G",
        "",
        "Where A − G = 0 this is the size of the rule (one-sided, nominal .025), elsewhere its power. "
        f"{rows[0].n_sims:,} data sets a row, four",
        "two-valued variants an item (`tests.lab.simulations.planted`), 999 resamples.",
        "",
        "| T, G, A, A − G | n | " + " | ".join(RULES) + " |",
        "|---|--:|" + "--:|" * len(RULES),
    ]
    for row in rows:
        truth = ", ".join(f"{value:.3g}" for value in row.truth.values)
        out.append(f"| {truth} | {row.n} | " + " | ".join(_digits(row.decided[rule] / row.n_sims) for rule in RULES) + " |")
    out += [
        "",
        "## Looking more than once",
        "",
        "Share of data sets in which some look excludes the truth; 95% promised.",
        "",
        "| looks | data sets | wrong somewhere |",
        "|---|--:|---|",
    ]
    out += [
        f"| {row.what} | {row.n_sims:,} | " + ", ".join(f"{name} {_digits(x)}" for name, x in row.wrong.items()) + " |"
        for row in looks
    ]
    return "\n".join(out) + "\n"


def table_rows(rows: Sequence[CoverageRow]) -> list[dict]:
    """What `measured_coverage` reads: of each kind, quantity and size the share that held the truth, to three digits."""
    return [
        {"T": row.truth.values[0], "G": row.truth.values[1], "n": row.n, "quantity": name, "kind": kind}
        | {"covered": round(float(row.covered[kind][q]) / row.n_sims, 3)}
        for row in rows
        for q, name in enumerate(QUANTITIES)
        for kind in row.covered
    ]


def _digits(x: float) -> str:
    return f"{x:.3f}".lstrip("0") if x < 1 else "1"


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m tests.lab.simulations.coverage [--simulations N] [--store]``: prints the page; `--store` keeps it, and what
    labels say of short intervals."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.simulations.coverage")
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="of the displayed intervals")
    parser.add_argument("--store", action="store_true", help="write coverage.md and measured_coverage.json")
    options = parser.parse_args(arguments)
    n_sims = options.simulations
    table = displayed_table(max(1, n_sims // 2), options.seed)  # many cells
    looks = [slider_row(n_sims), *(watching_row(rate, n_sims) for rate in (0.5, 0.3, 0.1, 0.05))]
    rows = coverage_table(n_sims)
    page = markdown(table, rows, looks, options.seed)
    if options.store:
        lines = ",\n".join(map(json.dumps, table_rows(rows)))
        TABLE.write_text(f'{{"level": 0.95, "data_sets": {n_sims}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
        PAGE.write_text(page, encoding="utf-8")
    print(page, end="")


if __name__ == "__main__":
    main()
