"""Inspect AI: `.eval` (a zip of samples) and `.json` (one document), finished or broken off.

A sample is one member of the zip or a folder of chunks; one log may hold both. Long texts and
repeated messages are stored once, and samples refer to them.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document
from flipcore.datasets.reading.log_files import Source, member_bytes
from flipcore.datasets.recorded import log_records as log
from flipcore.datasets.recorded.formats.reader import FAULTS, Reader, first_object, records_at
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
    has_part = not row.keys().isdisjoint({"status", "plan", "results"})
    return isinstance(row.get("eval"), Mapping) and "version" in row and has_part


def _header(source: Source) -> dict[str, Any]:
    """Read the header of a log; a log that broke off has only the one from its start."""
    if not source.members:
        return _document_header(source)
    name = "header.json" if "header.json" in source.members else "_journal/start.json"
    with zipfile.ZipFile(source.path) as packed:
        header = _parse(member_bytes(source, packed.getinfo(name)), f"{name} in {source.name}")
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise BadInput(
            f"{name} in {source.name} says nothing of an evaluation; the log is damaged."
        )
    return header | ({} if name == "header.json" else {"status": "started"})


def _document_header(source: Source) -> dict[str, Any]:
    """Read the header of a document; one that breaks off among its samples is "started"."""
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


def _parse(data: bytes, where: str) -> Any:
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
    steps = _mapping(header.get("plan")).get("steps")
    steps = steps if isinstance(steps, list) else []
    if any(_mapping(_mapping(step).get("params")).get("shuffle") for step in steps):
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
    """Return the settings by which two runs of a task are two systems, and not reruns of one.

    The commit belongs to them, because two commits are evaluated to compare them.
    """
    settings = _generate_settings(header)
    run_settings = {
        name: settings[name]
        for name in _RUN_SETTINGS
        if isinstance(settings.get(name), (int, float, str))
    }
    commit = _mapping(_mapping(header.get("eval")).get("revision")).get("commit")
    return run_settings | ({"commit": commit} if isinstance(commit, str) and commit else {})


def _generate_settings(header: Mapping) -> dict[str, Any]:
    evaluation, plan = _mapping(header.get("eval")), _mapping(header.get("plan"))
    return {**_mapping(evaluation.get("model_generate_config")), **_mapping(plan.get("config"))}


def _other_metrics(results: Mapping) -> Iterator[str]:
    """Yield a note on each scorer for which the log reports other metrics than a mean."""
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


def _mapping(value: Any) -> Mapping:
    """Return an object as it is, and {} for anything else."""
    return value if isinstance(value, Mapping) else {}


def task_of(evaluation: Mapping) -> str:
    """Return the task's name without its package."""
    name = str(evaluation.get("task_display_name") or evaluation.get("task") or "task")
    return name.rpartition("/")[2]


def _plan(evaluation: Mapping) -> dict[str, Any]:
    """Return the number and the ids of the items that were to be asked, and the number of epochs.

    If a limit chose some of the items, also their number and whether they were drawn at random.
    """
    dataset, config = _mapping(evaluation.get("dataset")), _mapping(evaluation.get("config"))
    sample_ids = dataset.get("sample_ids")
    ids: set[str] = set()
    if isinstance(sample_ids, list) and not config.get("sample_id"):
        ids = set(map(str, sample_ids))
    limit, n = config.get("limit"), dataset.get("samples")
    is_limited = isinstance(limit, int) and isinstance(n, int) and limit < n
    n_items = limit if is_limited else n
    if isinstance(limit, list) or config.get("sample_id"):
        n_items = len(ids)
    n_items = min(n_items, len(ids)) if ids and isinstance(n_items, int) else n_items
    plan = {
        "items": n_items if isinstance(n_items, int) else 0,
        "epochs": config.get("epochs") or 1,
        "ids": ids,
    }
    if is_limited:
        is_drawn = dataset.get("shuffled") or config.get("sample_shuffle")
        plan |= {"all_items": n, "is_drawn": bool(is_drawn)}
    return plan


