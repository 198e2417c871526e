"""HELM: `scenario_state.json`, with `per_instance_stats.json` and `run_spec.json` in its folder.

A perturbation is an axis, and so is another draw of the examples (`train_trial_index`).
Log-probabilities that are all 0 are placeholders and left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.formats.reader import FAULTS, Reader, first_object, rejection
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    as_text,
    number_of,
    right_of,
    usable_tokens,
)

_SCORES = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "f1_score",
)


def _recognises(source: Source) -> bool:
    row = first_object(source)
    is_spec = "name" in row or "scenario_spec" in row
    return "request_states" in row or ("adapter_spec" in row and not is_spec)


def _belongs(source: Source) -> bool:
    keys = first_object(source).keys()
    return {"instance_id", "stats"} <= keys or {"scenario_spec", "adapter_spec"} <= keys


def _stats_and_spec(
    source: Source, companions: Sequence[Source]
) -> tuple[Source | None, Source | None]:
    """Find the per-instance statistics and the run specification in the same folder."""
    files = [file for file in companions if file.folder == source.folder and _belongs(file)]
    stats = [file for file in files if "stats" in first_object(file)]
    return next(iter(stats), None), next((file for file in files if file not in stats), None)


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    stats, spec = _stats_and_spec(source, companions)
    about = LogAbout("HELM scenario state", uses=tuple(file.name for file in (stats, spec) if file))
    if stats is None:
        about.notes.append(
            f"{source.name} holds no scores of its own; without per_instance_stats.json beside it "
            "the answers are read here."
        )
    about.leaves = ("log-probabilities that are 0 (placeholders)", "token counts (HELM logs none)")
    return about


def _task(source: Source, spec: Source | None) -> str:
    name = str(first_object(spec).get("name") or "") if spec else ""
    return (
        name.split(",model=")[0].split(":model=")[0]
        or source.stem.replace("scenario_state", "")
        or "helm"
    )


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    stats, spec = _stats_and_spec(source, companions)
    task, scores = _task(source, spec), _scores(stats) if stats else {}
    method, number = "", 0
    waiting: list = []  # (place, request) so far of an item with a request per option
    for key, value in json_document(source, ("request_states",)):
        if key == "adapter_spec" and isinstance(value, Mapping):
            method = str(value.get("method") or "")
        if key != "request_states":
            continue
        number += 1
        place = f"Request {number} of {source.name}"
        try:
            is_separate = method.startswith("multiple_choice_separate")
            if value.get("reference_index") is not None or is_separate:
                if waiting and _state_key(waiting[0][1]) != _state_key(value):
                    yield _record_of_options(waiting, task, scores)
                    waiting = []
                waiting.append((place, value))
            else:
                yield from _request_records(value, place, task, scores)
        except FAULTS as error:
            waiting = []
            yield rejection(place, "request", error)
    if waiting:
        yield _record_of_options(waiting, task, scores)


def _record_of_options(waiting: list, task: str, scores: Mapping) -> LogRecord | Rejection:
    """Return the record of an item with a request per option, or why there is none."""
    try:
        return _option_record(waiting, task, scores)
    except FAULTS as error:
        return rejection(waiting[0][0], "request", error)


def _key(instance: Mapping, trial: Any) -> tuple:
    return str(instance.get("id")), _perturbation(instance), str(trial or 0)


def _perturbation(instance: Mapping) -> str:
    perturbation = instance.get("perturbation")
    name = perturbation.get("name") if isinstance(perturbation, Mapping) else perturbation
    return str(name or "")


def _scores(stats: Source) -> dict[tuple, dict[str, float]]:
    """Return {(instance, perturbation, trial): {score: its mean}}."""
    means: dict[tuple, dict[str, float]] = {}
    for _, stat in json_document(stats):
        if not isinstance(stat, Mapping) or not isinstance(stat.get("stats"), list):
            continue
        instance = {"id": stat.get("instance_id"), "perturbation": stat.get("perturbation")}
        key = _key(instance, stat.get("train_trial_index"))
        for measure in stat["stats"]:
            stat_name = measure.get("name")
            name = stat_name.get("name") if isinstance(stat_name, Mapping) else stat_name
            total, count = number_of(measure.get("sum")), number_of(measure.get("count"))
            value = number_of(measure.get("mean"))
            if count:
                value = None if total is None else total / count
            if name in _SCORES and value is not None:
                means.setdefault(key, {})[str(name)] = value
    return means


def _reference_text(reference: Mapping) -> str:
    """Return the text of a reference: of an option, or of a right answer."""
    return as_text(reference["output"]["text"])


def _record(state: Mapping, place: str, task: str) -> LogRecord:
    """Make the record of a request, without its completion."""
    instance, request = state["instance"], state["request"]
    references = instance.get("references") or []
    mapping = state.get("output_mapping") or {}
    has_options = bool(mapping) or len(references) > 1
    options = tuple(map(_reference_text, references)) if has_options else ()
    perturbation, trial = _perturbation(instance), int(state.get("train_trial_index") or 0)
    shown = map(as_text, mapping.values())
    order = tuple(options.index(text) for text in shown if text in options)
    has_order = bool(mapping) and len(order) == len(options)
    right_answers = [
        _reference_text(reference)
        for reference in references
        if "correct" in (reference.get("tags") or ())
    ]
    return LogRecord(
        place,
        task,
        item=str(instance.get("id")),
        question=as_text(instance["input"].get("text")),
        prompt=as_text(request.get("prompt")),
        model=str(request.get("model") or ""),
        options=options if len(mapping) == len(options) or not mapping else (),
        order=order if has_order else None,
        labels=tuple(mapping) if has_order else (),
        targets=tuple(right_answers),
        axis=perturbation or ("few_shot" if trial else ""),
        variant=perturbation or (f"trial-{trial}" if trial else ""),
        sampling={key: request.get(key) for key in ("temperature", "top_p", "max_tokens")}
        | {"stop": request.get("stop_sequences")},
    )


def _request_records(state: Any, place: str, task: str, scores: Mapping) -> Iterator[LogRecord]:
    if not isinstance(state, Mapping) or "instance" not in state or "request" not in state:
        raise BadInput("has no instance or no request")
    result = state.get("result") or {}
    completions = result.get("completions") or []
    means = scores.get(_key(state["instance"], state.get("train_trial_index")), {})
    for sample, completion in enumerate(completions or [{}]):
        record = _record(state, place, task)
        reason = completion.get("finish_reason")
        record.sample, record.text = sample, completion.get("text")
        reason = reason.get("reason") if isinstance(reason, Mapping) else reason
        record.finish_reason = str(reason or "")
        record.latency_s = number_of(result.get("request_time"))
        tokens = completion.get("tokens") or ()
        record.tokens = usable_tokens(
            (as_text(token.get("text")), token.get("logprob")) for token in tokens
        )
        if result.get("success") is False or not completions:
            record.error = as_text(result.get("error")) or "HELM recorded no completion."
        if sample == 0:
            record.readouts = tuple(_readouts(state, record, means))
        yield record


def _readouts(
    state: Mapping, record: LogRecord, means: Mapping[str, float]
) -> Iterator[LogReadout]:
    """Yield the choice, if the output is a label of `output_mapping`, and the scores in `means`."""
    mapping = state.get("output_mapping")
    if mapping and record.text is not None and not record.error:
        option = mapping.get(record.text.strip())
        right = None if not record.targets else option in record.targets
        score = means.get("exact_match")
        is_correct = right if score is None else right_of(score)
        if score is None and right is not None:
            score = float(right)
        yield LogReadout(
            "exact_match",
            None if option is None else as_text(option),
            is_correct=is_correct,
            score=score,
            unreadable=option is None,
            reason="" if option is not None else "The text is none of the labels shown.",
        )
    for name, score in means.items():
        if not (name == "exact_match" and mapping):
            yield LogReadout(name, None, right_of(score), score)


def _state_key(state: Mapping) -> tuple:
    return _key(state.get("instance") or {}, state.get("train_trial_index"))


def _option_record(waiting: list[tuple[str, Mapping]], task: str, scores: Mapping) -> LogRecord:
    """Make the record of an item that was asked in one request per option.

    An option's score is the log-probability of its completion. Calibration requests are left out.
    """
    originals = [
        (place, state)
        for place, state in waiting
        if state.get("request_mode") in (None, "original")
    ]
    place, first_state = (originals or waiting)[0]
    record = _record(first_state, place, task)
    references = first_state["instance"].get("references") or ()
    record.options = tuple(map(_reference_text, references))
    by_index = {int(state["reference_index"]): state for _, state in originals}
    values = []
    for i in range(len(record.options)):
        completions = ((by_index.get(i) or {}).get("result") or {}).get("completions")
        values.append(number_of((completions or [{}])[0].get("logprob")))
    are_usable = all(value is not None for value in values) and any(values)
    record.kind, record.continuations = "choice", record.options
    scores_of_options = tuple(value for value in values if value is not None)
    record.option_scores = scores_of_options if are_usable else None
    if not are_usable:
        record.error = "HELM recorded no log-probabilities of the options, or placeholders only."
    means = scores.get(_key(first_state["instance"], first_state.get("train_trial_index")), {})
    best = str(max(range(len(values)), key=lambda i: values[i] or 0.0)) if are_usable else None
    score = means.get("exact_match")
    record.readouts = (
        LogReadout(
            "exact_match", best, right_of(score), score, place=None if best is None else int(best)
        ),
    )
    return record


READER = Reader(
    "helm",
    "HELM scenario state",
    recognises=_recognises,
    records=_records,
    about=_about,
    belongs=_belongs,
)
