"""promptfoo `results.json`, one result per line, or its CSV export.

Prompts are an axis, each assertion is a readout of its own. The CSV has a column per provider and
prompt, "[openai:gpt-4o] Answer: {{question}}", whose cells begin with the verdict, "[PASS] (1.00)".
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document, json_lines
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.packed import suffix_of
from flipcore.datasets.reading.rows import read_rows
from flipcore.datasets.recorded import log_records as log
from flipcore.datasets.recorded.formats.reader import Reader, first_object, records_at
from flipcore.datasets.recorded.log_records import LogAbout, LogReadout, LogRecord, Rejection

_GOLD = ("equals", "contains", "icontains")
_ERROR = 2  # promptfoo's failureReason for a failed call
_COLUMN = re.compile(r"\[([^\]]+)\] ?(.*)", re.DOTALL)
_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\] ?(?:\((-?\d+(?:\.\d+)?)[^)\n]*\))?(.*)", re.DOTALL)
# what graders say of an output stands below it, or above it in older files
_REASON = re.compile(r"\n+(?:Pass|Fail) Reason: .*\Z", re.DOTALL)
_OLDER = "\n---\n"


def _recognises(source: Source) -> bool:
    if suffix_of(source.name) == ".csv":
        return _is_export(source)
    row = first_object(source)
    inner = row.get("results")
    is_whole_document = "evalId" in row and isinstance(inner, Mapping)
    return is_whole_document or (
        {"promptIdx", "testIdx"} <= set(row) and ("provider" in row or "gradingResult" in row)
    )


def _is_export(source: Source) -> bool:
    """Return whether a CSV has a column per provider and prompt, and verdicts in its first row."""
    lines = source.head.decode("utf-8-sig", "ignore").splitlines(keepends=True)
    try:
        rows = csv.reader(lines)
        header, first = next(rows), next(rows)
    except (csv.Error, StopIteration):
        return False
    cells = [cell for name, cell in zip(header, first, strict=False) if _COLUMN.fullmatch(name)]
    return bool(cells) and all(_CELL.fullmatch(cell) for cell in cells if cell)


def _exported(source: Source) -> Iterator[LogRecord | Rejection]:
    """Yield the records of a CSV export.

    A row is a test, a column of a provider and prompt an output.
    """
    prompts: dict[str, int] = {}  # of the header -> its place
    for number, row in enumerate(read_rows(source.path)):
        place = f"{row.place} of {source.name}"
        yield from records_at(
            place,
            row.problem,
            "result",
            _of_exported,
            row.values,
            str(number),
            source.stem,
            prompts,
        )


def _of_exported(
    values: Mapping[str, Any], place: str, test: str, task: str, prompts: dict[str, int]
) -> Iterator[LogRecord]:
    columns = {
        name: match
        for name in values
        if (match := _COLUMN.fullmatch(name)) and _CELL.fullmatch(str(values[name]))
    }
    test_vars = {name: str(cell) for name, cell in values.items() if not _COLUMN.fullmatch(name)}
    question = "\n".join(f"{name}: {cell}" for name, cell in test_vars.items() if cell)
    if not columns:
        raise BadInput("holds no output of a provider")
    for name, header in columns.items():
        provider, template = header.groups()
        place_of_prompt = prompts.setdefault(template, len(prompts))
        prompt = template
        for variable, cell in test_vars.items():
            prompt = re.sub(
                r"\{\{\s*" + re.escape(variable) + r"\s*\}\}", lambda _, cell=cell: cell, prompt
            )
        verdict, score, text = _cell_of(str(values[name]))
        has_failed = verdict == "ERROR"
        record = LogRecord(
            place,
            task,
            test,
            question or prompt,
            prompt,
            provider,
            kind="text",
            axis="prompt" if place_of_prompt else "",
            variant=f"prompt-{place_of_prompt}" if place_of_prompt else "",
            text=None if has_failed else text,
            error=(text or "The call failed.") if has_failed else "",
        )
        record.readouts = (
            () if has_failed else (LogReadout("success", None, verdict == "PASS", score),)
        )
        yield record


def _cell_of(cell: str) -> tuple[str, float | None, str]:
    """Part a cell into verdict, score and output."""
    match = _CELL.fullmatch(cell)
    assert match is not None
    verdict, score, text_and_reason = match.groups()
    text = _REASON.sub("", text_and_reason).strip()
    return (
        verdict,
        None if score is None else float(score),
        text.partition(_OLDER)[2].strip() or text,
    )


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    return LogAbout("promptfoo results", leaves=("named scores", "explanations"))


def _rows(source: Source) -> Iterator[tuple[int, Any, str]]:
    if "promptIdx" in first_object(source):
        yield from json_lines(source)
        return
    for key, value in json_document(source, ()):
        if key == "results" and isinstance(value, Mapping):
            yield from (
                (number, row, "") for number, row in enumerate(value.get("results") or (), 1)
            )


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    if suffix_of(source.name) == ".csv":
        yield from _exported(source)
        return
    for number, row, problem in _rows(source):
        yield from records_at(
            f"Result {number} of {source.name}", problem, "result", _of_row, row, source.stem
        )


def _of_row(row: Any, place: str, task: str) -> Iterator[LogRecord]:
    test, provider, response = (
        row.get("testCase") or {},
        row.get("provider") or {},
        row.get("response") or {},
    )
    prompt_row, test_vars = row.get("prompt") or {}, test.get("vars") or row.get("vars") or {}
    prompt, system = log.prompt_from(
        prompt_row.get("raw") if isinstance(prompt_row, Mapping) else prompt_row
    )
    usage, failed = response.get("tokenUsage") or {}, row.get("failureReason") == _ERROR
    output, place_of_prompt = response.get("output"), int(row.get("promptIdx") or 0)
    failed = failed or (not response and bool(row.get("error")))
    grading = row.get("gradingResult") or {}
    parts = [
        assertion_result
        for assertion_result in grading.get("componentResults") or ()
        if isinstance(assertion_result, Mapping)
    ]
    golds = [
        assertion_result["assertion"].get("value")
        for assertion_result in parts
        if (assertion_result.get("assertion") or {}).get("type") in _GOLD
    ]
    record = LogRecord(
        place,
        task,
        str(row.get("testIdx")),
        "\n".join(f"{name}: {log.as_text(value)}" for name, value in test_vars.items())
        or log.as_text(test.get("description"))
        or prompt,
        prompt,
        str(
            (provider.get("label") or provider.get("id"))
            if isinstance(provider, Mapping)
            else provider
        ),
        system,
        kind="text",
        family=log.family_of(test.get("metadata")),
        targets=tuple(log.as_text(gold) for gold in golds if isinstance(gold, (str, int, float))),
        axis="prompt" if place_of_prompt else "",
        variant=f"prompt-{place_of_prompt}" if place_of_prompt else "",
        text=None if output is None else log.as_text(output),
        n_tokens_in=log.count_of(usage.get("prompt")),
        n_tokens_out=log.count_of(usage.get("completion")),
        cost_usd=log.number_of(response.get("cost")),
        latency_s=None
        if log.number_of(row.get("latencyMs")) is None
        else float(row["latencyMs"]) / 1000,
        error=log.as_text(row.get("error") or "The call failed.") if failed else "",
        finish_reason=str(response.get("finishReason") or ""),
    )
    if not prompt:
        raise BadInput("has no prompt")
    record.readouts = () if failed else tuple(_readouts(row, parts))
    yield record


def _readouts(row: Mapping, parts: list[Mapping]) -> Iterator[LogReadout]:
    if isinstance(row.get("success"), bool):
        yield LogReadout("success", None, row["success"], log.number_of(row.get("score")))
    counts: dict[str, int] = {}
    for assertion_result in parts if len(parts) > 1 else ():
        kind = str(
            (assertion_result.get("assertion") or {}).get("metric")
            or (assertion_result.get("assertion") or {}).get("type")
            or "assertion"
        )
        counts[kind] = counts.get(kind, 0) + 1
        name = kind if counts[kind] == 1 else f"{kind} {counts[kind]}"
        yield LogReadout(
            name,
            None,
            assertion_result.get("pass")
            if isinstance(assertion_result.get("pass"), bool)
            else None,
            log.number_of(assertion_result.get("score")),
        )


READER = Reader("promptfoo", "promptfoo results", _recognises, _records, _about)