def _scorers_of(source: Source) -> tuple[str, ...]:
    """Return the names of the scores in the first sample that has any."""
    scores = (_mapping(sample).get("scores") for _, sample, _ in _samples(source))
    return tuple(next((_mapping(score) for score in scores if score), ()))


def _reported(
    results: Mapping, task: str, model: str, scorers: Sequence[str]
) -> Iterator[ReportedScore]:
    """Yield the reported means over samples, the headline first; other metrics are left out.

    `scorers` are the names of scores in samples. A scorer with several values reports each of them
    under the value's name. Older logs hold one `scorer` and its `metrics`.
    """
    scores, scorer = results.get("scores"), results.get("scorer")
    if not isinstance(scores, list):
        is_old = isinstance(scorer, Mapping)
        scores = [{**_mapping(scorer), "metrics": results.get("metrics")}] if is_old else []
    headline = _mapping(results.get("headline"))
    headline_key = headline.get("score"), headline.get("reducer")
    scores = [_mapping(score) for score in scores]
    scores.sort(key=lambda score: (score.get("name"), score.get("reducer")) != headline_key)
    for score in scores:
        metrics = _mapping(score.get("metrics"))
        metric = next((name for name in _MEANS if name in metrics), None)
        value = log.number_of(_mapping(metrics.get(metric)).get("value")) if metric else None
        if value is not None:
            name, scorer = str(score.get("name") or ""), str(score.get("scorer") or "")
            readout = f"{scorer} {name}" if name not in scorers and scorer in scorers else name
            error = log.number_of(_mapping(metrics.get("stderr")).get("value"))
            n = score.get("scored_samples") or results.get("completed_samples")
            reducer = str(score["reducer"]) if score.get("reducer") else None
            yield ReportedScore(
                model,
                task,
                readout=readout,
                value=value,
                n=n,
                stderr=error,
                metric=str(metric),
                reducer=reducer,
            )


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    header = _header(source)
    evaluation, results = _mapping(header.get("eval")), _mapping(header.get("results"))
    task, model = task_of(evaluation), str(evaluation.get("model") or "")
    common = (task, model, _generate_settings(header))
    # before July 2024, samples held one `score` without a name
    old_scorer = str(_mapping(results.get("scorer")).get("name") or "score")
    for place, sample, problem in _samples(source):
        if isinstance(sample, dict) and "score" in sample and not sample.get("scores"):
            sample["scores"] = {old_scorer: sample["score"]} if sample["score"] else {}
        yield from records_at(place, problem, "Inspect sample", _sample_records, sample, *common)


def _samples(source: Source) -> Iterator[tuple[str, Any, str]]:
    """Yield (place, sample, "") or (place, None, problem)."""
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
                sample = _sample(source, packed, name, chunks)
            except FAULTS as error:
                is_sentence = isinstance(error, BadInput)
                problem = str(error) if is_sentence else f"is no sample ({type(error).__name__})"
                yield place, None, problem.removeprefix(place).strip()
            else:
                yield place, sample, ""


