"""Every memorization test of a study, kind by kind, with the defaults of the page: for the command line and for export."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from flipcore.core.errors import BadInput
from flipcore.core.study import Study
from flipcore.stats.base.estimate import Estimate
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, loss_test
from flipcore.stats.memory.pearl_alpha import Setting, alpha_tolerance
from flipcore.stats.memory.pearl_analysis import pearl, sensitivities

NAMES = {"number": "problems", "choice": "choices", "completion": "passages"}
TITLES = {"question_loss": "question loss", "answer_loss": "answer loss", "min_k": "min-k %"}
FPR = 0.05


@dataclass(frozen=True)
class MemoryTest:
    """One detector on the items of one kind. `decision` is "flag", "no evidence", "unresolved: …" or "not computed";
    `numbers` are Estimates, counts and p-values by name."""

    items: str
    detector: str
    decision: str
    sentence: str
    numbers: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a missing number is None."""
        return {"items": self.items, "detector": self.detector, "decision": self.decision, "sentence": self.sentence} | {
            name: _plain(value) for name, value in self.numbers.items()
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {key: _plain(part) for key, part in asdict(value).items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = "bit_flip") -> Setting:
    """Everything that PEARL's alpha depends on, as the study declares it."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    params = next((part.params for part in study.extractors if part.name == metric), {})
    levels = tuple(float(x) for x in axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)))
    return Setting(
        model, frames.TASKS[axis_name], metric, params.get("compressor", "xz"), levels, int(axis.get("n_samples", 10))
    )


def memory_tests(frame: pd.DataFrame, study: Study, model: str) -> list[MemoryTest]:
    """`frame` is everything that `model` answered (`queries.readouts(..., everything=True)`). Empty where nothing is
    compared."""
    found = []
    for kind, items in NAMES.items():
        part = frame[frame["kind"] == kind]
        judged, compared = frames.roles_of(part)
        if judged and compared:
            found += [_tried(items, name, test) for name, test in _tests(part, judged, compared, study, model)]
    return [one for one in found if one is not None]


def _tests(frame: pd.DataFrame, judged: list[str], compared: list[str], study: Study, model: str):
    asked = set(frame["extractor"])
    for operator in frames.operators(frame):
        yield f"drop gap, {operator}", lambda operator=operator: _gap(frame, operator, judged, compared)
    for measure in frames.LOSSES:
        if measure in asked:
            yield TITLES[measure], lambda measure=measure: _loss(frame, measure, judged, compared)
    for axis in frames.tasks(frame):
        for metric in frames.SIMILARITIES:
            if metric in asked:
                title = f"PEARL{'' if axis == 'bit_flip' else ', summaries'}, {metric}"
                yield (
                    title,
                    lambda axis=axis, metric=metric: _pearl(
                        frame, metric, judged, compared, pearl_setting(study, model, metric, axis), axis
                    ),
                )


def _tried(items: str, detector: str, test: Callable[[], tuple | None]) -> MemoryTest | None:
    """The test, or why it could not be made; None where the items were not asked for it at all."""
    try:
        made = test()
    except BadInput as error:
        return MemoryTest(items, detector, "not computed", str(error))
    return None if made is None else MemoryTest(items, detector, *made)


def _gap(frame, operator, judged, compared):
    sets = [frames.rewritten(frame, operator, "regex", roles) for roles in (judged, compared)]
    if not all(len(one.drops) for one in sets):
        return None
    benchmark, control = sets
    found = drop_gap_analysis(benchmark, control)
    return (
        found.decision,
        found.sentence(),
        {
            "gap": found.gap,
            "gap_source": found.gap_source,
            "cond_gap": found.cond_gap,
            "gap_net": found.gap_net,
            "perm_p": found.perm_p,
            "source_decision": found.source_decision,
            "detectable": found.detectable,
            "n_benchmark": found.benchmark.n_items,
            "n_control": found.control.n_items,
        },
    )


def _loss(frame, measure, judged, compared):
    mine, other = (frames.losses(frame, measure, roles) for roles in (judged, compared))
    if mine.empty:
        return None
    found = loss_test(mine["item_id"].tolist(), mine["d"], other["d"])
    n_flagged = int(found.flagged[DEFAULT_RULE].sum())
    return (
        "flag" if n_flagged else "no evidence",
        found.sentence(),
        {
            "rule": DEFAULT_RULE,
            "n": len(found.d),
            "n_controls": len(found.d0),
            "n_flagged": n_flagged,
            "rate": found.rate(),
            "cutoff": found.cutoff(),
            "excess_lower95": found.excess()["lower95"],
        },
    )


def _pearl(frame, metric, judged, compared, setting, axis):
    mine, other = (frames.pearl_scores(frame, metric, roles, axis)[0] for roles in (judged, compared))
    if not mine:
        return None
    found = pearl(mine, other, setting, FPR)
    usable = math.isfinite(found.calibration.alpha)
    decision = "not computed" if not usable else "flag" if found.flagged.any() else "no evidence"
    return (
        decision,
        found.sentence(),
        {
            "rule": found.calibration.rule,
            "alpha": found.calibration.alpha,
            "fpr": FPR,
            "n": len(found.item_ids),
            "n_non_members": found.calibration.n,
            "n_flagged": int(found.flagged.sum()),
            "detection": found.detection,
        },
    )


def memory_headline(frame: pd.DataFrame) -> str:
    """Of the first model: for each kind of item the first loss that can be tested, PEARL, or else the drop gap; empty where
    nothing is compared yet."""
    if frame.empty:
        return ""
    frame = frame[frame["model"] == frame["model"].iloc[0]]
    parts = [part for kind in NAMES for part in _of_kind(frame[frame["kind"] == kind], NAMES[kind])]
    return f"{'; '.join(parts)}." if parts else ""


def _of_kind(frame: pd.DataFrame, items: str) -> list[str]:
    judged, compared = frames.roles_of(frame)
    if not judged or not compared:
        return []
    found = [part for part in (_loss_line(frame, judged, compared, items), _pearl_line(frame, judged, compared, items)) if part]
    return found or _gap_line(frame, judged, compared, items)


def _loss_line(frame: pd.DataFrame, judged: list[str], compared: list[str], items: str) -> str:
    for measure, title in TITLES.items():
        mine, other = (frames.losses(frame, measure, roles) for roles in (judged, compared))
        try:
            flagged = loss_test(mine["item_id"].tolist(), mine["d"], other["d"]).flagged[DEFAULT_RULE]
        except BadInput:  # too few controls, or this measure was not asked: the next one may have been
            continue
        return f"{title} flags {int(flagged.sum()):,} of {len(flagged):,} {items}"
    return ""


def _pearl_line(frame: pd.DataFrame, judged: list[str], compared: list[str], items: str) -> str:
    for metric in frames.SIMILARITIES:
        mine, other = (frames.pearl_scores(frame, metric, roles)[0] for roles in (judged, compared))
        if mine and other:
            values, alpha = sensitivities(mine), alpha_tolerance(sensitivities(other), FPR)[0]
            if np.isfinite(alpha):
                return f"PEARL flags {int((values > alpha).sum()):,} of {len(values):,} {items}"
    return ""


def _gap_line(frame: pd.DataFrame, judged: list[str], compared: list[str], items: str) -> list[str]:
    for operator in frames.operators(frame):
        benchmark, control = (frames.rewritten(frame, operator, "regex", roles) for roles in (judged, compared))
        if min(len(benchmark.drops), len(control.drops)) > 1:
            found = drop_gap_analysis(benchmark, control)
            return [f"the drop gap on {items} is {found.gap.text_pp()} ({found.decision})"]
    return []
