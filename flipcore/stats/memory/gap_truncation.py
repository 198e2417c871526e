"""The drop gap of a frame, held against what answers that were cut off could have been.

A cut answer counts as wrong. Where more than `MOST_CUT` of a cell's answers were cut off, the rule is run twice more: with every
cut answer read against a larger loss of the benchmark, and for it. What decides must come out the same; its p is the largest of
the three and the 90% interval spans them, so that "within the margin" too holds whatever they were.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from flipcore.core.finish import MOST_CUT
from flipcore.core.records import ABSENT, CUT
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap, drop_gap_analysis
from flipcore.stats.memory.gap_decision import GapDecision, gap_decision
from flipcore.stats.memory.members import Members

MARGIN = 0.05
# (before, after) of cut answers on the benchmark and on the control: the least loss of the benchmark, and the most
_WORST = (((0.0, 1.0), (1.0, 0.0)), ((1.0, 0.0), (0.0, 1.0)))


def gap_of_frame(
    frame: pd.DataFrame,
    operator: str,
    extractor: str,
    item_roles: Sequence[str],
    control_roles: Sequence[str],
    members: Members,
    margin: float = MARGIN,
) -> DropGap:
    """Everything about one rewriting as one extractor reads it; `item_roles` are those of the items under test."""
    mine, other = (frames.rewritten(frame, operator, extractor, roles) for roles in (item_roles, control_roles))
    analysis = drop_gap_analysis(mine, other, margin=margin, sides=members.sides(mine, other), what=members.control)
    share = cut_share(frame, operator, extractor, (*item_roles, *control_roles))
    if not share > MOST_CUT or analysis.decided.withheld:
        return analysis
    cases = []
    for of_judged, of_compared in _WORST:
        sets = (
            frames.rewritten(frame, operator, extractor, item_roles, of_judged),
            frames.rewritten(frame, operator, extractor, control_roles, of_compared),
        )
        cases.append(gap_decision(members.sides(*sets), members.control))
    return replace(analysis, decided=settled(analysis.decided, cases, share))


def cut_share(frame: pd.DataFrame, axis: str, extractor: str, roles: Sequence[str]) -> float:
    """The share of a cell's answers that were cut off; NaN without an answer."""
    rows = frame[(frame["axis"] == axis) & (frame["extractor"] == extractor) & frame["role"].isin(roles)]
    there = rows[rows["status"] != ABSENT]
    return float((there["status"] == CUT).mean()) if len(there) else math.nan


def settled(decision: GapDecision, cases: Sequence[GapDecision], share: float) -> GapDecision:
    """The decision as far as it holds in every case."""
    every = (decision, *cases)
    ends = [end for one in every for end in (one.gap_90.low, one.gap_90.high)]
    wide = replace(decision.gap_90, low=min(ends), high=max(ends), method="worst cases of cut answers")
    p = max((one.p for one in every if not math.isnan(one.p)), default=math.nan)
    if len({one.is_larger for one in every}) == 1:
        return replace(decision, gap_90=wide, p=p)
    reason = f"{100 * share:.0f}% of the answers were cut off, and they could change the verdict. Raise the token limit and run again."
    return replace(decision, gap_90=wide, p=p, withheld=reason)
