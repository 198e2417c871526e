"""Size and power of Flipscope's tests beside those of other tools, in worlds with a known truth.

    pip install -r requirements-tools.txt
    python -m tests.lab.outside_tools                       print the tables
    python -m tests.lab.outside_tools --table gate          print one of them
    python -m tests.lab.outside_tools --table gate --write  and write it to docs/outside-tools.md

Four questions. Is model B better than model A on the same items, some of them in clusters
(`models`)? Is that said of equal models of which one wins alone and loses in clusters (`few`)? Did
a new run lose more than a margin (`gate`)? And how many outputs are right, where a judge reads all
and people some of them (`judge`)? Each tool is called as its own documentation calls it, with the
clusters where it takes any, at a two-sided .05; the gate's two verdicts at a one-sided .05 each.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flipcore.stats.audit.labelled import columns_that_tell
from flipcore.stats.base.families import FamilyMeans
from flipcore.stats.base.guarded import guarded_t
from flipcore.stats.score.corrected import corrected
from flipcore.stats.score.regression import ERROR, FAIL, PASS, TaskScores, judge

PAGE = Path(__file__).resolve().parents[2] / "docs" / "outside-tools.md"
START, END = "<!-- table: {} -->", "<!-- end of table: {} -->"
ALPHA = 0.05
SEED = 20261128
N_RUNS = {"models": 1_000, "few": 1_000, "gate": 500, "judge": 1_000}
N_RESAMPLES = 1_000  # of evalsig's cluster bootstrap, whose default is 10,000

Draw = np.random.Generator


@dataclass(frozen=True)
class Pair:
    """Scores of two models on the same rows, and the cluster of each row."""

    model_a: np.ndarray
    model_b: np.ndarray
    clusters: np.ndarray


@dataclass(frozen=True)
class World:
    """A way of drawing a pair; `is_null` says that neither model is better."""

    name: str
    draw: Callable[[Draw], Pair]
    is_null: bool


# Worlds of two models.


def _independent(draw: Draw, n_items: int, gain: float, differ: float) -> Pair:
    """Draw right and wrong where a share `differ` of the items differs, `gain` in favour of B."""
    place = draw.random(n_items)
    rose, fell = place < (differ + gain) / 2, (place >= (differ + gain) / 2) & (place < differ)
    model_a = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(n_items) < 0.7))
    return Pair(model_a, model_a + rose - fell, np.arange(n_items))


def _passages(draw: Draw, n_clusters: int, size: int, gain: float, spread: float) -> Pair:
    """Draw items of passages: B's gain in logits differs from passage to passage by `spread`."""
    clusters = np.repeat(np.arange(n_clusters), size)
    item = draw.normal(0.0, 1.0, clusters.size) + draw.normal(0.0, 1.0, n_clusters)[clusters]
    lead = gain / 2 + draw.normal(0.0, spread, n_clusters)[clusters] / 2
    right_a = draw.random(clusters.size) < 1 / (1 + np.exp(-(item - lead)))
    right_b = draw.random(clusters.size) < 1 / (1 + np.exp(-(item + lead)))
    return Pair(right_a.astype(float), right_b.astype(float), clusters)


def _few_differ(draw: Draw, n_clusters: int, size: int, rises: float, falls: float) -> Pair:
    """Draw items of which few differ, alike in all clusters."""
    place = draw.random(n_clusters * size)
    rose, fell = place < rises, (place >= rises) & (place < rises + falls)
    model_a = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(place.size) < 0.7))
    return Pair(model_a, model_a + rose - fell, np.repeat(np.arange(n_clusters), size))


def _reruns(draw: Draw, n_items: int, n_runs: int, spread: float) -> Pair:
    """Draw answers of two models asked `n_runs` times each; a row per answer, a cluster per item."""
    hardness = draw.normal(0.8, 1.5, n_items)
    lead = draw.normal(0.0, spread, n_items) / 2
    chances = [1 / (1 + np.exp(-(hardness + sign * lead))) for sign in (-1, 1)]
    rows = [(draw.random((n_items, n_runs)) < chance[:, None]).astype(float) for chance in chances]
    return Pair(rows[0].ravel(), rows[1].ravel(), np.repeat(np.arange(n_items), n_runs))


