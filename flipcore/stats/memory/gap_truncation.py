"""The drop gap of a frame, held against what answers that were cut off could have been.

A cut answer counts as wrong. Where more than `MOST_CUT` of a cell's answers were cut off, the rule
is run twice more: with all cut answers read against a larger loss of the benchmark, and for it. The
decision must come out the same; its p is the largest of the three and the 90% interval spans them,
so that "within the margin" too holds whatever they were.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from flipcore.core.finish import MOST_CUT
from flipcore.core.records import ABSENT, CUT
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap, drop_gap_analysis
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision, gap_decision
from flipcore.stats.memory.members import Members

MARGIN = 0.05
# (before, after) of cut answers on the benchmark and on the control: the least loss of the
# benchmark, and the most
LEAST_LOSS = ((0.0, 1.0), (1.0, 0.0))
MOST_LOSS = ((1.0, 0.0), (0.0, 1.0))


def gap_of_frame(
    frame: pd.DataFrame,
    operator: str,
    extractor: str,
    item_roles: Sequence[str],
    control_roles: Sequence[str],
    members: Members,
    margin: float = MARGIN,
) -> DropGap:
    """Compute all results of one rewriting as one extractor reads it; `item_roles` are those of the
    items under test."""
    benchmark = frames.rewritten(frame, operator, extractor, item_roles)
    control = frames.rewritten(frame, operator, extractor, control_roles)
    analysis = drop_gap_analysis(
        benchmark,
        control,
        margin=margin,
        sides=members.sides(benchmark, control),
        declared=members.control,
    )
    share = cut_share(frame, operator, extractor, (*item_roles, *control_roles))
    # Written so that NaN, no answer at all, leaves the analysis as it is.
    if not share > MOST_CUT or analysis.decided.withheld:
        return analysis
    cases = []
    for cut_as, control_cut_as in (LEAST_LOSS, MOST_LOSS):
        sides = members.sides(
            frames.rewritten(frame, operator, extractor, item_roles, cut_as),
            frames.rewritten(frame, operator, extractor, control_roles, control_cut_as),
        )
        cases.append(gap_decision(sides, members.control))
    return replace(analysis, decided=settled(analysis.decided, cases, share))


def cut_share(frame: pd.DataFrame, axis: str, extractor: str, roles: Sequence[str]) -> float:
    """Return the share of a cell's answers that were cut off; NaN without an answer."""
    rows = frame[
        (frame["axis"] == axis) & (frame["extractor"] == extractor) & frame["role"].isin(roles)
    ]
    present = rows[rows["status"] != ABSENT]
    return float((present["status"] == CUT).mean()) if len(present) else math.nan


def settled(decision: GapDecision, cases: Sequence[GapDecision], share: float) -> GapDecision:
    """Return the decision as far as it holds in all cases."""
    decisions = (decision, *cases)
    ends = []
    for case in decisions:
        ends += [case.gap_90.low, case.gap_90.high]
    wide = replace(
        decision.gap_90, low=min(ends), high=max(ends), method="worst cases of cut answers"
    )
    p = max((case.p for case in decisions if not math.isnan(case.p)), default=math.nan)
    if len({case.is_larger for case in decisions}) == 1:
        return replace(decision, gap_90=wide, p=p)
    reason = (
        f"{100 * share:.0f}% of the answers were cut off, and they could change the verdict. "
        "Raise the token limit and run again."
    )
    return replace(decision, gap_90=wide, p=p, withheld=reason)


# PEARL's test of a set, decided whatever the continuations that were cut off could have been. A
# token limit cuts nothing off: a continuation is asked for with a fixed length. A filter or an open
# reasoning block does. Where that is more than `MOST_CUT` of the continuations, all benchmark items
# with one are taken to lie below the controls' mark and all such controls above it. The verdict
# stands only where it is the same then; its p is the larger of the two.


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
