"""Cached reports of the Ranking page."""

from dataclasses import dataclass

from flipcore.reports.browser_data import ranking as boards
from flipcore.reports.by_model import FlipPanels, ModelFlips, flip_panels, flips_by_model
from flipcore.reports.ranking import RankingReport, ranking_report
from pages.common import gates, session


@dataclass(frozen=True)
class View:
    """The settings of the page.

    `lock` is the id of a lock or None, `closed_gates` what gates withhold.
    """

    study_id: str
    lock: str | None
    reference: str
    role: str
    closed_gates: tuple[tuple[str, str], ...]

    def readouts(self):
        return session.readouts(self.study_id, lock=self.lock)


def view_of(study_id: str, lock: str | None, reference: str, role: str) -> View:
    """Return a view with the gates as they are now."""
    return View(study_id, lock, reference, role, tuple(gates.closed_in(study_id, lock).items()))


@session.cached("Comparing the models", 16, is_kept=True)
def report(view: View, level: float) -> RankingReport | None:
    return ranking_report(
        view.readouts(), view.reference, dict(view.closed_gates), view.role or None, level
    )


@session.cached(max_entries=16, is_kept=True)
def board(view: View, level: float) -> dict:
    ranking = report(view, level)
    return boards.board(ranking, level) if ranking else {}


@session.cached(max_entries=16, is_kept=True)
def panels(view: View, extractor: str) -> FlipPanels:
    return flip_panels(view.readouts(), extractor)


@session.cached("Splitting the flips", 16, is_kept=True)
def flips(view: View) -> list[ModelFlips]:
    heat = {use.name: use.temperature for use in session.declared(view.study_id).models}
    return flips_by_model(view.readouts(), view.reference, dict(view.closed_gates), heat)
