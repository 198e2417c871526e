"""Everything that is said of a study, computed again only when something new was committed."""

from flipcore.reports.whole_study import WholeStudy, whole_study
from flipcore.store.queries import judges
from pages.common import session
from pages.common.cached import cached, revision


def _state(study_id: str) -> tuple[int, int]:
    """A judge's labels open its gate and are no part of the study."""
    return revision(study_id), judges.n_label_rows(session.store())


@cached("Computing every estimate", max_entries=2, revision=_state)
def study_contents(study_id: str) -> WholeStudy:
    """The numbers and claims that methods and tables are made of."""
    return whole_study(session.store(), study_id)
