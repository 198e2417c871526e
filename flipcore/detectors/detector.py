"""The interface of detectors of memory.

`frame` holds all readouts of one model on items of one kind (`queries.readouts(...,
everything=True)`). Items that the model may have been trained on are compared with controls that it
cannot have been trained on; the roles tell them apart. A detector returns evidence, not a verdict.
The claims decide over all detectors of a model as one family.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from flipcore.core.errors import BadInput
from flipcore.core.records import ABSENT
from flipcore.stats.base.estimate import percent_text
from flipcore.stats.memory import drop_gap_analysis, pearl_analysis
from flipcore.stats.memory.exceedance import SetTest, set_test
from flipcore.stats.memory.gap_decision import GapDecision
from flipcore.stats.memory.gap_truncation import cut_share
from flipcore.stats.memory.hardness_curve import Excess
from flipcore.stats.memory.loss_analysis import DEFAULT_RULE, LossTest, loss_test
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.published_score import ScoreGap

# The data behind a threshold line over scores, or over a gap.
Analysis = drop_gap_analysis.DropGap | LossTest | pearl_analysis.Pearl
LARGE, SMALL = "large", "small"  # which values of the readout point to memory


@dataclass(frozen=True, eq=False)
class Evidence:
    """The result of a detector: a drop gap, a published score, its excess over a hardness curve, or
    a test of the whole set.

    Where `names_items`, `n_named` single items stand out. `templated` is True for items of other
    templates than the controls', of which nothing is claimed. `withheld` says why nothing is
    claimed of a tested set, and `cut` what cut answers mean for it. `numbers` are Estimates and
    counts by name, for JSON.
    """

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
    """A method that compares readouts of items with those of controls.

    `title` is for tables and sentences ("question loss"), `about` is a sentence. `axis` is the axis
    whose variants it compares ("" for none), and `measure` the extractor whose readouts it reads.
    `unit` is the unit of its score. `direction` says whether large or small readouts point to
    memory, and `null` names the comparison. `reads` is the kind of evidence ("losses"); detectors
    of the same kind count once. Without it, the title is the kind.
    """

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
        """Return True if `frame` has readouts of the detector's axis and of its extractor."""
        has_measure = not self.measure or bool((frame["extractor"] == self.measure).any())
        return has_measure and (not self.axis or bool((frame["axis"] == self.axis).any()))

    @abstractmethod
    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        """Return one row per scored item of these roles. The columns are `item_id`, `d` (large
        where memory is suspected), and any others that a table of items should show."""

    def analysis(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
        **settings: Any,
    ) -> Analysis | None:
        """Return the analysis behind the line on the page and in the report; None without a line.

        It compares the items in `item_roles` with those in `control_roles`, at the `settings` of
        the page; the defaults are those of the evidence.
        """
        return None

    @abstractmethod
    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        """Return the evidence on the items in `item_roles` against those in `control_roles`.

        None if these items were not asked for it. Raises BadInput if they were asked, but it
        cannot be computed.
        """


@dataclass(frozen=True)
class ScoreDetector(Detector):
    """A detector that needs only one score per item. Implement `scores`; the verdict, the page with
    its line, the table of items, agreement and ground truth follow from it."""

    @property
    def table_axis(self) -> str:
        """Axis under which an item of the detector's table opens."""
        return self.axis

    def analysis(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
        **settings: Any,
    ) -> LossTest:
        """Compare the scores of items with those of controls. Of the settings of `loss_test`,
        `alpha` is the level for single items."""
        items, controls = (self.scores(frame, roles) for roles in (item_roles, control_roles))
        return loss_test(items["item_id"].tolist(), items["d"], d0=controls["d"], **settings)

    def set_test(self, d: ArrayLike, d0: ArrayLike) -> SetTest:
        """Test a whole set of scores `d` against those of its controls, `d0`."""
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
            self._raise_if_all_absent(frame, item_roles)
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
        return Evidence(
            set_test=self.set_test(test.d, test.d0),
            templated=templated,
            n_named=n_flagged,
            names_items=True,
            numbers=numbers,
        )

    def _raise_if_all_absent(self, frame: pd.DataFrame, roles: Sequence[str]) -> None:
        """Raise BadInput with the reason where there are readouts and all are absent, for example
        because the model lacks an ability."""
        readouts = frame[(frame["extractor"] == self.measure) & frame["role"].isin(roles)]
        if len(readouts) and (readouts["status"] == ABSENT).all():
            reasons: list[str] = []
            if "reason" in readouts:
                reasons = readouts["reason"].mode().tolist()
            raise BadInput(str(reasons[0]) if reasons else "Every readout is absent.")


def cut_sentence(detector: Detector, frame: pd.DataFrame, roles: Sequence[str]) -> str:
    """Return a sentence on the share of cut continuations among items of these roles."""
    share = cut_share(frame, detector.axis, extractor=detector.measure, roles=roles)
    return (
        f"Cut off by a filter or an open reasoning block: {percent_text(share, 1)} of the "
        "continuations."
    )


def detector_fault(detector: Detector) -> str:
    """Return what is wrong with a detector beyond its types; "" if nothing is."""
    if detector.direction not in (LARGE, SMALL):
        return f"its direction is {detector.direction!r}; it is {LARGE} or {SMALL}."
    if detector.measure or detector.axis:
        return ""
    return "it names neither the axis nor the extractor that it needs."
