"""Question completion: does the model continue more of the benchmark than of its controls, from the
first half of each item?

Of items made from templates a model completes some that it never read, of the pocket model's
problems 15%. Where as many controls are complete as the mark leaves above it, nothing lies beyond;
then what is complete is counted on both sides and tested by Fisher's exact test. The choice keeps
the error rate: where Fisher's test says memory of so many complete controls, it says so of fewer,
too, so that both together say it no oftener than Fisher's alone, or than the ordinary test alone
where Fisher's never does.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from flipcore.axes import completion
from flipcore.detectors.detector import Evidence, ScoreDetector
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.memory import frames
from flipcore.stats.memory.exceedance import SetTest, rank, set_test
from flipcore.stats.memory.gap_truncation import cut_share, settled_set
from flipcore.stats.memory.loss_test import finite
from flipcore.stats.memory.members import Members

COMPLETE = 1.0


def complete_test(items: np.ndarray, controls: np.ndarray) -> SetTest:
    """Fisher's exact test of how many are complete: scores below count as the best incomplete
    control, which is the mark. With as many controls above it as are complete, the count of items
    above it, given all that are complete, is hypergeometric."""
    incomplete = controls[controls < COMPLETE]
    best = float(incomplete.max()) if len(incomplete) else COMPLETE
    d, d0 = (
        np.where(scores >= COMPLETE, scores, np.minimum(scores, best))
        for scores in (items, controls)
    )
    return set_test(d, d0, k=min(len(controls) - len(incomplete) + 1, len(controls)))


@dataclass(frozen=True)
class Completed(ScoreDetector):
    """`measure` compares a continuation with the true second half: `d` is its value, NaN of a
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
        share = cut_share(
            frame, self.axis, extractor=self.measure, roles=(*item_roles, *control_roles)
        )
        cut = (
            f"Cut off by a filter or an open reasoning block: {percent_text(share, 1)} of the "
            "continuations."
        )
        return replace(evidence, set_test=test, withheld=withheld, cut=cut)

    def _by_item(self, frame: pd.DataFrame, roles: Sequence[str]) -> dict[str, float]:
        """Every item that was asked; NaN without a score."""
        asked = frame[
            (frame["axis"] == self.axis)
            & (frame["extractor"] == self.measure)
            & frame["role"].isin(roles)
        ]
        rows = self.scores(frame, roles)
        return dict.fromkeys(asked["item_id"], math.nan) | dict(
            zip(rows["item_id"], rows["d"], strict=True)
        )


class WordForWord(Completed):
    """Scores are 1 or 0."""

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
