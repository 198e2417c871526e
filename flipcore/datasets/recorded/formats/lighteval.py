"""lighteval `details_*.parquet`, all three generations of columns.

Model and scores stand in `results_*.json`.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from flipcore.datasets.reading.json_streams import whole
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

_NEWEST, _NEW, _OLD = (
    {"doc", "model_response"},
    {"__doc__", "__model_response__"},
    {"full_prompt", "predictions"},
)


@lru_cache(maxsize=64)
def parquet_columns(path: Path, size: int) -> frozenset[str]:
    """Return the names of a Parquet file's columns; empty for any other file."""
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
    return _NEWEST <= names or _NEW <= names or _OLD <= names


def _belongs(source: Source) -> bool:
    row = first_object(source)
    return "config_general" in row and ("results" in row or "config_tasks" in row)


def _results(source: Source, companions: Sequence[Source]) -> tuple[Source, Mapping] | None:
    results = of_same_time(source, [file for file in companions if _belongs(file)])
    data = whole(results) if results else None
    return (results, data) if results and isinstance(data, Mapping) else None


def _task(source: Source) -> str:
    return source.stem.removeprefix("details_").rpartition("_")[0] or source.stem


def _model(results: tuple[Source, Mapping] | None) -> str:
    general = results[1].get("config_general") or {} if results else {}
    model_config = general.get("model_config") or {}
    return str(
        general.get("model_name")
        or (model_config.get("model_name") if isinstance(model_config, Mapping) else "")
        or ""
    )


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    about = LogAbout("lighteval details", leaves=("token ids", "hashes"))
    results = _results(source, companions)
    if not results:
        about.notes.append(
            f"{source.name} has no results file with its time beside it; name the model."
        )
        return about
    about.uses = (results[0].name,)
    task = _task(source)
    for name, scores in (results[1].get("results") or {}).items():
        if not isinstance(scores, Mapping) or name.replace("|", ":").split(":")[-2:-1] == [
            "_average"
        ]:
            continue
        if (
            task in (name, name.rpartition("|")[0])
            or name.startswith(task)
            or task.startswith(name)
        ):
            for metric, value in scores.items():
                if not metric.endswith("_stderr") and log.number_of(value) is not None:
                    error = log.number_of(scores.get(f"{metric}_stderr"))
                    about.reported.append(
                        ReportedScore(
                            _model(results), task, metric, float(value), None, error, metric
                        )
                    )
    return about


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    task, model = _task(source), _model(_results(source, companions))
    of_row = _old if _OLD <= _columns(source) else _new
    for number, row in enumerate(parquet_rows(source.path, source.name), start=1):
        yield from records_at(
            f"Row {number} of {source.name}",
            "",
            "lighteval detail",
            of_row,
            row,
            task,
            model,
            number,
        )


def _plain(value: Any) -> Any:
    """Read a column as it is meant: structs stay, literals in strings become values."""
    if isinstance(value, str):
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return value


