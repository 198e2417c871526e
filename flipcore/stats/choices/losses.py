"""A loss between two runs in every way of counting, each way judged by the test of `check`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flipcore.stats.choices.choice import WEIGHTS
from flipcore.stats.choices.counting import count
from flipcore.stats.choices.curve import Curve
from flipcore.stats.choices.material import ALIKE
from flipcore.stats.choices.readouts import AnswerMaterial
from flipcore.stats.score.regression import Loss, TaskScores, loss_of


@dataclass(frozen=True, eq=False)
class LossTests:
    """The tests of a curve's gains, from the losses of its specifications.

    They are asked at the margin and the error rate of `check` alone.
    """

    losses: Sequence[Loss]

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits of the gain (n_specifications,)."""
        ends = np.array([loss.limits for loss in self.losses])
        return -ends[:, 1], -ends[:, 0]

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return one-sided p of a gain of `null` or less, or with `below` or more."""
        return np.array([loss.p_large if below else loss.p_small for loss in self.losses])


def loss_curve(material: AnswerMaterial, margin: float) -> Curve:
    """Count the gain of the first of two runs over the second in every defensible way.

    `margin` is the share that may be lost. Normal limits of a lead are too sure of a loss that no
    item shows, so the exact test of `check` stands in their place.
    """
    curve = count(material)
    losses = []
    for place in range(len(curve)):
        setting = curve.setting(place)
        gains = np.where(material.kept(setting), material.values(setting), np.nan)
        groups = [np.ones(len(gains), dtype=bool)]
        if setting.get(WEIGHTS) == ALIKE:
            has_values = ~np.isnan(gains)
            groups = [
                (material.categories == category) & has_values
                for category in np.unique(material.categories[has_values])
            ]
        parts = []
        for group in groups:
            part = gains[group]
            scores = TaskScores(np.maximum(-part, 0), np.maximum(part, 0), material.clusters[group])
            parts.append(scores)
        losses.append(loss_of(parts, margin))
    tests = LossTests(losses)
    return replace(curve, tests=tests, coarse_tests=tests)
