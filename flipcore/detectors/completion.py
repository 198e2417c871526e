"""Question completion: does the model continue more of the benchmark than of its controls, from the
first half of each item?

A model completes some items made from templates without having read them (of the pocket model's
problems 15%). The ordinary test counts scores above a high score of the controls. Where that score
is a complete continuation, no item can exceed it. Then the complete ones are counted on both sides
and tested by Fisher's exact test. The choice between the tests keeps the error rate. If Fisher's
test finds memory with so many complete controls, it also finds it with fewer. So both together
find it no more often than Fisher's alone; where Fisher's never does, no more often than the
ordinary test alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.axes import completion
from flipcore.detectors.detector import Evidence, ScoreDetector, cut_sentence
from flipcore.stats.memory import frames
from flipcore.stats.memory.exceedance import SetTest, rank, set_test
from flipcore.stats.memory.gap_truncation import settled_set
from flipcore.stats.memory.loss_test import finite
from flipcore.stats.memory.members import Members

COMPLETE = 1.0


def complete_test(items: np.ndarray, controls: np.ndarray) -> SetTest:
    """Return Fisher's exact test of the numbers of complete items and controls.

    The threshold is the best incomplete control, and all incomplete scores are cut to it. Only
    complete ones are above. Given their total, the number of items above is hypergeometric.
    """
    incomplete = controls[controls < COMPLETE]
    n_complete = len(controls) - len(incomplete)
    best_incomplete = float(incomplete.max()) if len(incomplete) else COMPLETE
    d, d0 = (
        np.where(scores >= COMPLETE, scores, np.minimum(scores, best_incomplete))
        for scores in (items, controls)
    )
    # The k-th largest control is the threshold: the first one below the complete ones.
    return set_test(d, d0, k=min(n_complete + 1, len(controls)))


@dataclass(frozen=True)
class Completed(ScoreDetector):
    """`measure` compares a continuation with the true second half. `d` is its value, NaN for a
    continuation that was cut off."""

    axis: str = completion.AXIS.name
    null: str = "the same of controls"
    reads: str = "completion"

    def set_test(self, d: ArrayLike, d0: ArrayLike) -> SetTest:
        items, controls = finite(d), finite(d0)
        n_complete = int((controls >= COMPLETE).sum())
        if n_complete >= rank(len(controls)):
            return complete_test(items, controls)
        return set_test(items, controls)

    def is_in(self, frame: pd.DataFrame) -> bool:
        return bool(((frame["axis"] == self.axis) & (frame["extractor"] == self.measure)).any())

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        return frames.losses(
            frame[frame["axis"] == self.axis],
            self.measure,
            roles=roles,
            operator=self.axis,
            is_absolute=True,
        )

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        evidence = super().evidence(frame, item_roles, control_roles, members)
        if evidence is None or evidence.set_test is None:
            return None
        by_item = self._by_item(frame, item_roles)
        by_control = self._by_item(frame, control_roles)
        test, withheld = settled_set(
            evidence.set_test,
            frame,
            axis=self.axis,
            metric=self.measure,
            scores=by_item,
            control_scores=by_control,
            tested=self.set_test,
        )
        cut = cut_sentence(self, frame, roles=(*item_roles, *control_roles))
        return replace(evidence, set_test=test, withheld=withheld, cut=cut)

    def _by_item(self, frame: pd.DataFrame, roles: Sequence[str]) -> dict[str, float]:
        """Return the score of each item that was asked; NaN without one."""
        is_measured = (frame["axis"] == self.axis) & (frame["extractor"] == self.measure)
        asked_items = frame["item_id"][is_measured & frame["role"].isin(roles)]
        rows = self.scores(frame, roles)
        scores = dict(zip(rows["item_id"], rows["d"], strict=True))
        return dict.fromkeys(asked_items, math.nan) | scores


class WordForWord(Completed):
    """Exact matches: scores are 1 or 0, so the test is always Fisher's."""

    def set_test(self, d: ArrayLike, d0: ArrayLike) -> SetTest:
        return complete_test(finite(d), finite(d0))


DETECTORS = (
    Completed(
        "completion_rouge_l",
        "completion, ROUGE-L",
        about="How much of an item's second half the model writes, shown the first.",
        measure="rouge_l",
        unit="share of the second half's words continued in order (ROUGE-L)",
    ),
    WordForWord(
        "completion_word_for_word",
        "completion, word for word",
        about="Whether the model writes an item's second half word for word, shown the first.",
        measure="word_for_word",
        unit="continued word for word (1) or not (0)",
    ),
)
