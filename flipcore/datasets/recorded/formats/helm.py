"""HELM: `scenario_state.json`, with `per_instance_stats.json` and `run_spec.json` in its folder.

A perturbation is an axis; so is another draw of the examples (`train_trial_index`).
Log-probabilities that are 0 everywhere are placeholders and left out.
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
    return "request_states" in row or (
        "adapter_spec" in row and "name" not in row and "scenario_spec" not in row
    )


def _belongs(source: Source) -> bool:
    row = first_object(source)
    return {"instance_id", "stats"} <= set(row) or (
        "scenario_spec" in row and "adapter_spec" in row
    )


def _near(source: Source, companions: Sequence[Source]) -> tuple[Source | None, Source | None]:
    """Find the per-instance statistics and the run specification in the same folder."""
    near = [file for file in companions if file.folder == source.folder and _belongs(file)]
    stats = [file for file in near if "stats" in first_object(file)]
    return next(iter(stats), None), next((file for file in near if file not in stats), None)


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    stats, spec = _near(source, companions)
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
    stats, spec = _near(source, companions)
    task, scores = _task(source, spec), _scores(stats) if stats else {}
    method, number = "", 0
    waiting: list = []
    for key, value in json_document(source, ("request_states",)):
        if key == "adapter_spec" and isinstance(value, Mapping):
            method = str(value.get("method") or "")
        if key != "request_states":
            continue
        number += 1
        place = f"Request {number} of {source.name}"
        try:
            if value.get("reference_index") is not None or method.startswith(
                "multiple_choice_separate"
            ):
                if waiting and _group(waiting[0][1]) != _group(value):
                    yield _separate(waiting, task, scores)
                    waiting = []
                waiting.append((place, value))
            else:
                yield from _of_request(value, place, task, scores)
        except FAULTS as error:
            waiting = []
            yield rejection(place, "request", error)
    if waiting:
        yield _separate(waiting, task, scores)


def _key(instance: Mapping, trial: Any) -> tuple:
    return str(instance.get("id")), _perturbation(instance), str(trial or 0)


def _perturbation(instance: Mapping) -> str:
    perturbation = instance.get("perturbation")
    return (
        str(perturbation.get("name") or "")
        if isinstance(perturbation, Mapping)
        else str(perturbation or "")
    )


def _scores(stats: Source) -> dict[tuple, dict[str, float]]:
    """Map (instance, perturbation, trial) to the means of its scores."""
    means: dict[tuple, dict[str, float]] = {}
    for _, stat in json_document(stats):
        if not isinstance(stat, Mapping) or not isinstance(stat.get("stats"), list):
            continue
        key = _key(
            {"id": stat.get("instance_id"), "perturbation": stat.get("perturbation")},
            stat.get("train_trial_index"),
        )
        for measure in stat["stats"]:
            stat_name = measure.get("name")
            name = stat_name.get("name") if isinstance(stat_name, Mapping) else stat_name
            total, count = number_of(measure.get("sum")), number_of(measure.get("count"))
            value = (
                number_of(measure.get("mean"))
                if not count
                else None
                if total is None
                else total / count
            )
            if name in _SCORES and value is not None:
                means.setdefault(key, {})[str(name)] = value
    return means


def _record(state: Mapping, place: str, task: str) -> LogRecord:
    instance, request = state["instance"], state["request"]
    references = instance.get("references") or []
    mapping = state.get("output_mapping") or {}
    options = (
        tuple(as_text(reference["output"]["text"]) for reference in references)
        if mapping or len(references) > 1
        else ()
    )
    perturbation, trial = _perturbation(instance), int(state.get("train_trial_index") or 0)
    order = tuple(
        options.index(as_text(text)) for text in mapping.values() if as_text(text) in options
    )
    right = [
        as_text(reference["output"]["text"])
        for reference in references
        if "correct" in (reference.get("tags") or ())
    ]
    return LogRecord(
        place,
        task,
        str(instance.get("id")),
        as_text(instance["input"].get("text")),
        as_text(request.get("prompt")),
        str(request.get("model") or ""),
        options=options if len(mapping) == len(options) or not mapping else (),
        order=order if mapping and len(order) == len(options) else None,
        labels=tuple(mapping) if mapping and len(order) == len(options) else (),
        targets=tuple(right),
        axis=perturbation or ("few_shot" if trial else ""),
        variant=perturbation or (f"trial-{trial}" if trial else ""),
        sampling={key: request.get(key) for key in ("temperature", "top_p", "max_tokens")}
        | {"stop": request.get("stop_sequences")},
    )


def _of_request(state: Any, place: str, task: str, scores: Mapping) -> Iterator[LogRecord]:
    if not isinstance(state, Mapping) or "instance" not in state or "request" not in state:
        raise BadInput("has no instance or no request")
    result = state.get("result") or {}
    completions = result.get("completions") or []
    means = scores.get(_key(state["instance"], state.get("train_trial_index")), {})
    for sample, completion in enumerate(completions or [{}]):
        record = _record(state, place, task)
        reason = completion.get("finish_reason")
        record.sample, record.text = sample, completion.get("text")
        record.finish_reason = (
            str(reason.get("reason") or "") if isinstance(reason, Mapping) else str(reason or "")
        )
        record.latency_s = number_of(result.get("request_time"))
        record.tokens = _tokens(completion)
        if result.get("success") is False or not completions:
            record.error = as_text(result.get("error")) or "HELM recorded no completion."
        if sample == 0:
            record.readouts = tuple(_readouts(state, record, means))
        yield record


def _tokens(completion: Mapping) -> tuple | None:
    tokens = [
        (as_text(token.get("text")), number_of(token.get("logprob")))
        for token in completion.get("tokens") or ()
    ]
    usable = (
        tokens
        and all(value is not None for _, value in tokens)
        and any(value != 0 for _, value in tokens)
    )
    return tuple(tokens) if usable else None


def _readouts(
    state: Mapping, record: LogRecord, means: Mapping[str, float]
) -> Iterator[LogReadout]:
    """Read joint choices by HELM's own rule, the label looked up in `output_mapping`.

    Scores come from the statistics.
    """
    mapping = state.get("output_mapping")
    if mapping and record.text is not None and not record.error:
        option = mapping.get(record.text.strip())
        right = None if not record.targets else option in record.targets
        score = means.get("exact_match")
        yield LogReadout(
            "exact_match",
            None if option is None else as_text(option),
            right if score is None else right_of(score),
            score if score is not None else None if right is None else float(right),
            option is None,
            "" if option is not None else "The text is none of the labels shown.",
        )
    for name, score in means.items():
        if not (name == "exact_match" and mapping):
            yield LogReadout(name, None, right_of(score), score)


def _group(state: Mapping) -> tuple:
    return _key(state.get("instance") or {}, state.get("train_trial_index"))


def _separate(waiting: list[tuple[str, Mapping]], task: str, scores: Mapping) -> LogRecord:
    """Read choices that were asked in one request per option.

    The log-probability of the completion is the option's score. Calibration requests are left out.
    """
    plain = [
        (place, state)
        for place, state in waiting
        if state.get("request_mode") in (None, "original")
    ]
    place, first = (plain or waiting)[0]
    record = _record(first, place, task)
    record.options = tuple(
        as_text(reference["output"]["text"])
        for reference in first["instance"].get("references") or ()
    )
    by_place = {int(state["reference_index"]): state for _, state in plain}
    values = [
        number_of(_completion(by_place.get(i)).get("logprob")) for i in range(len(record.options))
    ]
    usable = all(value is not None for value in values) and any(values)
    record.kind, record.continuations = "choice", record.options
    record.option_scores = (
        tuple(float(value) for value in values if value is not None) if usable else None
    )
    if not usable:
        record.error = "HELM recorded no log-probabilities of the options, or placeholders only."
    means = scores.get(_key(first["instance"], first.get("train_trial_index")), {})
    best = str(max(range(len(values)), key=lambda i: values[i] or 0.0)) if usable else None
    score = means.get("exact_match")
    record.readouts = (
        LogReadout(
            "exact_match", best, right_of(score), score, place=None if best is None else int(best)
        ),
    )
    return record


def _completion(state: Mapping | None) -> Mapping:
    return (((state or {}).get("result") or {}).get("completions") or [{}])[0]


READER = Reader("helm", "HELM scenario state", _recognises, _records, _about, _belongs)
