"""Gates: claims that people have not checked are shown, but not made.

The judge's gate is computed again when labels or readouts came.
"""

from collections.abc import Iterable

from flipcore.annotation import gates
from flipcore.annotation.judge_labels import JudgeReport, stored_judge_report
from flipcore.extractors import needs_judge
from flipcore.store.judgements import OUTPUT_LABELS
from flipcore.store.queries import judgements, judges, locks, studies
from pages.common import session


def closed_gates(
    study_id: str,
    axes: Iterable[str],
    readouts: Iterable[str],
    lock: str | None = None,
    record_id: str = "",
) -> dict[str, str]:
    """Return the axes and readouts that may not be claimed: name -> what is missing.

    Under a lock (its id, of the study or of the `record_id` of two sets) they are as they stood
    then.
    """
    row = locks.lock_by_id(session.store(), record_id or study_id, lock) if lock else None
    # A function of the judge's report, which is made only where the gate of a judge is asked for.
    return gates.closed_gates(
        session.store(), study_id, axes, readouts, lambda: judge_report_of(study_id), row
    )


def closed_in(study_id: str, lock: str | None = None) -> dict[str, str]:
    """Return the closed gates among all axes and extractors of the study.

    A judge that read stored outputs again is not declared, and its gate closes all the same.
    """
    axes, extractors = _axes_and_extractors(study_id)
    return closed_gates(study_id, axes, extractors, lock)


@session.cached(max_entries=16)
def _axes_and_extractors(study_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return studies.axes_and_extractors(session.store(), study_id)


def with_labels(study_id: str) -> tuple[int, int]:
    """Return the revision of a judge's gate: its labels are no part of the study."""

    return session.revision(study_id), judgements.n_rows(session.store(), OUTPUT_LABELS)


@session.cached(max_entries=16, revision=with_labels)
def judge_report_of(study_id: str) -> JudgeReport:
    """Return kappa against people with its bound, position bias and self-contradiction."""
    return stored_judge_report(session.store(), study_id)


def judge_is_closed(study_id: str) -> bool:
    """Return True where a judge has read in this study without having passed its gate."""
    _, extractors = _axes_and_extractors(study_id)
    judge_names = [name for name in extractors if needs_judge(name)]
    return any(
        study_id in judges.studies_with_judge(session.store(), extractor_name)
        for extractor_name in closed_gates(study_id, (), judge_names)
    )
