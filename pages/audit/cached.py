"""Cached audit of a study."""

from flipcore.reports.audit import Audit, audit
from pages.common import session


def audit_of(study_id: str) -> Audit:
    # Another study may get an answer to a call that failed here, which is no change of this one.
    return _audit(study_id, session.study_row(study_id)["n_failed"])


@session.cached("Looking at every row", 8, is_kept=True)
def _audit(study_id: str, n_failed: int) -> Audit:
    return audit(session.store(), study_id)