def _chunks(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the chunks of each folder of chunked samples, in the order of their first index."""
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
    """Return a sample as one object with its messages and attachments, also if it is chunked."""

    def read(member: str) -> Any:
        return _parse(member_bytes(source, packed.getinfo(member)), f"{member} in {source.name}")

    sample = read(name)
    if not isinstance(sample, dict):
        raise BadInput("is no sample")
    if not name.endswith("/sample.json"):
        return sample
    folder = name.removesuffix("/sample.json")
    messages, attachments = (
        list(chain.from_iterable(map(read, chunks.get(f"{folder}/{kind}", ()))))
        for kind in ("messages", "attachments")
    )
    if f"{folder}/metadata.json" in source.members:
        sample["metadata"] = read(f"{folder}/metadata.json")
    sample["messages"] = []
    for start, end, *_ in sample.get("message_refs", ()):
        sample["messages"] += messages[start:end]
    sample["attachments"] = {str(i): text for i, text in enumerate(attachments)}
    return sample


# One sample as a record: references are resolved, and each scorer is a readout.

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]+)")
_SCORE_OF_LETTER = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
# An "answer" that is the whole completion, and longer than this, was not extracted by the scorer.
_LONGEST_ANSWER = 300


def _sample_records(
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
    prompt_messages: list = messages
    turns: list = []
    if message or _uses_tools(messages):
        prompt_messages, turns = _split_messages(messages, content)
    conversation = prompt_messages or content
    prompt, system = (
        log.prompt_of(conversation) if isinstance(conversation, list) else (conversation, "")
    )
    question = log.prompt_of(content)[0] if isinstance(content, list) else log.as_text(content)
    target = sample.get("target")
    answers = map(log.as_text, target if isinstance(target, list) else [target])
    meta = sample.get("metadata") or {}
    model_usage = (sample.get("model_usage") or {}).values()
    usage: Mapping = output.get("usage") or next(iter(model_usage), {})
    has_answer = output.get("choices") and not output.get("error")
    record = LogRecord(
        place,
        task,
        item=str(sample["id"]),
        question=question or prompt,
        prompt=prompt or question,
        model=model,
        system=system,
        options=tuple(log.as_text(choice) for choice in sample.get("choices") or ()),
        targets=tuple(answer for answer in answers if answer.strip()),
        sample=max(0, int(sample.get("epoch") or 1) - 1),
        # a failed call holds the name of the requested model
        served_model=str(output.get("model") or "") if has_answer else "",
        is_backward=_is_backward(sample),
        sampling={key: settings.get(key) for key in ("temperature", "top_p", "max_tokens", "seed")}
        | _own_temperature(sample.get("events"))
        | {"stop": settings.get("stop_seqs")},
        text=text,
        raw_reply=json.dumps({"messages": turns}, ensure_ascii=False) if len(turns) > 1 else "",
        finish_reason="max_tokens"
        if _limit(sample) == "token"
        else str(choices[0].get("stop_reason") or ""),
        reasoning=log.reasoning_of(message.get("content")),
        n_tokens_in=log.whole_number(usage.get("input_tokens")),
        n_tokens_out=log.whole_number(usage.get("output_tokens")),
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


def _uses_tools(messages: list) -> bool:
    """Tell whether a message calls a tool, or is the result of one."""
    return any(message.get("role") == "tool" or message.get("tool_calls") for message in messages)


def _split_messages(messages: list, content: Any) -> tuple[list, list]:
    """Split the messages of a sample into its prompt and its answer; `content` is its input.

    The question is the last user message that contains the input. Assistant messages before it
    belong to examples, and all messages after it to the answer. A message that quotes the input
    after the model answered, such as a critique, is no question. If no message contains the input
    and a simulated user or tools take part, the input is the prompt and all messages are the
    answer. Otherwise the answer begins at the first generated message, or else at the last one of
    the assistant.
    """
    if isinstance(content, list) and content:
        content = content[-1].get("content")
    input_text = log.as_text(content).strip()
    question = -1
    generated = last = len(messages)  # the first generated and the last assistant message
    for i, message in enumerate(messages):
        if message.get("role") == "user" and input_text:
            if input_text not in log.as_text(message.get("content")):
                continue
            is_repeat = question >= 0 and (generated < i or _quotes_answer(messages, question, i))
            if not is_repeat:
                question = i
        elif message.get("role") == "assistant":
            if message.get("source") == "generate":
                generated = min(generated, i)
            last = i
    n_users = sum(message.get("role") == "user" for message in messages)
    if question < 0 and input_text and (_uses_tools(messages) or n_users > 1):
        system = [message for message in messages[:1] if message.get("role") == "system"]
        return [*system, {"role": "user", "content": log.as_text(content)}], messages
    end = min(generated, last)
    if question >= 0:
        end = question + 1
        while end < len(messages) and messages[end].get("role") != "assistant":
            end += 1
    return messages[:end], messages[end:]


def _quotes_answer(messages: list, question: int, index: int) -> bool:
    """Tell whether the message at `index` quotes an answer to the question, as a critique does."""
    text, question_text = (log.as_text(messages[i].get("content")) for i in (index, question))
    for message in messages[question + 1 : index]:
        answer = log.as_text(message.get("content")).strip()
        # an example with the tested question quotes its answer no more often than the question does
        if message.get("role") == "assistant" and answer:
            if text.count(answer) > question_text.count(answer):
                return True
    return False


def _error(sample: Mapping, output: Mapping) -> str:
    """Return the error of a sample, "" for none; a limit is one only if there is no output."""
    error = sample.get("error") or output.get("error")
    if error:
        return log.as_text(error.get("message") if isinstance(error, Mapping) else error)
    limit = _limit(sample)
    has_output = output.get("choices") or output.get("completion")
    if not sample.get("limit") or limit == "token" or has_output:
        return ""
    return f"Stopped at the sample's {limit} limit."


def _limit(sample: Mapping) -> Any:
    """Return the kind of limit that ended a sample; "token" cuts the answer, and no call fails."""
    limit = sample.get("limit")
    return limit.get("type") if isinstance(limit, Mapping) else limit


def _own_temperature(events: Any) -> dict[str, Any]:
    """Return the temperature of the sample's first call; {} if its events do not hold it."""
    for event in events or ():
        if isinstance(event, Mapping) and event.get("event") == "model":
            temperature = _mapping(event.get("config")).get("temperature")
            return {} if temperature is None else {"temperature": temperature}
    return {}


def _is_backward(sample: Mapping) -> bool:
    """Tell whether a sample ended before it began."""
    try:
        start = datetime.fromisoformat(str(sample["started_at"]))
        return datetime.fromisoformat(str(sample["completed_at"])) < start
    except (KeyError, TypeError, ValueError):
        return (log.number_of(sample.get("total_time")) or 0) < 0


def _logprobs(logprobs: Any) -> tuple[tuple | None, dict | None]:
    """Return the tokens with their log-probabilities, and the likeliest first tokens; None each."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None, None
    tokens = [(log.as_text(token.get("token")), token.get("logprob")) for token in content]
    top = {}
    for token in content[0].get("top_logprobs") or ():
        value = log.number_of(token.get("logprob"))
        if value is not None:
            top[log.as_text(token.get("token"))] = value
    return log.usable_tokens(tokens), top or None


def _readouts(name: str, score: Any, text: str) -> Iterator[LogReadout]:
    """Yield the readout of a scorer, or one per value of a scorer with several."""
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
    is_letter = isinstance(value, str) and value in _SCORE_OF_LETTER
    number = _SCORE_OF_LETTER.get(value) if is_letter else log.number_of(value)
    answer_text = None if answer is None else log.as_text(answer)
    if answer_text is not None and answer_text == text and len(answer_text) > _LONGEST_ANSWER:
        answer_text = None
    is_empty = answer_text is not None and not answer_text.strip()
    if is_empty and name.rpartition("/")[2].rstrip("0123456789") in _WITHOUT_EXTRACTION:
        answer_text, is_empty = None, False
    is_unreadable = is_empty or value == "N"
    return LogReadout(
        name,
        None if is_empty else answer_text,
        log.right_of(number),
        number,
        unreadable=is_unreadable,
        reason="The scorer found no answer." if is_unreadable else "",
    )


# scorers that search the whole output and extract no answer, so an empty answer is not unreadable
_WITHOUT_EXTRACTION = ("includes", "f1")


READER = Reader("inspect", "Inspect AI log", _recognises, _records, _about)
