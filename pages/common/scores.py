"""The score of a study, once for its page and for the rows and links that quote it."""

from dataclasses import dataclass

from flipcore.annotation.judge_labels import labelled_readouts
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data import score as boards
from flipcore.reports.ranking import roles_of
from flipcore.reports.score import ScoreReport, random_axes, score_report
from flipcore.stats.flips.decomposition import default_reference
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import audit, judgements, scores
from pages.common import gates, session

LEVEL = 0.95


@dataclass(frozen=True)
class View:
    """A study's score as a page shows it.

    `lock` is the id of a lock or None, `axes` those whose variants count as drawn at random,
    `closed_gates` what gates withhold, `n_labels` how many rows of labels by people there are.
    """

    study_id: str
    lock: str | None
    reader: str
    role: str
    axes: tuple[str, ...]
    closed_gates: tuple[tuple[str, str], ...]
    n_labels: int = 0

    def readouts(self):
        return session.readouts(self.study_id, lock=self.lock, of_scores=True)


def view_of(
    study_id: str, lock: str | None, reader: str, role: str, axes: tuple[str, ...] | None = None
) -> View:
    """Return a view with the gates as they are now, or were at the lock.

    Without `axes` those that the study drew.
    """
    ways = Choices.of(study_id, lock).ways if axes is None else axes
    n_labels = judgements.n_rows(session.store(), OUTPUT_LABELS)
    return View(
        study_id, lock, reader, role, ways, tuple(gates.closed_in(study_id, lock).items()), n_labels
    )


def default_view(study_id: str) -> View:
    """Return the view that the page opens with, unlocked.

    Of a log whose scorers are no one mean nobody has chosen which to read, so none is named.
    """
    choices = Choices.of(study_id, None)
    # Nobody has chosen among scorers that are no one mean.
    reader = "" if session.declared(study_id).scorers else choices.reader
    return view_of(study_id, None, reader, next(iter(choices.roles), ""))


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
    study, frame = (
        session.declared(study_id),
        session.readouts(study_id, lock=lock, of_scores=True),
    )
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


@session.cached("Adding up the error bar", 16, is_kept=True)
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
        # Corrections by people are not shown under a lock.
        labelled=() if view.lock else labelled_readouts(session.store(), view.study_id),
        settings=scores.settings(session.store(), view.study_id),
    )


@session.cached(max_entries=16, is_kept=True)
def board(view: View, level: float, at_once: bool) -> dict:
    score_result = report(view, level)
    if score_result is None:
        return {}
    n_scores = sum(len(model_score.readers) for model_score in score_result.models)
    n_at_once = n_scores if at_once else 1
    return boards.board(score_result, level, n_at_once)
