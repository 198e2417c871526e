"""promptfoo `results.json`, one result per line, or its CSV export.

Prompts are an axis, and each assertion is a readout. The CSV has a column per provider and prompt,
"[openai:gpt-4o] Answer: {{question}}", whose cells begin with the verdict, "[PASS] (1.00)".
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

# assertions whose value is a right answer
_EXACT = ("equals", "contains", "icontains")
_CALL_FAILED = 2  # promptfoo's failureReason for a failed call
_COLUMN = re.compile(r"\[([^\]]+)\] ?(.*)", re.DOTALL)
_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\] ?(?:\((-?\d+(?:\.\d+)?)[^)\n]*\))?(.*)", re.DOTALL)
# the reason of a grader stands below the output, or above it in older files
_REASON = re.compile(r"\n+(?:Pass|Fail) Reason: .*\Z", re.DOTALL)
_OLD_SEPARATOR = "\n---\n"


def _recognises(source: Source) -> bool:
    if suffix_of(source.name) == ".csv":
        return _is_export(source)
    row = first_object(source)
    is_document = "evalId" in row and isinstance(row.get("results"), Mapping)
    has_result = "provider" in row or "gradingResult" in row
    return is_document or ({"promptIdx", "testIdx"} <= row.keys() and has_result)


def _is_export(source: Source) -> bool:
    """Tell whether a CSV has a column per provider and prompt, and verdicts in its first row."""
    lines = source.head.decode("utf-8-sig", "ignore").splitlines(keepends=True)
    try:
        rows = csv.reader(lines)
        header, first = next(rows), next(rows)
    except (csv.Error, StopIteration):
        return False
    cells = [cell for name, cell in zip(header, first, strict=False) if _COLUMN.fullmatch(name)]
    return bool(cells) and all(_CELL.fullmatch(cell) for cell in cells if cell)


def _records_of_export(source: Source) -> Iterator[LogRecord | Rejection]:
    """Yield the records of a CSV export: a row per test, a column per provider and prompt."""
    prompts: dict[str, int] = {}  # index of each prompt in the header
    for number, row in enumerate(read_rows(source.path)):
        place, context = f"{row.place} of {source.name}", (str(number), source.stem, prompts)
        yield from records_at(place, row.problem, "result", _export_records, row.values, *context)


def _export_records(
    values: Mapping[str, Any], place: str, test: str, task: str, prompts: dict[str, int]
) -> Iterator[LogRecord]:
    headers = {name: _COLUMN.fullmatch(name) for name in values}
    cells = {name: _CELL.fullmatch(str(cell)) for name, cell in values.items()}
    test_vars = {name: str(cell) for name, cell in values.items() if not headers[name]}
    question = "\n".join(f"{name}: {cell}" for name, cell in test_vars.items() if cell)
    if not any(headers[name] and cells[name] for name in values):
        raise BadInput("holds no output of a provider")
    for header, cell_parts in zip(headers.values(), cells.values(), strict=True):
        if not header or not cell_parts:
            continue
        provider, template = header.groups()
        prompt_index = prompts.setdefault(template, len(prompts))
        prompt = template
        for variable, cell in test_vars.items():
            prompt = re.sub(
                r"\{\{\s*" + re.escape(variable) + r"\s*\}\}", lambda _, cell=cell: cell, prompt
            )
        verdict, score, text_and_reason = cell_parts.groups()
        text = _REASON.sub("", text_and_reason).strip()
        text = text.partition(_OLD_SEPARATOR)[2].strip() or text
        has_failed = verdict == "ERROR"
        record = LogRecord(
            place,
            task,
            item=test,
            question=question or prompt,
            prompt=prompt,
            model=provider,
            kind="text",
            axis="prompt" if prompt_index else "",
            variant=f"prompt-{prompt_index}" if prompt_index else "",
            text=None if has_failed else text,
            error=(text or "The call failed.") if has_failed else "",
        )
        if not has_failed:
            number = None if score is None else float(score)
            record.readouts = (LogReadout("success", None, verdict == "PASS", number),)
        yield record


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    return LogAbout("promptfoo results", leaves=("named scores", "explanations"))


def _rows(source: Source) -> Iterator[tuple[int, Any, str]]:
    """Yield (number from 1, row, problem) of each result."""
    if "promptIdx" in first_object(source):
        yield from json_lines(source)
        return
    for key, value in json_document(source, ()):
        if key == "results" and isinstance(value, Mapping):
            for number, row in enumerate(value.get("results") or (), 1):
                yield number, row, ""


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    if suffix_of(source.name) == ".csv":
        yield from _records_of_export(source)
        return
    prompts = _prompts(source)
    for number, row, problem in _rows(source):
        place, context = f"Result {number} of {source.name}", (source.stem, prompts)
        yield from records_at(place, problem, "result", _row_records, row, *context)


def _prompts(source: Source) -> dict[str, int]:
    """Return {id of a prompt: its number}, in the order of `promptIdx`.

    That index counts pairs of a prompt and a provider: five providers of one prompt have 0 to 4.
    """
    first: dict[str, int] = {}
    for _, row, problem in _rows(source):
        if problem or not isinstance(row, Mapping) or not row.get("promptId"):
            continue
        prompt_id, index = str(row["promptId"]), log.whole_number(row.get("promptIdx")) or 0
        first[prompt_id] = min(first.get(prompt_id, index), index)
    return {
        prompt_id: number for number, prompt_id in enumerate(sorted(first, key=first.__getitem__))
    }


def _row_records(
    row: Any, place: str, task: str, prompts: Mapping[str, int]
) -> Iterator[LogRecord]:
    test, response = row.get("testCase") or {}, row.get("response") or {}
    provider, prompt_row = row.get("provider") or {}, row.get("prompt") or {}
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    prompt, system = log.prompt_from(
        prompt_row.get("raw") if isinstance(prompt_row, Mapping) else prompt_row
    )
    if not prompt:
        raise BadInput("has no prompt")
    test_vars = test.get("vars") or row.get("vars") or {}
    variables = "\n".join(f"{name}: {log.as_text(value)}" for name, value in test_vars.items())
    usage, latency_ms = response.get("tokenUsage") or {}, log.number_of(row.get("latencyMs"))
    output, prompt_index = response.get("output"), int(row.get("promptIdx") or 0)
    prompt_index = prompts.get(str(row.get("promptId")), prompt_index)
    failed = row.get("failureReason") == _CALL_FAILED or (not response and bool(row.get("error")))
    parts = (row.get("gradingResult") or {}).get("componentResults") or ()
    assertion_results = [part for part in parts if isinstance(part, Mapping)]
    assertions = [result.get("assertion") or {} for result in assertion_results]
    golds = [assertion.get("value") for assertion in assertions if assertion.get("type") in _EXACT]
    record = LogRecord(
        place,
        task,
        item=str(row.get("testIdx")),
        question=variables or log.as_text(test.get("description")) or prompt,
        prompt=prompt,
        model=str(provider),
        system=system,
        kind="text",
        family=log.family_of(test.get("metadata")),
        targets=tuple(log.as_text(gold) for gold in golds if isinstance(gold, (str, int, float))),
        axis="prompt" if prompt_index else "",
        variant=f"prompt-{prompt_index}" if prompt_index else "",
        text=None if output is None else log.as_text(output),
        n_tokens_in=log.whole_number(usage.get("prompt")),
        n_tokens_out=log.whole_number(usage.get("completion")),
        cost_usd=log.number_of(response.get("cost")),
        latency_s=None if latency_ms is None else latency_ms / 1000,
        error=log.as_text(row.get("error") or "The call failed.") if failed else "",
        finish_reason=str(response.get("finishReason") or ""),
    )
    record.readouts = () if failed else tuple(_readouts(row, assertion_results))
    yield record


def _readouts(row: Mapping, assertion_results: list[Mapping]) -> Iterator[LogReadout]:
    """Yield the readout of the whole test, and one per assertion if there are several."""
    if isinstance(row.get("success"), bool):
        yield LogReadout("success", None, row["success"], log.number_of(row.get("score")))
    counts: dict[str, int] = {}
    for result in assertion_results if len(assertion_results) > 1 else ():
        assertion, passed = result.get("assertion") or {}, result.get("pass")
        kind = str(assertion.get("metric") or assertion.get("type") or "assertion")
        counts[kind] = counts.get(kind, 0) + 1
        name = kind if counts[kind] == 1 else f"{kind} {counts[kind]}"
        is_correct = passed if isinstance(passed, bool) else None
        yield LogReadout(name, None, is_correct, log.number_of(result.get("score")))


READER = Reader("promptfoo", "promptfoo results", _recognises, _records, _about)
