"""Inspect AI: `.eval` (a zip of samples) and `.json` (one document), finished or broken off.

A sample is one member, or a folder of chunks; both occur in one log, so it is decided sample by
sample. Long texts and repeated messages are kept once and referred to.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document
from flipcore.datasets.reading.log_files import Source, member_bytes
from flipcore.datasets.recorded import log_records as log
from flipcore.datasets.recorded.formats.reader import Reader, first_object, records_at
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    ReportedScore,
    Run,
)

_MEMBER = re.compile(r"samples/(.+)_epoch_(\d+)(?:\.json|/sample\.json)")
_MEANS = ("accuracy", "mean")


def _recognises(source: Source) -> bool:
    if source.members:
        return any(name in ("header.json", "_journal/start.json") for name in source.members)
    row = first_object(source)
    return (
        isinstance(row.get("eval"), Mapping)
        and "version" in row
        and ("status" in row or "plan" in row or "results" in row)
    )


def _header(source: Source) -> dict[str, Any]:
    """Read what the log says of itself; of a log that broke off, what it said at the start."""
    if not source.members:
        return _document_header(source)
    name = "header.json" if "header.json" in source.members else "_journal/start.json"
    with zipfile.ZipFile(source.path) as packed:
        header = _parsed(member_bytes(source, packed.getinfo(name)), f"{name} in {source.name}")
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise BadInput(
            f"{name} in {source.name} says nothing of an evaluation; the log is damaged."
        )
    return header | ({} if name == "header.json" else {"status": "started"})


def _document_header(source: Source) -> dict[str, Any]:
    """Read the header of a log in one document.

    One that breaks off among its samples never finished.
    """
    header: dict[str, Any] = {}
    try:
        for key, value in json_document(source, ("samples",)):
            if key != "samples":
                header[key] = value
    except BadInput:
        if "eval" not in header:
            raise
        header["status"] = "started"
    return header


def _parsed(data: bytes, where: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where} is not valid JSON ({str(error)[:200]}).") from None


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    header = _header(source)
    about = LogAbout("Inspect log", leaves=("events", "tool calls", "state"))
    status = str(header.get("status", ""))
    if status and status != "success":
        ending = {
            "started": "never finished",
            "cancelled": "was cancelled",
            "error": "ended with an error",
        }.get(status, status)
        about.notes.append(
            f"{source.name} {ending}: it holds the samples that were done by then, which need not "
            "be typical."
        )
    if _shuffles(header):
        about.notes.append(
            f"{source.name} shuffled each sample's options before asking (shuffle=True). Inspect "
            "then rewrites prompt and answer as if it had not, so the log holds neither the order "
            "that the model saw nor what it wrote."
        )
    evaluation = _mapping(header.get("eval"))
    task, model = task_of(evaluation), str(evaluation.get("model") or "")
    about.plan = _plan(evaluation) if status == "success" else {}
    results = _mapping(header.get("results"))
    about.reported = list(_reported(results, task, model, _scorers_of(source) if results else ()))
    about.notes += _other_metrics(results)
    about.run = Run(task, model, _settings_of_run(header))
    return about


_RUN_SETTINGS = ("temperature", "top_p", "top_k", "reasoning_effort", "reasoning_tokens")


def _settings_of_run(header: Mapping) -> dict[str, Any]:
    """Return the settings under which two runs of a task are two systems, not reruns of one.

    The commit is one: whoever evaluates two commits asks what the second changed.
    """
    evaluation, plan = _mapping(header.get("eval")), _mapping(header.get("plan"))
    settings = {**_mapping(evaluation.get("model_generate_config")), **_mapping(plan.get("config"))}
    of_run = {
        name: settings[name]
        for name in _RUN_SETTINGS
        if isinstance(settings.get(name), (int, float, str))
    }
    commit = _mapping(evaluation.get("revision")).get("commit")
    return of_run | ({"commit": commit} if isinstance(commit, str) and commit else {})


def _other_metrics(results: Mapping) -> Iterator[str]:
    """Name the scorers of which the log reports measures of its own and no mean."""
    scores = results.get("scores")
    for score in map(_mapping, scores if isinstance(scores, list) else ()):
        metrics = {
            str(name): log.number_of(_mapping(metric).get("value"))
            for name, metric in _mapping(score.get("metrics")).items()
        }
        if metrics and not any(name in _MEANS for name in metrics):
            values = ", ".join(
                f"{name} {value:.3f}"
                for name, value in list(metrics.items())[:4]
                if value is not None
            )
            yield (
                f"{score.get('name')} is reported as {values}, which need be no mean over samples: "
                "its score here is the mean of its rows."
            )


def _shuffles(header: Mapping) -> bool:
    """Return whether a step of the plan shuffles options (True, or a seed for it)."""
    steps = _mapping(header.get("plan")).get("steps")
    shuffles = (
        [_mapping(_mapping(step).get("params")).get("shuffle") for step in steps or ()]
        if isinstance(steps, list)
        else []
    )
    return any(shuffles)


def _mapping(value: Any) -> Mapping:
    return value if isinstance(value, Mapping) else {}


def task_of(evaluation: Mapping) -> str:
    """Return the task's name without its package."""
    return str(evaluation.get("task_display_name") or evaluation.get("task") or "task").rpartition(
        "/"
    )[2]


