"""Gates: conditions, such as a review by people, that an axis or extractor meets before claims.

A page shows numbers of a closed gate, but makes no claim from them. The judge's gate is computed
again when labels or readouts have been added.
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
    extractors: Iterable[str],
    lock: str | None = None,
    record_id: str = "",
) -> dict[str, str]:
    """Return the axes and extractors that allow no claim: name -> what is missing.

    With a `lock` (its id) the gates are as they were when it was made. The lock belongs to the
    study, or to `record_id` if two sets were locked.
    """
    row = locks.lock_by_id(session.store(), record_id or study_id, lock) if lock else None
    # The judge's report is slow, so it is passed as a function that only a judge's gate calls.
    return gates.closed_gates(
        session.store(), study_id, axes, extractors, lambda: judge_report_of(study_id), row
    )


def all_closed_gates(study_id: str, lock: str | None = None) -> dict[str, str]:
    """Return the closed gates among all axes and extractors of the study.

    That includes an undeclared judge that was run on stored outputs later.
    """
    axes, extractors = _axes_and_extractors(study_id)
    return closed_gates(study_id, axes, extractors, lock)


@session.cached(max_entries=16)
def _axes_and_extractors(study_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return studies.axes_and_extractors(session.store(), study_id)


def revision_with_labels(study_id: str) -> tuple[int, int]:
    """Return the study's revision and the number of labels by people.

    The judge's gate depends on both, and a new label does not change the study's revision.
    """
    return session.revision(study_id), judgements.n_rows(session.store(), OUTPUT_LABELS)


@session.cached(max_entries=16, revision=revision_with_labels)
def judge_report_of(study_id: str) -> JudgeReport:
    """Return the judge's kappa against people's labels, position bias and self-contradiction."""
    return stored_judge_report(session.store(), study_id)


def judge_is_closed(study_id: str) -> bool:
    """Return True if a judge extracted answers in this study and its gate is closed."""
    _, extractors = _axes_and_extractors(study_id)
    judge_names = [name for name in extractors if needs_judge(name)]
    return any(
        study_id in judges.studies_with_judge(session.store(), extractor_name)
        for extractor_name in closed_gates(study_id, (), judge_names)
    )
