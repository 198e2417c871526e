"""Choices of the Score page, and its board."""

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
    reader: str,
    role: str,
    axes: tuple[str, ...] | None = None,
    level: float = LEVEL,
) -> Settings:
    """Return the settings of a score; what is chosen as where nobody chose is left empty.

    So the page opens with the answer that cards and reports show.
    """
    choices = Choices.of(study_id, lock)
    # Of a log whose scorers are no one mean, nobody has chosen which to read.
    if reader == choices.reader and not session.declared(study_id).scorers:
        reader = ""
    if role == next(iter(choices.roles), ""):
        role = ""
    return Settings(reader, role, None if axes == choices.ways else axes, level)


@dataclass(frozen=True)
class Choices:
    """A study's extractors, roles and axes to choose from.

    `reader` and `ways` (axes drawn at random) are those where nobody chose, "" without a readout.
    """

    readers: tuple[str, ...]
    roles: tuple[str, ...]
    axes: tuple[str, ...]
    reader: str
    ways: tuple[str, ...]

    @classmethod
    def of(cls, study_id: str, lock: str | None) -> "Choices":
        return _choices(study_id, lock)


@session.cached(is_kept=True)
def _choices(study_id: str, lock: str | None) -> Choices:
    study = session.declared(study_id)
    frame = session.readouts(study_id, lock=lock, of_scores=True)
    readers, axes = (tuple(frame[name].unique()) for name in ("extractor", "axis"))
    axes = tuple(axis for axis in axes if axis != IDENTITY)
    reader = default_reference(readers, study.scorer_names) if readers else ""
    return Choices(
        readers,
        tuple(roles_of(frame)),
        axes,
        reader,
        random_axes(axes, is_recorded=study.is_recorded),
    )


@session.cached(max_entries=16, revision=gates.with_labels, is_kept=True)
def board(study_id: str, settings: Settings, lock: str | None, at_once: bool) -> dict:
    score: ScoreReport | None = answer_of(study_id, Question.SCORE, settings, lock)
    if score is None:
        return {}
    n_scores = sum(len(model_score.readers) for model_score in score.models)
    return boards.board(score, settings.level, n_scores if at_once else 1).data()
