"""What several parts of a page count from the same readouts."""

from flipcore.stats.flips.coded_answers import CodedAnswers, coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from pages.common import session
from pages.common.cached import cached


@cached(max_entries=12)
def answers(study_id: str, model: str, lock: str | None = None) -> CodedAnswers:
    """The coded answers of one model, under a lock where one is named."""
    frame = session.readouts(study_id, lock=lock)
    return coded_answers(frame[frame["model"] == model])


@cached()
def estimates(study_id: str, model: str, reference: str) -> list[Decomposition]:
    """T, G and A of every axis and extractor, without tests, as the headline and the map read them."""
    return decompositions(answers(study_id, model), reference, tests=False)
