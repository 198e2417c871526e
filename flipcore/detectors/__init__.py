"""Detectors of memory: each compares readouts of items with those of controls.

Adding a detector is one file and one name here, or an entry point `flipscope.detectors`. An axis
that says `drop_gap` has a drop gap without being listed.
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
    """All of them, drop gaps first; those of axes that packages bring among them."""
    registered = tuple(DETECTORS.values())
    gaps = [detector for detector in registered if isinstance(detector, DropGap)]
    covered_axes = {gap.axis for gap in gaps}
    for axis in AXES.values():
        if axis.drop_gap and axis.name not in covered_axes:
            gaps.append(DropGap.of(axis))
    return (*gaps, *(detector for detector in registered if not isinstance(detector, DropGap)))


def origin_of(name: str) -> Origin:
    """The package that a detector comes from, or that of the axis whose drop gap it is."""
    axis = name.removeprefix("drop_")
    return AXES.origin(axis) if axis != name and name not in DETECTORS else DETECTORS.origin(name)


def detectors_in(frame: pd.DataFrame) -> list[Detector]:
    """Those that the readouts of `frame` can tell anything of."""
    return [detector for detector in detectors() if detector.is_in(frame)]


def sees_memory(study: Study, roles: Collection[str] = ()) -> bool:
    """Tell whether a study has items to judge, controls, and what at least one detector needs: an
    axis, an extractor, or a random control, with which the published score alone is one. `roles`
    are those of its items where the declaration does not say them, as that of a recording does
    not."""
    axes, extractors = {part.name for part in study.axes}, {part.name for part in study.extractors}
    if not frames.compares(roles or study.roles):
        return False
    for detector in detectors():
        if isinstance(detector, PublishedScore) and study.control != RANDOM_CONTROL:
            continue
        if isinstance(detector, HardnessCurve) and not study.reference_models:
            continue
        if _has_its_parts(detector, axes, extractors=extractors):
            return True
    return False


def _has_its_parts(detector: Detector, axes: Collection[str], extractors: Collection[str]) -> bool:
    has_axis = not detector.axis or detector.axis in axes
    return has_axis and (not detector.measure or detector.measure in extractors)


def family(study: Study, axes: Collection[str], extractors: Collection[str]) -> tuple[str, ...]:
    """The detectors that a draft of `study` declares once it has these axes and extractors: the
    study's own, and the shipped ones that no study names by itself and that what is new feeds."""

    def feeds(detector: Detector, axes: Collection[str], extractors: Collection[str]) -> bool:
        # The figures of a hardness curve are shown outside the family until it may speak.
        if isinstance(detector, HardnessCurve):
            return False
        return _has_its_parts(detector, axes, extractors=extractors)

    before = {part.name for part in study.axes}, {part.name for part in study.extractors}
    joining = []
    for name, detector in DETECTORS.items():
        is_later = DETECTORS.origin(name) == SHIPPED and name not in NAMED_BY_ALL
        if not is_later or not feeds(detector, axes, extractors):
            continue
        # A reference model is declared with the study, so what needs one joins wherever there is
        # one; anything else joins only where the draft's new parts are what feeds it.
        is_joining = (
            study.reference_model
            if isinstance(detector, OverReference)
            else not feeds(detector, *before)
        )
        if is_joining and detector.name not in study.detectors:
            joining.append(detector.name)
    return (*study.detectors, *joining)


def drop_gaps_in(frame: pd.DataFrame) -> list[DropGap]:
    """The drop gaps among them."""
    return [detector for detector in detectors_in(frame) if isinstance(detector, DropGap)]


def lines_in(frame: pd.DataFrame) -> list[ScoreDetector]:
    """Those with one score an item, which a line can cut."""
    return [detector for detector in detectors_in(frame) if isinstance(detector, ScoreDetector)]


def pearls_in(frame: pd.DataFrame) -> list[Pearl]:
    """Those of flipped bits."""
    return [detector for detector in detectors_in(frame) if isinstance(detector, Pearl)]


def item_scores(detector: Detector, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
    """A detector's scores; raises BadInput, a sentence, where one of a package fails or gives
    something else."""

    def scores() -> pd.DataFrame:
        rows = detector.scores(frame, roles)
        # Both columns are read here, so that what a package lacks is said of its detector.
        rows["item_id"], rows["d"].astype(float)
        return rows

    return _of_package(detector, scores)


def analysis_of(
    detector: Detector,
    frame: pd.DataFrame,
    item_roles: Sequence[str],
    control_roles: Sequence[str],
    members: Members,
    **settings: Any,
) -> Analysis | None:
    """The analysis from which a detector's line is drawn, None without one; raises BadInput, a
    sentence, where one of a package fails."""
    return _of_package(
        detector, lambda: detector.analysis(frame, item_roles, control_roles, members, **settings)
    )


def _of_package(detector: Detector, question: Callable[[], T]) -> T:
    try:
        return question()
    except FlipscopeError:
        raise
    except Exception as error:
        raise BadInput(DETECTORS.failure(detector.name, error)) from error


def has_scores(detector: Detector, frame: pd.DataFrame, roles: Sequence[str]) -> bool:
    """Tell whether any item has a score; False for a detector that fails, which its row among all
    detectors says."""
    try:
        return len(item_scores(detector, frame, roles=roles)) > 0
    except FlipscopeError:
        return False


def measure_of(detector: Detector, frame: pd.DataFrame) -> str:
    """The extractor whose readouts it reads on these items."""
    return (
        detector.measure
        if detector.measure not in ("", WRITTEN_ANSWER)
        else frames.written_extractor(frame)
    )


def opened_under(frame: pd.DataFrame) -> tuple[str, str]:
    """The axis and the extractor under which an item opens that several detectors judged: those of
    the first that has both."""
    judging = detectors_in(frame)
    with_both = (detector for detector in judging if detector.measure and detector.axis)
    first = next(with_both, judging[0])
    return first.axis or IDENTITY, measure_of(first, frame)
