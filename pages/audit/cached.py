"""Cached audit of a study."""

from flipcore.claims.claim import Claim
from flipcore.reports.audit import Audit, audit
from flipcore.reports.choices import leaders_report
from pages.common import gates, session
from pages.common.answers import PageStudy


def audit_of(study_id: str) -> Audit:
    """Return the audit of the study, computed once per revision and number of failed calls."""
    # Another study may get the answer to a call that failed here. Then the number of failed calls
    # changes, but not this study's revision.
    return _audit(study_id, session.study_row(study_id)["n_failed"])


@session.cached(
    "Looking at every row", max_entries=8, revision=gates.revision_with_labels, is_kept=True
)
def _audit(study_id: str, n_failed: int) -> Audit:
    return audit(session.store(), study_id)


@session.cached("Counting every way", max_entries=8, revision=gates.revision_with_labels)
def every_choice(study_id: str) -> Claim | None:
    """Return the claim on the best model's lead under every choice; None without any choice."""
    # Only the claim is cached, because the counts under all choices would fill the memory.
    report = leaders_report(PageStudy(session.store(), study_id))
    return report.claims[0] if report else None
