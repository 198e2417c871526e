"""A numeric resample in one call, as the axis makes it: the structure of a problem, then its rewriting."""

import numpy as np

from flipcore.axes.numeric.draw import Resample, rewriting
from flipcore.axes.numeric.structure import structure
from flipcore.axes.variants import Refusal


def resample(question: str, solution: str, rng: np.random.Generator) -> Resample | Refusal:
    """The rewriting of a word problem with its own target, or why there is none."""
    problem = structure(question, solution)
    return problem if isinstance(problem, Refusal) else rewriting(question, problem, rng=rng)
