"""OpenAI evals event log: several events per sample in any order, grouped by sample."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_lines
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded import log_records as log
from flipcore.datasets.recorded.formats.reader import Reader, first_object, records_at
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    ReportedScore,
)

GRADED = "model-graded"  # the readout of a judge
_INVALID_CHOICES = ("__invalid__", "")
_EVENT_TYPES = ("sampling", "match", "metrics", "error", "pick_option")


def _recognises(source: Source) -> bool:
    row = first_object(source)
    spec = row.get("spec")
    is_event = {"run_id", "event_id", "sample_id", "type", "data"} <= set(row)
    return is_event or (isinstance(spec, Mapping) and "run_id" in spec)


def _spec(source: Source) -> tuple[str, str]:
    """Return (task, model) of the specification, the first line unless files were joined."""
    spec = first_object(source).get("spec") or {}
    for _, row, problem in json_lines(source) if not spec else ():
        if not problem and isinstance(row, Mapping) and isinstance(row.get("spec"), Mapping):
            spec = row["spec"]
            break
    task = str(spec.get("base_eval") or spec.get("eval_name") or source.stem)
    functions = spec.get("completion_fns") or [spec.get("model_name") or ""]
    return task, log.as_text(functions[0])


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    about = LogAbout("OpenAI evals events", leaves=("function calls", "extra events"))
    task, model = _spec(source)
    names = {"accuracy": "match", "score": GRADED}
    for _, row, problem in json_lines(source):
        report = row.get("final_report") if isinstance(row, Mapping) and not problem else None
        for metric, name in names.items():
            value = log.number_of(report.get(metric)) if isinstance(report, Mapping) else None
            if value is not None:
                about.reported.append(
                    ReportedScore(
                        model, task, readout=name, value=value, n=None, stderr=None, metric=metric
                    )
                )
    return about


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    """Yield the records of samples. Events come in any order, so they are held in memory."""
    task, model = _spec(source)
    samples: dict[str, dict[str, list]] = {}
    lines: dict[str, int] = {}
    for number, row, problem in json_lines(source):
        if problem:
            yield Rejection(f"Line {number} of {source.name} {problem}.")
        elif isinstance(row, Mapping) and row.get("type") in _EVENT_TYPES:
            if isinstance(row.get("data"), Mapping):
                key = str(row.get("sample_id"))
                lines.setdefault(key, number)
                samples.setdefault(key, {}).setdefault(row["type"], []).append(row["data"])
    for key, events in samples.items():
        place = f"Line {lines[key]} of {source.name}"
        yield from records_at(place, "", "sample", _sample_records, events, key, task, model)


def _sample_records(
    events: Mapping[str, list], place: str, key: str, task: str, model: str
) -> Iterator[LogRecord]:
    errors, metrics = events.get("error") or [], events.get("metrics") or []
    verdicts = events.get("match") or events.get("pick_option") or []
    verdict = verdicts[0] if verdicts else {}
    grades = [] if verdicts else [event for event in metrics if "choice" in event]
    samples = _without_grader(events.get("sampling") or [], grades) or [{}]
    expected, options = verdict.get("expected"), verdict.get("options")
    options = options if isinstance(options, list) and len(options) > 1 else []
    option_texts = tuple(map(log.as_text, options))
    graded = grades if len(grades) == len(samples) else grades[:1]
    readouts: list[tuple[LogReadout, ...]] = [(_grade(event),) for event in graded]
    readouts = readouts or [tuple(_readouts(verdicts[:1], metrics))]
    for sample, event in enumerate(samples):
        prompt, system = log.prompt_from(event.get("prompt"))
        text = event.get("sampled", verdict.get("sampled"))
        text = text[0] if isinstance(text, list) and text else text
        usage = event.get("usage") or {}
        yield LogRecord(
            place,
            task,
            item=key,
            question=prompt or key,
            prompt=prompt or f"(sample {key}: the log holds no prompt)",
            model=log.as_text(event.get("model")) or model,
            system=system,
            options=option_texts,
            targets=() if expected is None else (log.as_text(expected),),
            sample=sample,
            text=None if text is None else log.as_text(text),
            n_tokens_in=log.whole_number(usage.get("prompt_tokens")),
            n_tokens_out=log.whole_number(usage.get("completion_tokens")),
            error=log.as_text(errors[0].get("message")) if errors and text is None else "",
            # a log of matches alone holds no outputs, although no call failed
            raw_reply=json.dumps(verdict) if text is None and verdicts and not errors else "",
            readouts=readouts[sample] if sample < len(readouts) else (),
        )


def _without_grader(samples: list[Mapping], grades: list[Mapping]) -> list[Mapping]:
    """Drop the replies of a judge, which come last, one per grade.

    Raises BadInput if there are no other replies.
    """
    if grades and len(samples) <= len(grades):
        raise BadInput("holds the grader's reply and not the answer that was graded")
    return samples[: len(samples) - len(grades)]


def _grade(grade: Mapping) -> LogReadout:
    """Return a judge's grade; its choice ("Yes") is the answer only if it has no score."""
    choice, score = log.as_text(grade.get("choice")), log.number_of(grade.get("score"))
    readout = LogReadout(GRADED, None, log.right_of(score), score)
    if choice in _INVALID_CHOICES:
        readout.unreadable, readout.reason = True, "The grader's reply named no choice."
    elif score is None:
        readout.answer = choice
    return readout


def _readouts(verdicts: list, metrics: list) -> Iterator[LogReadout]:
    """Yield the readouts of a verdict and of the first metrics."""
    for verdict in verdicts:
        choice: Any = verdict.get("picked")
        right = verdict.get("correct")
        right = right if isinstance(right, bool) else None
        reason = "Nothing was picked." if choice is None else ""
        yield LogReadout(
            "match",
            None if choice is None else log.as_text(choice),
            is_correct=right,
            score=None,
            unreadable=choice is None,
            reason=reason,
        )
    for name, value in metrics[0].items() if metrics else ():
        score = log.number_of(value)
        if score is not None:
            yield LogReadout(str(name), None, log.right_of(score), score)


READER = Reader("openai_evals", "OpenAI evals events", _recognises, _records, _about)
