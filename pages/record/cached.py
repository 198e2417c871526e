"""What the page reads of the record, which is read each time: a decision that was just written down is there at once."""

from flipcore.reports import decision_record
from flipcore.reports.decision_record import Entry
from flipcore.store.queries import decisions
from pages.common import session


def places() -> tuple[dict[str, str], list[str]]:
    """Studies with a decision, by id, and the pages that have one."""
    every = decisions.record(session.store())
    names = {row["study_id"]: row["study"] or row["study_id"] for row in every.to_dict("records")}
    return names, sorted(set(every["page"]))


def entries(study_id: str, page: str, words: str) -> list[Entry]:
    return decision_record.entries(session.store(), study_id=study_id, page=page, words=words)
