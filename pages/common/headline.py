"""A study's headline and its other sentences, computed again only after a commit."""

import time
from functools import partial

import streamlit as st

from flipcore.core.work import say_step
from flipcore.reports.answer import Question
from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.log_scores import task_scores
from flipcore.reports.memory import MemoryReport
from flipcore.reports.ranking import RankingReport, accuracies_sentence, compares_models
from flipcore.reports.score import ScoreReport
from flipcore.stats.flips.coded_answers import CodedAnswers, coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.memory.rewritten import harness_accuracy
from flipcore.stats.score.error_bar import ErrorBar
from flipcore.text.counts import with_capital
from pages.common import gates, session
from pages.common.answers import answer_of


@session.cached(max_entries=12)
def answers(study_id: str, model: str, lock: str | None = None) -> CodedAnswers:
    """The coded answers of one model, under a lock where one is named."""

    frame = session.readouts(study_id, lock=lock)
    return coded_answers(frame[frame["model"] == model])


@session.cached()
def estimates(study_id: str, model: str, reference: str) -> list[Decomposition]:
    """T, G and A of every axis and extractor, without tests, for headline and map."""
    return decompositions(answers(study_id, model), reference, tests=False)


# Counting flips takes this much longer than reading their readouts, at any size.
COUNTING_TO_READING = 1.2


def tenth_of(study_id: str) -> int | None:
    """Return how many tenths of a running study's calls are done; None if it does not run."""
    progress = session.registry().progress(study_id)
    if progress is None:
        return None
    return 10 * progress.n_done // progress.n_calls if progress.n_calls else 0


@st.cache_resource(show_spinner=False)
def _moments() -> dict[str, tuple[int, int]]:
    """Running study -> (tenth, revision at which it began), once for all sessions.

    A running study's card is computed from them.
    """
    # One dictionary for all sessions: a card is computed once, whoever looks.
    return {}


def _revision(study_id: str) -> int:
    """Return the newest revision; of a running study that of its last tenth."""
    # A card's sentences take seconds to compute, so a running study does so ten times at most.
    newest, tenth = session.store().revision(study_id), tenth_of(study_id)
    if tenth is None:
        _moments().pop(study_id, None)
        return newest
    if study_id not in _moments() or _moments()[study_id][0] != tenth:
        _moments()[study_id] = tenth, newest
    return _moments()[study_id][1]


def headline(study_id: str) -> Headline:
    """Return what may be claimed of a study; closed gates are left out, and named."""
    row = session.study_row(study_id)
    models, is_begun = row["models"], bool(row["n_calls_done"])
    heat = session.temperature(study_id, models[0])
    return _headline(study_id, len(models), tuple(gates.closed_in(study_id)), heat, is_begun)


@session.cached("Reading the answers", 64, _revision, is_kept=True)
def _headline(
    study_id: str, n_models: int, closed_gates: tuple[str, ...], heat: float | None, is_begun: bool
) -> Headline:
    # The time of reading tells how long counting will take.
    start = time.monotonic()
    frame = session.readouts(study_id)
    say_step(
        f"Counting the flips in {len(frame):,} readouts",
        about_s=COUNTING_TO_READING * (time.monotonic() - start),
    )
    study = session.declared(study_id)
    scores_of_tasks = task_scores(session.store(), study_id, study)
    return claimed_headline(
        frame,
        closed_gates,
        n_models,
        heat,
        partial(estimates, study_id),
        scores_of_tasks,
        by_task=study.is_recorded,
        is_begun=is_begun,
    )


def leading_sentences(study_id: str) -> list[str]:
    """Return the study's sentences, the leading one first.

    They say who leads of several models, memory, the score, flips and the rest. A study that was
    asked in several prompts has one score, on one set of questions.
    """
    is_begun = bool(session.study_row(study_id)["n_calls_done"])
    return _leading_sentences(study_id, is_begun, tenth_of(study_id) is not None)


def _card_revision(study_id: str) -> tuple[int, int]:
    return _revision(study_id), gates.with_labels(study_id)[1]


@session.cached("Reading the answers", 64, _card_revision, is_kept=True)
def _leading_sentences(study_id: str, is_begun: bool, is_running: bool) -> list[str]:
    summary = headline(study_id)
    score: ScoreReport | None = answer_of(study_id, Question.SCORE)
    whole_claims = score.whole_claims if score else ()
    ranking: RankingReport | None = None
    if compares_models(session.declared(study_id)):
        ranking = answer_of(study_id, Question.RANKING)
    memory = memory_headline(study_id) if len(session.roles(study_id)) > 1 else ""
    scores_said = [claim.text for claim in whole_claims[:1]]
    if not scores_said and summary.score:
        scores_said = [summary.score.text]
    other_claims = [claim.text for claim in summary.claims if claim != summary.score]
    sentences = (
        ranking.best.text if ranking else "",
        with_capital(memory),
        *([accuracies_sentence(ranking)] if ranking else scores_said),
        *other_claims,
        _rotation_sentence(study_id),
    )
    return [text for text in sentences if text]


def _rotation_sentence(study_id: str) -> str:
    """Return what rotation adds to a single vote, for the first model; empty without rotation."""
    if session.declared(study_id).protocol.name != "rotation":
        return ""
    frame = session.readouts(study_id, everything=True)
    is_first = frame["model"] == next(iter(frame["model"]), "")
    accuracy = harness_accuracy(frame[is_first])
    return accuracy.sentence() if accuracy else ""


def memory_headline(study_id: str) -> str:
    """Return the detectors' sentence.

    Empty for a study that runs or compares no items with controls.
    """

    if tenth_of(study_id) is not None:
        return ""
    report: MemoryReport = answer_of(study_id, Question.MEMORY)
    # Of several models the first one's.
    summary = report.summaries.get(next(iter(report.tests), ""))
    return summary.text if summary else ""


def score_sentences(study_id: str) -> list[str]:
    """Return each model's score with as much of its error bar as was measured.

    Where a log's score is no mean, what the log gives.
    """
    report: ScoreReport | None = answer_of(study_id, Question.SCORE)
    if report is not None:
        return [model_score.claim.text for model_score in report.models]
    # A log's score that is no mean is said as the log gives it.
    score = headline(study_id).score
    return [score.text] if score else []


def error_bar(study_id: str) -> ErrorBar | None:
    """Return the error bar of a study's first model: questions, prompts and reruns.

    None where several prompts were not measured.
    """
    report: ScoreReport | None = answer_of(study_id, Question.SCORE)
    # Only a model with shares was asked in several prompts.
    if report:
        return next((model_score.bar for model_score in report.models if model_score.shares), None)
    return None