def _lost_clusters(draw: Draw, n_clusters: int, size: int, share: float) -> Pair:
    """Draw two equal models: B gains a little everywhere and loses a few clusters whole."""
    is_lost = np.repeat(draw.random(n_clusters) < share, size)
    gain = share / (1 - share)
    usual = _independent(draw, is_lost.size, gain, differ=0.2)
    model_a = np.where(is_lost, 1.0, usual.model_a)
    model_b = np.where(is_lost, 0.0, usual.model_b)
    return Pair(model_a, model_b, np.repeat(np.arange(n_clusters), size))


def _losses_together(draw: Draw, n_clusters: int, size: int, rate: float, correlation: float) -> Pair:
    """Draw two equal models: B wins on single items, and loses as many in some clusters."""
    clusters = np.repeat(np.arange(n_clusters), size)
    odds = (1 - correlation) / correlation
    fell = draw.random(clusters.size) < draw.beta(rate * odds, (1 - rate) * odds, n_clusters)[clusters]
    rose = ~fell & (draw.random(clusters.size) < rate / (1 - rate))
    model_a = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(clusters.size) < 0.7))
    return Pair(model_a, model_a + rose - fell, clusters)


def _wins_alone(draw: Draw, n_clusters: int, size: int, n_wins: int) -> Pair:
    """Draw so many wins of B and no loss, on items at random."""
    is_right = draw.random(n_clusters * size) < 0.7
    model_a, model_b = is_right.astype(float), is_right.astype(float)
    won = draw.permutation(is_right.size)[:n_wins]
    model_a[won], model_b[won] = 0.0, 1.0
    return Pair(model_a, model_b, np.repeat(np.arange(n_clusters), size))


# A world's place is its seed, so new ones stand at the end.
WORLDS = [
    World("200 questions, 20% differ", lambda draw: _independent(draw, 200, 0.0, 0.2), True),
    World("200 questions, 3% differ", lambda draw: _independent(draw, 200, 0.0, 0.03), True),
    World("60 questions × 5 runs", lambda draw: _reruns(draw, 60, 5, 1.5), True),
    World("12 passages × 10, gains vary", lambda draw: _passages(draw, 12, 10, 0.0, 1.5), True),
    World("20 passages × 10, gains vary", lambda draw: _passages(draw, 20, 10, 0.0, 1.5), True),
    World("57 subjects × 25, gains vary", lambda draw: _passages(draw, 57, 25, 0.0, 1.0), True),
    World("57 subjects × 25, 2% lost whole", lambda draw: _lost_clusters(draw, 57, 25, 0.02), True),
    World("200 questions, +9 points", lambda draw: _independent(draw, 200, 0.09, 0.2), False),
    World("20 passages × 10, +0.8 logit", lambda draw: _passages(draw, 20, 10, 0.8, 0.0), False),
    World("40 passages × 5, +0.6 logit", lambda draw: _passages(draw, 40, 5, 0.6, 0.5), False),
    World("57 × 25, 15% rise, 10% fall", lambda draw: _few_differ(draw, 57, 25, 0.15, 0.10), False),
    World("20 passages × 10, wins alone, losses together", lambda draw: _losses_together(draw, 20, 10, 0.04, 0.5), True),
    World("20 passages × 10, 16 wins and no loss", lambda draw: _wins_alone(draw, 20, 10, 16), False),
]

# Shapes, rates and correlations of worlds in which B wins alone and loses in clusters as often.
FEW_SHAPES: Mapping[str, Sequence[int]] = {
    **{f"{n} × {size}": (size,) * n for n, size in ((12, 25), (20, 10), (30, 10), (57, 25), (100, 3))},
    "40 of 1 to 60": tuple(np.geomspace(1, 60, 40).round().astype(int).tolist()),
    "40 × 10 and one of 100": (*(10,) * 40, 100),
}
FEW_RATES = (0.005, 0.01, 0.02, 0.03, 0.06)
FEW_CORRELATIONS = (0.0, 0.2, 0.5)


# Tools: whether B is better, at a two-sided .05.


