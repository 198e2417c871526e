"""How often the intervals hold what they promise, and how often the rules decide wrongly: simulated, as a table."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.estimate import MIN_N
from flipcore.stats.base.joint_means import JointMeans
from flipcore.stats.base.measured_coverage import TABLE
from flipcore.stats.base.simultaneous import bounded_path, conf_seq_path, max_t_band
from flipcore.stats.flips.decomposition import COLUMNS
from tests.lab.simulations.planted import PlantedTruth, planted_columns

QUANTITIES = ("T", "G", "A", "A_minus_G")
SIZES = (26, 50, 150, 500)
KINDS = ("percentile", "bca", "studentized", "clt_cluster", "default")
TRUTHS = (PlantedTruth(0.31, 0.155), PlantedTruth(0.30, 0.10), PlantedTruth(0.16, 0.08))
RULES = ("source_nonoverlap (percentile)", "paired (percentile)", "paired (t)")
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
    """A slider over settings with correlation .5 and no effect: single 95 % intervals and the max-|t| band."""
    rng = generator(seed, "slider")
    wrong = {"single intervals": 0, "max-t band": 0}
    for simulation in range(n_sims):
        columns = np.sqrt(0.5) * (rng.normal(size=(n, 1)) + rng.normal(size=(n, n_settings)))
        band = max_t_band(columns, seed=simulation, n_boot=999)
        wrong["single intervals"] += not _all_hold(*_single_limits(columns), 0.0)
        wrong["max-t band"] += not _all_hold(band.low, band.high, 0.0)
    return LooksRow(f"slider over {n_settings} settings, {n} items", n_sims, _shares(wrong, n_sims))


def watching_row(rate: float, n_sims: int, seed: int = 0) -> LooksRow:
    """0/1 outcomes watched 49 times from 20 to 500 items: single 95 % intervals and the two confidence sequences."""
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


def markdown(rows: Sequence[CoverageRow], looks: Sequence[LooksRow]) -> str:
    """The tables that are kept beside the tests."""
    n_sims = rows[0].n_sims
    out = [
        "# Simulated coverage and size",
        "",
        f"{n_sims:,} data sets a row, four two-valued variants an item (`tests.lab.simulations.planted`), 95 % intervals,",
        "999 resamples, fallbacks included. `default` is what a page prints. Monte Carlo error of a share near .95 is",
        f"{np.sqrt(0.95 * 0.05 / n_sims):.4f}. Written by `python -m tests.lab.simulations.coverage --store`.",
        "",
        "## Coverage",
        "",
        "| T, G, A, A − G | n | quantity | " + " | ".join(rows[0].covered) + " |",
        "|---|--:|---|" + "--:|" * len(rows[0].covered),
    ]
    for row in rows:
        truth = ", ".join(f"{value:.3g}" for value in row.truth.values)
        for q, name in enumerate(QUANTITIES):
            shares = " | ".join(_share(row.covered[kind][q] / row.n_sims) for kind in row.covered)
            out.append(f"| {truth} | {row.n} | {name.replace('_minus_', ' − ')} | {shares} |")
    out += [
        "",
        "## How often A is found to be more than G",
        "",
        "Where A − G = 0 this is the size of the rule (one-sided, nominal .025), elsewhere its power.",
        "",
        "| T, G, A, A − G | n | " + " | ".join(RULES) + " |",
        "|---|--:|" + "--:|" * len(RULES),
    ]
    for row in rows:
        truth = ", ".join(f"{value:.3g}" for value in row.truth.values)
        out.append(f"| {truth} | {row.n} | " + " | ".join(_share(row.decided[rule] / row.n_sims) for rule in RULES) + " |")
    out += [
        "",
        "## Looking more than once",
        "",
        "Share of data sets in which some look excludes the truth; 95 % promised.",
        "",
        "| looks | data sets | wrong somewhere |",
        "|---|--:|---|",
    ]
    out += [
        f"| {row.what} | {row.n_sims:,} | " + ", ".join(f"{name} {_share(x)}" for name, x in row.wrong.items()) + " |"
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


def _share(x: float) -> str:
    return f"{x:.3f}".lstrip("0") if x < 1 else "1"


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m tests.lab.simulations.coverage [--simulations N] [--store]``: prints the page; `--store` keeps what labels
    say of short intervals."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.simulations.coverage")
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--store", action="store_true", help="write measured_coverage.json")
    options = parser.parse_args(arguments)
    n_sims = options.simulations
    looks = [slider_row(n_sims), *(watching_row(rate, n_sims) for rate in (0.5, 0.3, 0.1, 0.05))]
    rows = coverage_table(n_sims)
    if options.store:
        lines = ",\n".join(map(json.dumps, table_rows(rows)))
        TABLE.write_text(f'{{"level": 0.95, "data_sets": {n_sims}, "rows": [\n{lines}\n]}}\n', encoding="utf-8")
    print(markdown(rows, looks), end="")


if __name__ == "__main__":
    main()
