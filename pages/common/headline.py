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
    """Return the coded answers of one model, under `lock` (its id) if one is given."""
    frame = session.readouts(study_id, lock=lock)
    return coded_answers(frame[frame["model"] == model])


@session.cached()
def estimates(study_id: str, model: str, reference: str) -> list[Decomposition]:
    """Return T, G and A of every axis and extractor, without tests, for headline and map."""
    return decompositions(answers(study_id, model), reference, tests=False)


# Counting flips takes this many times as long as reading the readouts, at any number of readouts.
COUNTING_TO_READING = 1.2


def tenth_of(study_id: str) -> int | None:
    """Return how many tenths of a running study's calls are done; None if it does not run."""
    progress = session.registry().progress(study_id)
    if progress is None:
        return None
    return 10 * progress.n_done // progress.n_calls if progress.n_calls else 0


@st.cache_resource(show_spinner=False)
def _tenths() -> dict[str, tuple[int, int]]:
    """Return the dictionary running study -> (tenth, revision when that tenth began).

    All sessions share it, so that each card is computed once.
    """
    return {}


def _revision(study_id: str) -> int:
    """Return the study's newest revision, or the one when its current tenth began if it runs."""
    # A card's sentences take seconds, so for a running study they are computed at most ten times.
    newest, tenth = session.store().revision(study_id), tenth_of(study_id)
    if tenth is None:
        _tenths().pop(study_id, None)
        return newest
    if study_id not in _tenths() or _tenths()[study_id][0] != tenth:
        _tenths()[study_id] = tenth, newest
    return _tenths()[study_id][1]


def headline(study_id: str) -> Headline:
    """Return the study's headline: its claims on flips and score, without those of closed gates."""
    row = session.study_row(study_id)
    models, is_begun = row["models"], bool(row["n_calls_done"])
    temperature = session.temperature(study_id, models[0])
    closed_gates = tuple(gates.all_closed_gates(study_id))
    return _headline(study_id, len(models), closed_gates, temperature, is_begun)


@session.cached("Reading the answers", max_entries=64, revision=_revision, is_kept=True)
def _headline(
    study_id: str,
    n_models: int,
    closed_gates: tuple[str, ...],
    temperature: float | None,
    is_begun: bool,
) -> Headline:
    """Return the headline; `temperature` is that of the first model, None if it is not known."""
    # The time that reading takes predicts how long counting will take.
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
        temperature,
        partial(estimates, study_id),
        scores_of_tasks,
        by_task=study.is_recorded,
        is_begun=is_begun,
    )


def leading_sentences(study_id: str) -> list[str]:
    """Return the study's sentences, the most important one first.

    In this order: the best of several models, memory, score, flips, rotation.
    """
    is_begun = bool(session.study_row(study_id)["n_calls_done"])
    return _leading_sentences(study_id, is_begun, tenth_of(study_id) is not None)


def _card_revision(study_id: str) -> tuple[int, int]:
    return _revision(study_id), gates.revision_with_labels(study_id)[1]


@session.cached("Reading the answers", max_entries=64, revision=_card_revision, is_kept=True)
def _leading_sentences(study_id: str, is_begun: bool, is_running: bool) -> list[str]:
    summary = headline(study_id)
    score: ScoreReport | None = answer_of(study_id, Question.SCORE)
    whole_claims = score.whole_claims if score else ()
    ranking: RankingReport | None = None
    if compares_models(session.declared(study_id)):
        ranking = answer_of(study_id, Question.RANKING)
    memory = memory_headline(study_id) if len(session.roles(study_id)) > 1 else ""
    # A study with several prompts has its score in `whole_claims`, other studies in the headline.
    score_sentence = whole_claims[0].text if whole_claims else ""
    if not score_sentence and summary.score:
        score_sentence = summary.score.text
    other_claims = [claim.text for claim in summary.claims if claim != summary.score]
    sentences = (
        ranking.best.text if ranking else "",
        with_capital(memory),
        accuracies_sentence(ranking) if ranking else score_sentence,
        *other_claims,
        _rotation_sentence(study_id),
    )
    return [text for text in sentences if text]


def _rotation_sentence(study_id: str) -> str:
    """Return how rotation changes the first model's accuracy; "" without rotation."""
    if session.declared(study_id).protocol.name != "rotation":
        return ""
    frame = session.readouts(study_id, everything=True)
    is_first = frame["model"] == next(iter(frame["model"]), "")
    accuracy = harness_accuracy(frame[is_first])
    return accuracy.sentence() if accuracy else ""


def memory_headline(study_id: str) -> str:
    """Return the sentence on memory, for the first model.

    "" while the study runs, and for a study without controls.
    """
    if tenth_of(study_id) is not None:
        return ""
    report: MemoryReport = answer_of(study_id, Question.MEMORY)
    summary = report.summaries.get(next(iter(report.tests), ""))
    return summary.text if summary else ""


def score_sentences(study_id: str) -> list[str]:
    """Return a sentence per model: its score with the measured parts of its error bar."""
    report: ScoreReport | None = answer_of(study_id, Question.SCORE)
    if report is not None:
        return [model_score.claim.text for model_score in report.models]
    # The report lacks scores that are no means. The headline has them as the log reports them.
    score = headline(study_id).score
    return [score.text] if score else []


def error_bar(study_id: str) -> ErrorBar | None:
    """Return the error bar of a study's first model: questions, prompts and reruns.

    None if the study did not use several prompts.
    """
    report: ScoreReport | None = answer_of(study_id, Question.SCORE)
    # Only models that were asked in several prompts have shares.
    if report:
        return next((model_score.bar for model_score in report.models if model_score.shares), None)
    return None
