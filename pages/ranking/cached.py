"""Cached reports of the Ranking page."""

from flipcore.reports.answer import Question, Settings
from flipcore.reports.browser_data import ranking as boards
from flipcore.reports.by_model import FlipPanels, ModelFlips, flip_panels, flips_by_model
from flipcore.reports.ranking import RankingReport, roles_of
from flipcore.stats.flips.decomposition import default_reference
from pages.common import gates, session
from pages.common.answers import answer_of


def settings_of(study_id: str, lock: str | None, chosen: dict) -> Settings:
    """Return the settings of a ranking; choices that equal the default are left empty.

    With empty settings the page shows the same cached answer as cards and reports.
    """
    frame, scorers = session.readouts(study_id, lock=lock), session.declared(study_id).scorer_names
    reference, role = chosen["reference"], chosen["role"]
    names = list(frame.loc[frame["role"] == role, "extractor"].unique())
    if names and reference == default_reference(names, scorers):
        reference = ""
    if role == roles_of(frame)[0]:
        role = ""
    return Settings(reference, role, level=chosen["level"])


@session.cached(max_entries=16, revision=gates.revision_with_labels, is_kept=True)
def board(study_id: str, settings: Settings, lock: str | None) -> dict:
    """Return the board of ranks for the browser; {} if there is no ranking."""
    ranking: RankingReport | None = answer_of(study_id, Question.RANKING, settings, lock)
    return boards.board(ranking, settings.level).data() if ranking else {}


@session.cached(max_entries=16, is_kept=True)
def panels(study_id: str, lock: str | None, extractor: str) -> FlipPanels:
    """Return the flip rates of every model under one extractor, on the same rows and columns."""
    return flip_panels(session.readouts(study_id, lock=lock), extractor)


@session.cached(
    "Splitting the flips", max_entries=16, revision=gates.revision_with_labels, is_kept=True
)
def flips(study_id: str, lock: str | None, reference: str) -> list[ModelFlips]:
    """Return genuine flips and artifacts per model and extractor, over all axes."""
    temperatures = {use.name: use.temperature for use in session.declared(study_id).models}
    frame = session.readouts(study_id, lock=lock)
    closed_gates = gates.all_closed_gates(study_id, lock)
    return flips_by_model(frame, reference, closed_gates, temperatures)
