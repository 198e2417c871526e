"""Every estimate and claim of a stored study, gates and locks obeyed: the one way for the command line and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from flipcore.claims.claim import description
from flipcore.claims.gates import reasons
from flipcore.core.errors import BadInput
from flipcore.reports.cut_offs import cut_offs
from flipcore.reports.flips import Headline
from flipcore.reports.memory import memory_tests
from flipcore.reports.ranking import RankingReport, ranking_report
from flipcore.reports.study import Report, study_report
from flipcore.stats.flips.label_mass import unreadable_labels
from flipcore.stats.memory.rewritten import harness_accuracy
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.endings import endings
from flipcore.store.queries.pairs import control_pairs
from flipcore.text.templates import repeated_templates

NO_ANSWERS = Headline((description("No answer is read that could flip."),))


@dataclass(frozen=True, eq=False)
class WholeStudy:
    """The report of a study, the readouts that its flips are made of (`frame`), and how many of its answers were cut off."""

    study_id: str
    report: Report
    frame: pd.DataFrame
    cut: Sequence[Any]
    plugins: str = ""
    ranking: RankingReport | None = None

    def text(self) -> str:
        """As the command line prints it."""
        cut = [f"{one.model}, {one.sentence()}" for one in self.cut]
        plugins = [f"Plug-ins of other packages: {self.plugins}."] if self.plugins else []
        ranking = [self.ranking.text(), ""] if self.ranking else []
        return "\n".join([self.report.text(), "", *ranking, *cut, *unreadable_labels(self.frame), *plugins]).strip()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a missing number is None."""
        ranking = self.ranking.as_dict() if self.ranking else None
        return self.report.as_dict() | {
            "ranking": ranking,
            "cut_off": [one.as_dict() for one in self.cut],
            "plugins": self.plugins,
        }


def whole_study(store: Store, study_id: str, reference: str | None = None) -> WholeStudy:
    """Everything that may be said of a study now; `reference` as in `study_report`. What is set aside stays unseen."""
    frame, everything = (studies.readouts(store, study_id, everything=one) for one in (False, True))
    study, items = studies.declared(store, study_id), studies.study_items(store, study_id)
    repeats = repeated_templates(list(items["question"]), list(items["family"]))
    gates, pairs = reasons(store, study_id), control_pairs(store, study_id)
    report = study_report(frame, reference, gates, {use.name: use.temperature for use in study.models}, repeats)
    models = list(dict.fromkeys([*report.decompositions, *everything["model"]]))
    by_model = {model: everything[everything["model"] == model] for model in models}
    accuracies = {model: harness_accuracy(part) for model, part in by_model.items()}
    values_alone = [model for model in models if model not in report.decompositions]
    report = replace(
        report,
        headlines=report.headlines | dict.fromkeys(values_alone, NO_ANSWERS),
        decompositions=report.decompositions | {model: [] for model in values_alone},
        memory={model: memory_tests(part, study, model, items, gates, pairs) for model, part in by_model.items()},
        harness={model: one for model, one in accuracies.items() if one},
    )
    table = studies.studies(store)
    plugins = table.loc[table["study_id"] == study_id, "plugins"].iloc[0]
    ranking = ranking_report(frame, reference, gates)
    return WholeStudy(study_id, report, frame, cut_offs(endings(store, study_id), frame), plugins, ranking)


def study_of(store: Store, query: str) -> str:
    """The id of the one study of that id, or whose name begins so; BadInput lists what there is."""
    rows = studies.studies(store).to_dict("records")
    study_ids = [row["study_id"] for row in rows if row["study_id"] == query or row["name"].lower().startswith(query.lower())]
    if len(study_ids) != 1:
        listed = [row for row in rows if row["study_id"] in study_ids] if study_ids else rows
        there = "; ".join(f"{row['study_id']} ({row['name']})" for row in listed) or "none yet"
        what = "No study matches" if not study_ids else f"{len(study_ids)} studies match"
        raise BadInput(f"{what} {query!r}. {'They' if study_ids else 'There'} are: {there}.")
    return study_ids[0]
