"""Cache of the answers to a study's questions, per revision and settings."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from flipcore.core.study import Study
from flipcore.core.work import say_step
from flipcore.reports.answer import Question, Settings
from flipcore.reports.memory import Measurement, measurements_of
from flipcore.reports.whole_study import WholeStudy, compute_answer
from flipcore.store.judgements import SURVEY_ANSWERS
from flipcore.store.queries import holdout, judgements
from pages.common import gates, session

STEPS = {
    Question.SCORE: "Adding up the error bar",
    Question.RANKING: "Comparing the models",
    Question.MEMORY: "Testing for memory",
    Question.HOLDOUT: "Testing both sets",
}


class PageStudy(WholeStudy):
    """A study whose rows and answers come from the caches of the pages."""

    @property
    def study(self) -> Study:
        return session.declared(self.study_id)

    @property
    def items(self) -> pd.DataFrame:
        return session.study_items(self.study_id)

    @cached_property
    def closed_gates(self) -> Mapping[str, str]:
        return gates.all_closed_gates(self.study_id, self.lock)

    @property
    def all_readouts(self) -> pd.DataFrame:
        return session.readouts(self.study_id, lock=self.lock, everything=True)

    @property
    def flip_readouts(self) -> pd.DataFrame:
        return session.readouts(self.study_id, lock=self.lock)

    @property
    def score_readouts(self) -> pd.DataFrame:
        return session.readouts(self.study_id, lock=self.lock, of_scores=True)

    @property
    def measurements(self) -> Mapping[str, Sequence[Measurement]]:
        return measurements(self.study_id, self.lock)

    def answer(self, question: Question, settings: Settings | None = None) -> Any:
        return answer_of(self.study_id, question, settings, self.lock)


def answer_of(
    study_id: str, question: Question, settings: Settings | None = None, lock: str | None = None
) -> Any:
    """Return the study's answer to a question, of the class that belongs to the question.

    With a `lock` (its id) it is made from the items that were set aside. None if the study's data
    cannot answer the question.
    """
    # Survey answers on two sets belong to no study, so they change no study's revision.
    n_answers = n_survey_rows() if question is Question.HOLDOUT else 0
    return _cached_answer(study_id, question, settings or Settings(), lock, n_answers)


def n_survey_rows() -> int:
    """Count the surveys and their answers, on which the tests of two sets depend."""
    store = session.store()
    return judgements.n_rows(store, SURVEY_ANSWERS) + len(holdout.surveys(store))


@session.cached(
    "Reading the answers", max_entries=64, revision=gates.revision_with_labels, is_kept=True
)
def _cached_answer(
    study_id: str, question: Question, settings: Settings, lock: str | None, n_answers: int
) -> Any:
    say_step(STEPS[question])
    return compute_answer(question, PageStudy(session.store(), study_id, lock=lock), settings)


@session.cached("Testing every detector", max_entries=16, is_kept=True)
def measurements(study_id: str, lock: str | None) -> dict[str, list[Measurement]]:
    """Return model -> measurements of all memory detectors."""
    study = PageStudy(session.store(), study_id, lock=lock)
    return measurements_of(study.all_readouts, study.study, study.items, study.control_pairs)


@session.cached("Computing every estimate", max_entries=2, revision=gates.revision_with_labels)
def study_contents(study_id: str) -> WholeStudy:
    """Return the study with all numbers and claims computed, for methods and tables."""
    study = PageStudy(session.store(), study_id)
    # These are cached properties. Compute them here, while the page shows the progress line.
    _ = study.flips, study.memory, study.ranking, study.judges, study.cut
    return study
