"""How often a score's intervals hold the truth over questions, wordings and reruns: `python -m tests.lab.simulations.score_coverage`.

A world: each question has an ability, each wording a shift, both on the logit (or linear for grades), each question its own reaction to a
wording; reruns are drawn from the cell's probability. The truth of an interval over questions is the mean of all questions under these
wordings, over wordings that of all questions under all wordings, of `elsewhere` one further wording's mean on these questions.
"""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.score.cells import ScoreCells
from flipcore.stats.score.error_bar import error_bar
from tests.lab.simulations.rows import simulated

TABLE = Path(__file__).with_suffix(".md")
INTERVALS = ("by_questions", "by_wordings", "elsewhere")
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class World:
    """Standard deviations on the logit: of questions, wordings, a question under a wording; `mean` is the centre. `family` is the number
    of questions a family that share `questions` wholly (1: none do); `graded` scores are linear with the same parts and noise .5."""

    n_questions: int
    n_wordings: int
    n_runs: int
    wordings: float
    interaction: float = 0.3
    questions: float = 1.5
    mean: float = 1.0
    family: int = 1
    graded: bool = False

    @property
    def name(self) -> str:
        kind = "graded" if self.graded else "0/1"
        families = f", families of 1–{2 * self.family - 1}" if self.family > 1 else ""
        return f"{kind}, wording sd {self.wordings:g}{families}"


class OnFive(World):
    """Grades from 1 to 5 that crowd at the end: half of the runs are a 1 or a 5, the others how many of four parts are right."""

    @property
    def name(self) -> str:
        return f"grades 1–5, {super().name.removeprefix('0/1, ')}"


def _mean_of(centre: np.ndarray, sd: float) -> np.ndarray:
    """E of the logistic of a normal, by quadrature."""
    return (1 / (1 + np.exp(-(centre[..., None] + sd * _NODES)))) @ _WEIGHTS


def draw(world: World, rng: np.random.Generator) -> tuple[ScoreCells, dict[str, float]]:
    """A table and the truths of its intervals."""
    n, m, s = world.n_questions, world.n_wordings, world.n_runs
    sizes = []
    while sum(sizes) < n:
        sizes.append(int(rng.integers(1, 2 * world.family)))
    family = np.repeat(np.arange(len(sizes)), sizes)[:n]
    ability = world.mean + world.questions * rng.standard_normal(len(sizes))[family]
    shift = world.wordings * rng.standard_normal(m + 1)
    own = world.interaction * rng.standard_normal((n, m + 1))
    centre = ability[:, None] + shift[None, :] + own
    if world.graded:
        runs = centre[:, :m, None] + 0.5 * rng.standard_normal((n, m, s))
        by_questions, by_wordings, other = world.mean + shift[:m].mean(), world.mean, centre[:, m].mean()
    else:
        p = 1 / (1 + np.exp(-centre))
        runs = (rng.random((n, m, s)) < p[:, :m, None]).astype(float)
        if isinstance(world, OnFive):
            parts = rng.binomial(4, np.broadcast_to(p[:, :m, None], runs.shape)) / 4
            runs = np.where(rng.random(runs.shape) < 0.5, runs, parts)
        spread = float(np.hypot(world.questions, world.interaction))
        by_questions = float(_mean_of(world.mean + shift[:m], spread).mean())
        by_wordings = float(_mean_of(np.array([world.mean]), float(np.hypot(spread, world.wordings)))[0])
        other = (rng.random((n, s)) < p[:, m, None]).mean()
        if isinstance(world, OnFive):
            parts = rng.binomial(4, np.broadcast_to(p[:, m, None], (n, s))) / 4
            other = np.where(rng.random((n, s)) < 0.5, rng.random((n, s)) < p[:, m, None], parts).mean()
    mean = runs.mean(axis=2)
    squares = ((runs - mean[:, :, None]) ** 2).sum(axis=2)
    families = family.astype(str) if world.family > 1 else None
    truths = {"by_questions": by_questions, "by_wordings": by_wordings, "elsewhere": float(other)}
    if isinstance(world, OnFive):
        mean, squares, truths = 1 + 4 * mean, 16 * squares, {name: 1 + 4 * one for name, one in truths.items()}
    scale = (1.0, 5.0) if isinstance(world, OnFive) else None
    return ScoreCells(mean, np.full((n, m), s), squares, families=families, scale=scale), truths


def coverage(world: World, n_sims: int, seed: int = 0) -> dict[str, float]:
    """Share of simulated tables whose interval holds its truth, of those that have one (NaN where none has), and how many have none."""
    rng = generator(seed, "score coverage", *asdict(world).values())
    held = {name: [] for name in INTERVALS}
    for _ in range(n_sims):
        cells, truth = draw(world, rng)
        bar = error_bar(cells)
        for name in INTERVALS:
            one = getattr(bar, name)
            if one.has_interval:
                held[name].append(one.low <= truth[name] <= one.high)
    return {name: float(np.mean(rows)) if rows else float("nan") for name, rows in held.items()}


def worlds(sizes: tuple[int, ...] = (20, 60, 300, 1319)) -> Iterator[World]:
    """Questions × wordings × reruns × effect × kind, and families on the middle sizes."""
    for n, m, s, sd, graded in itertools.product(sizes, (3, 8, 20), (1, 3), (0.0, 0.3, 1.0), (False, True)):
        yield World(n, m, s, sd, graded=graded)
    for n, m, sd, centre in itertools.product((60, 300), (3, 8), (0.0, 0.3, 1.0), (0.0, 3.0)):
        yield World(n, m, 1, sd, family=5, mean=centre)
    for n, m, sd, centre in itertools.product(sizes[:3], (3, 8), (0.0, 0.3, 1.0), (1.0, 3.0, 5.0)):
        yield OnFive(n, m, 1, sd, mean=centre)


def main() -> None:
    """Writes the table beside this file."""
    options, rows = simulated(__doc__, worlds(), coverage, lambda one: 400 if one.n_questions * one.n_wordings > 5000 else None)
    least = {name: min(rows, key=lambda row: np.nan_to_num(row[1][name], nan=2.0)) for name in INTERVALS}
    lines = [
        "# How often a score's error bar holds the truth",
        "",
        f"95% intervals, {options.sims:,} tables a row (400 above 5,000 cells), seed {options.seed}; written by",
        "`python -m tests.lab.simulations.score_coverage`. The least:",
        *(
            f"`{name}` {row[name]:.3f} ({world.name}, {world.n_questions} × {world.n_wordings} × {world.n_runs})."
            for name, (world, row) in least.items()
        ),
        "",
        "| world | questions | wordings | reruns | centre | other questions | other questions and wordings | another wording |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for world, row in rows:
        size = f"{world.n_questions:,} | {world.n_wordings} | {world.n_runs} | {world.mean:g}"
        lines.append(f"| {world.name} | {size} | " + " | ".join(f"{row[name]:.3f}" for name in INTERVALS) + " |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
