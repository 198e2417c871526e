"""What the logs of a study report, by log where it has several."""

from flipcore.core.study import FILES_OF_REPORTED, ItemSource, ModelUse, Part, Study
from flipcore.store.queries.audit import reported


def study_of(**options):
    source = ItemSource("recorded", options=options)
    return Study("recorded", (source,), (Part("recorded"),), (Part("regex"),), (ModelUse("m"),))


def test_scores_are_of_a_log_only_where_there_are_several():
    scores = [{"model": "m", "value": 0.5}, {"model": "m", "value": 0.7}]
    assert reported(study_of(reported=scores)) == scores
    of_files = study_of(**{"reported": scores, FILES_OF_REPORTED: ["recorded-1", ""]})
    assert reported(of_files) == [scores[0] | {"file": "recorded-1"}, scores[1]]
    assert reported(study_of()) == []
