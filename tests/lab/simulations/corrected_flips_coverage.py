"""How often G and A corrected by people's labels of pairs hold the truth, and how wide they are beside the labels alone:
`python -m tests.lab.simulations.corrected_flips_coverage`.

A world: items on one axis or more, each in an own wording and three others; an output states another answer than the item's usual one
with a chance of the item's own. The reference misreads at a rate that grows from the first wording to the last where it is biased; the
compared extractor misreads a further tenth. People label both outputs of one random pair an item and axis, an item's second axis after
every item's first, as pairs are served. The truth is the share over very many such items.
"""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.score.corrected_flips import FlipsByPeople, flips_by_people
from tests.lab.simulations.rows import simulated

TABLE = Path(__file__).with_suffix(".md")
COLUMNS = ("normal limits", "G held", "A held", "exact: G held", "exact: A held", "width beside labels alone")
N_OPTIONS, N_WORDINGS, FURTHER = 4, 4, 0.1
FIRST, SECOND = np.triu_indices(N_WORDINGS, 1)


@dataclass(frozen=True)
class World:
    """`move` is the mean chance that a wording moves the answer, `error` the reference's mean rate of errors; `bias` 1 makes it 0 in the
    first wording and twice that in the last."""

    n_items: int
    n_axes: int
    move: float
    error: float
    bias: float
    n_pairs: int


def _other(answers: np.ndarray, chance: np.ndarray | float, rng: np.random.Generator) -> np.ndarray:
    """Another answer, each with its chance."""
    moved = rng.random(answers.shape) < chance
    return np.where(moved, (answers + rng.integers(1, N_OPTIONS, answers.shape)) % N_OPTIONS, answers)


def answers(world: World, n_items: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(items, axes, wordings) what outputs state, what the reference reads and what the compared extractor reads."""
    chance = rng.beta(0.6, 0.6 / world.move - 0.6, n_items)[:, None, None]
    stated = _other(np.zeros((n_items, world.n_axes, N_WORDINGS), dtype=int), chance, rng)
    rate = world.error * (1 + world.bias * np.linspace(-1, 1, N_WORDINGS))
    read = _other(stated, np.minimum(rate, 0.95), rng)
    return stated, read, _other(read, FURTHER, rng)


def flips_of(codes: np.ndarray) -> np.ndarray:
    """(items, axes, pairs) whether a pair flips."""
    return (codes[..., FIRST] != codes[..., SECOND]).astype(float)


@cache
def truth(move: float, error: float, bias: float) -> tuple[float, float]:
    """G by people and A over very many items."""
    world = World(400_000, 1, move, error, bias, 0)
    stated, _, compared = (
        flips_of(one).mean() for one in answers(world, world.n_items, generator(1, "truth", move, error, bias))
    )
    return float(stated), float(compared - stated)


def draw(world: World, rng: np.random.Generator) -> FlipsByPeople:
    """What people, the reference and the compared extractor make of one study."""
    n, axes = world.n_items, world.n_axes
    people, reference, compared = (flips_of(one) for one in answers(world, n, rng))
    turns = np.argsort(rng.random((n, axes)), axis=1)
    queue = [(i, turns[i, turn]) for turn in range(axes) for i in rng.permutation(n)][: world.n_pairs]
    item, axis = np.array(queue).T
    pair = rng.integers(0, FIRST.size, item.size)
    total, genuine = (one.mean(axis=(1, 2)) for one in (compared, reference))
    return flips_by_people(total, genuine, reference[item, axis, pair], people[item, axis, pair], item)


def coverage(world: World, n_sims: int, seed: int = 0) -> dict[str, float]:
    """Share of drawn studies with normal limits, how often those and the exact ones hold G and A, and the mean width of G's beside that of
    the labels alone; NaN where there is none."""
    rng = generator(seed, "corrected flips", *asdict(world).values())
    g, a = truth(world.move, world.error, world.bias)
    held: dict[bool, list[tuple[bool, bool]]] = {True: [], False: []}
    widths = []
    for _ in range(n_sims):
        one = draw(world, rng)
        alone = one.by_labels_alone
        held[one.has_normal_limits].append((one.stated.low <= g <= one.stated.high, one.artifact.low <= a <= one.artifact.high))
        widths.append((one.stated.high - one.stated.low) / (alone.high - alone.low))
    means = [
        float(np.mean([both[at] for both in held[kind]])) if held[kind] else float("nan")
        for kind in (True, False)
        for at in (0, 1)
    ]
    return dict(zip(COLUMNS, (len(held[True]) / n_sims, *means, float(np.mean(widths))), strict=True))


def worlds() -> Iterator[World]:
    """Every size, chance, error and bias with each number of labelled pairs that fits."""
    for (n, axes), move, error, bias, n_pairs in itertools.product(
        ((300, 1), (100, 3)), (0.05, 0.2), (0.02, 0.1, 0.2, 0.4), (0.0, 1.0), (30, 100, 300)
    ):
        yield World(n, axes, move, error, bias, n_pairs)


def main() -> None:
    """Writes the table beside this file."""
    options, rows = simulated(__doc__, worlds(), coverage)
    usual = [row[name] for _, row in rows for name in COLUMNS[1:3] if row[COLUMNS[0]] >= 0.5]
    exact = [row[name] for _, row in rows for name in COLUMNS[3:5] if row[COLUMNS[0]] < 0.5]
    withheld = float(np.mean([1 - row[COLUMNS[0]] for _, row in rows]))
    lines = [
        "# How often corrected G and A hold the truth",
        "",
        f"95% intervals, {options.sims:,} studies a row, seed {options.seed}; written by",
        "`python -m tests.lab.simulations.corrected_flips_coverage`. Normal limits stand from ten disagreements and five pairs of",
        f"each kind on, below ({withheld:.2f} of all) exact ones of both error rates or, if narrower, those of the labels alone. Where",
        "most studies of a row have normal limits they",
        f"hold {min(usual):.3f} to {max(usual):.3f}; where most have exact ones these hold {min(exact):.3f} to {max(exact):.3f}. A kind",
        "that few studies of a row get is selected by its own disagreements: its column says little there. A labelled pair is two labels.",
        "The last column is the mean width of both kinds of G beside the interval of the labels alone.",
        "",
        "| items | axes | moves | reference errs | biased | pairs | " + " | ".join(COLUMNS) + " |",
        "|--:|--:|--:|--:|--:|--:|" + "--:|" * len(COLUMNS),
    ]
    for world, row in rows:
        size = " | ".join(f"{one:g}" for one in asdict(world).values())
        numbers = (f"{row[name]:.2f}" if name == COLUMNS[0] else f"{row[name]:.3f}" for name in COLUMNS)
        lines.append(f"| {size} | " + " | ".join("–" if one == "nan" else one for one in numbers) + " |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