def _plan(evaluation: Mapping) -> dict[str, Any]:
    """Count the items and epochs that a finished log set out to ask, and list the items' ids."""
    dataset, config = _mapping(evaluation.get("dataset")), _mapping(evaluation.get("config"))
    ids = dataset.get("sample_ids")
    own_ids = (
        {str(sample_id) for sample_id in ids}
        if isinstance(ids, list) and not config.get("sample_id")
        else set()
    )
    limit, n = config.get("limit"), dataset.get("samples")
    n_items = limit if isinstance(limit, int) and isinstance(n, int) and limit < n else n
    if isinstance(limit, list) or config.get("sample_id"):
        n_items = len(own_ids)
    n_items = min(n_items, len(own_ids)) if own_ids and isinstance(n_items, int) else n_items
    plan = {
        "items": n_items if isinstance(n_items, int) else 0,
        "epochs": config.get("epochs") or 1,
        "ids": own_ids,
    }
    if isinstance(limit, int) and isinstance(n, int) and limit < n:
        is_drawn = dataset.get("shuffled") or config.get("sample_shuffle")
        plan |= {"all_items": n, "is_drawn": bool(is_drawn)}
    return plan


def _scorers_of(source: Source) -> tuple[str, ...]:
    """Return the names under which the first scored sample holds its scores."""
    scores = (_mapping(sample).get("scores") for _, sample, _ in _samples(source))
    return tuple(next((_mapping(score) for score in scores if score), ()))


def _reported(
    results: Mapping, task: str, model: str, scorers: Sequence[str]
) -> Iterator[ReportedScore]:
    """Return the reported means over samples; other metrics are no mean of rows.

    Older logs hold one `scorer` and its `metrics`. A scorer that gives several values (`scorers`
    has its name alone) reports each under the value's name.
    """
    scores = results.get("scores")
    if not isinstance(scores, list):
        scorer = results.get("scorer")
        scores = (
            [{**_mapping(scorer), "metrics": results.get("metrics")}]
            if isinstance(scorer, Mapping)
            else []
        )
    # What newer logs call their headline stands first.
    lead = _mapping(results.get("headline"))
    for score in sorted(
        map(_mapping, scores),
        key=lambda score: (
            (score.get("name"), score.get("reducer")) != (lead.get("score"), lead.get("reducer"))
        ),
    ):
        metrics = _mapping(_mapping(score).get("metrics"))
        metric = next((name for name in _MEANS if name in metrics), None)
        value = log.number_of(_mapping(metrics.get(metric)).get("value")) if metric else None
        if value is not None:
            name, scorer = str(score.get("name") or ""), str(score.get("scorer") or "")
            readout = f"{scorer} {name}" if name not in scorers and scorer in scorers else name
            error = log.number_of(_mapping(metrics.get("stderr")).get("value"))
            n = score.get("scored_samples") or results.get("completed_samples")
            reducer = str(score["reducer"]) if score.get("reducer") else None
            yield ReportedScore(model, task, readout, value, n, error, str(metric), reducer)


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    header = _header(source)
    evaluation, plan = _mapping(header.get("eval")), _mapping(header.get("plan"))
    settings = {**_mapping(evaluation.get("model_generate_config")), **_mapping(plan.get("config"))}
    common = (task_of(evaluation), str(evaluation.get("model") or ""), settings)
    old_scorer = _old_scorer(_mapping(header.get("results")))
    for place, sample, problem in _samples(source):
        if isinstance(sample, dict) and "score" in sample and not sample.get("scores"):
            sample["scores"] = {old_scorer: sample["score"]} if sample["score"] else {}
        yield from records_at(place, problem, "Inspect sample", _of_sample, sample, *common)


