"""The loss between two runs under all combinations of choices, tested as `check` does."""

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
    """Tests of gains, from the `losses` of the specifications. A gain is a loss with the other
    sign.

    The losses are tested at one margin and error rate, those of `check`, so `null` and `alpha` have
    no effect.
    """

    losses: Sequence[Loss]

    def limits(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits of the gain, (specifications,) each."""
        loss_limits = np.array([loss.limits for loss in self.losses])
        return -loss_limits[:, 1], -loss_limits[:, 0]

    def p(self, null: float, *, below: bool = False) -> np.ndarray:
        """Return (specifications,) one-sided p of a gain above minus the margin, or `below` it."""
        return np.array([loss.p_large if below else loss.p_small for loss in self.losses])


def loss_curve(material: AnswerMaterial, margin: float) -> Curve:
    """Count the gain of the first of two runs over the second, under all defensible choices.

    `margin` is the share that may be lost. The tests are the exact ones of `check`, because the
    limits of a lead are too narrow if no item shows a loss.
    """
    curve = count(material)
    losses = []
    for specification in range(len(curve)):
        setting = curve.setting(specification)
        gains = np.where(material.is_counted(setting), material.values(setting), np.nan)
        groups = [np.ones(len(gains), dtype=bool)]
        # `loss_of` gives all tasks the same weight, so categories with equal weights are tasks.
        if setting.get(WEIGHTS) == ALIKE:
            has_values = ~np.isnan(gains)
            groups = [
                (material.categories == category) & has_values
                for category in np.unique(material.categories[has_values])
            ]
        tasks = []
        for group in groups:
            lost, won = np.maximum(-gains[group], 0), np.maximum(gains[group], 0)
            tasks.append(TaskScores(lost, won, material.clusters[group]))
        losses.append(loss_of(tasks, margin))
    tests = LossTests(losses)
    return replace(curve, tests=tests, coarse_tests=tests)
