"""Whether the advice on the next call is right: `python -m tests.lab.simulations.allocation`.

In a world whose components are known a study is simulated, its components are estimated, and the advice drawn from these is followed: the
best split of a budget, and the next calls all as what takes most off the half-width. What both then give in truth, by the known components,
stands against an equal split: as many questions as wordings as runs, and a third of the calls as each. One more column: what the half-width
of a study of a given size was on average, over what a plan from the known components says of it.
"""

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flipcore.core.randomness import generator
from flipcore.stats.score.cells import ScoreCells
from flipcore.stats.score.error_bar import Components, error_bar
from flipcore.stats.score.next_calls import best_design, designs_after, gains, half_width, upper_components

TABLE = Path(__file__).with_suffix(".md")
MAX_QUESTIONS, N_CALLS = 1_319, 100
STUDIES = ((60, 8, 1), (60, 8, 3), (20, 8, 2), (300, 4, 1))


@dataclass(frozen=True)
class Advice:
    """Of one world and study size: half-widths in truth, over those of an equal split, a simulated study each (runs,). `gain` is what
    the best of all designs takes off an equal split; `planned` the mean half-width over the one that a plan says."""

    parts: Components
    study: tuple[int, int, int]
    n_calls: int
    gain: float
    split: np.ndarray
    next_calls: np.ndarray
    next_gain: float
    planned: float


def worlds() -> Iterator[Components]:
    """Standard deviations of questions, wordings and a question in a wording, and of a rerun."""
    for question, wording, both, rerun in itertools.product((0.1, 0.3), (0.0, 0.03, 0.1, 0.3), (0.05, 0.2), (0.0, 0.3)):
        yield Components(question**2, wording**2, both**2, rerun**2)


def draw(parts: Components, study: tuple[int, int, int], rng: np.random.Generator) -> ScoreCells:
    """Grades with these components."""
    n, m, s = study
    question, wording, both, rerun = np.sqrt((parts.questions, parts.wordings, parts.interaction, parts.reruns))
    centre = question * rng.standard_normal((n, 1)) + wording * rng.standard_normal((1, m)) + both * rng.standard_normal((n, m))
    runs = 3 + centre[:, :, None] + rerun * rng.standard_normal((n, m, s))
    mean = runs.mean(axis=2)
    return ScoreCells(mean, np.full((n, m), s), ((runs - mean[:, :, None]) ** 2).sum(axis=2))


def advice(parts: Components, study: tuple[int, int, int], n_calls: int, n_sims: int, seed: int = 0) -> Advice:
    """What following it gives in this world."""
    rng = generator(seed, "allocation", *vars(parts).values(), *study, n_calls)
    each = int(np.cbrt(n_calls) + 1e-9)
    equal = half_width(parts, each, each, each)
    n, m, s = study
    third = half_width(parts, n + N_CALLS / 3 / (m * s), m + N_CALLS / 3 / (n * s), s + N_CALLS / 3 / (n * m))
    truly = designs_after(parts, n, m, s, N_CALLS)
    split, following, widths = [], [], []
    for _ in range(n_sims):
        bar = error_bar(draw(parts, study, rng))
        best = best_design(bar.components, n_calls, MAX_QUESTIONS, worst=upper_components(bar))
        split.append(half_width(parts, best.n_questions, best.n_wordings, best.n_runs) / equal)
        more = gains(bar, N_CALLS)
        following.append(truly[min(more, key=lambda name: more[name].half_width)].half_width / third)
        widths.append(bar.half_width("wordings"))
    optimum = best_design(parts, n_calls, MAX_QUESTIONS).half_width / equal
    own = min(one.half_width for one in truly.values()) / third
    planned = float(np.mean(widths)) / half_width(parts, *study)
    return Advice(parts, study, n_calls, 1 - optimum, np.array(split), np.array(following), 1 - own, planned)


def main() -> None:
    """Writes the table beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sims", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for parts, study, n_calls in itertools.product(worlds(), STUDIES, (1_000, 10_000)):
        rows.append(advice(parts, study, n_calls, options.sims, options.seed))
        print(rows[-1].study, n_calls, round(float(rows[-1].split.max()), 3), flush=True)
    TABLE.write_text("\n".join(lines(rows, options.sims, options.seed)) + "\n", encoding="utf-8")


def lines(rows: list[Advice], n_sims: int, seed: int) -> Iterator[str]:
    """The table."""
    worth = [one for one in rows if one.gain > 0.05]
    better = np.mean([(one.split < 1).mean() for one in worth])
    costs = np.mean([(one.split > 1.05).mean() for one in rows])
    yield from ("# Where the next call goes: the advice against an equal split", "")
    yield f"{n_sims:,} simulated studies a row, seed {seed}; written by `python -m tests.lab.simulations.allocation`."
    yield f"The best split of a budget is narrower in truth in {better:.3f} of studies where the best gains over 5%,"
    yield f"and over 5% wider in {costs:.4f} of all. The next {N_CALLS} calls, all as advised, are at most"
    yield f"{max(one.next_calls.max() for one in rows) - 1:+.3f} of the half-width off a third each. A planned half-width is"
    yield f"{min(one.planned for one in rows):.2f} to {max(one.planned for one in rows):.2f} of what such a study has on average."
    yield ""
    yield (
        "| sd: questions, wordings, both, reruns | study | budget | best gains | narrower | worst | over 5% wider | next calls, worst | "
        "planned |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for one in rows:
        sd = ", ".join(f"{np.sqrt(x):g}" for x in vars(one.parts).values())
        shares = f"{one.gain:.2f} | {(one.split < 1).mean():.2f} | {one.split.max():.2f} | {(one.split > 1.05).mean():.3f}"
        size = " × ".join(map(str, one.study))
        yield f"| {sd} | {size} | {one.n_calls:,} | {shares} | {one.next_calls.max():.3f} | {one.planned:.2f} |"


if __name__ == "__main__":
    main()
