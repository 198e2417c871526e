"""How often the hardness curve finds an excess, of clean models and of planted inflation: `python -m tests.lab.simulations.hardness_curve`.

A world: models have skills on the logit, spread evenly; items have difficulties, those of the controls `harder` than the benchmark's, and
discriminations; a model has a leaning to one of the sets beside its skill (`leaning`, the sd on the logit). A model that has read a share
of the benchmark answers those items right. What is counted is p at or under .025, one-sided, before any correction.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.base.proportions import clopper_pearson
from flipcore.stats.memory.hardness_curve import LEVEL, MIN_REFERENCES, Excess, excess

TABLE = Path(__file__).with_suffix(".md")
NOMINAL = 0.025


@dataclass(frozen=True)
class World:
    """`n` and `n_control` items; `strongest`: the model is as strong as the best reference model, else anywhere among them. `read` is the
    share of the benchmark that it has read, `references_read` what the first of the reference models have."""

    name: str
    n: int = 300
    n_control: int = 200
    harder: float = 1.0
    leaning: float = 0.1
    guess: float = 0.0
    discrimination: float = 0.2
    spread: float = 1.5
    strongest: bool = False
    read: float = 0.0
    references_read: tuple[float, ...] = ()


CLEAN = (
    World("sets alike", harder=0.0),
    World("controls harder"),
    World("controls much easier", harder=-1.5),
    World("controls harder, four options", guess=0.25, n=1000),
    World("models of one strength differ", leaning=0.3, n=1000),
    World(
        "no leaning, wide range, the strongest model",
        leaning=0.0,
        spread=2.5,
        harder=1.5,
        n=1000,
        n_control=1000,
        strongest=True,
    ),
    World("the strongest model", strongest=True, n=200),
    World("the strongest model, easier controls", strongest=True, harder=-1.0, n=1000),
    World("three reference models have read .3", references_read=(0.3,) * 3),
    World("all reference models have read .3", references_read=(0.3,) * 20),
)
READ = (
    *(World(f"{share:g} read", read=share) for share in (0.1, 0.2, 0.4)),
    World("0.2 read, 1,319 items and controls", read=0.2, n=1319, n_control=1319),
    World("0.4 read, three reference models, too", read=0.4, references_read=(0.4,) * 3),
    World("0.4 read, all reference models, too", read=0.4, references_read=(0.4,) * 20),
)


def draw(world: World, n_references: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Answers on the benchmark and on the controls (models, items), the model itself first, and its true inflation."""
    skills = rng.uniform(-world.spread, world.spread, n_references)
    own = skills.max() if world.strongest else rng.uniform(skills.min(), skills.max())
    skills, lean = np.append(own, skills), rng.normal(0, world.leaning, n_references + 1)
    has_read = np.append(world.read, [*world.references_read, *np.zeros(n_references)][:n_references])
    answers, inflation = [], 0.0
    for sign, n, centre in ((1, world.n, 0.0), (-1, world.n_control, world.harder)):
        scale = np.exp(rng.normal(0, world.discrimination, n))
        logit = scale * ((skills + sign * lean)[:, None] - rng.normal(centre, 1, n))
        chance = world.guess + (1 - world.guess) / (1 + np.exp(-logit))
        right = rng.random(chance.shape) < chance
        if sign == 1:
            by_heart = rng.random(chance.shape) < has_read[:, None]
            inflation = float((by_heart[0] & ~right[0]).mean())
            right |= by_heart
        answers.append(right.astype(float))
    return answers[0], answers[1], inflation


def runs(world: World, n_references: int, n_runs: int, seed: int = 0) -> list[tuple[Excess, float]]:
    """The curve of each drawn table, and the inflation that was planted in it."""
    rng = generator(seed, "hardness curve", world.name, n_references)
    drawn = (draw(world, n_references, rng) for _ in range(n_runs))
    return [(excess(b[0], c[0], b[1:], c[1:]), inflation) for b, c, inflation in drawn]


def row(world: World, n_references: int, n_runs: int) -> str:
    """A line of the table."""
    every = runs(world, n_references, n_runs)
    judged = [(one, inflation) for one, inflation in every if not one.withheld]
    k, n = sum(one.p <= NOMINAL for one, _ in judged), len(judged)
    low, high = clopper_pearson(k, n, LEVEL)
    covers = np.mean([one.excess.low <= inflation <= one.excess.high for one, inflation in judged])
    size = np.mean([inflation for _, inflation in judged])
    return (
        f"| {world.name} | {world.n} × {world.n_control} | {n_references} | {100 * size:.0f} pp | {k / n:.3f} [{low:.3f}, {high:.3f}] | "
        f"{covers:.3f} | {1 - n / len(every):.2f} |"
    )


def table(n_runs: int) -> str:
    """The whole page."""
    head = "| world | items × controls | reference models | planted | excess found | interval covers | withheld |"
    head += "\n|---|--:|--:|--:|--:|--:|--:|"
    parts = []
    for title, worlds in (("Clean models", CLEAN), ("Models that have read some", READ)):
        parts += [f"\n## {title}\n\n{head}"]
        parts += [row(world, n, n_runs) for world in worlds for n in (MIN_REFERENCES, 8, 20)]
    return "\n".join(
        [
            "# How often the hardness curve finds an excess",
            "",
            f"{n_runs:,} tables a row, seed 0; written by `python -m tests.lab.simulations.hardness_curve`.",
            f"Found: one-sided p at or under {NOMINAL:g}, with 95% limits. Covers: the 95% interval holds the planted inflation.",
            "Withheld: the model lies too far outside the reference models' range, or their scores are too alike for a curve; such",
            "tables are in no other column.",
            "",
            "Reference models that have all read the benchmark raise the curve: what they have read alike is not seen, and a clean model",
            "among them lies below it. Where some have, the curve is wider and power falls.",
            *parts,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    TABLE.write_text(table(parser.parse_args().runs), encoding="utf-8")


if __name__ == "__main__":
    main()
