"""Cached reports of the Score page."""

from dataclasses import dataclass

from flipcore.annotation.judge_labels import labelled_readouts
from flipcore.reports.browser_data import score as boards
from flipcore.reports.ranking import roles_of
from flipcore.reports.score import ScoreReport, score_report
from flipcore.store.queries import audit, judges, scores
from pages.common import gates, session
from pages.common.cached import cached


@dataclass(frozen=True)
class View:
    """What the page shows: `lock` is the id of a lock or None, `axes` those whose wordings count as drawn at random (None: as the study
    has them), `closed_gates` what gates withhold, `n_labels` how many rows of labels by people there are."""

    study_id: str
    lock: str | None
    reader: str
    role: str
    axes: tuple[str, ...] | None
    closed_gates: tuple[tuple[str, str], ...]
    n_labels: int = 0

    def readouts(self):
        return session.readouts(self.study_id, lock=self.lock, of_scores=True)


def view_of(study_id: str, lock: str | None, reader: str, role: str, axes: tuple[str, ...] | None) -> View:
    """With the gates as they are now."""
    n_labels = judges.n_label_rows(session.store())
    return View(study_id, lock, reader, role, axes, tuple(gates.closed_in(study_id).items()), n_labels)


def roles(study_id: str, lock: str | None) -> list[str]:
    return roles_of(session.readouts(study_id, lock=lock, of_scores=True))


@cached("Adding up the error bar", 16)
def report(view: View, level: float) -> ScoreReport | None:
    study = session.declared(view.study_id)
    return score_report(
        view.readouts(),
        is_recorded=study.is_recorded,
        reader=view.reader or None,
        closed_gates=dict(view.closed_gates),
        role=view.role or None,
        axes=view.axes,
        level=level,
        scorers=study.scorers,
        reported=audit.reported(study),
        labelled=() if view.lock else labelled_readouts(session.store(), view.study_id),
        settings=scores.settings(session.store(), view.study_id),
    )


@cached(max_entries=16)
def board(view: View, level: float, at_once: bool) -> dict:
    one = report(view, level)
    if one is None:
        return {}
    return boards.board(one, level, sum(len(score.readers) for score in one.models) if at_once else 1)
