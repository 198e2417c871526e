"""Worth of the next call: how much further questions, wordings or reruns reduce the error bar, and
the best split of a budget."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from flipcore.core.errors import BadInput
from flipcore.stats.base.proportions import t_quantile
from flipcore.stats.score.error_bar import LEAST_WORDINGS, Components, ErrorBar

MAX_WORDINGS, MAX_RUNS = 64, 16  # of the designs that `best_design` tries
# One-sided error of the upper limit in `upper_components`, and the share by which a design may then
# be wider than an equal split (`best_design`).
WORST_ERROR, MAX_EXTRA_WIDTH = 0.001, 0.05
# With fewer prompts or clusters, a variance is taken at its upper 95% limit.
FEW_DRAWS, UPPER_ERROR = 6, 0.05


@dataclass(frozen=True)
class Design:
    """Numbers of questions, wordings and reruns per cell, with the resulting half-width over
    questions and wordings."""

    n_questions: float
    n_wordings: float
    n_runs: float
    half_width: float

    @property
    def n_calls(self) -> float:
        return self.n_questions * self.n_wordings * self.n_runs


def half_width(
    components: Components,
    n_questions: float,
    n_wordings: float,
    n_runs: float,
    level: float = 0.95,
) -> float:
    """Return the half-width t·√V of a mean over these numbers, in units of the score. The degrees
    of freedom are Satterthwaite's of the mean squares of questions and of wordings."""
    question, wording, interaction, rerun = components.variance_parts(
        n_questions, n_wordings, n_runs
    )
    residual = interaction + rerun
    variance = question + wording + residual
    # Both mean squares include the residual.
    denominator = (question + residual) ** 2 / max(n_questions - 1, 1)
    if wording > 0:
        denominator += (wording + residual) ** 2 / max(n_wordings - 1, 1)
    df = variance**2 / denominator if denominator else n_questions - 1
    return t_quantile(0.5 + level / 2, max(df, 1.0)) * math.sqrt(variance)


def gains(bar: ErrorBar, n_calls: int = 100) -> dict[str, Design]:
    """Return `designs_after` `n_calls` more calls for a measured score. Raises BadInput if there
    is no interval over wordings: their effect is then unknown."""
    if not bar.by_wordings.has_interval:
        raise BadInput(
            f"{bar.by_wordings.note} Ask in {LEAST_WORDINGS} ways or more to see what the next "
            "call is worth."
        )
    sizes = *bar.cells.shape, bar.cells.mean_runs
    return designs_after(careful_components(bar), *sizes, n_calls, bar.level)


def careful_components(bar: ErrorBar) -> Components:
    """Return the components for advice; those from fewer than six prompts or clusters are at their
    upper limit (one-sided, 95%).

    Three prompts that happen to agree have variance 0. With the estimates, new questions were then
    advised in .30 of the studies in which prompts were the larger part.
    """
    components = bar.components
    if has_few_prompts(bar):
        wordings = max(_upper_component(bar, "wordings"), components.wordings)
        components = replace(components, wordings=wordings)
    if bar.n_effective < FEW_DRAWS:
        questions = max(_upper_component(bar, "questions"), components.questions)
        components = replace(components, questions=questions)
    return components


def has_few_prompts(bar: ErrorBar) -> bool:
    """Return True if there are too few prompts to estimate how much prompts differ."""
    return bar.cells.shape[1] < FEW_DRAWS


def _upper_component(bar: ErrorBar, name: str, error: float = UPPER_ERROR) -> float:
    """Return the one-sided upper limit of the component `name` (questions or wordings), from the χ²
    of its mean square."""
    from scipy.special import chdtri

    # The mean square of wordings averages over questions, and that of questions over wordings.
    n_averaged = bar.cells.shape[0] if name == "wordings" else bar.cells.shape[1]
    square, df = bar.squares.with_df(name)
    df = df if name == "wordings" else max(bar.n_effective - 1, 1.0)
    residual = 0.0 if math.isnan(bar.squares.residual) else bar.squares.residual
    return max(square * df / float(chdtri(df, 1 - error)) - residual, 0.0) / n_averaged