def _old_scorer(results: Mapping) -> str:
    """Return the scorer of a log from before July 2024.

    Its samples hold one `score` without a name.
    """
    return str(_mapping(results.get("scorer")).get("name") or "score")


def _samples(source: Source) -> Iterator[tuple[str, Any, str]]:
    """Yield (place, sample, ""), or (place, None, what is wrong)."""
    if not source.members:
        number = 0
        for key, value in json_document(source, ("samples",)):
            if key == "samples" and isinstance(value, Mapping):
                number += 1
                yield f"Sample {number} of {source.name}", value, ""
        return
    with zipfile.ZipFile(source.path) as packed:
        chunks = _chunks(source.members)
        for name in source.members:
            if not _MEMBER.fullmatch(name):
                continue
            place = f"{name} in {source.name}"
            try:
                yield place, _sample(source, packed, name, chunks), ""
            except BadInput as error:
                yield place, None, str(error).removeprefix(place).strip()


def _chunks(names: Sequence[str]) -> dict[str, list[str]]:
    """Group the chunks of each sequence of each chunked sample, in order of their first index."""
    by_folder: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        start = last.removesuffix(".json")
        if folder.count("/") >= 2 and start.isdecimal():
            by_folder.setdefault(folder, []).append((int(start), name))
    return {folder: [name for _, name in sorted(chunks)] for folder, chunks in by_folder.items()}


def _sample(
    source: Source, packed: zipfile.ZipFile, name: str, chunks: Mapping[str, list[str]]
) -> dict[str, Any]:
    """Return a sample in the older shape, whichever it is stored in."""

    def read(member: str) -> Any:
        return _parsed(member_bytes(source, packed.getinfo(member)), f"{member} in {source.name}")

    sample = read(name)
    if not isinstance(sample, dict):
        raise BadInput("is no sample")
    if not name.endswith("/sample.json"):
        return sample
    folder = name.removesuffix("/sample.json")
    sequence: dict[str, list] = {"messages": [], "attachments": []}
    for kind, rows in sequence.items():
        for chunk in chunks.get(f"{folder}/{kind}", ()):
            rows += read(chunk)
    if f"{folder}/metadata.json" in source.members:
        sample["metadata"] = read(f"{folder}/metadata.json")
    sample["messages"] = []
    for ref in sample.get("message_refs", ()):
        sample["messages"] += sequence["messages"][ref[0] : ref[1]]
    sample["attachments"] = {str(i): text for i, text in enumerate(sequence["attachments"])}
    return sample


# One sample of a log as a record: messages and references resolved, one readout a scorer.

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]+)")
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
# From so many characters on a scorer's "answer" is the whole completion, not something it read.
_LONG = 300


