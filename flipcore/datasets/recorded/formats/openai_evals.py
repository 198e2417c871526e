"""OpenAI evals event log: several events a sample in any order, gathered by sample."""

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

GRADED = "model-graded"  # the readout of a grader that is a model itself
_NO_CHOICE = ("__invalid__", "")
_KINDS = ("sampling", "match", "metrics", "error", "pick_option")


def _recognises(source: Source) -> bool:
    row = first_object(source)
    spec = row.get("spec")
    return (isinstance(spec, Mapping) and "run_id" in spec) or {
        "run_id",
        "event_id",
        "sample_id",
        "type",
        "data",
    } <= set(row)


def _spec(source: Source) -> tuple[str, str]:
    """Return (task, model) of the specification.

    It is the first line unless files were joined or sorted.
    """
    spec = first_object(source).get("spec") or {}
    if not spec:
        rows = (
            row
            for _, row, problem in json_lines(source)
            if not problem and isinstance(row, Mapping)
        )
        spec = next((row["spec"] for row in rows if isinstance(row.get("spec"), Mapping)), {})
    functions = spec.get("completion_fns") or [spec.get("model_name") or ""]
    return str(spec.get("base_eval") or spec.get("eval_name") or source.stem), log.as_text(
        functions[0] if functions else ""
    )


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    about = LogAbout("OpenAI evals events", leaves=("function calls", "extra events"))
    task, model = _spec(source)
    names = {"accuracy": "match", "score": GRADED}
    for _, row, problem in json_lines(source):
        report = row.get("final_report") if isinstance(row, Mapping) and not problem else None
        for metric, name in names.items():
            value = log.number_of(report.get(metric)) if isinstance(report, Mapping) else None
            if value is not None:
                about.reported.append(ReportedScore(model, task, name, value, None, None, metric))
    return about


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    """Gather the events of each sample.

    They lie near one another but in any order, so all are held, without the parts not used.
    """
    task, model = _spec(source)
    samples: dict[str, dict[str, list]] = {}
    lines: dict[str, int] = {}
    for number, row, problem in json_lines(source):
        if problem:
            yield Rejection(f"Line {number} of {source.name} {problem}.")
        elif (
            isinstance(row, Mapping)
            and row.get("type") in _KINDS
            and isinstance(row.get("data"), Mapping)
        ):
            key = str(row.get("sample_id"))
            lines.setdefault(key, number)
            samples.setdefault(key, {}).setdefault(row["type"], []).append(row["data"])
    for key, events in samples.items():
        yield from records_at(
            f"Line {lines[key]} of {source.name}",
            "",
            "sample",
            _of_sample,
            events,
            key,
            task,
            model,
        )


def _of_sample(
    events: Mapping[str, list], place: str, key: str, task: str, model: str
) -> Iterator[LogRecord]:
    errors, verdicts = (
        events.get("error") or [],
        events.get("match") or events.get("pick_option") or [],
    )
    grades = (
        [] if verdicts else [event for event in events.get("metrics") or [] if "choice" in event]
    )
    sampled = _own(events.get("sampling") or [], grades) or [{}]
    expected = [
        log.as_text(verdict.get("expected"))
        for verdict in verdicts[:1]
        if verdict.get("expected") is not None
    ]
    options = verdicts[0].get("options") if verdicts else None
    of_grader = [
        tuple(_grade(event)) for event in (grades if len(grades) == len(sampled) else grades[:1])
    ]
    readouts = of_grader or [tuple(_readouts(verdicts[:1], events.get("metrics") or []))]
    for sample, event in enumerate(sampled):
        prompt, system = log.prompt_from(event.get("prompt"))
        text = event.get("sampled", verdicts[0].get("sampled") if verdicts else None)
        text = text[0] if isinstance(text, list) and text else text
        usage = event.get("usage") or {}
        option_texts = (
            tuple(log.as_text(option) for option in options)
            if isinstance(options, list) and len(options) > 1
            else ()
        )
        yield LogRecord(
            place,
            task,
            key,
            prompt or key,
            prompt or f"(sample {key}: the log holds no prompt)",
            log.as_text(event.get("model")) or model,
            system,
            options=option_texts,
            targets=tuple(expected),
            sample=sample,
            text=None if text is None else log.as_text(text),
            n_tokens_in=log.count_of(usage.get("prompt_tokens")),
            n_tokens_out=log.count_of(usage.get("completion_tokens")),
            error=log.as_text(errors[0].get("message")) if errors and text is None else "",
            # a log of matches alone holds no output, and its calls did not fail
            raw_reply=json.dumps(verdicts[0]) if text is None and verdicts and not errors else "",
            readouts=readouts[sample] if sample < len(readouts) else (),
        )


def _own(sampled: list[Mapping], grades: list[Mapping]) -> list[Mapping]:
    """Return what the model itself wrote.

    Where a model graded, its replies come last, one for each grade, and are no samples. Raises
    BadInput where the log holds the grader's replies alone.
    """
    if grades and len(sampled) <= len(grades):
        raise BadInput("holds the grader's reply and not the answer that was graded")
    return sampled[: len(sampled) - len(grades)]


def _grade(grade: Mapping) -> Iterator[LogReadout]:
    """Read a grader's choice ("Yes") as right or wrong by its score.

    It is the answer where no score is declared for it.
    """
    choice, score = log.as_text(grade.get("choice")), log.number_of(grade.get("score"))
    if choice in _NO_CHOICE:
        yield LogReadout(
            GRADED,
            None,
            log.right_of(score),
            score,
            unreadable=True,
            reason="The grader's reply named no choice.",
        )
    else:
        yield LogReadout(GRADED, choice if score is None else None, log.right_of(score), score)


def _readouts(verdicts: list, metrics: list) -> Iterator[LogReadout]:
    for verdict in verdicts:
        choice: Any = verdict.get("picked")
        right = verdict.get("correct")
        right = right if isinstance(right, bool) else None
        reason = "Nothing was picked." if choice is None else ""
        yield LogReadout(
            "match",
            None if choice is None else log.as_text(choice),
            right,
            None,
            choice is None,
            reason,
        )
    for name, value in metrics[0].items() if metrics else ():
        score = log.number_of(value)
        if score is not None:
            yield LogReadout(str(name), None, score == 1.0 if score in (0.0, 1.0) else None, score)


READER = Reader("openai_evals", "OpenAI evals events", _recognises, _records, _about)
