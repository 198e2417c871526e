"""Drop gap (PerturbBench): does rewriting lower the accuracy on the benchmark more than on a
control?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from flipcore.axes import AXES
from flipcore.core.contracts import Axis
from flipcore.detectors.detector import Detector, Evidence
from flipcore.stats.memory import drop_gap_analysis, frames
from flipcore.stats.memory.gap_truncation import gap_of_frame
from flipcore.stats.memory.members import Members


@dataclass(frozen=True)
class DropGap(Detector):
    """`past` says what was done to the items ("numbers resampled")."""

    past: str = ""
    reads: str = "rewriting"

    @classmethod
    def for_axis(cls, axis: Axis) -> "DropGap":
        """Return the drop gap of an axis, under the name of the axis."""
        return cls(
            f"drop_{axis.name}",
            f"drop gap, {axis.past or axis.title.lower()}",
            "How much more accuracy the benchmark loses than its control under: "
            f"{axis.title.lower()}.",
            axis.name,
            unit="share of answers",
            null="the drop of the controls under the same rewriting",
            past=axis.past or axis.title.lower(),
        )

    def scores(
        self, frame: pd.DataFrame, roles: Sequence[str], extractor: str = ""
    ) -> pd.DataFrame:
        """Return `before`, `after` and the drop of each covered item, as `extractor` reads the
        answers; "" is the extractor of `frames.written_extractor`."""
        extractor = extractor or frames.written_extractor(frame)
        rewritten = frames.rewritten(frame, self.axis, extractor=extractor, roles=roles)
        rows = frames.drop_rows(rewritten)
        return rows.assign(d=rows["drop"])

    def analysis(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
        **settings: Any,
    ) -> drop_gap_analysis.DropGap:
        """Return all results of this rewriting. Settings are `extractor`, which reads the answers,
        and `margin`, within which a gap counts as none."""
        extractor = settings.pop("extractor", frames.written_extractor(frame))
        return gap_of_frame(
            frame,
            self.axis,
            extractor=extractor,
            item_roles=item_roles,
            control_roles=control_roles,
            members=members,
            **settings,
        )

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        extractor = frames.written_extractor(frame)
        items, controls = (
            frames.rewritten(frame, self.axis, extractor=extractor, roles=roles)
            for roles in (item_roles, control_roles)
        )
        if not (len(items.drops) and len(controls.drops)):
            return None
        analysis = self.analysis(frame, item_roles, control_roles, members)
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
        return Evidence(gap=analysis.decided, numbers=numbers)


DETECTORS = tuple(
    DropGap.for_axis(AXES[name]) for name in ("numeric_resample", "entity_rename", "paraphrase")
)
