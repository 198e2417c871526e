"""Answers of another harness to planned prompts, which become that study: its items, variants and
readouts, as if asked from here."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain

from flipcore.core.command_line import command
from flipcore.core.errors import BadInput
from flipcore.core.records import Call, Completion, Readout, digest
from flipcore.core.study import Study
from flipcore.datasets.recorded.log_records import LogRecord, prompt_of
from flipcore.datasets.recorded.log_rows import recorded_completion
from flipcore.runs.harnesses.writing import Elsewhere, history_of, planned_calls, planned_of, use_of
from flipcore.runs.log_import import ImportProgress, store_logs
from flipcore.runs.log_survey import Survey
from flipcore.runs.origins import study_row
from flipcore.runs.plan import ItemPlan, Plan, declared_rows
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.recorded import other_calls, other_revisions

_EVERY = 500
_RECORDED = "recorded-"  # begins the revision of a model whose answers came in a log


def store_survey(
    survey: Survey,
    store: Store,
    on_progress: Callable[[ImportProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> str:
    """Store what was surveyed: answers to planned prompts as the study that planned them, anything
    else as one of its own."""
    if not survey.marks:
        return store_logs(survey, store, on_progress, stop)
    if len(survey.marks) > 1 or sum(survey.marks.values()) < survey.n_records:
        raise BadInput(
            f"The files hold answers to planned prompts of {len(survey.marks)}"
            f" studies{' and other outputs' * (sum(survey.marks.values()) < survey.n_records)}."
            " Import them one at a time."
        )
    (study_id,) = survey.marks
    study = studies.study(store, study_id)
    if study is None:
        raise BadInput(
            f"These are answers to prompts of the study {study_id}, which is not in this database."
            f" Run `{command('variants study.toml')}` with the study.toml that was written beside"
            " the prompts, then import again."
        )
    return _store(survey, store, study, on_progress)


@dataclass
class _Answers:
    """Completions by model and item, and what did not fit."""

    completions: dict[tuple[str, str], dict[str, Completion]] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    first: dict[str, Completion] = field(default_factory=dict)  # of each call, over all items
    n_repeated: int = 0
    misfits: list[str] = field(default_factory=list)
    n_left_out: int = 0

    def leave_out(self, places: Iterable[tuple[str, str]]) -> None:
        """Drop the answers to what an earlier log answered: what was set aside comes in a log of
        its own, once it is opened."""
        dropped = [self.completions.pop(place) for place in places if place in self.completions]
        self.n_left_out = len(dropped)
        kept_ids = set(chain.from_iterable(self.completions.values()))
        self.calls = {call_id: self.calls[call_id] for call_id in self.calls if call_id in kept_ids}
        self.first = {call_id: self.first[call_id] for call_id in self.first if call_id in kept_ids}


def _store(
    survey: Survey, store: Store, study: Study, on_progress: Callable[[ImportProgress], None] | None
) -> str:
    study_plan, study_id = planned_of(study, store), study.study_id
    revision = f"{_RECORDED}{digest(sorted(file.revision for file in survey.files))[:8]}"
    answers = _answers_of(survey, study_plan, revision, on_progress)
    if not answers.calls:
        raise BadInput(
            f"None of the answers fits the study {study.name!r}."
            f" {answers.misfits[0] if answers.misfits else ''}".strip()
        )
    models = sorted({model for model, _ in answers.completions})
    earlier_revisions = other_revisions(store, study_id, models, revision)
    # Asked from here: perhaps of another model of the name.
    was_run = any(not earlier.startswith(_RECORDED) for earlier in earlier_revisions.values())
    if was_run or all(place in earlier_revisions for place in answers.completions):
        names = ", ".join(sorted({model for model, _ in earlier_revisions}))
        raise BadInput(
            f"{study.name!r} holds answers of {names} from elsewhere already. Import these "
            "into another database (FLIPSCOPE_DB), or delete the study first."
        )
    answers.leave_out(earlier_revisions)
    readouts, n_planned = _read(study_plan, answers, models, revision)
    readout_rows, source_rows = rows.readout_rows(study_id, readouts)
    completions = answers.first
    n_before, n_failed_before = other_calls(store, study_id, models, completions)
    state, message = _ended(answers, completions, n_planned, n_before, n_failed_before)
    completion_rows = []
    for call_id, completion in completions.items():
        completion_rows.append(
            rows.completion_row(answers.calls[call_id], completion, simulated=False)
        )
    parts = [
        *declared_rows(study_plan),
        ("completions", completion_rows),
        ("study_calls", [{"study_id": study_id, "call_id": call_id} for call_id in completions]),
        ("readouts", readout_rows),
        ("readout_sources", source_rows),
        ("studies", [study_row(study, state, message, n_calls=n_planned, ended_at=rows.now())]),
    ]
    store.writer.add_together(parts).result()
    return study_id


def _answers_of(
    survey: Survey,
    study_plan: Plan,
    revision: str,
    on_progress: Callable[[ImportProgress], None] | None,
) -> _Answers:
    """Each answer at the call that it answers."""
    places = _places(study_plan, revision)
    answers, n_seen = _Answers(), 0
    for record in survey.records():
        n_seen += 1
        if on_progress and n_seen % _EVERY == 0:
            on_progress(ImportProgress(n_seen, survey.n_records))
        assert record.mark is not None
        mark = record.mark
        place = places.get((mark.model, mark.variant_id, mark.sample))
        reason = (
            "belongs to no prompt of the study as it is now"
            if place is None
            else _misfit(record, place[1])
        )
        if reason or place is None:
            answers.misfits.append(f"{record.place} {reason}.")
            continue
        item_plan, call = place
        item_completions = answers.completions.setdefault((mark.model, item_plan.item.item_id), {})
        if call.call_id in answers.calls:  # one request is asked once, whichever items it is of
            answers.n_repeated += 1
            item_completions.setdefault(call.call_id, answers.first[call.call_id])
            continue
        item_completions[call.call_id] = answers.first[call.call_id] = recorded_completion(
            call.call_id, record
        )
        answers.calls[call.call_id] = call
    return answers


def _places(study_plan: Plan, revision: str) -> dict[tuple[str, str, int], tuple[ItemPlan, Call]]:
    """(model, variant, sample) -> its item and call."""
    places = {}
    for use in study_plan.study.models:
        backend = Elsewhere(use.name, revision)
        for item_plan in study_plan.items:
            for (variant_id, sample), call in planned_calls(
                study_plan, item_plan, use, backend
            ).items():
                places[use.name, variant_id, sample] = item_plan, call
    return places


def _misfit(record: LogRecord, call: Call) -> str:
    """Return why an answer is not one to the prompt that its marks name; "" where it is."""
    if (
        record.prompt.strip() != prompt_of(call.request.messages)[0].strip()
        or record.system.strip() != call.request.system.strip()
    ):
        return "was asked with another prompt than the planned one"
    temperature = record.sampling.get("temperature")
    if isinstance(temperature, (int, float)) and temperature != call.request.temperature:
        return (
            f"was sampled at temperature {temperature:g}, planned was {call.request.temperature:g}"
        )
    return ""


def _read(
    study_plan: Plan, answers: _Answers, models: list[str], revision: str
) -> tuple[list[Readout], int]:
    """Every readout of the study, absent where nothing came; and how many calls were planned."""
    protocol = study_plan.protocol
    readouts: list[Readout] = []
    n_planned = 0
    for model in models:
        use, backend = use_of(study_plan.study, model), Elsewhere(model, revision)
        for item_plan in study_plan.items:
            n_planned += len(planned_calls(study_plan, item_plan, use, backend))
            if completions := answers.completions.get((model, item_plan.item.item_id)):
                history = history_of(study_plan, item_plan, use, backend, completions)
                readouts += protocol.readouts(history)
    return readouts, n_planned


def _ended(
    answers: _Answers,
    completions: dict[str, Completion],
    n_planned: int,
    n_before: int,
    n_failed_before: int,
) -> tuple[str, str]:
    """`n_before` answers are here of an earlier import, of other items."""
    n_failed = (
        sum(completion.status != "ok" for completion in completions.values()) + n_failed_before
    )
    n = len(completions) + n_before
    message = f"Asked by another harness: {n:,} of {n_planned:,} prompts are answered."
    message += f" {n_failed:,} failed." if n_failed else ""
    if any(
        completion.status == "ok" and not completion.finish_reason
        for completion in completions.values()
    ):
        message += (
            " The log does not say how answers ended, so one that was cut off is read like a whole"
            " one."
        )
    message += (
        f" {answers.n_repeated:,} further answers to the same prompts were left out."
        if answers.n_repeated
        else ""
    )
    message += (
        f" {answers.n_left_out:,} items are answered by an earlier log, which counts."
        if answers.n_left_out
        else ""
    )
    message += (
        f" Refused: {len(answers.misfits):,}. The first: {answers.misfits[0]}"
        if answers.misfits
        else ""
    )
    return "done" if n == n_planned and not n_failed else "incomplete", message
