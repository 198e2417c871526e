"""lighteval `details_*.parquet` of all versions; `results_*.json` holds model and scores."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from flipcore.datasets.reading.json_streams import read_document
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.rows import parquet_rows
from flipcore.datasets.recorded import log_records as log
from flipcore.datasets.recorded.formats.reader import Reader, first_object, of_same_time, records_at
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    ReportedScore,
)

# Columns of details: from lighteval 0.13 on, in the versions before it, and in the oldest ones.
_COLUMNS_FROM_0_13 = {"doc", "model_response"}
_COLUMNS_BEFORE_0_13 = {"__doc__", "__model_response__"}
_OLDEST_COLUMNS = {"full_prompt", "predictions"}


@lru_cache(maxsize=64)
def parquet_columns(path: Path, size: int) -> frozenset[str]:
    """Return the columns of a Parquet file, empty for other files; `size` is for the cache."""
    import pyarrow
    import pyarrow.parquet

    try:
        return frozenset(pyarrow.parquet.read_schema(path).names)
    except (pyarrow.ArrowException, OSError, ValueError):
        return frozenset()


def _columns(source: Source) -> frozenset[str]:
    return parquet_columns(source.path, source.size) if source.magic[:4] == b"PAR1" else frozenset()


def _recognises(source: Source) -> bool:
    names = _columns(source)
    return any(
        columns <= names for columns in (_COLUMNS_FROM_0_13, _COLUMNS_BEFORE_0_13, _OLDEST_COLUMNS)
    )


def _is_results_file(source: Source) -> bool:
    row = first_object(source)
    return "config_general" in row and ("results" in row or "config_tasks" in row)


def _results(source: Source, companions: Sequence[Source]) -> tuple[Source, Mapping] | None:
    """Return the results file of the same run and its content, None if there is none."""
    results = of_same_time(source, [file for file in companions if _is_results_file(file)])
    data = read_document(results) if results else None
    return (results, data) if results and isinstance(data, Mapping) else None


def _task(source: Source) -> str:
    """Return TASK of details_TASK_TIME.parquet."""
    return source.stem.removeprefix("details_").rpartition("_")[0] or source.stem


def _model(results: tuple[Source, Mapping] | None) -> str:
    _, data = results or (None, {})
    general = data.get("config_general") or {}
    model_config = general.get("model_config") or {}
    configured = model_config.get("model_name") if isinstance(model_config, Mapping) else ""
    return str(general.get("model_name") or configured or "")


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    about = LogAbout("lighteval details", leaves=("token ids", "hashes"))
    results = _results(source, companions)
    if not results:
        about.notes.append(
            f"{source.name} has no results file with its time beside it; name the model."
        )
        return about
    file, data = results
    about.uses = (file.name,)
    task, model = _task(source), _model(results)
    for name, scores in (data.get("results") or {}).items():
        # "leaderboard|mmlu:_average|5" is a mean over tasks.
        is_average = name.replace("|", ":").split(":")[-2:-1] == ["_average"]
        if not isinstance(scores, Mapping) or is_average:
            continue
        # The file's name or the results may lack the number of shots, or name a part of the task.
        name_without_shots = name.rpartition("|")[0]
        if task != name_without_shots and not name.startswith(task) and not task.startswith(name):
            continue
        for metric, value in scores.items():
            if not metric.endswith("_stderr") and log.number_of(value) is not None:
                error = log.number_of(scores.get(f"{metric}_stderr"))
                about.reported.append(
                    ReportedScore(
                        model,
                        task,
                        readout=metric,
                        value=float(value),
                        n=None,
                        stderr=error,
                        metric=metric,
                    )
                )
    return about


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    task, model = _task(source), _model(_results(source, companions))
    make = _old_records if _OLDEST_COLUMNS <= _columns(source) else _new_records
    for number, row in enumerate(parquet_rows(source.path, source.name), start=1):
        place = f"Row {number} of {source.name}"
        yield from records_at(place, "", "lighteval detail", make, row, task, model, number)


def _parsed(value: Any) -> Any:
    """Return the value of a cell: a Python literal in a string becomes a value."""
    if isinstance(value, str):
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return value


def _new_records(
    row: Mapping, place: str, task: str, model: str, number: int
) -> Iterator[LogRecord]:
    """Make the records of a row with the columns "doc" (from lighteval 0.13 on) or "__doc__"."""
    columns = {name.strip("_"): value for name, value in row.items()}
    names = ("doc", "model_response", "metric")
    doc, response, metric = (_parsed(columns.get(name)) for name in names)
    prompt, system = log.prompt_from(response.get("input") or doc.get("query"))
    golds = _as_list(doc.get("gold_index"))
    choices = tuple(log.as_text(choice) for choice in doc.get("choices") or ())
    record = LogRecord(
        place,
        task,
        item=str(doc.get("id") or number - 1),
        question=log.as_text(doc.get("query")) or prompt,
        prompt=prompt,
        model=model,
        system=system,
    )
    record.family = log.family_of(_parsed(doc.get("specific")))
    scores = [log.number_of(logprob) for logprob in response.get("logprobs") or ()]
    texts = response.get("text") or []
    readouts = tuple(_metrics(metric or {}))
    if scores and len(scores) == len(choices) and not any(texts):
        yield _choice_record(record, choices, scores, golds, readouts)
        return
    record.targets = tuple(
        choices[int(gold_index)].strip() for gold_index in golds if int(gold_index) < len(choices)
    )
    # If all choices are right, they are accepted answers and no options.
    if len(choices) > 1 and len(golds) < len(choices):
        record.options = tuple(choice.strip() for choice in choices)
    record.sampling = {"max_tokens": doc.get("generation_size"), "stop": doc.get("stop_sequences")}
    reasons = response.get("reasonings") or []
    for sample, text in enumerate(texts or [None]):
        sample_record = replace(record, sample=sample)
        sample_record.text = None if text is None else log.as_text(text)
        sample_record.reasoning = log.as_text(reasons[sample]) if sample < len(reasons) else ""
        # A row has one value per metric, for all its samples together.
        sample_record.readouts = readouts if sample == 0 else ()
        yield sample_record


def _metrics(metrics: Mapping) -> Iterator[LogReadout]:
    for name, value in metrics.items():
        score = log.number_of(value)
        if score is not None:
            yield LogReadout(str(name), None, log.right_of(score), score)


def _as_list(value: Any) -> Sequence[Any]:
    """Return a list as it is, [] for None, and any other value as a list of one."""
    return value if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _choice_record(
    record: LogRecord,
    choices: tuple[str, ...],
    scores: Sequence[float | None],
    golds: Sequence[Any],
    readouts: Sequence[LogReadout],
) -> LogRecord:
    """Turn a record into multiple choice, with a log-likelihood per option. The answer by "acc" is
    the option with the highest one."""
    record.kind, record.continuations = "choice", choices
    record.options = tuple(choice.strip() for choice in choices)
    record.targets, record.target_is_place = tuple(str(int(index)) for index in golds), True
    option_scores = tuple(score for score in scores if score is not None)
    record.option_scores = option_scores if len(option_scores) == len(scores) else None
    record.readouts = tuple(readouts)
    for readout in readouts:
        if readout.name in ("acc", "loglikelihood_acc") and record.option_scores:
            readout.place = max(range(len(option_scores)), key=option_scores.__getitem__)
            readout.answer = str(readout.place)
    return record


def _old_records(
    row: Mapping, place: str, task: str, model: str, number: int
) -> Iterator[LogRecord]:
    """Make the record of a row with the columns of lighteval before "__doc__"."""
    choices = tuple(log.as_text(choice) for choice in _parsed(row.get("choices")) or ())
    golds = _as_list(_parsed(row.get("gold_index")))
    predictions = _parsed(row.get("predictions")) or []
    metrics = _parsed(row.get("metrics"))
    if not isinstance(metrics, Mapping):
        metrics = {name: row[name] for name in row if name in ("acc", "acc_norm", "em", "mc2")}
    prompt = log.as_text(row.get("full_prompt"))
    record = LogRecord(
        place,
        task,
        item=log.as_text(row.get("example_id")) or str(number - 1),
        question="",
        prompt=prompt,
        model=model,
    )
    record.question = log.as_text(row.get("example")) or prompt
    readouts = tuple(_metrics(metrics))
    scores = [log.number_of(_first(prediction)) for prediction in predictions]
    if choices and len(scores) == len(choices) and all(score is not None for score in scores):
        yield _choice_record(record, choices, scores, golds, readouts)
        return
    golds = _as_list(_parsed(row.get("gold")) or None)
    record.targets = tuple(map(log.as_text, golds))
    record.text = log.as_text(_first(predictions))
    record.readouts = readouts
    yield record


def _first(value: Any) -> Any:
    """Return the first element of a list, and any other value as it is."""
    return value[0] if isinstance(value, (list, tuple)) and value else value


READER = Reader(
    "lighteval",
    "lighteval details",
    recognises=_recognises,
    records=_records,
    about=_about,
    belongs=_is_results_file,
)
