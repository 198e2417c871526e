"""PEARL (arXiv:2505.03019): does the continuation of a text change abruptly when a few bits of its
beginning are flipped?"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from flipcore.axes import bit_flip
from flipcore.detectors.detector import Detector, Evidence, cut_sentence
from flipcore.stats.memory import frames, pearl_analysis
from flipcore.stats.memory.exceedance import set_test
from flipcore.stats.memory.gap_truncation import settled_set
from flipcore.stats.memory.members import Members
from flipcore.stats.memory.pearl_alpha import alpha_tolerance
from flipcore.stats.memory.pearl_analysis import sensitivities

FPR = 0.05


@dataclass(frozen=True)
class Pearl(Detector):
    """`measure` is a similarity of continuations; `task` is what the axis asks for, for example
    "completion"."""

    task: str = "completion"
    null: str = "the sensitivity of texts that were never read"
    reads: str = "continuations"

    def scores(self, frame: pd.DataFrame, roles: Sequence[str]) -> pd.DataFrame:
        by_item, _ = frames.pearl_scores(frame, self.measure, roles=roles, axis=self.axis)
        return pd.DataFrame({"item_id": list(by_item), "d": sensitivities(by_item)})

    def analysis(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
        **settings: Any,
    ) -> pearl_analysis.Pearl:
        """Judge the texts with a threshold alpha from the controls. Settings are those of
        `pearl_analysis.pearl`, among them `rule` and `fpr`, its false-positive rate."""
        items, n_incomplete = frames.pearl_scores(
            frame, self.measure, roles=item_roles, axis=self.axis
        )
        controls, n_incomplete_controls = frames.pearl_scores(
            frame, self.measure, roles=control_roles, axis=self.axis
        )
        analysis = pearl_analysis.pearl(items, controls, **settings)
        return replace(analysis, n_incomplete=n_incomplete + n_incomplete_controls)

    def evidence(
        self,
        frame: pd.DataFrame,
        item_roles: Sequence[str],
        control_roles: Sequence[str],
        members: Members,
    ) -> Evidence | None:
        items, _ = frames.pearl_scores(frame, self.measure, roles=item_roles, axis=self.axis)
        controls, _ = frames.pearl_scores(frame, self.measure, roles=control_roles, axis=self.axis)
        if not items:
            return None
        values, non_members = sensitivities(items), sensitivities(controls)
        alpha, _ = alpha_tolerance(non_members, FPR)
        n_non_members = int(np.isfinite(non_members).sum())
        numbers = {
            "rule": "tolerance",
            "alpha": alpha,
            "fpr": FPR,
            "n": len(items),
            "n_non_members": n_non_members,
            "n_flagged": int((values > alpha).sum()) if math.isfinite(alpha) else 0,
        }
        templated = members.is_templated(list(items), list(controls))
        test, withheld = settled_set(
            set_test(values, non_members),
            frame,
            axis=self.axis,
            metric=self.measure,
            scores=dict(zip(items, values, strict=True)),
            control_scores=dict(zip(controls, non_members, strict=True)),
        )
        cut = cut_sentence(self, frame, roles=(*item_roles, *control_roles))
        return Evidence(
            set_test=test, templated=templated, withheld=withheld, cut=cut, numbers=numbers
        )


def _pearl(axis: bit_flip.BitFlip, measure: str, title: str, words: str) -> Pearl:
    """Return the detector of an axis and a measure; `words` say how the measure compares."""
    summaries = "" if axis.task == "completion" else ", summaries"
    written = "continuation" if axis.task == "completion" else "summary"
    return Pearl(
        f"pearl_{axis.task}_{measure}",
        f"PEARL{summaries}, {title}",
        about=f"How abruptly a text's {written} breaks off as bits are flipped, {words}.",
        axis=axis.name,
        measure=measure,
        unit=f"sensitivity: largest fall of Similarity {words} ({title}) from one level to the "
        "next",
        task=axis.task,
    )


_MEASURES = (("rouge_l", "ROUGE-L", "by words"), ("ncd", "1 − NCD", "by compression"))
DETECTORS = tuple(
    _pearl(axis, *measure) for axis, measure in itertools.product(bit_flip.AXES, _MEASURES)
)