def _new(row: Mapping, place: str, task: str, model: str, number: int) -> Iterator[LogRecord]:
    # "__doc__" until lighteval 0.12, "doc" from 0.13 on.
    columns = {name.strip("_"): value for name, value in row.items()}
    doc, response, metric = (
        _plain(columns.get(name)) for name in ("doc", "model_response", "metric")
    )
    prompt, system = log.prompt_from(response.get("input") or doc.get("query"))
    gold = doc.get("gold_index")
    golds = gold if isinstance(gold, (list, tuple)) else [] if gold is None else [gold]
    choices = tuple(log.as_text(choice) for choice in doc.get("choices") or ())
    record = LogRecord(
        place,
        task,
        str(doc.get("id") or number - 1),
        log.as_text(doc.get("query")) or prompt,
        prompt,
        model,
        system,
    )
    record.family = log.family_of(_plain(doc.get("specific")))
    scored = [log.number_of(logprob) for logprob in response.get("logprobs") or ()]
    texts = response.get("text") or []
    readouts = tuple(_metrics(metric or {}))
    if scored and len(scored) == len(choices) and not any(texts):
        record.kind, record.options, record.continuations = (
            "choice",
            tuple(choice.strip() for choice in choices),
            choices,
        )
        record.targets, record.target_is_place = (
            tuple(str(int(gold_index)) for gold_index in golds),
            True,
        )
        option_scores = tuple(float(score) for score in scored if score is not None)
        record.option_scores = option_scores if len(option_scores) == len(scored) else None
        record.readouts = tuple(_placed(readout, record) for readout in readouts)
        yield record
        return
    record.targets = tuple(
        choices[int(gold_index)].strip() for gold_index in golds if int(gold_index) < len(choices)
    )
    record.options = (
        tuple(choice.strip() for choice in choices)
        if len(choices) > 1 and len(golds) < len(choices)
        else ()
    )
    record.sampling = {"max_tokens": doc.get("generation_size"), "stop": doc.get("stop_sequences")}
    reasons = response.get("reasonings") or []
    for sample, text in enumerate(texts or [None]):
        sample_record = replace(record)
        sample_record.sample, sample_record.text = (
            sample,
            None if text is None else log.as_text(text),
        )
        sample_record.reasoning = log.as_text(reasons[sample]) if sample < len(reasons) else ""
        sample_record.readouts = readouts if sample == 0 else ()
        yield sample_record


def _metrics(metrics: Mapping) -> Iterator[LogReadout]:
    for name, value in metrics.items():
        score = log.number_of(value)
        if score is not None:
            yield LogReadout(str(name), None, log.right_of(score), score)


def _placed(readout: LogReadout, record: LogRecord) -> LogReadout:
    """Say which option was chosen where a right answer was found by log-likelihood.

    The metric must be the plain argmax.
    """
    if readout.name in ("acc", "loglikelihood_acc") and record.option_scores:
        readout.place = max(range(len(record.option_scores)), key=record.option_scores.__getitem__)
        readout.answer = str(readout.place)
    return readout


def _old(row: Mapping, place: str, task: str, model: str, number: int) -> Iterator[LogRecord]:
    choices = tuple(log.as_text(choice) for choice in _plain(row.get("choices")) or ())
    gold, predictions = _plain(row.get("gold_index")), _plain(row.get("predictions")) or []
    golds = gold if isinstance(gold, (list, tuple)) else [] if gold is None else [gold]
    metrics = _plain(row.get("metrics"))
    metric_values = (
        metrics
        if isinstance(metrics, Mapping)
        else {k: v for k, v in row.items() if k in ("acc", "acc_norm", "em", "mc2")}
    )
    prompt = log.as_text(row.get("full_prompt"))
    record = LogRecord(
        place, task, log.as_text(row.get("example_id")) or str(number - 1), "", prompt, model
    )
    record.question = log.as_text(row.get("example")) or prompt
    readouts = tuple(_metrics(metric_values))
    scores = [
        log.number_of(
            prediction[0] if isinstance(prediction, (list, tuple)) and prediction else prediction
        )
        for prediction in predictions
    ]
    if choices and len(scores) == len(choices) and all(score is not None for score in scores):
        record.kind, record.options, record.continuations = (
            "choice",
            tuple(choice.strip() for choice in choices),
            choices,
        )
        record.option_scores = tuple(float(score) for score in scores if score is not None)
        record.targets, record.target_is_place = (
            tuple(str(int(gold_index)) for gold_index in golds),
            True,
        )
        record.readouts = tuple(_placed(readout, record) for readout in readouts)
        yield record
        return
    gold_text = _plain(row.get("gold"))
    record.targets = tuple(
        log.as_text(target)
        for target in (
            gold_text if isinstance(gold_text, (list, tuple)) else [gold_text] if gold_text else []
        )
    )
    record.text = log.as_text(
        predictions[0] if isinstance(predictions, (list, tuple)) and predictions else predictions
    )
    record.readouts = readouts
    yield record


READER = Reader("lighteval", "lighteval details", _recognises, _records, _about, _belongs)