def _by_flipscope(pair: Pair) -> bool:
    clusters = pair.clusters if np.unique(pair.clusters).size < pair.clusters.size else None
    test = guarded_t(pair.model_b - pair.model_a, (-1.0, 1.0), clusters)
    return bool(test.p_above < ALPHA / 2)


def _by_statsmodels(pair: Pair) -> bool:
    import statsmodels.api as sm

    differences = pair.model_b - pair.model_a
    if not differences.any():
        return False
    found = sm.OLS(differences, np.ones(differences.size)).fit(
        cov_type="cluster", cov_kwds={"groups": pair.clusters}, use_t=True
    )
    return bool(found.pvalues[0] < ALPHA and found.params[0] > 0)


def _by_errorbars(pair: Pair) -> bool:
    from errorbars.compare import paired_compare

    found = paired_compare(pair.model_b, pair.model_a, clusters=pair.clusters)
    return bool((found.p_value_clustered or 1.0) < ALPHA and found.mean_diff > 0)


def _by_evalsig(pair: Pair) -> bool:
    from evalsig.inference.cluster_bootstrap import cluster_bootstrap_ci
    from evalsig.inference.mcnemar import mcnemar_test

    # The two tests that its `compare` chooses for 0/1 scores with and without clusters.
    if np.unique(pair.clusters).size == pair.clusters.size:
        found = mcnemar_test(pair.model_a, pair.model_b)
    else:
        found = cluster_bootstrap_ci(pair.model_a, pair.model_b, pair.clusters, n_resamples=N_RESAMPLES, rng=0)
    return bool(found.p_value < ALPHA and found.delta > 0)


def _by_standard_errors(pair: Pair) -> bool:
    """Compare two scores by the standard errors that a harness prints beside them."""
    means = pair.model_b.mean() - pair.model_a.mean()
    n = pair.model_a.size
    error = np.sqrt((pair.model_a.var(ddof=1) + pair.model_b.var(ddof=1)) / n)
    return bool(means > 1.96 * error)


TOOLS: Mapping[str, Callable[[Pair], bool]] = {
    "Flipscope": _by_flipscope,
    "statsmodels, cluster-robust t": _by_statsmodels,
    "errorbars": _by_errorbars,
    "evalsig": _by_evalsig,
    "printed standard errors": _by_standard_errors,
}


# A gate: did the new run lose the margin?

MARGIN = 0.05


@dataclass(frozen=True)
class GateWorld:
    """A way of drawing two runs, the old one as `model_a`, of which the new one loses `loss`."""

    name: str
    draw: Callable[[Draw], Pair]
    loss: float

    @property
    def truth(self) -> str:
        """Which verdicts are right."""
        if abs(self.loss - MARGIN) < 1e-9:
            return "loses the margin: neither"
        return "loses more: FAIL" if self.loss > MARGIN else "loses less: PASS"


def _swapped(pair: Pair) -> Pair:
    return Pair(pair.model_b, pair.model_a, pair.clusters)


def _leaning(draw: Draw, n_clusters: int, size: int, loss: float) -> Pair:
    """Draw items of which 30% differ between runs; clusters fall and rise more or less."""
    clusters = np.repeat(np.arange(n_clusters), size)
    differ = 0.30
    lean = np.clip(draw.normal(loss, 0.3 * differ, n_clusters), -differ, differ)[clusters]
    place = draw.random(clusters.size)
    fell = place < (differ + lean) / 2
    rose = ~fell & (place < differ)
    old = np.where(fell, 1.0, np.where(rose, 0.0, draw.random(clusters.size) < 0.7))
    return Pair(old, old - fell + rose, clusters)


def _falling(draw: Draw, n_clusters: int, size: int, loss: float, correlation: float) -> Pair:
    """Draw items of which some fall and none rises; falls in a cluster are correlated."""
    clusters = np.repeat(np.arange(n_clusters), size)
    odds = (1 - correlation) / correlation
    fell = draw.random(clusters.size) < draw.beta(loss * odds, (1 - loss) * odds, n_clusters)[clusters]
    old = np.where(fell, 1.0, draw.random(clusters.size) < 0.7)
    return Pair(old, np.where(fell, 0.0, old), clusters)


