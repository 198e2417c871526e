"""The regression gate's errors and its power, simulated through the function that decides: ``python -m tests.lab.simulations.gate``
rewrites gate.md, a minute or two on two cores; ``--runs 200`` prints a coarser table and writes nothing.

Old and new run answer the same items. An item's chance of a right answer is drawn; the new run loses a share of it, so that its mean
loss on each task is what the column says. `PASS` at a loss of the margin or more is false, `FAIL` at a loss of the margin or less is.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.score.regression import ERROR, FAIL, PASS, UNDECIDED, TaskScores, judge

TABLE = Path(__file__).with_name("gate.md")
N_RUNS = 1_000
MEAN = 0.681  # of the chances that are drawn
LOSSES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)  # in margins


@dataclass(frozen=True)
class World:
    """Items, runs of each side, items a family (a quarter of 8 and the rest single where `is_unequal`), tasks, and the margin. `spread` is
    how far the items' chances lie apart, in logits: at 6 answers hardly change between two runs."""

    name: str
    n_items: int
    n_runs: int = 1
    family: int = 1
    n_tasks: int = 1
    margin: float = 0.05
    spread: float = 1.3
    is_unequal: bool = False


WORLDS = (
    World("100 items", 100),
    World("400 items", 400),
    World("1,319 items, margin 2 pp", 1_319, margin=0.02),
    World("400 items, answers that hardly change", 400, spread=6.0),
    World("60 items × 5 noisy runs", 60, n_runs=5),
    World("120 items in families of 4", 120, family=4),
    World("200 items in unequal families", 200, family=4, is_unequal=True),
    World("2 tasks of 200", 200, n_tasks=2),
    World("3 tasks of 80", 80, n_tasks=3),
    World("5 tasks of 200", 200, n_tasks=5),
    World("5 tasks of 60 in families of 4", 60, family=4, n_tasks=5),
)


def families_of(world: World, draw: np.random.Generator) -> np.ndarray:
    """(items,) which family each is in."""
    if not world.is_unequal:
        return np.arange(world.n_items) // world.family
    sizes: list[int] = []
    while sum(sizes) < world.n_items:
        sizes.append(8 if draw.random() < 0.25 else 1)
    return np.repeat(np.arange(len(sizes)), sizes)[: world.n_items]


def run_pair(world: World, true_loss: float, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Item means of an old and a new run; items of a family share what they are like."""
    families = families_of(world, draw)
    logit = (
        world.spread * (0.92 * draw.normal(0, 1, families.max() + 1)[families] + 0.39 * draw.normal(0, 1, world.n_items)) + 1
    )
    p = 1 / (1 + np.exp(-logit))
    q = np.clip(p * (1 - true_loss / p.mean()), 0, 1)
    n = world.n_runs
    return draw.binomial(n, p) / n, draw.binomial(n, q) / n, families if world.family > 1 else None


def verdict(world: World, true_loss: float, draw: np.random.Generator) -> str:
    """The verdict on one pair of runs, each of whose tasks has the loss."""
    tasks = []
    for _ in range(world.n_tasks):
        old, new, families = run_pair(world, true_loss, draw)
        tasks.append(TaskScores(old, new, families))
    return judge(tasks, world.margin).outcome


def shares(world: World, true_loss: float, n_runs: int, seed: int = 0) -> dict[str, float]:
    """PASS, FAIL and UNDECIDED -> how often."""
    draw = generator(seed, "gate", world.name, f"{true_loss:.4f}")
    counts = Counter(verdict(world, true_loss, draw) for _ in range(n_runs))
    return {word: counts[word] / n_runs for word in (PASS, FAIL, UNDECIDED)}


def too_often(n_runs: int) -> float:
    """The share above which an error of `ERROR` is refused at two and a half standard errors."""
    return ERROR + 2.5 * sqrt(ERROR * (1 - ERROR) / n_runs)


def lines(n_runs: int) -> Iterator[str]:
    """The table, a world a row."""
    titles = [f"{one:g} m" for one in LOSSES]
    yield "| world | margin m | " + " | ".join(titles) + " |"
    yield "|---|---:|" + "---|" * len(LOSSES)
    for world in WORLDS:
        cells = []
        for one in LOSSES:
            share = shares(world, one * world.margin, n_runs)
            cells.append(" / ".join(f"{share[word]:.3f}".replace("0.", ".", 1) for word in (PASS, UNDECIDED, FAIL)))
        yield f"| {world.name} | {100 * world.margin:g} pp | " + " | ".join(cells) + " |"


_HEAD = """# The regression gate: how often it says what

`python -m tests.lab.simulations.gate`, {n_runs:,} pairs of runs a cell, seed 0; each cell is PASS / UNDECIDED / FAIL of `check` at a true
loss of so many margins on each task. Nominal: FAIL up to 1 m and PASS from 1 m on at most {error:.2f} ({most:.3f} within the
simulation's error). The power is PASS at 0 m and FAIL at 2 m and 3 m.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=0)
    n_runs = parser.parse_args().runs
    table = []
    for line in lines(n_runs or N_RUNS):
        print(line, flush=True)
        table.append(line)
    if not n_runs:
        TABLE.write_text(_HEAD.format(n_runs=N_RUNS, error=ERROR, most=too_often(N_RUNS)) + "\n".join(table) + "\n", "utf-8")


if __name__ == "__main__":
    main()
