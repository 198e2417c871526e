"""Every Eval Ever 0.2.2 and 0.3.0: `*_samples.jsonl` with its aggregate in a file of its own.

A line holds one item under one metric.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_lines, whole
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

VERSIONS = ("0.2", "0.3")


def _recognises(source: Source) -> bool:
    row = first_object(source)
    return {"schema_version", "evaluation_id", "sample_id", "evaluation"} <= set(row)


def _belongs(source: Source) -> bool:
    row = first_object(source)
    return {"schema_version", "evaluation_id"} <= set(row) and (
        "evaluation_results" in row or "model_info" in row
    )


def _aggregate(source: Source, companions: Sequence[Source]) -> tuple[Source, Mapping] | None:
    evaluation_id = first_object(source).get("evaluation_id")
    for file in companions:
        if _belongs(file) and first_object(file).get("evaluation_id") == evaluation_id:
            data = whole(file)
            return (file, data) if isinstance(data, Mapping) else None
    return None


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    about = LogAbout("Every Eval Ever samples", leaves=("performance details", "tool calls"))
    version = str(first_object(source).get("schema_version", ""))
    if not version.startswith(VERSIONS):
        about.notes.append(
            f"{source.name} follows schema {version}; 0.2 and 0.3 are known, so look at what was "
            "read."
        )
    aggregate = _aggregate(source, companions)
    if not aggregate:
        about.notes.append(
            f"{source.name} has no aggregate beside it, so no reported score is known."
        )
        return about
    about.uses = (aggregate[0].name,)
    model = str((aggregate[1].get("model_info") or {}).get("id") or "")
    for result in aggregate[1].get("evaluation_results") or ():
        details = result.get("score_details") or {}
        value = log.number_of(details.get("score"))
        spread = details.get("uncertainty") or {}
        if value is None:
            continue
        unit = (result.get("metric_config") or {}).get("metric_unit")
        name = str(result.get("evaluation_name", ""))
        error = log.number_of((spread.get("standard_error") or {}).get("value"))
        scale = 0.01 if unit in ("percent", "percentage") else 1.0
        metric = str((result.get("metric_config") or {}).get("metric_id") or "")
        about.reported.append(
            ReportedScore(
                model,
                name,
                _result_name(result),
                value * scale,
                spread.get("num_samples"),
                error,
                metric,
            )
        )
    return about


def _result_name(row: Mapping) -> str:
    """Name a result: the last part of its id, or the evaluation's name."""
    result_id = str(row.get("evaluation_result_id") or "")
    last = result_id.rpartition("#")[2].rpartition("/")[2].rpartition(":")[2]
    return last or "score"


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    aggregate = _aggregate(source, companions)
    settings: Mapping = {}
    for result in (aggregate[1].get("evaluation_results") or ()) if aggregate else ():
        settings = settings or (result.get("generation_config") or {}).get("generation_args") or {}
    for number, row, problem in json_lines(source):
        yield from records_at(
            f"Line {number} of {source.name}", problem, "instance", _of_row, row, settings
        )


def _of_row(row: Any, place: str, settings: Mapping) -> Iterator[LogRecord]:
    if not isinstance(row, Mapping) or "sample_id" not in row:
        raise BadInput("has no sample_id")
    task_input = row["input"]
    if isinstance(task_input, str):
        task_input = {"raw": task_input, "reference": row.get("reference") or []}
    raw = log.as_text(task_input.get("raw"))
    prompt, system = log.prompt_from(task_input.get("formatted") or raw)
    reference = task_input.get("reference") or []
    texts, reasons = _outputs(row)
    if row.get("messages"):
        prompt, system = (
            log.prompt_of(list(_before(row["messages"])))
            if not task_input.get("formatted")
            else (prompt, system)
        )
    usage, meta = row.get("token_usage") or {}, row.get("metadata") or {}
    readout = _readout(row)
    for sample, text in enumerate(texts):
        yield LogRecord(
            place,
            str(row.get("evaluation_name") or "task"),
            str(row["sample_id"]),
            raw or prompt,
            prompt or raw,
            str(row.get("model_id") or ""),
            system,
            item_hash=str(row.get("sample_hash") or ""),
            options=tuple(log.as_text(choice) for choice in task_input.get("choices") or ()),
            targets=tuple(
                log.as_text(target)
                for target in ([reference] if isinstance(reference, str) else reference)
            ),
            sample=int(meta.get("sample") or 0) + sample
            if str(meta.get("sample", "0")).isdecimal()
            else sample,
            axis=str(meta.get("flipscope_axis") or ""),
            variant=str(meta.get("flipscope_variant_key") or ""),
            role=str(meta.get("flipscope_role") or "benchmark"),
            sampling={key: settings.get(key) for key in ("temperature", "top_p", "max_tokens")},
            text=text,
            finish_reason=str(meta.get("finish_reason") or ""),
            reasoning=reasons[sample] if sample < len(reasons) else "",
            n_tokens_in=log.count_of(usage.get("input_tokens")),
            n_tokens_out=log.count_of(usage.get("output_tokens")),
            latency_s=_seconds(row.get("performance") or {}),
            error=log.as_text(row.get("error")),
            readouts=(readout,) if sample == 0 else (),
            category=log.as_text(meta.get("category") or meta.get("subject") or ""),
            family=log.family_of(meta),
        )


def _seconds(performance: Mapping) -> float | None:
    value = log.number_of(performance.get("latency_ms"))
    return None if value is None else value / 1000


def _outputs(row: Mapping) -> tuple[list[str | None], list[str]]:
    output = row.get("output")
    if isinstance(output, Mapping):
        raw = output.get("raw")
        texts: list[str | None] = (
            [raw] if isinstance(raw, str) else [log.as_text(text) for text in raw or ()]
        )
        reasons = output.get("reasoning_trace") or []
        return texts or [None], [reasons] if isinstance(reasons, str) else [
            log.as_text(reasoning) for reasoning in reasons
        ]
    replies = [
        message
        for message in row.get("messages") or ()
        if isinstance(message, Mapping) and message.get("role") == "assistant"
    ]
    if not replies:
        return [None], []
    return [log.as_text(replies[-1].get("content"))], [
        log.as_text(replies[-1].get("reasoning_trace"))
    ]


def _before(messages: Sequence) -> Sequence:
    last = max(
        (i for i, message in enumerate(messages) if message.get("role") == "assistant"),
        default=len(messages),
    )
    return messages[:last]


def _readout(row: Mapping) -> LogReadout:
    """Read the line's metric.

    The last terminal attribution is the answer, unless it is the whole output.
    """
    evaluation = row.get("evaluation") or {}
    attributions = [
        attribution
        for attribution in row.get("answer_attribution") or ()
        if isinstance(attribution, Mapping)
    ]
    terminal = [
        attribution for attribution in attributions if attribution.get("is_terminal", True)
    ] or attributions
    answer = log.as_text(terminal[-1].get("extracted_value")) if terminal else None
    right = evaluation.get("is_correct")
    name = _result_name(row)
    if (
        name == "score"
        and terminal
        and str(terminal[-1].get("extraction_method") or "none") not in ("none", "unknown")
    ):
        name = str(terminal[-1]["extraction_method"])
    unreadable = answer is not None and answer.strip().lower() in ("", "[invalid]")
    score = log.number_of(evaluation.get("score"))
    right = right if isinstance(right, bool) else None
    return LogReadout(
        name,
        None if unreadable else answer,
        right,
        score,
        unreadable,
        "No answer found." if unreadable else "",
    )


READER = Reader(
    "every_eval_ever", "Every Eval Ever samples", _recognises, _records, _about, _belongs
)
