"""Worth of the next call: the reduction of the error bar by further questions, wordings or reruns,
and the best split of a budget."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.score.error_bar import LEAST_WORDINGS, Components, ErrorBar

MOST_WORDINGS, MOST_RUNS = 64, 16
FEW_LUCKY, MOST_COST = 0.001, 0.05
# below so many prompts or clusters a variance is taken at its upper 95% limit
FEW_DRAWS, UPPER = (6, 0.05)


@dataclass(frozen=True)
class Design:
    """Numbers of questions, wordings and reruns per cell, with the half-width over questions and
    wordings that they lead to."""

    n_questions: float
    n_wordings: float
    n_runs: float
    half_width: float

    @property
    def n_calls(self) -> float:
        return self.n_questions * self.n_wordings * self.n_runs


def half_width(
    parts: Components, n_questions: float, n_wordings: float, n_runs: float, level: float = 0.95
) -> float:
    """Return t·√V of a mean over so many, with Satterthwaite's degrees of freedom of the two mean
    squares that it is made of."""
    question, wording, interaction, rerun = parts.parts(n_questions, n_wordings, n_runs)
    residual = interaction + rerun
    variance = question + wording + residual
    # Each mean square holds the residual too, so the two overlap in it.
    of_questions, of_wordings = question + residual, (wording + residual if wording > 0 else 0.0)
    below = of_questions**2 / max(n_questions - 1, 1) + (
        of_wordings**2 / max(n_wordings - 1, 1) if of_wordings else 0.0
    )
    df = variance**2 / below if below else n_questions - 1
    return t_quantile(0.5 + level / 2, max(df, 1.0)) * math.sqrt(variance)


def gains(bar: ErrorBar, n_calls: int = 100) -> dict[str, Design]:
    """Return the design after `n_calls` more as new wordings, as new questions, as reruns; each
    with its half-width, in the score's units. Raises BadInput where nothing was asked in several
    wordings: the effect of a wording is not known then."""
    if not bar.by_wordings.has_interval:
        raise BadInput(
            f"{bar.by_wordings.note} Ask in {LEAST_WORDINGS} ways or more to see what the next "
            "call is worth."
        )
    return after(careful_components(bar), *bar.cells.shape, bar.cells.mean_runs, n_calls, bar.level)


def careful_components(bar: ErrorBar) -> Components:
    """Return the components for advice: those of fewer than six draws at their upper limit
    (one-sided, 95%).

    Three prompts that happen to agree have variance 0. By the estimate "as new questions" then
    stood first in .30 of studies in which prompts were the larger part.
    """
    parts = bar.components
    if has_few_prompts(bar):
        parts = replace(parts, wordings=max(_upper(bar, "wordings"), parts.wordings))
    if bar.n_effective < FEW_DRAWS:
        parts = replace(parts, questions=max(_upper(bar, "questions"), parts.questions))
    return parts


def has_few_prompts(bar: ErrorBar) -> bool:
    """Return True where the prompts are too few to tell how far prompts lie apart."""
    return bar.cells.shape[1] < FEW_DRAWS


def _upper(bar: ErrorBar, name: str, chance: float = UPPER) -> float:
    """Return the upper limit of a variance of one run, from the χ² of its mean square."""
    from scipy.special import chdtri

    # The mean square of wordings is that of means over questions, and the other way round.
    n_averaged = bar.cells.shape[0] if name == "wordings" else bar.cells.shape[1]
    square, df = bar.squares.of(name)
    df = df if name == "wordings" else max(bar.n_effective - 1, 1.0)
    residual = 0.0 if math.isnan(bar.squares.residual) else bar.squares.residual
    return max(square * df / float(chdtri(df, 1 - chance)) - residual, 0.0) / n_averaged


def after(
    parts: Components, n: float, m: float, runs: float, n_calls: int = 100, level: float = 0.95
) -> dict[str, Design]:
    """Return the designs that `n_calls` more make of `n` questions × `m` wordings × `runs`, as new
    wordings, as new questions, as reruns."""
    sizes = {
        "wordings": (n, m + n_calls / (n * runs), runs),
        "questions": (n + n_calls / (m * runs), m, runs),
        "reruns": (n, m, runs + n_calls / (n * m)),
    }
    return {name: Design(*size, half_width(parts, *size, level)) for name, size in sizes.items()}


def assumed(
    score: float, between_wordings: float, between_runs: float, spread: float
) -> Components:
    """Return the components of answers right or wrong, from what people know of a model: its
    `score`, the shares of answers that are right in one of two wordings and wrong in the other, or
    in one of two runs, and the standard deviation `spread` of wordings' scores. Raises BadInput
    where no answers can be so."""
    # Two draws of a 0/1 variable differ with twice its variance.
    disagreement, reruns = between_wordings / 2, between_runs / 2
    parts = Components(
        score * (1 - score) - disagreement, spread**2, disagreement - reruns - spread**2, reruns
    )
    if parts.questions < 0:
        raise BadInput(
            f"At a score of {score:.2f} no more than {2 * score * (1 - score):.2f} of answers can "
            "change with the wording."
        )
    if parts.interaction < 0:
        least = 2 * (reruns + spread**2)
        raise BadInput(
            f"Two runs and the spread of wordings alone make {least:.2f} of answers change "
            "between wordings: raise that share."
        )
    return parts


def at_most(bar: ErrorBar) -> Components:
    """Return components with the largest part of wordings that the few asked allow (99.9%)."""
    return replace(
        bar.components, wordings=max(_upper(bar, "wordings", FEW_LUCKY), bar.components.wordings)
    )


def best_design(
    parts: Components,
    n_calls: int,
    most_questions: int,
    level: float = 0.95,
    worst: Components | None = None,
) -> Design:
    """Return the design of no more than `n_calls` with the smallest half-width, by trying all.
    Where the components are estimates and could be `worst`, only of those that would cost no more
    than `MOST_COST` of an equal split then: few wordings that happen to lie close would else advise
    to ask in three. Raises BadInput for a budget below three wordings of two questions."""
    designs = sorted(
        _designs(parts, n_calls, most_questions, level),
        key=lambda design: (design.half_width, design.n_calls),
    )
    if not designs:
        raise BadInput(
            f"{n_calls:,} calls are fewer than {LEAST_WORDINGS} wordings of two questions; allow "
            "at least 6."
        )
    if worst is None:
        return designs[0]
    # 1e-9: the cube root of a cube may come out just below the whole number.
    equal_size = float(max(int(np.cbrt(n_calls) + 1e-9), 2))
    most = (1 + MOST_COST) * half_width(worst, equal_size, equal_size, equal_size, level)
    for design in designs:
        size = design.n_questions, design.n_wordings, design.n_runs
        if half_width(worst, *size, level) <= most:
            return design
    return designs[0]


def _designs(
    parts: Components, n_calls: int, most_questions: int, level: float
) -> Iterator[Design]:
    """Yield all designs within the budget that have two questions or more."""
    for n_wordings in range(LEAST_WORDINGS, MOST_WORDINGS + 1):
        for n_runs in range(1, MOST_RUNS + 1):
            # All that the budget leaves goes to questions: for a given rest more are never worse.
            n_questions = min(most_questions, n_calls // (n_wordings * n_runs))
            if n_questions >= 2:
                yield Design(
                    n_questions,
                    n_wordings,
                    n_runs,
                    half_width(parts, n_questions, n_wordings, n_runs, level),
                )
