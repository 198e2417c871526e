"""Store another harness's answers to a study's planned prompts, as if the study had asked them."""

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

_REPORT_EVERY = 500
# Revisions of models whose answers came in a log begin with this.
_RECORDED_PREFIX = "recorded-"


def store_survey(
    survey: Survey,
    store: Store,
    on_progress: Callable[[ImportProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> str:
    """Store surveyed files, and return the study's id. Answers to planned prompts become part of
    the study that planned them. Other outputs become a study of their own. Raises BadInput for a
    mixture of both, and for an unknown study."""
    # A mark names the study and the planned prompt that an output answers.
    if not survey.marks:
        return store_logs(survey, store, on_progress, stop)
    has_other_outputs = sum(survey.marks.values()) < survey.n_records
    if len(survey.marks) > 1 or has_other_outputs:
        other_outputs = " and other outputs" if has_other_outputs else ""
        raise BadInput(
            f"The files hold answers to planned prompts of {len(survey.marks)} "
            f"studies{other_outputs}. Import them one at a time."
        )
    (study_id,) = survey.marks
    study = studies.study(store, study_id)
    if study is None:
        raise BadInput(
            f"These are answers to prompts of the study {study_id}, which is not in this database."
            f" Run `{command('variants study.toml')}` with the study.toml that was written beside"
            " the prompts, then import again."
        )
    return _store_answers(survey, store, study, on_progress)


@dataclass
class _PlacedAnswers:
    """Answers that were matched to planned calls, and what did not fit."""

    # (model, item id) -> call id -> completion
    completions: dict[tuple[str, str], dict[str, Completion]] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)  # by call id
    # call id -> the first completion of this call, over all items
    completion_by_call: dict[str, Completion] = field(default_factory=dict)
    n_repeated: int = 0  # further answers to a call, not used
    misfits: list[str] = field(default_factory=list)  # a sentence per answer that fits no prompt
    n_left_out: int = 0  # items that an earlier log answered

    def leave_out(self, answered: Iterable[tuple[str, str]]) -> None:
        """Drop the answers for these (model, item id), which an earlier log answered. This happens
        where set-aside items are opened later and come in a log of their own."""
        dropped = [self.completions.pop(key) for key in answered if key in self.completions]
        self.n_left_out = len(dropped)
        kept_ids = set(chain.from_iterable(self.completions.values()))
        self.calls = {call_id: self.calls[call_id] for call_id in self.calls if call_id in kept_ids}
        self.completion_by_call = {
            call_id: self.completion_by_call[call_id]
            for call_id in self.completion_by_call
            if call_id in kept_ids
        }


def _store_answers(
    survey: Survey, store: Store, study: Study, on_progress: Callable[[ImportProgress], None] | None
) -> str:
    study_plan, study_id = planned_of(study, store), study.study_id
    revision = f"{_RECORDED_PREFIX}{digest(sorted(file.revision for file in survey.files))[:8]}"
    answers = _answers_of(survey, study_plan, revision, on_progress)
    if not answers.calls:
        raise BadInput(
            f"None of the answers fits the study {study.name!r}."
            f" {answers.misfits[0] if answers.misfits else ''}".strip()
        )
    models = sorted({model for model, _ in answers.completions})
    earlier_revisions = other_revisions(store, study_id, models, revision)
    # Answers that were asked from here may come from another model of the same name.
    was_run = any(
        not earlier.startswith(_RECORDED_PREFIX) for earlier in earlier_revisions.values()
    )
    if was_run or all(key in earlier_revisions for key in answers.completions):
        names = ", ".join(sorted({model for model, _ in earlier_revisions}))
        raise BadInput(
            f"{study.name!r} holds answers of {names} from elsewhere already. Import these "
            "into another database (FLIPSCOPE_DB), or delete the study first."
        )
    answers.leave_out(earlier_revisions)
    readouts, n_planned = _readouts_of(study_plan, answers, models, revision)
    readout_rows, source_rows = rows.readout_rows(study_id, readouts)
    completions = answers.completion_by_call
    n_before, n_failed_before = other_calls(store, study_id, models, completions)
    state, message = _state_and_message(answers, completions, n_planned, n_before, n_failed_before)
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
) -> _PlacedAnswers:
    """Match each answer to the planned call that it answers."""
    calls_by_prompt = _calls_by_prompt(study_plan, revision)
    answers, n_seen = _PlacedAnswers(), 0
    for record in survey.records():
        n_seen += 1
        if on_progress and n_seen % _REPORT_EVERY == 0:
            on_progress(ImportProgress(n_seen, survey.n_records))
        assert record.mark is not None
        mark = record.mark
        planned = calls_by_prompt.get((mark.model, mark.variant_id, mark.sample))
        if planned is None:
            reason = "belongs to no prompt of the study as it is now"
            answers.misfits.append(f"{record.place} {reason}.")
            continue
        item_plan, call = planned
        if reason := _misfit(record, call):
            answers.misfits.append(f"{record.place} {reason}.")
            continue
        item_completions = answers.completions.setdefault((mark.model, item_plan.item.item_id), {})
        if call.call_id in answers.calls:  # items may share a request; its first answer counts
            answers.n_repeated += 1
            item_completions.setdefault(call.call_id, answers.completion_by_call[call.call_id])
            continue
        item_completions[call.call_id] = answers.completion_by_call[call.call_id] = (
            recorded_completion(call.call_id, record)
        )
        answers.calls[call.call_id] = call
    return answers


def _calls_by_prompt(
    study_plan: Plan, revision: str
) -> dict[tuple[str, str, int], tuple[ItemPlan, Call]]:
    """Return (model, variant id, sample) -> (item, call)."""
    calls_by_prompt = {}
    for use in study_plan.study.models:
        backend = Elsewhere(use.name, revision)
        for item_plan in study_plan.items:
            calls = planned_calls(study_plan, item_plan, use, backend)
            for (variant_id, sample), call in calls.items():
                calls_by_prompt[use.name, variant_id, sample] = item_plan, call
    return calls_by_prompt


def _misfit(record: LogRecord, call: Call) -> str:
    """Return why an answer does not belong to the prompt that its marks name; "" if it does."""
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


def _readouts_of(
    study_plan: Plan, answers: _PlacedAnswers, models: list[str], revision: str
) -> tuple[list[Readout], int]:
    """Return (readouts of the answered items, number of planned calls).

    A planned call of such an item that was not answered gives readouts with status `absent`.
    """
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


def _state_and_message(
    answers: _PlacedAnswers,
    completions: dict[str, Completion],
    n_planned: int,
    n_before: int,
    n_failed_before: int,
) -> tuple[str, str]:
    """Return the study's state and a message. `n_before` answers to other items came with an
    earlier import, `n_failed_before` of them failed."""
    n_failed = (
        sum(completion.status != "ok" for completion in completions.values()) + n_failed_before
    )
    n_answers = len(completions) + n_before
    message = f"Asked by another harness: {n_answers:,} of {n_planned:,} prompts are answered."
    message += f" {n_failed:,} failed." if n_failed else ""
    if any(
        completion.status == "ok" and not completion.finish_reason
        for completion in completions.values()
    ):
        message += (
            " The log does not say how answers ended, so one that was cut off is read like a whole"
            " one."
        )
    if answers.n_repeated:
        message += f" {answers.n_repeated:,} further answers to the same prompts were left out."
    if answers.n_left_out:
        message += f" {answers.n_left_out:,} items keep the answers of an earlier log."
    if answers.misfits:
        message += f" Refused: {len(answers.misfits):,}. The first: {answers.misfits[0]}"
    return "done" if n_answers == n_planned and not n_failed else "incomplete", message
