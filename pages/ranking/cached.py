"""Cached reports of the Ranking page."""

from dataclasses import dataclass

from flipcore.annotation.judge_labels import labelled_readouts
from flipcore.reports.browser_data import ranking as boards
from flipcore.reports.by_model import FlipPanels, ModelFlips, flip_panels, flips_by_model
from flipcore.reports.ranking import RankingReport, ranking_report, roles_of
from flipcore.reports.score import ScoreReport, score_report
from flipcore.store.queries import judges
from pages.common import gates, session
from pages.common.cached import cached


@dataclass(frozen=True)
class View:
    """What the page shows: `lock` is the id of a lock or None, `closed_gates` what gates withhold, `n_labels` how many rows of labels by
    people there are."""

    study_id: str
    lock: str | None
    reference: str
    role: str
    closed_gates: tuple[tuple[str, str], ...]
    n_labels: int = 0

    def readouts(self):
        return session.readouts(self.study_id, lock=self.lock)


def view_of(study_id: str, lock: str | None, reference: str, role: str) -> View:
    """With the gates as they are now."""
    n_labels = judges.n_label_rows(session.store())
    return View(study_id, lock, reference, role, tuple(gates.closed_in(study_id).items()), n_labels)


def roles(study_id: str, lock: str | None) -> list[str]:
    return roles_of(session.readouts(study_id, lock=lock))


@cached("Comparing the models", 16)
def report(view: View, level: float) -> RankingReport | None:
    return ranking_report(view.readouts(), view.reference, dict(view.closed_gates), view.role or None, level)


@cached("Adding up the error bar", 16)
def scores(view: View, level: float) -> ScoreReport | None:
    """The scores whose leads and ranks stand here too: over other questions and wordings, and with people's labels in them."""
    study = session.declared(view.study_id)
    return score_report(
        session.readouts(view.study_id, lock=view.lock, of_scores=True),
        is_recorded=study.is_recorded,
        reader=view.reference,
        closed_gates=dict(view.closed_gates),
        role=view.role or None,
        level=level,
        scorers=study.scorers,
        labelled=() if view.lock else labelled_readouts(session.store(), view.study_id),
    )


@cached(max_entries=16)
def board(view: View, level: float) -> dict:
    one = report(view, level)
    return boards.board(one, level) if one else {}


@cached(max_entries=16)
def panels(view: View, extractor: str) -> FlipPanels:
    return flip_panels(view.readouts(), extractor)


@cached("Splitting the flips", 16)
def flips(view: View) -> list[ModelFlips]:
    heat = {use.name: use.temperature for use in session.declared(view.study_id).models}
    return flips_by_model(view.readouts(), view.reference, dict(view.closed_gates), heat)
