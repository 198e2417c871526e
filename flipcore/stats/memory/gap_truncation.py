"""Decisions that hold whatever the answers that were cut off could have been.

A cut answer counts as wrong. If more than `MAX_CUT` of the answers were cut off, the rule for the
drop gap is run twice more: with the cut answers that make the benchmark's loss smallest, and with
those that make it largest. The decision stands only if all three agree. Its p is the largest of the
three and its 90% interval spans all three, so that "within the margin" holds in each case too.

PEARL's test of a set is treated in the same way, with one worst case. A token limit cuts off no
continuation, because continuations have a fixed length; a filter or an open reasoning block does.
The worst case puts all benchmark items with a cut continuation below the controls' mark and all
such controls above it. The p is the larger of the two.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from flipcore.core.finish import MAX_CUT
from flipcore.core.records import ABSENT, CUT
from flipcore.stats.base.intervals import covering
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import MARGIN, DropGap, drop_gap_analysis
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision, gap_decision
from flipcore.stats.memory.members import Members

LEVEL = 0.05  # of PEARL's test of a set
# Correctness (before, after) of cut answers, first on the benchmark, then on the control.
LEAST_LOSS = ((0.0, 1.0), (1.0, 0.0))
MAX_LOSS = ((1.0, 0.0), (0.0, 1.0))
# A sensitivity is a difference of two shares and a similarity is a share, so both are within +-2.
_FARTHEST = 2.0


def gap_of_frame(
    frame: pd.DataFrame,
    operator: str,
    extractor: str,
    item_roles: Sequence[str],
    control_roles: Sequence[str],
    members: Members,
    margin: float = MARGIN,
) -> DropGap:
    """Compute all results of the rewrite axis `operator` with one extractor; the decision holds
    whatever the cut answers were. `item_roles` are the roles of the items under test."""
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
    # `not >` instead of `<=`, because the share is NaN if there is no answer.
    if not share > MAX_CUT or analysis.decided.withheld:
        return analysis
    cases = []
    for cut_as, control_cut_as in (LEAST_LOSS, MAX_LOSS):
        sides = members.sides(
            frames.rewritten(frame, operator, extractor, item_roles, cut_as),
            frames.rewritten(frame, operator, extractor, control_roles, control_cut_as),
        )
        cases.append(gap_decision(sides, members.control))
    return replace(analysis, decided=settle_gap(analysis.decided, cases, share))


def cut_share(frame: pd.DataFrame, axis: str, extractor: str, roles: Sequence[str]) -> float:
    """Return the share of answers of an axis and extractor that were cut off; NaN if no answer."""
    rows = frame[
        (frame["axis"] == axis) & (frame["extractor"] == extractor) & frame["role"].isin(roles)
    ]
    present = rows[rows["status"] != ABSENT]
    return float((present["status"] == CUT).mean()) if len(present) else math.nan


def settle_gap(decision: GapDecision, cases: Sequence[GapDecision], share: float) -> GapDecision:
    """Return the decision with the interval and p of the worst case; it is withheld if the cases
    disagree. `share` is the share of answers that were cut off."""
    decisions = (decision, *cases)
    low, high = covering([(case.gap_90.low, case.gap_90.high) for case in decisions])
    gap_90 = replace(decision.gap_90, low=low, high=high, method="worst cases of cut answers")
    p = max((case.p for case in decisions if not math.isnan(case.p)), default=math.nan)
    if len({case.is_larger for case in decisions}) == 1:
        return replace(decision, gap_90=gap_90, p=p)
    reason = (
        f"{100 * share:.0f}% of the answers were cut off, and they could change the verdict. "
        "Raise the token limit and run again."
    )
    return replace(decision, gap_90=gap_90, p=p, withheld=reason)


def settled_set(
    test: SetTest,
    frame: pd.DataFrame,
    axis: str,
    metric: str,
    scores: dict[str, float],
    control_scores: dict[str, float],
    tested: Callable[[Sequence[float], Sequence[float]], SetTest] = set_test,
) -> tuple[SetTest, str]:
    """Return the test of a set with the p of the worst case, and why nothing is claimed ("" if the
    verdict is the same in the worst case).

    `scores` and `control_scores` are item id -> sensitivity or similarity. `tested` is the function
    that made the test from them.
    """
    share = cut_share(frame, axis, metric, tuple(frame["role"].unique()))
    if not share > MAX_CUT:
        return test, ""
    worst = tested(
        _replace_cut(scores, frame, axis, metric, -_FARTHEST),
        _replace_cut(control_scores, frame, axis, metric, _FARTHEST),
    )
    # `fmax` ignores the NaN of a test that could not be made.
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


def _replace_cut(
    scores: dict[str, float], frame: pd.DataFrame, axis: str, metric: str, worst: float
) -> Sequence[float]:
    """Return the scores with `worst` for each item that has a cut continuation."""
    rows = frame[
        (frame["axis"] == axis) & (frame["extractor"] == metric) & (frame["status"] == CUT)
    ]
    # One cut continuation is enough to make the score of the whole text unknown.
    cut_items = set(rows["item_id"])
    return [worst if item in cut_items else score for item, score in scores.items()]
