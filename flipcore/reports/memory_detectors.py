"""Every detector of a study, kind of item by kind, measured but not yet judged: for the family that `reports.memory` judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pandas as pd

from flipcore.axes.bit_flip import AXES, BitFlip
from flipcore.core.errors import BadInput
from flipcore.core.records import WRITTEN_ANSWER
from flipcore.core.study import Study
from flipcore.detectors import DETECTORS, Detector, Evidence, Pearl, detectors_in
from flipcore.stats.memory import frames
from flipcore.stats.memory.exceedance import SetTest
from flipcore.stats.memory.gap_decision import GapDecision
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.pearl_alpha import Setting

_TASKS = {axis.name: axis.task for axis in AXES}
NAMES = {"number": "problems", "choice": "choices", "completion": "passages"}


@dataclass(frozen=True, eq=False)
class Measurement:
    """One detector on the items of one `kind`: a drop gap or a test of the set, or the `problem` that kept it from either.
    `detector` is its title, `name` that of the plug-in;
    `axis` and `measure` are what it was read from; `numbers` are Estimates and counts by name. `withheld` says why nothing is
    claimed of the set although it was tested, `cut` what cut answers mean for it."""

    kind: str
    detector: str
    axis: str
    measure: str
    gap: GapDecision | None = None
    set_test: SetTest | None = None
    templated: bool = False
    n_named: int = 0
    problem: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    names_items: bool = False
    withheld: str = ""
    cut: str = ""

    def of(self, evidence: Evidence | None) -> Measurement:
        """The same with what its detector hands over."""
        return (
            self if evidence is None else replace(self, **{one.name: getattr(evidence, one.name) for one in fields(Evidence)})
        )


def pearl_setting(study: Study, model: str, metric: str, axis_name: str = BitFlip.name) -> Setting:
    """Everything that PEARL's alpha depends on, as the study declares it."""
    axis = next((part.params for part in study.axes if part.name == axis_name), {})
    params = next((part.params for part in study.extractors if part.name == metric), {})
    levels = tuple(float(x) for x in axis.get("levels_pct", (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)))
    return Setting(model, _TASKS[axis_name], metric, params.get("compressor", "xz"), levels, int(axis.get("n_samples", 10)))


def settings_of(detector: Detector, study: Study, model: str) -> dict[str, Any]:
    """What a detector's analysis needs to know of the study's declaration."""
    return {"setting": pearl_setting(study, model, detector.measure, detector.axis)} if isinstance(detector, Pearl) else {}


def detector_measurements(frame: pd.DataFrame, members: Members) -> list[Measurement]:
    """Every detector on every kind of item that is compared, in the house's order; what was not asked is left out."""
    measurements: list[Measurement] = []
    for kind in NAMES:
        part = frame[frame["kind"] == kind]
        item_roles, control_roles = frames.roles_of(part)
        if item_roles and control_roles:
            measurements += _of_kind(kind, part, item_roles, control_roles, members)
    return measurements


def _of_kind(
    kind: str, frame: pd.DataFrame, item_roles: list[str], control_roles: list[str], members: Members
) -> Iterator[Measurement]:
    for detector in detectors_in(frame):
        try:
            evidence, problem = detector.evidence(frame, item_roles, control_roles, members), ""
        except BadInput as error:
            evidence, problem = None, str(error)
        except Exception as error:  # the detector of a package may raise anything
            evidence, problem = None, DETECTORS.failure(detector.name, error)
        if evidence is None and not problem:
            continue  # these items were not asked for it at all
        yield Measurement(
            kind, detector.title, detector.axis, detector.measure or WRITTEN_ANSWER, problem=problem, name=detector.name
        ).of(evidence)