# How many of all answers 0.8 logit decide, and 0.6 logit that differ by 0.5, by quadrature.
LOSS_OF_20, LOSS_OF_40 = 0.1444, 0.1078

GATE_WORLDS = [
    GateWorld("12 passages × 10", lambda draw: _leaning(draw, 12, 10, MARGIN), MARGIN),
    GateWorld("20 passages × 10", lambda draw: _leaning(draw, 20, 10, MARGIN), MARGIN),
    GateWorld("40 passages × 5", lambda draw: _leaning(draw, 40, 5, MARGIN), MARGIN),
    GateWorld("57 × 25, 15% fall, 10% rise", lambda draw: _swapped(_few_differ(draw, 57, 25, 0.15, 0.10)), MARGIN),
    GateWorld("12 passages × 10, falls alone", lambda draw: _falling(draw, 12, 10, MARGIN, 0.2), MARGIN),
    GateWorld("40 passages × 5, falls alone", lambda draw: _falling(draw, 40, 5, MARGIN, 0.2), MARGIN),
    GateWorld("20 passages × 10, 0.8 logit worse", lambda draw: _swapped(_passages(draw, 20, 10, 0.8, 0.0)), LOSS_OF_20),
    GateWorld("40 passages × 5, 0.6 logit worse", lambda draw: _swapped(_passages(draw, 40, 5, 0.6, 0.5)), LOSS_OF_40),
    GateWorld("57 × 25, 20% fall, 10% rise", lambda draw: _swapped(_few_differ(draw, 57, 25, 0.20, 0.10)), 0.10),
    GateWorld("12 passages × 10, twice the margin", lambda draw: _leaning(draw, 12, 10, 2 * MARGIN), 2 * MARGIN),
    GateWorld("20 passages × 10, 0.8 logit better", lambda draw: _passages(draw, 20, 10, 0.8, 0.0), -LOSS_OF_20),
    GateWorld("40 passages × 5, 0.6 logit better", lambda draw: _passages(draw, 40, 5, 0.6, 0.5), -LOSS_OF_40),
    GateWorld("57 × 25, 15% rise, 10% fall", lambda draw: _few_differ(draw, 57, 25, 0.15, 0.10), -0.05),
    GateWorld("12 passages × 10, no loss", lambda draw: _leaning(draw, 12, 10, 0.0), 0.0),
]


def _gate_of_flipscope(runs: Pair) -> str:
    return judge([TaskScores(runs.model_a, runs.model_b, runs.clusters)], MARGIN).outcome


def _gate_of_statsmodels(runs: Pair) -> str:
    """Judge by the cluster-robust t of the loss beyond the margin, one-sided."""
    import statsmodels.api as sm

    beyond = runs.model_a - runs.model_b - MARGIN
    found = sm.OLS(beyond, np.ones(beyond.size)).fit(cov_type="cluster", cov_kwds={"groups": runs.clusters}, use_t=True)
    if not found.pvalues[0] / 2 < ERROR:
        return ""
    return FAIL if found.params[0] > 0 else PASS


GATES: Mapping[str, Callable[[Pair], str]] = {"Flipscope": _gate_of_flipscope, "cluster-robust t": _gate_of_statsmodels}


# A judge on all outputs, people on some of them.


@dataclass(frozen=True)
class Judged:
    """A judge's verdict per output, people's for those with a label (NaN elsewhere), and the truth."""

    judge: np.ndarray
    people: np.ndarray
    clusters: np.ndarray
    truth: float


