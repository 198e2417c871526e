"""Flipscope's own JSONL of planned prompts, with the answers that any program put into it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_lines
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.formats.reader import Reader, first_object, records_at
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogRecord,
    Rejection,
    mark_of,
    number_of,
    prompt_of,
    whole_number,
)


def _recognises(source: Source) -> bool:
    row = first_object(source)
    return "messages" in row and "response" in row and mark_of(row.get("metadata")) is not None


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    return LogAbout("answers to planned prompts", uses=("response", "finish_reason", "error"))


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    for number, row, problem in json_lines(source):
        place = f"Line {number} of {source.name}"
        yield from records_at(place, problem, "answer", _row_records, row)


def _row_records(row: Any, place: str) -> Iterator[LogRecord]:
    mark = mark_of(row.get("metadata")) if isinstance(row, Mapping) else None
    if mark is None or not isinstance(row.get("messages"), list):
        raise BadInput("has lost its metadata or its messages; keep them as they were written")
    response, error = row.get("response"), str(row.get("error") or "")
    if not isinstance(response, str) and not error:
        raise BadInput("has no answer in `response`")
    prompt, system = prompt_of(row["messages"])
    yield LogRecord(
        place,
        "planned prompts",
        item=mark.variant_id,
        question=prompt,
        prompt=prompt,
        model=mark.model,
        system=system,
        sample=mark.sample,
        sampling={
            key: row.get(key) for key in ("temperature", "top_p", "max_tokens", "seed", "stop")
        },
        text=response if isinstance(response, str) else None,
        finish_reason=str(row.get("finish_reason") or ""),
        error=error,
        n_tokens_in=whole_number(row.get("n_tokens_in")),
        n_tokens_out=whole_number(row.get("n_tokens_out")),
        latency_s=number_of(row.get("latency_s")),
        mark=mark,
    )


READER = Reader(
    "planned", "Answers to prompts that Flipscope planned", _recognises, _records, _about
)
