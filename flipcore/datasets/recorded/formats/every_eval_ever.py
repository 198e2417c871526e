"""Every Eval Ever 0.2.2 and 0.3.0: `*_samples.jsonl`, a line per item and metric; an aggregate."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_lines, read_document
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
    is_aggregate = "evaluation_results" in row or "model_info" in row
    return {"schema_version", "evaluation_id"} <= set(row) and is_aggregate


def _aggregate(source: Source, companions: Sequence[Source]) -> tuple[Source, Mapping] | None:
    """Return the file with the aggregate of these samples, and its content."""
    evaluation_id = first_object(source).get("evaluation_id")
    for file in companions:
        if _belongs(file) and first_object(file).get("evaluation_id") == evaluation_id:
            data = read_document(file)
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
    file, data = aggregate
    about.uses = (file.name,)
    model = str((data.get("model_info") or {}).get("id") or "")
    for result in data.get("evaluation_results") or ():
        details = result.get("score_details") or {}
        value = log.number_of(details.get("score"))
        if value is None:
            continue
        spread, metric = details.get("uncertainty") or {}, result.get("metric_config") or {}
        is_percent = metric.get("metric_unit") in ("percent", "percentage")
        about.reported.append(
            ReportedScore(
                model,
                str(result.get("evaluation_name", "")),
                _result_name(result),
                value * (0.01 if is_percent else 1.0),
                n=spread.get("num_samples"),
                stderr=log.number_of((spread.get("standard_error") or {}).get("value")),
                metric=str(metric.get("metric_id") or ""),
            )
        )
    return about


def _result_name(row: Mapping) -> str:
    """Return the name of a result, the last part of its id; "score" for none."""
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
            f"Line {number} of {source.name}", problem, "instance", _row_records, row, settings
        )


def _row_records(row: Any, place: str, settings: Mapping) -> Iterator[LogRecord]:
    if not isinstance(row, Mapping) or "sample_id" not in row:
        raise BadInput("has no sample_id")
    task_input = row["input"]
    if isinstance(task_input, str):
        task_input = {"raw": task_input, "reference": row.get("reference") or []}
    raw = log.as_text(task_input.get("raw"))
    prompt, system = log.prompt_from(task_input.get("formatted") or raw)
    reference = task_input.get("reference") or []
    texts, reasons = _outputs(row)
    if row.get("messages") and not task_input.get("formatted"):
        roles = [message.get("role") for message in row["messages"]]
        n_after = roles[::-1].index("assistant") + 1 if "assistant" in roles else 0
        prompt, system = log.prompt_of(row["messages"][: len(roles) - n_after])
    usage, meta = row.get("token_usage") or {}, row.get("metadata") or {}
    first_sample = str(meta.get("sample") or 0)
    latency_ms = log.number_of((row.get("performance") or {}).get("latency_ms"))
    readout = _readout(row)
    for sample, text in enumerate(texts):
        yield LogRecord(
            place,
            str(row.get("evaluation_name") or "task"),
            item=str(row["sample_id"]),
            question=raw or prompt,
            prompt=prompt or raw,
            model=str(row.get("model_id") or ""),
            system=system,
            item_hash=str(row.get("sample_hash") or ""),
            options=tuple(log.as_text(choice) for choice in task_input.get("choices") or ()),
            targets=tuple(
                log.as_text(target)
                for target in ([reference] if isinstance(reference, str) else reference)
            ),
            sample=sample + (int(first_sample) if first_sample.isdecimal() else 0),
            axis=str(meta.get("flipscope_axis") or ""),
            variant=str(meta.get("flipscope_variant_key") or ""),
            role=str(meta.get("flipscope_role") or "benchmark"),
            sampling={key: settings.get(key) for key in ("temperature", "top_p", "max_tokens")},
            text=text,
            finish_reason=str(meta.get("finish_reason") or ""),
            reasoning=reasons[sample] if sample < len(reasons) else "",
            n_tokens_in=log.whole_number(usage.get("input_tokens")),
            n_tokens_out=log.whole_number(usage.get("output_tokens")),
            latency_s=None if latency_ms is None else latency_ms / 1000,
            error=log.as_text(row.get("error")),
            readouts=(readout,) if sample == 0 else (),
            category=log.as_text(meta.get("category") or meta.get("subject") or ""),
            family=log.family_of(meta),
        )


def _outputs(row: Mapping) -> tuple[list[str | None], list[str]]:
    """Return the outputs of a line, one per sample and [None] for none, and their reasoning."""
    output = row.get("output")
    if isinstance(output, Mapping):
        raw, reasons = output.get("raw"), output.get("reasoning_trace") or ()
        texts = [raw] if isinstance(raw, str) else list(map(log.as_text, raw or ()))
        reasons = [reasons] if isinstance(reasons, str) else list(map(log.as_text, reasons))
        return [*texts] or [None], reasons
    replies = [
        message
        for message in row.get("messages") or ()
        if isinstance(message, Mapping) and message.get("role") == "assistant"
    ]
    if not replies:
        return [None], []
    last = replies[-1]
    return [log.as_text(last.get("content"))], [log.as_text(last.get("reasoning_trace"))]


def _readout(row: Mapping) -> LogReadout:
    """Return the readout of a line's metric, with the answer of the last terminal attribution."""
    evaluation = row.get("evaluation") or {}
    attributions = [
        attribution
        for attribution in row.get("answer_attribution") or ()
        if isinstance(attribution, Mapping)
    ]
    terminal = [entry for entry in attributions if entry.get("is_terminal", True)] or attributions
    answer = log.as_text(terminal[-1].get("extracted_value")) if terminal else None
    right = evaluation.get("is_correct")
    name = _result_name(row)
    if name == "score" and terminal:
        method = str(terminal[-1].get("extraction_method") or "none")
        name = name if method in ("none", "unknown") else method
    unreadable = answer is not None and answer.strip().lower() in ("", "[invalid]")
    score = log.number_of(evaluation.get("score"))
    right = right if isinstance(right, bool) else None
    return LogReadout(
        name,
        None if unreadable else answer,
        is_correct=right,
        score=score,
        unreadable=unreadable,
        reason="No answer found." if unreadable else "",
    )


READER = Reader(
    "every_eval_ever",
    "Every Eval Ever samples",
    recognises=_recognises,
    records=_records,
    about=_about,
    belongs=_belongs,
)
