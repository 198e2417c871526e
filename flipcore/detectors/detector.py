"""The interface of detectors of memory.

`frame` is everything that one model answered on items of one kind (`queries.readouts(...,
everything=True)`). Items that may have been trained on are compared with controls that cannot have
been: by the roles of each. The verdict is none of a detector's: it hands over evidence, and the
claims decide, all detectors of a model as one family.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT
from flipcore.stats.memory import drop_gap_analysis, pearl_analysis
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision
from flipcore.stats.memory.hardness_curve import Excess
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, LossTest, loss_test
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.published_score import ScoreGap

# what a line over scores, or over a gap, is drawn from
Analysis = drop_gap_analysis.DropGap | LossTest | pearl_analysis.Pearl
LARGE, SMALL = "large", "small"  # in which direction the measured value points to memory


@dataclass(frozen=True, eq=False)
class Evidence:
    """A drop gap, a published score, its excess over a hardness curve, or a test of the whole set.
    `n_named` single items stand out where `names_items`; `templated` items of other templates than
    the controls' make no claim; `withheld` says why nothing is claimed of a set that was tested,
    `cut` what cut answers mean for it; `numbers` are Estimates and counts by name, for JSON."""

    gap: GapDecision | None = None
    score: ScoreGap | None = None
    curve: Excess | None = None
    set_test: SetTest | None = None
    templated: bool = False
    n_named: int = 0
    names_items: bool = False
    withheld: str = ""
    cut: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Detector(ABC):
    """`title` stands in tables and sentences ("question loss"), `about` is a sentence. `axis` and
    `measure` are what it needs: the axis whose variants it compares ("" for none) and the extractor
    whose readouts it reads. `unit` is that of its score, `direction` says whether a large or a
    small value of the readout points to memory, `null` what is compared with. `reads` is the kind
    of evidence, by which detectors that read the same count once ("losses"); its title where there
    is none."""

    name: str
    title: str
    about: str
    axis: str = ""
    measure: str = ""
    unit: str = ""
    direction: str = LARGE
    null: str = "controls that the model cannot have read"
    reads: str = ""

    def is_in(self, frame: pd.DataFrame) -> bool:
        """Tell whether what the detector needs was asked and read."""
        read = not self.measure or bool((frame["extractor"] == self.measure).any())
        return read and (not self.axis or bool((frame["axis"] == self.axis).any()))

    @abstractmethod
    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        """One row an item of these roles that has a score: `item_id`, `d` (large where memory is
        suspected), and whatever columns a table of items should show."""

    def analysis(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
        **settings: Any,
    ) -> Analysis | None:
        """The analysis that its line is drawn from, on page and in report: of the items in
        `item_roles` against those in `control_roles`, at the `settings` of the page (the evidence's
        own without). None for a detector without a line."""
        return None

    @abstractmethod
    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        """Evidence on the items in `item_roles` against those in `control_roles`; None where
        nothing of it was asked of these items. Raises BadInput, a sentence, where it was asked and
        cannot be computed."""


@dataclass(frozen=True)
class ScoreDetector(Detector):
    """A detector whose whole test is a score an item: write `scores`, and the verdict, the page
    with its line, the table of items, agreement and ground truth follow."""

    @property
    def table_axis(self) -> str:
        """The axis under which an item of its table opens."""
        return self.axis

    def analysis(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
        **settings: Any,
    ) -> LossTest:
        """Scores of items against those of controls; `alpha` is the level for single items."""
        items, controls = (self.scores(frame, roles) for roles in (item_roles, control_roles))
        return loss_test(items["item_id"].tolist(), items["d"], d0=controls["d"], **settings)

    def set_test(self, d: ArrayLike, d0: ArrayLike) -> SetTest:
        """The test of a whole set of scores against those of its controls."""
        return set_test(d, d0)

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        items, controls = (self.scores(frame, roles) for roles in (item_roles, control_roles))
        if items.empty:
            self._say_why_not(frame, item_roles)
            return None
        test = loss_test(items["item_id"].tolist(), items["d"], d0=controls["d"])
        n_flagged = int(test.flagged[DEFAULT_RULE].sum())
        numbers = {
            "rule": DEFAULT_RULE,
            "n": len(test.d),
            "n_controls": len(test.d0),
            "n_flagged": n_flagged,
            "rate": test.rate(),
            "cutoff": test.cutoff(),
        }
        templated = members.is_templated(items["item_id"].tolist(), controls["item_id"].tolist())
        of_set = self.set_test(test.d, test.d0)
        return Evidence(
            set_test=of_set,
            templated=templated,
            n_named=n_flagged,
            names_items=True,
            numbers=numbers,
        )

    def _say_why_not(self, frame: pd.DataFrame, roles: Sequence[str]) -> None:
        """Raises BadInput with the reason where it was asked for and every readout is absent, as of
        a model that lacks an ability."""
        readouts = frame[(frame["extractor"] == self.measure) & frame["role"].isin(roles)]
        if len(readouts) and (readouts["status"] == ABSENT).all():
            reason = (
                readouts["reason"].mode() if "reason" in readouts else readouts["status"].head(0)
            )
            raise BadInput(str(reason.iloc[0]) if len(reason) else "Every readout is absent.")


def detector_fault(detector: Detector) -> str:
    """Fault of a detector that no type can say; "" where all is as it must be."""
    if detector.direction not in (LARGE, SMALL):
        return f"its direction is {detector.direction!r}; it is {LARGE} or {SMALL}."
    if detector.measure or detector.axis:
        return ""
    return "it names neither the axis nor the extractor that it needs."
