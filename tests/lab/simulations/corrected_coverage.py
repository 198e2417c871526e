"""How often a score corrected by people's labels holds the truth, and how wide it is: `python -m tests.lab.simulations.corrected_coverage`.

A world: questions of unequal difficulty, each asked in one or more wordings; a reader that errs at a rate which grows from the first
wording to the last where it is biased, three times as often on right answers as on wrong ones; people label a random part, a question's
second output after every question's first, as the queue serves them. The truth is the share right over all such questions.
"""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.score.corrected import Corrected, corrected
from tests.lab.simulations.rows import simulated

TABLE = Path(__file__).with_suffix(".md")
COLUMNS = ("normal limits", "they hold", "exact limits hold", "width beside labels alone")


@dataclass(frozen=True)
class World:
    """`error` is the reader's mean rate of errors; `bias` 1 makes it 0 in the first wording and twice that in the last."""

    n_questions: int
    n_wordings: int
    accuracy: float
    error: float
    bias: float
    n_labels: int


def draw(world: World, rng: np.random.Generator) -> Corrected:
    """A reader's words and people's labels."""
    n, m = world.n_questions, world.n_wordings
    right = rng.random((n, m)) < rng.beta(4 * world.accuracy, 4 * (1 - world.accuracy), n)[:, None]
    rate = world.error * (1 + world.bias * (np.linspace(-1, 1, m) if m > 1 else np.zeros(1)))
    misread = rng.random((n, m)) < np.minimum(np.where(right, 1.5 * rate, 0.5 * rate), 0.95)
    turns = np.argsort(rng.random((n, m)), axis=1)  # which of a question's outputs comes first
    queue = [i * m + turns[i, turn] for turn in range(m) for i in rng.permutation(n)][: world.n_labels]
    people = np.full(n * m, np.nan)
    people[queue] = right.ravel()[queue]
    return corrected((right != misread).ravel(), people, np.repeat(np.arange(n), m))


def coverage(world: World, n_sims: int, seed: int = 0) -> dict[str, float]:
    """Share of drawn studies with normal limits, how often those and the exact ones hold the truth, and the mean width of both beside that
    of the labels alone; NaN where there is none."""
    rng = generator(seed, "corrected coverage", *asdict(world).values())
    held: dict[bool, list[bool]] = {True: [], False: []}
    widths = []
    for _ in range(n_sims):
        score = draw(world, rng)
        one, alone = score.estimate, score.by_people
        held[score.has_normal_limits].append(one.low <= world.accuracy <= one.high)
        widths.append((one.high - one.low) / (alone.high - alone.low))
    share = len(held[True]) / n_sims
    means = [float(np.mean(held[kind])) if held[kind] else float("nan") for kind in (True, False)]
    return dict(zip(COLUMNS, (share, *means, float(np.mean(widths))), strict=True))


def worlds() -> Iterator[World]:
    """Every size, accuracy, error and bias with each number of labels that fits."""
    for (n, m), right, error, bias, n_labels in itertools.product(
        ((300, 1), (100, 4)), (0.5, 0.8), (0.02, 0.1, 0.2, 0.4), (0.0, 1.0), (30, 100, 300)
    ):
        if m > 1 or not bias:
            yield World(n, m, right, error, bias, n_labels)


def main() -> None:
    """Writes the table beside this file."""
    options, rows = simulated(__doc__, worlds(), coverage)
    usual = [row["they hold"] for _, row in rows if row["normal limits"] >= 0.5]
    exact = [row["exact limits hold"] for _, row in rows if row["normal limits"] < 0.5]
    withheld = float(np.mean([1 - row["normal limits"] for _, row in rows]))
    lines = [
        "# How often a corrected score holds the truth",
        "",
        f"95% intervals, {options.sims:,} studies a row, seed {options.seed}; written by",
        "`python -m tests.lab.simulations.corrected_coverage`. Normal limits stand from ten disagreements and five labels of either",
        f"kind on, exact ones of both error rates below ({withheld:.2f} of all). Where most studies of a row have normal limits they",
        f"hold {min(usual):.3f} to {max(usual):.3f}; where most have exact ones these hold {min(exact):.3f} to {max(exact):.3f}. A kind",
        "that few studies of a row get is selected by its own disagreements: its column says little there. The last column is the mean",
        "width of both beside the interval of the labels alone.",
        "",
        "| questions | wordings | right | reader errs | biased | labels | " + " | ".join(COLUMNS) + " |",
        "|--:|--:|--:|--:|--:|--:|" + "--:|" * len(COLUMNS),
    ]
    for world, row in rows:
        size = f"{world.n_questions} | {world.n_wordings} | {world.accuracy:g} | {world.error:g} | {world.bias:g} | {world.n_labels}"
        numbers = (f"{row[name]:.2f}" if name == COLUMNS[0] else f"{row[name]:.3f}" for name in COLUMNS)
        lines.append(f"| {size} | " + " | ".join("–" if one == "nan" else one for one in numbers) + " |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
