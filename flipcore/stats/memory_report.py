"""Every memorization test of a study, kind by kind, with the defaults of the page: for the command line and for export."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import pandas as pd

from flipcore.errors import BadInput
from flipcore.stats import memory
from flipcore.stats.drop_gap_analysis import drop_gap_analysis
from flipcore.stats.estimate import Estimate
from flipcore.stats.loss_analysis import DEFAULT_RULE, loss_test
from flipcore.stats.memory_headline import FPR, NAMES, TITLES
from flipcore.stats.pearl_alpha import Setting
from flipcore.stats.pearl_analysis import pearl
from flipcore.study import Study


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
            name: _plain(value) for name, value in self.numbers.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {key: _plain(part) for key, part in asdict(value).items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = "bit_flip") -> Setting:
    """Everything that PEARL's alpha depends on, as the study declares it."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    params = next((part.params for part in study.extractors if part.name == metric), {})
    levels = tuple(float(x) for x in axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)))
    return Setting(model, memory.TASKS[axis_name], metric, params.get("compressor", "xz"), levels,
                   int(axis.get("n_samples", 10)))


def memory_tests(frame: pd.DataFrame, study: Study, model: str) -> list[MemoryTest]:
    """`frame` is everything that `model` answered (`queries.readouts(..., everything=True)`). Empty where nothing is
    compared."""
    found = []
    for kind, items in NAMES.items():
        part = frame[frame["kind"] == kind]
        judged, compared = memory.roles_of(part)
        if judged and compared:
            found += [_tried(items, name, test) for name, test in _tests(part, judged, compared, study, model)]
    return [one for one in found if one is not None]


def _tests(frame: pd.DataFrame, judged: list[str], compared: list[str], study: Study, model: str):
    asked = set(frame["extractor"])
    for operator in memory.operators(frame):
        yield f"drop gap, {operator}", lambda operator=operator: _gap(frame, operator, judged, compared)
    for measure in memory.LOSSES:
        if measure in asked:
            yield TITLES[measure], lambda measure=measure: _loss(frame, measure, judged, compared)
    for axis in memory.tasks(frame):
        for metric in memory.SIMILARITIES:
            if metric in asked:
                title = f"PEARL{'' if axis == 'bit_flip' else ', summaries'}, {metric}"
                yield title, lambda axis=axis, metric=metric: _pearl(
                    frame, metric, judged, compared, pearl_setting(study, model, metric, axis), axis)


def _tried(items: str, detector: str, test: Callable[[], tuple | None]) -> MemoryTest | None:
    """The test, or why it could not be made; None where the items were not asked for it at all."""
    try:
        made = test()
    except BadInput as error:
        return MemoryTest(items, detector, "not computed", str(error))
    return None if made is None else MemoryTest(items, detector, *made)


def _gap(frame, operator, judged, compared):
    sets = [memory.rewritten(frame, operator, "regex", roles) for roles in (judged, compared)]
    if not all(len(one.drops) for one in sets):
        return None
    found = drop_gap_analysis(*sets)
    return found.decision, found.sentence(), {
        "gap": found.gap, "gap_seed": found.gap_seed, "cond_gap": found.cond_gap, "gap_net": found.gap_net,
        "perm_p": found.perm_p, "seed_decision": found.seed_decision, "detectable": found.detectable,
        "n_benchmark": found.benchmark.n_items, "n_control": found.control.n_items}


def _loss(frame, measure, judged, compared):
    mine, other = (memory.losses(frame, measure, roles) for roles in (judged, compared))
    if mine.empty:
        return None
    found = loss_test(mine["item_id"].tolist(), mine["d"], other["d"])
    n_flagged = int(found.flagged[DEFAULT_RULE].sum())
    return "flag" if n_flagged else "no evidence", found.sentence(), {
        "rule": DEFAULT_RULE, "n": len(found.d), "n_controls": len(found.d0), "n_flagged": n_flagged,
        "rate": found.rate(), "cutoff": found.cutoff(), "excess_lower95": found.excess()["lower95"]}


def _pearl(frame, metric, judged, compared, setting, axis):
    mine, other = (memory.pearl_scores(frame, metric, roles, axis)[0] for roles in (judged, compared))
    if not mine:
        return None
    found = pearl(mine, other, setting, FPR)
    usable = math.isfinite(found.calibration.alpha)
    decision = "not computed" if not usable else "flag" if found.flagged.any() else "no evidence"
    return decision, found.sentence(), {
        "rule": found.calibration.rule, "alpha": found.calibration.alpha, "fpr": FPR, "n": len(found.item_ids),
        "n_non_members": found.calibration.n, "n_flagged": int(found.flagged.sum()), "detection": found.detection}
