"""Cached audit of a study."""

from flipcore.claims.claim import Claim
from flipcore.reports.audit import Audit, audit
from flipcore.reports.choices import leaders_report
from pages.common import gates, session
from pages.common.answers import PageStudy


def audit_of(study_id: str) -> Audit:
    # Another study may get an answer to a call that failed here, which is no change of this one.
    return _audit(study_id, session.study_row(study_id)["n_failed"])


@session.cached("Looking at every row", 8, is_kept=True)
def _audit(study_id: str, n_failed: int) -> Audit:
    return audit(session.store(), study_id)


@session.cached("Counting every way", 8, gates.with_labels)
def every_choice(study_id: str) -> Claim | None:
    """Return the claim on the best model's lead; None where nothing can be varied."""
    # The claim alone: the sums of every way would fill the memory.
    report = leaders_report(PageStudy(session.store(), study_id))
    return report.claims[0] if report else None
