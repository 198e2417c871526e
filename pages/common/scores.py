"""Settings, choices and board of the Score page."""

from dataclasses import dataclass

from flipcore.core.records import IDENTITY
from flipcore.reports.answer import LEVEL, Question, Settings
from flipcore.reports.browser_data import score as boards
from flipcore.reports.ranking import roles_of
from flipcore.reports.score import ScoreReport, random_axes
from flipcore.stats.flips.decomposition import default_reference
from pages.common import gates, session
from pages.common.answers import answer_of


def settings_of(
    study_id: str,
    lock: str | None,
    extractor: str,
    role: str,
    axes: tuple[str, ...] | None = None,
    level: float = LEVEL,
) -> Settings:
    """Return the settings of a score; choices that equal the default are left empty.

    With empty settings the page shows the same cached answer as cards and reports.
    """
    choices = Choices.load(study_id, lock)
    # A log may have several scorers that form no one mean. It has a score only for a chosen one.
    if extractor == choices.extractor and not session.declared(study_id).scorers:
        extractor = ""
    if role == next(iter(choices.roles), ""):
        role = ""
    return Settings(extractor, role, None if axes == choices.random_axes else axes, level)


@dataclass(frozen=True)
class Choices:
    """A study's extractors, roles and axes to choose from, and the defaults.

    `extractor` is the default extractor, "" without any readout. `random_axes` are the axes whose
    variants count as drawn at random by default.
    """

    extractors: tuple[str, ...]
    roles: tuple[str, ...]
    axes: tuple[str, ...]
    extractor: str
    random_axes: tuple[str, ...]

    @classmethod
    def load(cls, study_id: str, lock: str | None) -> "Choices":
        return _choices(study_id, lock)


@session.cached(is_kept=True)
def _choices(study_id: str, lock: str | None) -> Choices:
    study = session.declared(study_id)
    frame = session.readouts(study_id, lock=lock, of_scores=True)
    extractors = tuple(frame["extractor"].unique())
    axes = tuple(axis for axis in frame["axis"].unique() if axis != IDENTITY)
    return Choices(
        extractors,
        tuple(roles_of(frame)),
        axes,
        default_reference(extractors, study.scorer_names) if extractors else "",
        random_axes(axes, is_recorded=study.is_recorded),
    )


@session.cached(max_entries=16, revision=gates.revision_with_labels, is_kept=True)
def board(study_id: str, settings: Settings, lock: str | None, at_once: bool) -> dict:
    """Return the board of scores for the browser; {} if there is no score.

    `at_once` widens the intervals, so that all scores hold at once.
    """
    score: ScoreReport | None = answer_of(study_id, Question.SCORE, settings, lock)
    if score is None:
        return {}
    n_scores = sum(len(model_score.extractor_bars) for model_score in score.models)
    return boards.board(score, settings.level, n_scores if at_once else 1).data()
