"""PEARL's test of a set, decided whatever the continuations that were cut off could have been.

A token limit cuts nothing off: a continuation is asked for with a fixed length. A filter or an open
reasoning block does. Where that is more than `MOST_CUT` of the continuations, all benchmark items
with one are taken to lie below the controls' mark and all such controls above it. The verdict
stands only where it is the same then; its p is the larger of the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from flipcore.core.finish import MOST_CUT
from flipcore.core.records import CUT
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_truncation import cut_share

LEVEL = 0.05
_FARTHEST = 2.0  # a sensitivity is a difference of two shares, a similarity a share


def settled_set(
    test: SetTest,
    frame: pd.DataFrame,
    axis: str,
    metric: str,
    scores: dict[str, float],
    control_scores: dict[str, float],
    tested: Callable[[Sequence[float], Sequence[float]], SetTest] = set_test,
) -> tuple[SetTest, str]:
    """Return the test as far as it holds in the worst case, and why nothing is claimed; "" where it
    holds. `scores` and `control_scores` are sensitivities or similarities by item, `tested` is the
    function that tested them."""
    share = cut_share(frame, axis, metric, tuple(frame["role"].unique()))
    if not share > MOST_CUT:
        return test, ""
    worst = tested(
        _taken_for(scores, frame, axis, metric, -_FARTHEST),
        _taken_for(control_scores, frame, axis, metric, _FARTHEST),
    )
    # `fmax` leaves out a NaN, of a test that could not be made.
    settled = replace(
        test, p=float(np.fmax(test.p, worst.p)), n_least=min(test.n_least, worst.n_least)
    )
    if (test.p <= LEVEL) == (settled.p <= LEVEL):
        return settled, ""
    return (
        settled,
        f"{100 * share:.0f}% of the continuations were cut off, and they could change the "
        "verdict. Ask them again.",
    )


def _taken_for(
    values: dict[str, float], frame: pd.DataFrame, axis: str, metric: str, value: float
) -> Sequence[float]:
    rows = frame[
        (frame["axis"] == axis) & (frame["extractor"] == metric) & (frame["status"] == CUT)
    ]
    # One cut continuation is enough to leave the text's score open.
    cut = set(rows["item_id"])
    return [value if item in cut else score for item, score in values.items()]