def designs_after(
    components: Components,
    n_questions: float,
    n_wordings: float,
    n_runs: float,
    n_calls: int = 100,
    level: float = 0.95,
) -> dict[str, Design]:
    """Return the designs after `n_calls` more than these questions × wordings × runs. The keys say
    how the calls are spent: "wordings" (new ones), "questions" (new ones), "reruns"."""
    sizes = {
        "wordings": (n_questions, n_wordings + n_calls / (n_questions * n_runs), n_runs),
        "questions": (n_questions + n_calls / (n_wordings * n_runs), n_wordings, n_runs),
        "reruns": (n_questions, n_wordings, n_runs + n_calls / (n_questions * n_wordings)),
    }
    return {
        name: Design(*size, half_width(components, *size, level)) for name, size in sizes.items()
    }


def assumed_components(
    score: float, between_wordings: float, between_runs: float, spread: float
) -> Components:
    """Return the components of right and wrong answers from a person's assumptions about a model.

    `score` is its accuracy. `between_wordings` is the share of answers that are right in one of two
    wordings and wrong in the other, `between_runs` the same for two runs. `spread` is the standard
    deviation of the scores of wordings. Raises BadInput for a combination that is impossible.
    """
    # Two draws of a 0/1 variable differ with a chance of twice its variance.
    disagreement, reruns = between_wordings / 2, between_runs / 2
    components = Components(
        score * (1 - score) - disagreement, spread**2, disagreement - reruns - spread**2, reruns
    )
    if components.questions < 0:
        raise BadInput(
            f"At a score of {score:.2f} no more than {2 * score * (1 - score):.2f} of answers can "
            "change with the wording."
        )
    if components.interaction < 0:
        lowest = 2 * (reruns + spread**2)
        raise BadInput(
            f"Two runs and the spread of wordings alone make {lowest:.2f} of answers change "
            "between wordings: raise that share."
        )
    return components


def upper_components(bar: ErrorBar) -> Components:
    """Return the components with that of wordings at its upper limit (one-sided, 99.9%)."""
    upper = _upper_component(bar, "wordings", WORST_ERROR)
    return replace(bar.components, wordings=max(upper, bar.components.wordings))


def best_design(
    components: Components,
    n_calls: int,
    most_questions: int,
    level: float = 0.95,
    worst: Components | None = None,
) -> Design:
    """Return the design of at most `n_calls` with the smallest half-width, by trying all designs.

    Estimated components could in truth be `worst`: for three wordings that happen to agree, the
    estimates would advise to ask in only three. With `worst`, a design must therefore also be at
    most `MAX_EXTRA_WIDTH` wider than an equal split under `worst`. Raises BadInput for a budget
    below three wordings of two questions.
    """
    designs = sorted(
        _designs(components, n_calls, most_questions, level),
        key=lambda design: (design.half_width, design.n_calls),
    )
    if not designs:
        raise BadInput(
            f"{n_calls:,} calls are fewer than {LEAST_WORDINGS} wordings of two questions; allow "
            "at least 6."
        )
    if worst is None:
        return designs[0]
    # 1e-9, because the cube root of a cube may be just below the whole number.
    equal_size = float(max(int(np.cbrt(n_calls) + 1e-9), 2))
    max_width = (1 + MAX_EXTRA_WIDTH) * half_width(worst, equal_size, equal_size, equal_size, level)
    for design in designs:
        size = design.n_questions, design.n_wordings, design.n_runs
        if half_width(worst, *size, level) <= max_width:
            return design
    return designs[0]


def _designs(
    components: Components, n_calls: int, most_questions: int, level: float
) -> Iterator[Design]:
    """Yield the designs of two or more questions within the budget, one per number of wordings and
    reruns."""
    for n_wordings in range(LEAST_WORDINGS, MAX_WORDINGS + 1):
        for n_runs in range(1, MAX_RUNS + 1):
            # As many questions as the budget allows: more are never worse.
            n_questions = min(most_questions, n_calls // (n_wordings * n_runs))
            if n_questions >= 2:
                size = n_questions, n_wordings, n_runs
                yield Design(*size, half_width(components, *size, level))
