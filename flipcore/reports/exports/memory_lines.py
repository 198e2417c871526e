"""The boards of a report's tests of memory, and the items that their detectors score highest."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from flipcore.core.errors import FlipscopeError
from flipcore.core.records import IDENTITY
from flipcore.detectors import Detector, analysis_of, detectors, item_scores, measure_of
from flipcore.reports.browser_data.board import Board
from flipcore.reports.browser_data.cutoffs import detector_line
from flipcore.reports.memory import MemoryTest, members_of, settings_of
from flipcore.reports.whole_study import WholeStudy
from flipcore.stats.memory import frames
from flipcore.stats.memory.drop_gap_analysis import DropGap


class ScoredItem(NamedTuple):
    """An item with its score by a detector, and the axis and extractor of its outputs."""

    item: str
    axis: str
    extractor: str
    score: float


def _detector_of(test: MemoryTest) -> Detector | None:
    """Return the detector of a test; None if it could not measure or is not installed."""
    if test.measurement is None or test.measurement.problem:
        return None
    name = test.measurement.detector_name
    return next((detector for detector in detectors() if detector.name == name), None)


def _frame_of(results: WholeStudy, model: str, test: MemoryTest) -> pd.DataFrame:
    """Return the answers to the items of a test."""
    frame = frames.compared_sets(results.readouts_of(model), results.study)
    return frame[frame["kind"] == test.measurement.kind] if test.measurement else frame


def line_of(
    results: WholeStudy, model: str, test: MemoryTest
) -> tuple[Board | None, DropGap | None]:
    """Return the board of a test of memory, which shows the scores of its detector on a line. Also
    return the analysis of the test where it is a drop gap.

    Both are None if nothing is drawn. Raises FlipscopeError if the detector cannot measure
    these answers.
    """
    detector = _detector_of(test)
    if detector is None:
        return None, None
    frame = _frame_of(results, model, test)
    members = members_of(results.study, results.items, results.control_pairs)
    settings = settings_of(detector, results.study, model)
    analysis = analysis_of(detector, frame, *frames.roles_of(frame), members, **settings)
    if analysis is None:
        return None, None
    gap = analysis if isinstance(analysis, DropGap) else None
    return detector_line(test, analysis, detector.unit), gap


def highest_items(
    results: WholeStudy, model: str, test: MemoryTest, n_items: int
) -> Iterator[ScoredItem]:
    """Yield the `n_items` items that the detector of a test scores highest."""
    detector = _detector_of(test)
    if detector is None:
        return
    frame = _frame_of(results, model, test)
    item_roles, _ = frames.roles_of(frame)
    try:
        rows = item_scores(detector, frame, item_roles)
    except FlipscopeError:
        return
    # The column d has the detector's scores. Ties are broken by the item's id, so that a study
    # always gives the same bytes.
    rows = rows.sort_values(["d", "item_id"], ascending=[False, True], kind="stable")
    rows = rows.head(n_items)
    for item, score in zip(rows["item_id"], rows["d"], strict=True):
        axis = detector.axis or IDENTITY
        yield ScoredItem(item, axis, measure_of(detector, frame), float(score))
