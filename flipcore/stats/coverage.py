"""How often the intervals hold what they promise, and how often the rules decide wrongly: simulated, as a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.stats.bands import conf_seq_path, max_t_band
from flipcore.stats.decomposition import COLUMNS
from flipcore.stats.estimate import MIN_N
from flipcore.stats.joint import JointMeans
from flipcore.stats.ladder import QUANTITIES
from flipcore.stats.planted import PlantedTruth, planted_columns
from flipcore.stats.resample import generator

SIZES = (26, 50, 150, 500)
KINDS = ("percentile", "bca", "studentized", "clt_cluster", "default")
TRUTHS = (PlantedTruth(0.31, 0.155), PlantedTruth(0.30, 0.10), PlantedTruth(0.16, 0.08))
RULES = ("seed_nonoverlap (percentile)", "paired (percentile)", "paired (t)")
_CONTRAST = [QUANTITIES.index("A_minus_G")]


@dataclass(frozen=True)
class CoverageRow:
    """Counts over `n_sims` data sets of n items: of each quantity's intervals that hold the truth, by kind, and of data
    sets in which each rule finds more artifact than genuine flips."""

    truth: PlantedTruth
    n: int
    n_sims: int
    covered: dict[str, np.ndarray]
    decided: dict[str, int]


def coverage_row(truth: PlantedTruth, n: int, n_sims: int, *, kinds: Sequence[str] = KINDS, n_boot: int = 999,
                 level: float = 0.95, seed: int = 0) -> CoverageRow:
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
            estimates = [column[0] for column in joint.estimates(kind, [level], bounds, _CONTRAST)]
            limits[kind] = np.array([(e.low, e.high) for e in estimates])
        for kind in kinds:
            low, high = limits[kind].T
            covered[kind] += (low <= np.array(truth.values) + 1e-12) & (high >= np.array(truth.values) - 1e-12)
        percentile, t = limits["percentile"], limits["clt_cluster"]
        outcomes = (percentile[2, 0] > percentile[1, 1], percentile[3, 0] > 0, t[3, 0] > 0)
        for rule, outcome in zip(RULES, outcomes, strict=True):
            decided[rule] += bool(outcome)
    return CoverageRow(truth, n, n_sims, covered, decided)


def coverage_table(n_sims: int = 2000, sizes: Sequence[int] = SIZES, truths: Sequence[PlantedTruth] = TRUTHS,
                   **options) -> list[CoverageRow]:
    """One row a truth and size; options go to `coverage_row`."""
    return [coverage_row(truth, n, n_sims, **options) for truth in truths for n in sizes]


@dataclass(frozen=True)
class LooksRow:
    """How often anything is wrong over many looks at pure noise: shares of `n_sims`."""

    what: str
    fixed: float
    valid: float
    n_sims: int


def looks_rows(n_sims: int, seed: int = 0, n: int = 150, n_settings: int = 20) -> list[LooksRow]:
    """A slider over correlated settings (max-|t| band), and a page watched from 20 to 500 items every 10 (confidence
    sequence), each against the ordinary 95 % interval looked at as often."""
    rng = generator(seed, "looks")
    pointwise = band = fixed = sequence = 0
    looks = np.arange(19, 500, 10)
    for simulation in range(n_sims):
        shared, own = rng.normal(size=(n, 1)), rng.normal(size=(n, n_settings))
        columns = np.sqrt(0.5) * shared + np.sqrt(0.5) * own
        pointwise += not _all_hold(*JointMeans(columns).limits("clt_cluster", [0.95])[:, 0])
        simultaneous = max_t_band(columns, seed=simulation, n_boot=999)
        band += not _all_hold(simultaneous.low, simultaneous.high)
        x = (rng.random(500) < 0.5) - 0.5
        path = conf_seq_path(x)
        sequence += not _all_hold(path.low[looks], path.high[looks])
        sd = np.sqrt(np.array([x[:k + 1].var(ddof=1) for k in looks]) / (looks + 1))
        fixed += not _all_hold(path.means[looks] - 1.96 * sd, path.means[looks] + 1.96 * sd)
    return [LooksRow(f"a slider over {n_settings} settings (correlation .5, {n} items)", pointwise / n_sims, band / n_sims,
                     n_sims),
            LooksRow(f"watching {looks.size} times from 20 to 500 items", fixed / n_sims, sequence / n_sims, n_sims)]


def _all_hold(low: np.ndarray, high: np.ndarray) -> bool:
    return bool(((low <= 0) & (high >= 0)).all())


def markdown(rows: Sequence[CoverageRow], looks: Sequence[LooksRow]) -> str:
    """The tables that are kept beside the tests."""
    n_sims = rows[0].n_sims
    out = ["# Simulated coverage and size", "",
           f"{n_sims:,} data sets a row, four two-valued variants an item (`flipcore.stats.planted`), 95 % intervals,",
           "999 resamples, fallbacks included. `default` is what a page prints. Monte Carlo error of a share near .95 is",
           f"{np.sqrt(0.95 * 0.05 / n_sims):.4f}. Written by `python -m flipcore.stats.planted`.", "",
           "## Coverage", "",
           "| T, G, A, A − G | n | quantity | " + " | ".join(rows[0].covered) + " |",
           "|---|--:|---|" + "--:|" * len(rows[0].covered)]
    for row in rows:
        truth = ", ".join(f"{value:.3g}" for value in row.truth.values)
        for q, name in enumerate(QUANTITIES):
            shares = " | ".join(_share(row.covered[kind][q] / row.n_sims) for kind in row.covered)
            out.append(f"| {truth} | {row.n} | {name.replace('_minus_', ' − ')} | {shares} |")
    out += ["", "## How often A is found to be more than G", "",
            "Where A − G = 0 this is the size of the rule (one-sided, nominal .025), elsewhere its power.", "",
            "| T, G, A, A − G | n | " + " | ".join(RULES) + " |", "|---|--:|" + "--:|" * len(RULES)]
    for row in rows:
        truth = ", ".join(f"{value:.3g}" for value in row.truth.values)
        out.append(f"| {truth} | {row.n} | " + " | ".join(_share(row.decided[rule] / row.n_sims) for rule in RULES) + " |")
    out += ["", "## Looking more than once", "", "Share of data sets without any effect in which some look excludes 0.", "",
            "| looks | ordinary 95 % interval | band or sequence | data sets |", "|---|--:|--:|--:|"]
    out += [f"| {row.what} | {_share(row.fixed)} | {_share(row.valid)} | {row.n_sims:,} |" for row in looks]
    return "\n".join(out) + "\n"


def _share(x: float) -> str:
    return f"{x:.3f}".lstrip("0") if x < 1 else "1"


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m flipcore.stats.planted [simulations]``"""
    given = list(sys.argv[1:] if arguments is None else arguments)
    n_sims = int(given[0]) if given else 2000
    print(markdown(coverage_table(n_sims), looks_rows(n_sims)), end="")
