"""Detectors of memory: each compares readouts of items with those of controls.

To add a detector, add a file and its name here, or an entry point `flipscope.detectors`. An axis
that sets `drop_gap` has a drop gap without being listed.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

import pandas as pd

from flipcore.axes import AXES
from flipcore.core.errors import BadInput, FlipscopeError
from flipcore.core.plugins import SHIPPED, Origin, Registry, in_files
from flipcore.core.records import IDENTITY, WRITTEN_ANSWER
from flipcore.core.study import DETECTORS as NAMED_BY_ALL
from flipcore.core.study import RANDOM_CONTROL, Study
from flipcore.detectors.detector import Analysis, Detector, ScoreDetector, detector_fault
from flipcore.detectors.drop_gap import DropGap
from flipcore.detectors.hardness_curve import HardnessCurve
from flipcore.detectors.losses import OverReference
from flipcore.detectors.pearl import Pearl
from flipcore.detectors.published import PublishedScore
from flipcore.stats.memory import frames
from flipcore.stats.memory.members import Members

T = TypeVar("T")
_FILES = "drop_gap published losses pearl completion ts_guessing hardness_curve"
DETECTORS: Registry[Detector] = Registry(
    "detector",
    "detectors",
    kind=Detector,
    shipped=in_files(__name__, _FILES, singular="DETECTOR", plural="DETECTORS"),
    fault=detector_fault,
)


def detectors() -> tuple[Detector, ...]:
    """Return all detectors, drop gaps first, including those of axes from other packages."""
    registered = tuple(DETECTORS.values())
    gaps = [detector for detector in registered if isinstance(detector, DropGap)]
    covered_axes = {gap.axis for gap in gaps}
    for axis in AXES.values():
        if axis.drop_gap and axis.name not in covered_axes:
            gaps.append(DropGap.for_axis(axis))
    return (*gaps, *(detector for detector in registered if not isinstance(detector, DropGap)))


def origin_of(name: str) -> Origin:
    """Return the package that a detector comes from; for the drop gap of an axis, the axis's."""
    axis = name.removeprefix("drop_")
    return AXES.origin(axis) if axis != name and name not in DETECTORS else DETECTORS.origin(name)


def detectors_in(frame: pd.DataFrame) -> list[Detector]:
    """Return the detectors whose axis and extractor are in `frame`."""
    return [detector for detector in detectors() if detector.is_in(frame)]


def sees_memory(study: Study, roles: Collection[str] = ()) -> bool:
    """Return True if a study has items to judge, controls, and the parts that a detector needs.

    The parts are an axis and an extractor; the published score also needs a random control, and the
    hardness curve reference models. `roles` are the items' roles where the declaration lacks them,
    as for a recording.
    """
    axes, extractors = {part.name for part in study.axes}, {part.name for part in study.extractors}
    if not frames.compares(roles or study.roles):
        return False
    for detector in detectors():
        if isinstance(detector, PublishedScore) and study.control != RANDOM_CONTROL:
            continue
        if isinstance(detector, HardnessCurve) and not study.reference_models:
            continue
        if _has_parts(detector, axes, extractors=extractors):
            return True
    return False


def _has_parts(detector: Detector, axes: Collection[str], extractors: Collection[str]) -> bool:
    """Return True if the detector's axis and extractor are among these."""
    has_axis = not detector.axis or detector.axis in axes
    return has_axis and (not detector.measure or detector.measure in extractors)


def family(study: Study, axes: Collection[str], extractors: Collection[str]) -> tuple[str, ...]:
    """Return the detectors that a draft of `study` declares with these axes and extractors.

    They are the study's own, and those shipped detectors outside the default list that the new
    parts make possible.
    """
    old_axes = {part.name for part in study.axes}
    old_extractors = {part.name for part in study.extractors}
    added = []
    for name, detector in DETECTORS.items():
        is_optional = DETECTORS.origin(name) == SHIPPED and name not in NAMED_BY_ALL
        # A hardness curve makes no claim yet, so its numbers are shown outside the family.
        if not is_optional or isinstance(detector, HardnessCurve):
            continue
        if not _has_parts(detector, axes, extractors=extractors):
            continue
        # A reference model is declared with the study, so a detector that needs one is added
        # wherever there is one. All others are added only if the new parts made them possible.
        if isinstance(detector, OverReference):
            is_added = bool(study.reference_model)
        else:
            is_added = not _has_parts(detector, old_axes, extractors=old_extractors)
        if is_added and detector.name not in study.detectors:
            added.append(detector.name)
    return (*study.detectors, *added)


def drop_gaps_in(frame: pd.DataFrame) -> list[DropGap]:
    """Return the drop gaps among `detectors_in`."""
    return [detector for detector in detectors_in(frame) if isinstance(detector, DropGap)]


def score_detectors_in(frame: pd.DataFrame) -> list[ScoreDetector]:
    """Return the detectors of `detectors_in` with one score per item, which a threshold can cut."""
    return [detector for detector in detectors_in(frame) if isinstance(detector, ScoreDetector)]


def pearls_in(frame: pd.DataFrame) -> list[Pearl]:
    """Return the PEARL detectors among `detectors_in`."""
    return [detector for detector in detectors_in(frame) if isinstance(detector, Pearl)]


def item_scores(detector: Detector, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
    """Return a detector's scores (columns item_id and d). Raises BadInput if the detector of a
    package fails or returns something else."""

    def scores() -> pd.DataFrame:
        rows = detector.scores(frame, roles)
        # Read both columns here, so that an error names the detector of the package.
        rows["item_id"], rows["d"].astype(float)
        return rows

    return _run_package(detector, scores)


def analysis_of(
    detector: Detector,
    frame: pd.DataFrame,
    item_roles: Sequence[str],
    control_roles: Sequence[str],
    members: Members,
    **settings: Any,
) -> Analysis | None:
    """Return the analysis behind a detector's line, None without one. Raises BadInput if the
    detector of a package fails."""
    return _run_package(
        detector, lambda: detector.analysis(frame, item_roles, control_roles, members, **settings)
    )


def _run_package(detector: Detector, compute: Callable[[], T]) -> T:
    """Return `compute()`; any error that is not a sentence yet becomes BadInput."""
    try:
        return compute()
    except FlipscopeError:
        raise
    except Exception as error:
        raise BadInput(DETECTORS.failure(detector.name, error)) from error


def has_scores(detector: Detector, frame: pd.DataFrame, roles: Sequence[str]) -> bool:
    """Return True if any item has a score; False for a detector that fails, as its row in the
    table of all detectors says."""
    try:
        return len(item_scores(detector, frame, roles=roles)) > 0
    except FlipscopeError:
        return False


def measure_of(detector: Detector, frame: pd.DataFrame) -> str:
    """Return the extractor whose readouts the detector reads on these items."""
    if detector.measure in ("", WRITTEN_ANSWER):
        return frames.written_extractor(frame)
    return detector.measure


def opened_under(frame: pd.DataFrame) -> tuple[str, str]:
    """Return the axis and the extractor with which the page of an item opens, if several detectors
    judged it: those of the first detector with both."""
    available = detectors_in(frame)
    with_both = (detector for detector in available if detector.measure and detector.axis)
    first = next(with_both, available[0])
    return first.axis or IDENTITY, measure_of(first, frame)