def _of_sample(
    sample: Mapping, place: str, task: str, model: str, settings: Mapping
) -> Iterator[LogRecord]:
    """Make the record of a sample. Raises BadInput for one without an id or an input."""
    if "id" not in sample or "input" not in sample:
        raise BadInput("has no id or no input")
    attachments = sample.get("attachments") or {}
    output = _resolved(sample.get("output") or {}, attachments)
    messages = _resolved(sample.get("messages") or [], attachments)
    content = _resolved(sample["input"], attachments)
    choices = output.get("choices") or [{}]
    message = choices[0].get("message") or {}
    text = output.get("completion")
    text = log.as_text(message.get("content")) if text is None else log.as_text(text)
    before, turns = _sides(messages, content) if message or _is_agents(messages) else (messages, [])
    conversation = before or content
    prompt, system = (
        log.prompt_of(conversation) if isinstance(conversation, list) else (conversation, "")
    )
    question = log.prompt_of(content)[0] if isinstance(content, list) else log.as_text(content)
    target = sample.get("target")
    meta = sample.get("metadata") or {}
    usage: Mapping = output.get("usage") or next(
        iter((sample.get("model_usage") or {}).values()), {}
    )
    record = LogRecord(
        place,
        task,
        str(sample["id"]),
        question or prompt,
        prompt or question,
        model,
        system,
        options=tuple(log.as_text(choice) for choice in sample.get("choices") or ()),
        targets=tuple(
            log.as_text(answer)
            for answer in (target if isinstance(target, list) else [target])
            if log.as_text(answer).strip()
        ),
        sample=max(0, int(sample.get("epoch") or 1) - 1),
        served_model=_served_model(output),
        is_backward=_is_backward(sample),
        sampling={key: settings.get(key) for key in ("temperature", "top_p", "max_tokens", "seed")}
        | _own_temperature(sample.get("events"))
        | {"stop": settings.get("stop_seqs")},
        text=text,
        raw_reply=json.dumps({"messages": turns}, ensure_ascii=False) if len(turns) > 1 else "",
        finish_reason="max_tokens"
        if _is_at_limit(sample)
        else str(choices[0].get("stop_reason") or ""),
        reasoning=log.reasoning_of(message.get("content")),
        n_tokens_in=log.count_of(usage.get("input_tokens")),
        n_tokens_out=log.count_of(usage.get("output_tokens")),
        latency_s=log.number_of(output.get("time") or sample.get("working_time")),
        error=_error(sample, output),
        category=log.as_text(meta.get("subject") or meta.get("category") or "")
        if isinstance(meta, Mapping)
        else "",
        family=log.family_of(meta),
        mark=log.mark_of(meta),
    )
    record.tokens, record.top_logprobs = _logprobs(choices[0].get("logprobs"))
    scores = _resolved(sample.get("scores") or {}, attachments)
    readouts: list[LogReadout] = []
    for name, score in scores.items():
        readouts += _readouts(name, score, text)
    record.readouts = tuple(readouts)
    yield record


def _resolved(value: Any, attachments: Mapping) -> Any:
    if not attachments:
        return value
    if isinstance(value, str) and "attachment://" in value:
        return _ATTACHMENT.sub(
            lambda match: log.as_text(attachments.get(match[1], match[0])), value
        )
    if isinstance(value, list):
        return [_resolved(part, attachments) for part in value]
    if isinstance(value, dict):
        return {key: _resolved(part, attachments) for key, part in value.items()}
    return value


def _served_model(output: Mapping) -> str:
    """Return the model that answered. A failed call holds the name that was asked for."""
    return (
        str(output.get("model") or "") if output.get("choices") and not output.get("error") else ""
    )


def _is_agents(messages: list) -> bool:
    """Return whether a model acted between the question and its last word."""
    return any(message.get("role") == "tool" or message.get("tool_calls") for message in messages)


def _sides(messages: list, content: Any) -> tuple[list, list]:
    """Part the messages into what was asked and what came after.

    The question is the last message of a user that holds the sample's input: what an assistant
    says before it belongs to an example, what comes after it is the answer with all its turns. A
    message that quotes the input after the model spoke, as a critique does, is no question. Where
    the input was never sent, as where a simulated user speaks for it, the first message that the
    model generated parts them, or else the last answer does.
    """
    input_text = (
        log.as_text(content[-1].get("content"))
        if isinstance(content, list) and content
        else log.as_text(content)
    )
    place = {"user": -1, "own": len(messages), "last": len(messages)}
    for i, message in enumerate(messages):
        role = message.get("role")
        if (
            role == "user"
            and input_text.strip()
            and input_text.strip() in log.as_text(message.get("content"))
        ):
            if place["user"] < 0 or not _follows_up(messages, place, i):
                place["user"] = i
        elif role == "assistant":
            place["own"] = (
                min(place["own"], i) if message.get("source") == "generate" else place["own"]
            )
            place["last"] = i
    if place["user"] >= 0:
        answers = (
            i
            for i in range(place["user"] + 1, len(messages))
            if messages[i].get("role") == "assistant"
        )
        end = next(answers, len(messages))
    elif input_text.strip() and (
        _is_agents(messages) or sum(message.get("role") == "user" for message in messages) > 1
    ):
        return [message for message in messages[:1] if message.get("role") == "system"] + [
            {"role": "user", "content": input_text}
        ], messages
    else:
        end = min(place["own"], place["last"])
    return messages[:end], messages[end:]