def _judged(draw: Draw, n_outputs: int, n_labels: int, size: int = 1, only_passed: bool = False) -> Judged:
    """Draw a judge that passes 60% of the wrong outputs and fails 5% of the right ones."""
    n_clusters = n_outputs // size
    clusters = np.repeat(np.arange(n_clusters), size)
    # A beta of these two numbers has the mean .715; clusters of one item need none of it.
    chance = draw.beta(2.86, 1.14, n_clusters)[clusters] if size > 1 else np.full(n_outputs, 0.715)
    is_right = draw.random(n_outputs) < chance
    judge = np.where(is_right, draw.random(n_outputs) < 0.95, draw.random(n_outputs) < 0.6)
    if size > 1:
        labelled = np.isin(clusters, draw.permutation(n_clusters)[: n_labels // size])
    else:
        among = np.flatnonzero(judge) if only_passed else np.arange(n_outputs)
        labelled = np.isin(np.arange(n_outputs), draw.permutation(among)[:n_labels])
    people = np.where(labelled, is_right.astype(float), np.nan)
    return Judged(judge.astype(float), people, clusters, 0.715)


JUDGED_WORLDS: Mapping[str, Callable[[Draw], Judged]] = {
    "4,000 outputs, 600 labels": lambda draw: _judged(draw, 4_000, 600),
    "400 outputs, 60 labels": lambda draw: _judged(draw, 400, 60),
    "400 outputs, 20 labels": lambda draw: _judged(draw, 400, 20),
    "40 passages × 10, labels of 12 passages": lambda draw: _judged(draw, 400, 120, size=10),
    "4,000 outputs, 600 labels of passed ones": lambda draw: _judged(draw, 4_000, 600, only_passed=True),
}


def _limits_of_flipscope(world: Judged) -> tuple[float, float] | None:
    is_labelled = ~np.isnan(world.people)
    groups = [
        (int((is_labelled & (world.judge == value)).sum()), int((~is_labelled & (world.judge == value)).sum()))
        for value in (0.0, 1.0)
    ]
    # Clusters are labelled whole, so whether labels are a random part is asked of rows alone.
    is_clustered = np.unique(world.clusters).size < world.clusters.size
    if not is_clustered and columns_that_tell({"judge": groups}):
        return None
    estimate = corrected(world.judge, world.people, world.clusters).estimate
    return None if np.isnan(estimate.low) else (estimate.low, estimate.high)


def _limits_of_truescore(world: Judged) -> tuple[float, float] | None:
    from truescore.correct import ppi_estimate

    index = np.flatnonzero(~np.isnan(world.people))
    is_clustered = np.unique(world.clusters).size < world.clusters.size
    found = ppi_estimate(
        world.judge, world.people[index], index, alpha=ALPHA, clusters=world.clusters if is_clustered else None
    )
    return found.low, found.high


def _limits_of_judge(world: Judged) -> tuple[float, float] | None:
    mean = float(world.judge.mean())
    error = 1.96 * np.sqrt(mean * (1 - mean) / world.judge.size)
    return mean - error, mean + error


CORRECTIONS: Mapping[str, Callable[[Judged], tuple[float, float] | None]] = {
    "Flipscope": _limits_of_flipscope,
    "truescore": _limits_of_truescore,
    "the judge alone": _limits_of_judge,
}


# Tables.


def pair_rows(n_runs: int) -> list[list[str]]:
    """Return a row per world: the share of runs in which each tool calls B better.

    Worlds of equal models come first.
    """
    rows = []
    for number, world in enumerate(WORLDS):
        draw = np.random.default_rng([SEED, number])
        pairs = [world.draw(draw) for _ in range(n_runs)]
        what = "equal" if world.is_null else "B better"
        shares = []
        for is_better in TOOLS.values():
            shares.append(f"{np.mean([is_better(pair) for pair in pairs]):.3f}")
        rows.append([what, world.name, *shares])
    return sorted(rows, key=lambda row: row[0] != "equal")


def wins_alone(draw: Draw, clusters: np.ndarray, *, rate: float, correlation: float, n_runs: int) -> np.ndarray:
    """Draw (runs, items) differences of equal models: wins come alone, losses in clusters."""
    shape = (n_runs, int(clusters.max()) + 1)
    chances = np.full(shape, rate)
    if correlation:
        odds = (1 - correlation) / correlation
        chances = draw.beta(rate * odds, (1 - rate) * odds, size=shape)
    fell = draw.random((n_runs, clusters.size)) < chances[:, clusters]
    rose = ~fell & (draw.random(fell.shape) < rate / (1 - rate))
    return rose.astype(float) - fell


def few_rows(n_runs: int) -> list[list[str]]:
    """Return a row per shape and correlation: how often equal models are told apart, per rate.

    Two-sided at .05, by Flipscope and, after the stroke, by the cluster-robust t (CR2).
    """
    from scipy.special import stdtr

    rows = []
    for name, sizes in FEW_SHAPES.items():
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        for correlation in FEW_CORRELATIONS:
            row = [name, f"{correlation:g}"]
            for rate in FEW_RATES:
                seed = [SEED, 300, len(sizes), max(sizes), round(1_000 * rate), round(10 * correlation)]
                x = wins_alone(np.random.default_rng(seed), clusters, rate=rate, correlation=correlation, n_runs=n_runs)
                shown = np.mean(guarded_t(x, (-1.0, 1.0), clusters).p < ALPHA)
                means = FamilyMeans.from_values(x.T, clusters)
                plain = 2 * stdtr(means.df, -np.abs(means.values) / np.maximum(means.se, 1e-12))
                row.append(f"{shown:.3f} / {np.mean(plain < ALPHA):.3f}")
            rows.append(row)
    return rows


def judged_rows(n_runs: int) -> list[list[str]]:
    """Return a row per world: the share of intervals that hold the truth, and their mean width."""
    rows = []
    for number, (name, draw_world) in enumerate(JUDGED_WORLDS.items()):
        draw = np.random.default_rng([SEED, 100 + number])
        worlds = [draw_world(draw) for _ in range(n_runs)]
        cells = []
        for limits_of in CORRECTIONS.values():
            cells.append(_covered(worlds, limits_of))
        rows.append([name, *cells])
    return rows


def _covered(worlds: list[Judged], limits_of: Callable[[Judged], tuple[float, float] | None]) -> str:
    n_held, widths, n_refused = 0, [], 0
    for world in worlds:
        limits = limits_of(world)
        if limits is None:
            n_refused += 1
            continue
        n_held += limits[0] <= world.truth <= limits[1]
        widths.append(limits[1] - limits[0])
    refused = f"refused {n_refused / len(worlds):.3f}" if n_refused else ""
    if not widths:
        return refused
    held = f"{n_held / len(widths):.3f} (± {50 * np.mean(widths):.1f} points)"
    return f"{held}, {refused}" if refused else held


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def gate_rows(n_runs: int) -> list[list[str]]:
    """Return a row per world: how often each gate says PASS and FAIL of the same pairs of runs."""
    rows = []
    for number, world in enumerate(GATE_WORLDS):
        draw = np.random.default_rng([SEED, 200 + number])
        runs = [world.draw(draw) for _ in range(n_runs)]
        outcomes = [np.array([gate(pair) for pair in runs]) for gate in GATES.values()]
        row = [world.truth, world.name]
        for verdict in (PASS, FAIL):
            row += [f"{np.mean(outcome == verdict):.3f}" for outcome in outcomes]
        rows.append(row)
    return rows


def _models_table(n_runs: int) -> str:
    return _table(["Truth", "World", *TOOLS], pair_rows(n_runs))


def _few_table(n_runs: int) -> str:
    return _table(["Clusters", "Correlation", *(f"{rate:.1%} each" for rate in FEW_RATES)], few_rows(n_runs))


def _gate_table(n_runs: int) -> str:
    heads = [f"{verdict}, {gate}" for verdict in (PASS, FAIL) for gate in GATES]
    return _table(["Truth", "World", *heads], gate_rows(n_runs))


def _judge_table(n_runs: int) -> str:
    return _table(["World", *CORRECTIONS], judged_rows(n_runs))


TABLES: Mapping[str, Callable[[int], str]] = {
    "models": _models_table,
    "few": _few_table,
    "gate": _gate_table,
    "judge": _judge_table,
}


def write(name: str, table: str) -> None:
    """Put a table in its place on the page."""
    start, end = START.format(name), END.format(name)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{start}\n{table}\n{end}{after}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, help="pairs of runs per world, where other than stored")
    parser.add_argument("--table", choices=TABLES, help="only this one")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for name in [options.table] if options.table else TABLES:
        table = TABLES[name](options.runs or N_RUNS[name])
        print(f"{table}\n")
        if options.write:
            write(name, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
