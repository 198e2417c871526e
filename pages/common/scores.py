"""The score of a study, once for its page and for the rows and links that quote it."""

from dataclasses import dataclass

from flipcore.annotation.judge_labels import labelled_readouts
from flipcore.core.records import IDENTITY
from flipcore.reports.browser_data import score as boards
from flipcore.reports.ranking import roles_of
from flipcore.reports.score import ScoreReport, random_axes, score_report
from flipcore.stats.flips.decomposition import default_reference
from flipcore.store.queries import audit, judges, scores
from pages.common import gates, session
from pages.common.cached import cached

LEVEL = 0.95


@dataclass(frozen=True)
class View:
    """What a page shows of it: `lock` is the id of a lock or None, `axes` those whose wordings count as drawn at random (None: as the study
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


def default_view(study_id: str) -> View:
    """What the page opens with, unlocked. Of a log whose scorers are no one mean nobody has chosen which to read, so none is named."""
    study, frame = session.declared(study_id), session.readouts(study_id, of_scores=True)
    names = () if study.scorers else list(frame["extractor"].unique())
    ways = random_axes([one for one in frame["axis"].unique() if one != IDENTITY], study.is_recorded)
    role = next(iter(roles_of(frame)), "")
    return view_of(study_id, None, default_reference(names, ()) if len(names) else "", role, tuple(ways))


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