def _follows_up(messages: list, place: Mapping[str, int], index: int) -> bool:
    """Return whether a message goes on with a question that the model has answered.

    Newer logs mark what a model wrote. In older ones a critique is known by the answer that it
    quotes.
    """
    if place["own"] < index:
        return True
    text, before = (log.as_text(messages[i].get("content")) for i in (index, place["user"]))
    answers = [
        log.as_text(message.get("content")).strip()
        for message in messages[place["user"] + 1 : index]
        if message.get("role") == "assistant"
    ]
    # an example that asks the tested question quotes no more of its answer than the question does
    return any(answer and text.count(answer) > before.count(answer) for answer in answers)


def _error(sample: Mapping, output: Mapping) -> str:
    for value in (sample.get("error"), output.get("error")):
        if value:
            return (
                log.as_text(value.get("message"))
                if isinstance(value, Mapping)
                else log.as_text(value)
            )
    limit = sample.get("limit")
    if limit and not _is_at_limit(sample):
        kind = limit.get("type") if isinstance(limit, Mapping) else limit
        return (
            ""
            if output.get("choices") or output.get("completion")
            else f"Stopped at the sample's {kind} limit."
        )
    return ""


def _own_temperature(events: Any) -> dict[str, Any]:
    """Return the temperature of the sample's first call, where its events say so."""
    first = next(
        (
            event
            for event in events or ()
            if isinstance(event, Mapping) and event.get("event") == "model"
        ),
        {},
    )
    config = first.get("config")
    temperature = config.get("temperature") if isinstance(config, Mapping) else None
    return {} if temperature is None else {"temperature": temperature}


def _is_backward(sample: Mapping) -> bool:
    try:
        start, end = (
            datetime.fromisoformat(str(sample[key])) for key in ("started_at", "completed_at")
        )
        return end < start
    except (KeyError, TypeError, ValueError):
        return (log.number_of(sample.get("total_time")) or 0) < 0


def _is_at_limit(sample: Mapping) -> bool:
    """Return whether its tokens ran out: the answer was cut, and no call failed."""
    limit = sample.get("limit")
    return (limit.get("type") if isinstance(limit, Mapping) else limit) == "token"


def _logprobs(logprobs: Any) -> tuple[tuple | None, dict | None]:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None, None
    tokens = tuple(
        (log.as_text(token.get("token")), log.number_of(token.get("logprob"))) for token in content
    )
    top = {
        log.as_text(token.get("token")): log.number_of(token.get("logprob"))
        for token in content[0].get("top_logprobs") or ()
    }
    usable = all(value is not None for _, value in tokens) and any(
        value != 0 for _, value in tokens
    )
    return (tokens if usable else None), (
        {key: value for key, value in top.items() if value is not None} or None
    )


def _readouts(name: str, score: Any, text: str) -> Iterator[LogReadout]:
    """Read a scorer; one that gives several values gives a readout for each."""
    if not isinstance(score, Mapping):
        score = {"value": score}
    value, answer = score.get("value"), score.get("answer")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield _readout(f"{name} {key}", inner, None, text)
    elif isinstance(value, list):
        yield LogReadout(name, reason="The scorer gives a list of values.")
    else:
        yield _readout(name, value, answer, text)


def _readout(name: str, value: Any, answer: Any, text: str) -> LogReadout:
    number = (
        _VALUES.get(value) if isinstance(value, str) and value in _VALUES else log.number_of(value)
    )
    answer_text = None if answer is None else log.as_text(answer)
    if answer_text is not None and answer_text == text and len(answer_text) > _LONG:
        answer_text = None
    empty = answer_text is not None and not answer_text.strip()
    if empty and _looks_at_whole_text(name):
        answer_text, empty = None, False
    return LogReadout(
        name,
        None if empty else answer_text,
        log.right_of(number),
        number,
        empty or value == "N",
        "The scorer found no answer." if empty or value == "N" else "",
    )


def _looks_at_whole_text(scorer: str) -> bool:
    """Return whether a scorer searches the text and takes no answer out, so none is unread."""
    return scorer.rpartition("/")[2].rstrip("0123456789") in _SEARCHING


_SEARCHING = ("includes", "f1")


READER = Reader("inspect", "Inspect AI log", _recognises, _records, _about)
