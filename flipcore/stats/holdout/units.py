"""Numbers of the four holdout tests as text, each in the unit of its test."""

import math
from typing import Protocol

import numpy as np

from flipcore.stats.base.estimate import Estimate, number_text, percent_text

TITLES = {
    "difficulty": "Similarity of difficulty",
    "semantic": "Semantic similarity",
    "prediction": "Prediction accuracy",
    "odd one out": "Human odd-one-out",
}
# The estimate of each test if the sets do not differ.
NO_DIFFERENCE = {"difficulty": 0.0, "semantic": 0.0, "prediction": 0.5, "odd one out": 1 / 3}
ONE_SIDED = ("prediction", "odd one out")  # their margin limits the upper bound of a share


class ScaledTest(Protocol):
    """The fields of `flipcore.stats.holdout.verdict.HoldoutTest` that these texts need."""

    @property
    def name(self) -> str: ...
    @property
    def estimate(self) -> Estimate: ...
    @property
    def bound(self) -> tuple[float, float]: ...
    @property
    def detectable(self) -> float: ...


def bound_text(test: ScaledTest) -> str:
    """Return the bound that is compared with the margin: an upper bound of a share, or an interval
    of a difference."""
    low, high = test.bound
    if test.name in ONE_SIDED:
        # Rounded up to a tenth: a whole percentage could read like the margin that it passes.
        return f"at most {percent_text(float(np.ceil(1000 * high - 1e-9)) / 1000, 1)}"
    scale, digits = (100, 1) if test.name == "difficulty" else (1, decimals(test))
    return f"[{number_text(scale * low, digits)}, {number_text(scale * high, digits)}]"


def margin_text(name: str, margin: float | None) -> str:
    """Return a margin in the unit of its test: "±10 points", "60%", "0.012 (distance)"; None is
    "none"."""
    if margin is None:
        return "none"
    if name == "difficulty":
        return f"±{number_text(100 * margin, 0)} points"
    return f"{margin:.2g} (distance)" if name == "semantic" else percent_text(margin)


def axis_text(test: ScaledTest, x: float) -> str:
    """Return a value on the picture's axis, in the unit of its test."""
    if test.name == "difficulty":
        return f"{number_text(100 * x, 0, sign=True)} points"
    if test.name in ONE_SIDED:
        return percent_text(x)
    return number_text(x, decimals(test) - 1) if x else "0"


def decimals(test: ScaledTest) -> int:
    """Return the number of decimals of MMD², whose size depends on the embedding, so that two
    digits of the interval's width are shown; from 4 to 9."""
    width = test.bound[1] - test.bound[0]
    return min(9, max(4, 1 - math.floor(math.log10(width)))) if width > 0 else 4


def estimate_text(test: ScaledTest) -> str:
    """Return the estimate in the unit of its test."""
    if test.name == "difficulty":
        return test.estimate.text_points()
    if test.name in ONE_SIDED:
        return test.estimate.text_percent()
    return test.estimate.text(decimals(test))


def detectable_text(test: ScaledTest) -> str:
    """Return the smallest difference that four in five such studies would find; "unknown" if all
    answers are equal."""
    if not math.isfinite(test.detectable) or test.detectable <= 0:
        return "unknown"
    if test.name == "difficulty":
        return f"{number_text(100 * test.detectable, 1)} points"
    if test.name == "semantic":
        return f"{number_text(test.detectable, decimals(test))} (distance)"
    chance = NO_DIFFERENCE[test.name]
    return f"{percent_text(chance + test.detectable)} against {percent_text(chance)}"
