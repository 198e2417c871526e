"""Every detector of a study, kind of item by kind, measured but not yet judged: for the family that `reports.memory` judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.stats.memory import frames
from flipcore.stats.memory.cut_gap import gap_of_frame
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, loss_test
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.pearl_alpha import Setting, alpha_tolerance
from flipcore.stats.memory.pearl_analysis import sensitivities

NAMES = {"number": "problems", "choice": "choices", "completion": "passages"}
TITLES = {"question_loss": "question loss", "answer_loss": "answer loss", "min_k": "min-k %"}
REFERENCE = "regex"
FPR = 0.05


@dataclass(frozen=True, eq=False)
class Measurement:
    """One detector on the items of one `kind`: a drop gap or a test of the set, or the `problem` that kept it from either.
    `axis` and `measure` are what it was read from; `numbers` are Estimates and counts by name."""

    kind: str
    detector: str
    axis: str
    measure: str
    gap: GapDecision | None = None
    set_test: SetTest | None = None
    templated: bool = False
    n_named: int = 0
    problem: str = ""
    numbers: dict[str, Any] = field(default_factory=dict)


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = "bit_flip") -> Setting:
    """Everything that PEARL's alpha depends on, as the study declares it."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    params = next((part.params for part in study.extractors if part.name == metric), {})
    levels = tuple(float(x) for x in axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)))
    return Setting(
        model, frames.TASKS[axis_name], metric, params.get("compressor", "xz"), levels, int(axis.get("n_samples", 10))
    )


def detector_measurements(frame: pd.DataFrame, members: Members) -> list[Measurement]:
    """Every detector on every kind of item that is compared, in the house's order; what was not asked is left out."""
    measurements: list[Measurement] = []
    for kind in NAMES:
        part = frame[frame["kind"] == kind]
        judged, compared = frames.roles_of(part)
        if judged and compared:
            measurements += _of_kind(kind, part, judged, compared, members)
    return measurements


def _of_kind(kind: str, frame: pd.DataFrame, judged: list[str], compared: list[str], members: Members) -> Iterator[Measurement]:
    extractors = set(frame["extractor"])
    for operator in frames.operators(frame):
        name = f"drop gap, {operator}"
        yield from _attempt(kind, name, operator, REFERENCE, partial(_gap, frame, operator, judged, compared, members))
    for measure in frames.LOSSES:
        if measure in extractors:
            axis = "" if measure == "min_k" else "paraphrase"
            yield from _attempt(kind, TITLES[measure], axis, measure, partial(_loss, frame, measure, judged, compared, members))
    for axis in frames.tasks(frame):
        for metric in frames.SIMILARITIES:
            if metric in extractors:
                name = f"PEARL{'' if axis == 'bit_flip' else ', summaries'}, {metric}"
                yield from _attempt(kind, name, axis, metric, partial(_pearl, frame, metric, judged, compared, axis, members))


def _attempt(kind: str, name: str, axis: str, measure: str, test: Callable[[], dict | None]) -> Iterator[Measurement]:
    """The test, or why it could not be made; nothing where the items were not asked for it at all."""
    try:
        parts = test()
    except BadInput as error:
        parts = {"problem": str(error)}
    if parts is not None:
        yield Measurement(kind, name, axis, measure, **parts)


def _gap(frame, operator, judged, compared, members: Members) -> dict | None:
    mine, other = (frames.rewritten(frame, operator, REFERENCE, roles) for roles in (judged, compared))
    if not (len(mine.drops) and len(other.drops)):
        return None
    analysis = gap_of_frame(frame, operator, REFERENCE, judged, compared, members)
    numbers = {
        "gap": analysis.gap,
        "gap_source": analysis.gap_source,
        "cond_gap": analysis.cond_gap,
        "gap_net": analysis.gap_net,
        "gap_matched": analysis.gap_matched,
        "perm_p": analysis.perm_p,
        "old_rule_withdrawn": analysis.old_rule,
        "source_decision": analysis.source_decision,
        "n_benchmark": analysis.benchmark.n_items,
        "n_control": analysis.control.n_items,
    }
    return {"gap": analysis.decided, "numbers": numbers}


def _loss(frame, measure, judged, compared, members: Members) -> dict | None:
    mine, other = (frames.losses(frame, measure, roles) for roles in (judged, compared))
    if mine.empty:
        return None
    test = loss_test(mine["item_id"].tolist(), mine["d"], other["d"])
    n_flagged = int(test.flagged[DEFAULT_RULE].sum())
    numbers = {
        "rule": DEFAULT_RULE,
        "n": len(test.d),
        "n_controls": len(test.d0),
        "n_flagged": n_flagged,
        "rate": test.rate(),
        "cutoff": test.cutoff(),
    }
    templated = members.is_templated(mine["item_id"].tolist(), other["item_id"].tolist())
    return {"set_test": test.set_test(), "templated": templated, "n_named": n_flagged, "numbers": numbers}


def _pearl(frame, metric, judged, compared, axis, members: Members) -> dict | None:
    mine, other = (frames.pearl_scores(frame, metric, roles, axis)[0] for roles in (judged, compared))
    if not mine:
        return None
    values, non_members = sensitivities(mine), sensitivities(other)
    alpha, n_non_members = alpha_tolerance(non_members, FPR)[0], int(np.isfinite(non_members).sum())
    numbers = {
        "rule": "tolerance",
        "alpha": alpha,
        "fpr": FPR,
        "n": len(mine),
        "n_non_members": n_non_members,
        "n_flagged": int((values > alpha).sum()) if math.isfinite(alpha) else 0,
    }
    templated = members.is_templated(list(mine), list(other))
    return {"set_test": set_test(values, non_members), "templated": templated, "numbers": numbers}
