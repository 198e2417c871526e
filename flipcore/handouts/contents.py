"""What a report is made from, read once: a study's numbers and claims, its items, its gates, its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from flipcore.claims.gates import reasons
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.extractors import needs_judge
from flipcore.reports.badges import badges_of
from flipcore.reports.holdout_tests import HoldoutReport, holdout_report
from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.pairs import control_pairs


@dataclass(frozen=True, eq=False)
class Contents:
    """`everything` is all that was answered by open items (`queries.readouts(..., everything=True)`), `closed_gates` the gates that
    are closed, axis or extractor -> why. `n_outputs` is how many items stand behind each claim."""

    store: Store
    study_id: str
    study: Study
    row: Mapping[str, Any]
    whole: WholeStudy
    everything: pd.DataFrame
    items: pd.DataFrame
    closed_gates: Mapping[str, str]
    pairs: Any
    n_outputs: int

    @cached_property
    def holdout(self) -> HoldoutReport | None:
        """The four tests of the study's target and retro items, computed when they are first asked for."""
        return holdout_report(self.store, self.study_id)

    @property
    def models(self) -> list[str]:
        """Models in the order of the report."""
        return list(self.whole.report.decompositions)

    @property
    def badges(self) -> list[tuple[str, str]]:
        """(badge, text) of what qualifies every number here."""
        judge = any(needs_judge(name) for name in self.closed_gates)
        own = badges_of(self.row, studies.n_unreviewed(self.store, self.study_id), judge)
        return [*own, ("EXPLORATORY", "EXPLORATORY")]

    @property
    def provenance(self) -> str:
        """Where a figure or table comes from, for its caption."""
        return f"Study {self.study.name} ({self.study_id}), Flipscope {__version__}"

    def answers_of(self, model: str) -> pd.DataFrame:
        """Everything that one model answered."""
        return self.everything[self.everything["model"] == model]

    def flips_of(self, model: str) -> pd.DataFrame:
        """The answers of one model that flips are made of."""
        return self.whole.frame[self.whole.frame["model"] == model]

    def temperature(self, model: str) -> float | None:
        """At which the model was asked; None where that is not known."""
        return next((use.temperature for use in self.study.models if use.name == model), None)


def moment(when: Any) -> str:
    """A stored time in UTC, so that it is the same wherever the report is written."""
    return f"{pd.Timestamp(when).tz_convert('UTC'):%Y-%m-%d %H:%M} UTC"


def contents(store: Store, study_id: str, n_outputs: int) -> Contents:
    """Everything of one study that may be shown now; what is set aside stays unseen, as in `whole_study`."""
    rows = studies.studies(store)
    return Contents(
        store,
        study_id,
        studies.declared(store, study_id),
        {str(name): value for name, value in rows[rows["study_id"] == study_id].iloc[0].items()},
        whole_study(store, study_id),
        studies.readouts(store, study_id, everything=True),
        studies.study_items(store, study_id),
        reasons(store, study_id),
        control_pairs(store, study_id),
        n_outputs,
    )
