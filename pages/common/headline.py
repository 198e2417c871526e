"""A study's headline and everything that is said of it, computed again only when something new was committed."""

import time
from functools import partial

import streamlit as st

from flipcore.core.work import say_step
from flipcore.reports.flips import Headline, claimed_headline
from flipcore.reports.log_scores import task_scores
from flipcore.reports.memory import memory_headline as memory_computed
from flipcore.reports.ranking import accuracies_sentence, compares_models, ranking_report
from flipcore.reports.score import ScoreReport
from flipcore.stats.flips.coded_answers import CodedAnswers, coded_answers
from flipcore.stats.flips.decomposition import Decomposition, decompositions
from flipcore.stats.memory.rewritten import harness_accuracy
from flipcore.stats.score.error_bar import ErrorBar
from flipcore.store.queries import pairs as pair_queries
from pages.common import gates, scores, session


@session.cached(max_entries=12)
def answers(study_id: str, model: str, lock: str | None = None) -> CodedAnswers:
    """The coded answers of one model, under a lock where one is named."""
    frame = session.readouts(study_id, lock=lock)
    return coded_answers(frame[frame["model"] == model])


@session.cached()
def estimates(study_id: str, model: str, reference: str) -> list[Decomposition]:
    """T, G and A of every axis and extractor, without tests, as the headline and the map read them."""
    return decompositions(answers(study_id, model), reference, tests=False)


COUNTING_TO_READING = 1.2  # how much longer flips are counted than their readouts are read, at any size


def tenth_of(study_id: str) -> int | None:
    """Of a running study how many tenths of its calls are done; None of one that does not run."""
    progress = session.registry().progress(study_id)
    if progress is None:
        return None
    return 10 * progress.n_done // progress.n_calls if progress.n_calls else 0


@st.cache_resource(show_spinner=False)
def _moments() -> dict[str, tuple[int, int]]:
    """Running study -> (tenth, the revision at which it began): what its card is computed from, once for all sessions."""
    return {}


def _revision(study_id: str) -> int:
    """The newest revision; of a running study that of its last tenth, because a card's sentences take seconds to compute."""
    newest, tenth = session.store().revision(study_id), tenth_of(study_id)
    if tenth is None:
        _moments().pop(study_id, None)
        return newest
    if study_id not in _moments() or _moments()[study_id][0] != tenth:
        _moments()[study_id] = tenth, newest
    return _moments()[study_id][1]


def headline(study_id: str) -> Headline:
    """What may be claimed of a study; what has not passed its gate is left out, and named."""
    row = session.study_row(study_id)
    models, is_begun = row["models"], bool(row["n_calls_done"])
    heat = session.temperature(study_id, models[0])
    return _headline(study_id, len(models), tuple(gates.closed_in(study_id)), heat, is_begun)


@session.cached("Reading the answers", 64, _revision)
def _headline(study_id: str, n_models: int, closed_gates: tuple[str, ...], heat: float | None, is_begun: bool) -> Headline:
    start = time.monotonic()
    frame = session.readouts(study_id)
    say_step(f"Counting the flips in {len(frame):,} readouts", about_s=COUNTING_TO_READING * (time.monotonic() - start))
    study = session.declared(study_id)
    of_tasks = task_scores(session.store(), study_id, study)
    return claimed_headline(
        frame,
        closed_gates,
        n_models,
        heat,
        partial(estimates, study_id),
        of_tasks,
        by_task=study.is_recorded,
        is_begun=is_begun,
    )


def leading_sentences(study_id: str) -> list[str]:
    """What a study says, the leading sentence first: who leads of several models, memory, the score, flips and what else there is. One
    that was asked in several wordings has one score, on one set of questions."""
    summary, report = headline(study_id), _score(scores.default_view(study_id))
    of_wordings = report.whole_claims if report else ()  # of any other model the accuracy says "questions only"
    first, accuracies = ranking_headline(study_id)
    memory = memory_headline(study_id) if len(session.roles(study_id)) > 1 else ""
    score = [claim.text for claim in of_wordings[:1]]
    if not score and summary.score:
        score = [summary.score.text]
    others = [claim.text for claim in summary.claims if claim != summary.score]
    own = [accuracies] if first else score
    every = (first, memory[:1].upper() + memory[1:], *own, *others, harness_headline(study_id))
    return [text for text in every if text]


def memory_headline(study_id: str) -> str:
    """What the detectors see, of a study that compares items with controls and is not running; else empty."""
    if tenth_of(study_id) is not None:
        return ""
    study = session.declared(study_id)
    closed_gates = gates.closed_gates(study_id, (part.name for part in study.axes), ())
    return _memory_headline(study_id, tuple(closed_gates.items()))


@session.cached("Testing for memory", 64, _revision)
def _memory_headline(study_id: str, closed_gates: tuple[tuple[str, str], ...]) -> str:
    frame, items = session.readouts(study_id, everything=True), session.study_items(study_id)
    pairs = pair_queries.control_pairs(session.store(), study_id)
    claim = memory_computed(frame, session.declared(study_id), items, dict(closed_gates), pairs)
    return claim.text if claim else ""


def ranking_headline(study_id: str) -> tuple[str, str]:
    """Of a study with several models who is first, and each of them with its accuracy; ("", "") of any other."""
    if not compares_models(session.declared(study_id)):
        return "", ""
    return _ranking_headline(study_id, tuple(gates.closed_in(study_id).items()))


@session.cached("Comparing the models", 64, _revision)
def _ranking_headline(study_id: str, closed_gates: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    scorers = session.declared(study_id).scorer_names
    report = ranking_report(session.readouts(study_id), closed_gates=dict(closed_gates), scorers=scorers)
    return (report.claims[0].text, accuracies_sentence(report)) if report else ("", "")


def score_sentences(study_id: str) -> list[str]:
    """The score of each model with as much of its error bar as was measured; where a log's score is no mean, what the log gives."""
    report = _score(scores.default_view(study_id))
    if report is not None:
        return [one.claim.text for one in report.models]
    score = headline(study_id).score
    return [score.text] if score else []


def error_bar(study_id: str) -> ErrorBar | None:
    """Of a study's first model, whose score varies with questions, wordings and reruns; None where wordings were not measured."""
    report = _score(scores.default_view(study_id))
    return next((one.bar for one in report.models if one.shares), None) if report else None


@session.cached("Adding up the error bar", 64, _revision)
def _score(view: scores.View) -> ScoreReport | None:
    return scores.report(view, scores.LEVEL)


def harness_headline(study_id: str) -> str:
    """What rotation adds to a single vote, of the first model of a study that was asked so; else empty."""
    return _harness_headline(study_id) if session.declared(study_id).protocol.name == "rotation" else ""


@session.cached("Counting the rotations", 64, _revision)
def _harness_headline(study_id: str) -> str:
    frame = session.readouts(study_id, everything=True)
    accuracy = harness_accuracy(frame[frame["model"] == frame["model"].iloc[0]]) if len(frame) else None
    return accuracy.sentence() if accuracy else ""


@session.cached("Computing every estimate", max_entries=2, revision=gates.with_labels)
def study_contents(study_id: str):
    """The numbers and claims that methods and tables are made of, a `WholeStudy`."""
    from flipcore.reports.whole_study import whole_study

    return whole_study(session.store(), study_id)
