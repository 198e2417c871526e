"""Everything that is said of a study, computed again only when something new was committed."""

from flipcore.reports.whole_study import WholeStudy, whole_study
from pages.common import session
from pages.common.gates import with_labels


@session.cached("Computing every estimate", max_entries=2, revision=with_labels)
def study_contents(study_id: str) -> WholeStudy:
    """The numbers and claims that methods and tables are made of."""
    return whole_study(session.store(), study_id)
