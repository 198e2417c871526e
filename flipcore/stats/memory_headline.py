"""One sentence for a study that compares items with controls: what the detectors flag, kind by kind."""

from __future__ import annotations

import numpy as np
import pandas as pd

from flipcore.errors import BadInput
from flipcore.stats import memory
from flipcore.stats.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.loss_analysis import DEFAULT_RULE, loss_test
from flipcore.stats.pearl_alpha import alpha_tolerance
from flipcore.stats.pearl_analysis import sensitivities

NAMES = {"number": "problems", "choice": "choices", "completion": "passages"}
TITLES = {"question_loss": "question loss", "answer_loss": "answer loss", "min_k": "min-k %"}
FPR = 0.05


def memory_headline(frame: pd.DataFrame) -> str:
    """Of the first model: for each kind of item the first loss that can be tested, PEARL, or else the drop gap; empty where
    nothing is compared yet."""
    if frame.empty:
        return ""
    frame = frame[frame["model"] == frame["model"].iloc[0]]
    parts = [part for kind in NAMES for part in _of_kind(frame[frame["kind"] == kind], NAMES[kind])]
    return f"{'; '.join(parts)}." if parts else ""


def _of_kind(frame: pd.DataFrame, items: str) -> list[str]:
    judged, compared = memory.roles_of(frame)
    if not judged or not compared:
        return []
    found = [part for part in (_loss(frame, judged, compared, items), _pearl(frame, judged, compared, items)) if part]
    return found or _gap(frame, judged, compared, items)


def _loss(frame: pd.DataFrame, judged: list[str], compared: list[str], items: str) -> str:
    for measure, title in TITLES.items():
        mine, other = (memory.losses(frame, measure, roles) for roles in (judged, compared))
        try:
            flagged = loss_test(mine["item_id"].tolist(), mine["d"], other["d"]).flagged[DEFAULT_RULE]
        except BadInput:  # too few controls, or this measure was not asked: the next one may have been
            continue
        return f"{title} flags {int(flagged.sum()):,} of {len(flagged):,} {items}"
    return ""


def _pearl(frame: pd.DataFrame, judged: list[str], compared: list[str], items: str) -> str:
    for metric in memory.SIMILARITIES:
        mine, other = (memory.pearl_scores(frame, metric, roles)[0] for roles in (judged, compared))
        if mine and other:
            values, alpha = sensitivities(mine), alpha_tolerance(sensitivities(other), FPR)[0]
            if np.isfinite(alpha):
                return f"PEARL flags {int((values > alpha).sum()):,} of {len(values):,} {items}"
    return ""


def _gap(frame: pd.DataFrame, judged: list[str], compared: list[str], items: str) -> list[str]:
    for operator in memory.operators(frame):
        sets = [memory.rewritten(frame, operator, "regex", roles) for roles in (judged, compared)]
        if all(len(one.drops) > 1 for one in sets):
            found = drop_gap_analysis(*sets)
            return [f"the drop gap on {items} is {found.gap.text_pp()} ({found.decision})"]
    return []
