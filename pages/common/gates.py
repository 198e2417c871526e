"""Gates: what has not been checked by people is shown and not claimed. The judge's is computed again when labels or readouts came."""

from collections.abc import Iterable

from flipcore.annotation import gates
from flipcore.annotation.judge_labels import JudgeReport, judge_report
from flipcore.extractors import needs_judge
from flipcore.store.queries import judges, locks
from pages.common import session


def closed_gates(
    study_id: str, axes: Iterable[str], readouts: Iterable[str], lock: str | None = None, record_id: str = ""
) -> dict[str, str]:
    """Of these axes and readouts those that may not be claimed: name -> what is missing; under a lock (its id, of the study or of the
    `record_id` of two sets) as they stood then."""
    row = locks.lock_by_id(session.store(), record_id or study_id, lock) if lock else None
    return gates.closed_gates(session.store(), study_id, axes, readouts, lambda: judge_report_of(study_id), row)


def closed_in(study_id: str, lock: str | None = None) -> dict[str, str]:
    """Of all axes and extractors that the study declares."""
    study = session.declared(study_id)
    return closed_gates(study_id, (part.name for part in study.axes), (part.name for part in study.extractors), lock)


def with_labels(study_id: str) -> tuple[int, int]:
    """A judge's labels open its gate and are no part of the study."""
    return session.revision(study_id), judges.n_label_rows(session.store())


@session.cached(max_entries=16, revision=with_labels)
def judge_report_of(study_id: str) -> JudgeReport:
    """Kappa against people with its bound, position bias, and how often the judge contradicts itself."""
    store = session.store()
    return judge_report(judges.judged_texts(store, study_id), judges.labels(store))


def judge_is_closed(study_id: str) -> bool:
    """Whether a judge has read in this study without having passed its gate."""
    readers = [one.name for one in session.declared(study_id).extractors if needs_judge(one.name)]
    return any(study_id in judges.studies_with_judge(session.store(), one) for one in closed_gates(study_id, (), readers))
