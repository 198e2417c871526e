"""One sample of an Inspect log as a record: messages and references resolved, one readout a scorer."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.recorded.log_records import (
    LogReadout,
    LogRecord,
    as_text,
    count_of,
    family_of,
    mark_of,
    number_of,
    prompt_of,
    reasoning_of,
    right_of,
)

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]+)")
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_LONG = 300  # characters above which a scorer's "answer" is the whole completion, not something it read


def record_of(sample: Mapping, place: str, task: str, model: str, settings: Mapping) -> LogRecord:
    """Raises BadInput for a sample without an id or an input."""
    if "id" not in sample or "input" not in sample:
        raise BadInput("has no id or no input")
    attachments = sample.get("attachments") or {}
    output = _resolved(sample.get("output") or {}, attachments)
    messages = _resolved(sample.get("messages") or [], attachments)
    content = _resolved(sample["input"], attachments)
    choices = output.get("choices") or [{}]
    message = choices[0].get("message") or {}
    text = output.get("completion")
    text = as_text(message.get("content")) if text is None else as_text(text)
    before, turns = _sides(messages, content) if message or _is_agents(messages) else (messages, [])
    conversation = before or content
    prompt, system = prompt_of(conversation) if isinstance(conversation, list) else (conversation, "")
    question = prompt_of(content)[0] if isinstance(content, list) else as_text(content)
    target = sample.get("target")
    meta = sample.get("metadata") or {}
    usage: Mapping = output.get("usage") or next(iter((sample.get("model_usage") or {}).values()), {})
    record = LogRecord(
        place,
        task,
        str(sample["id"]),
        question or prompt,
        prompt or question,
        model,
        system,
        options=tuple(as_text(one) for one in sample.get("choices") or ()),
        targets=tuple(as_text(one) for one in (target if isinstance(target, list) else [target]) if as_text(one).strip()),
        sample=max(0, int(sample.get("epoch") or 1) - 1),
        served_model=str(output.get("model") or ""),
        is_backward=_is_backward(sample),
        sampling={key: settings.get(key) for key in ("temperature", "top_p", "max_tokens", "seed")}
        | _own_temperature(sample.get("events"))
        | {"stop": settings.get("stop_seqs")},
        text=text,
        raw_reply=json.dumps({"messages": turns}, ensure_ascii=False) if len(turns) > 1 else "",
        finish_reason="max_tokens" if _is_at_limit(sample) else str(choices[0].get("stop_reason") or ""),
        reasoning=reasoning_of(message.get("content")),
        n_tokens_in=count_of(usage.get("input_tokens")),
        n_tokens_out=count_of(usage.get("output_tokens")),
        latency_s=number_of(output.get("time") or sample.get("working_time")),
        error=_error(sample, output),
        category=as_text(meta.get("subject") or meta.get("category") or "") if isinstance(meta, Mapping) else "",
        family=family_of(meta),
        mark=mark_of(meta),
    )
    record.tokens, record.top_logprobs = _logprobs(choices[0].get("logprobs"))
    scores = _resolved(sample.get("scores") or {}, attachments)
    record.readouts = tuple(one for name, score in scores.items() for one in _readouts(name, score, text))
    return record


def _resolved(value: Any, attachments: Mapping) -> Any:
    """The sample with the texts that it refers to filled in."""
    if not attachments:
        return value
    if isinstance(value, str):
        return (
            _ATTACHMENT.sub(lambda match: as_text(attachments.get(match[1], match[0])), value)
            if "attachment://" in value
            else value
        )
    if isinstance(value, list):
        return [_resolved(one, attachments) for one in value]
    if isinstance(value, dict):
        return {key: _resolved(one, attachments) for key, one in value.items()}
    return value


def _is_agents(messages: list) -> bool:
    """Whether a model acted between the question and its last word."""
    return any(one.get("role") == "tool" or one.get("tool_calls") for one in messages)


def _sides(messages: list, content: Any) -> tuple[list, list]:
    """(what was asked, what came after). The question is the last message of a user that holds the sample's input: what an assistant
    says before it is an example's, what comes after it is the answer with all its turns. Where the input was never sent, as where
    a simulated user speaks for it, a first word of the model's own parts them, or else the last answer does."""
    own = as_text(content[-1].get("content")) if isinstance(content, list) and content else as_text(content)
    place = {"user": -1, "own": len(messages), "last": len(messages)}
    for i, one in enumerate(messages):
        role = one.get("role")
        if role == "user" and own.strip() and own.strip() in as_text(one.get("content")):
            place["user"] = i
        elif role == "assistant":
            place["own"] = min(place["own"], i) if one.get("source") == "generate" else place["own"]
            place["last"] = i
    if place["user"] >= 0:
        answers = (i for i in range(place["user"] + 1, len(messages)) if messages[i].get("role") == "assistant")
        end = next(answers, len(messages))
    elif own.strip() and (_is_agents(messages) or sum(one.get("role") == "user" for one in messages) > 1):
        return [one for one in messages[:1] if one.get("role") == "system"] + [{"role": "user", "content": own}], messages
    else:
        end = min(place["own"], place["last"])
    return messages[:end], messages[end:]


def _error(sample: Mapping, output: Mapping) -> str:
    for value in (sample.get("error"), output.get("error")):
        if value:
            return as_text(value.get("message")) if isinstance(value, Mapping) else as_text(value)
    limit = sample.get("limit")
    if limit and not _is_at_limit(sample):
        kind = limit.get("type") if isinstance(limit, Mapping) else limit
        return "" if output.get("choices") or output.get("completion") else f"Stopped at the sample's {kind} limit."
    return ""


def _own_temperature(events: Any) -> dict[str, Any]:
    """At which temperature the first call of the sample was made, where its events say so."""
    first = next((one for one in events or () if isinstance(one, Mapping) and one.get("event") == "model"), {})
    config = first.get("config")
    temperature = config.get("temperature") if isinstance(config, Mapping) else None
    return {} if temperature is None else {"temperature": temperature}


def _is_backward(sample: Mapping) -> bool:
    """Whether it was completed before it was started."""
    try:
        start, end = (datetime.fromisoformat(str(sample[key])) for key in ("started_at", "completed_at"))
        return end < start
    except (KeyError, TypeError, ValueError):
        return (number_of(sample.get("total_time")) or 0) < 0


def _is_at_limit(sample: Mapping) -> bool:
    """Whether its tokens ran out: an answer that was cut, and no call that failed."""
    limit = sample.get("limit")
    return (limit.get("type") if isinstance(limit, Mapping) else limit) == "token"


def _logprobs(logprobs: Any) -> tuple[tuple | None, dict | None]:
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None, None
    tokens = tuple((as_text(one.get("token")), number_of(one.get("logprob"))) for one in content)
    top = {as_text(one.get("token")): number_of(one.get("logprob")) for one in content[0].get("top_logprobs") or ()}
    usable = all(value is not None for _, value in tokens) and any(value != 0 for _, value in tokens)
    return (tokens if usable else None), ({key: value for key, value in top.items() if value is not None} or None)


def _readouts(name: str, score: Any, text: str) -> Iterator[LogReadout]:
    """A scorer's readout; one that gives several values gives a readout for each."""
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
    number = _VALUES.get(value) if isinstance(value, str) and value in _VALUES else number_of(value)
    answer_text = None if answer is None else as_text(answer)
    if answer_text is not None and answer_text == text and len(answer_text) > _LONG:
        answer_text = None
    empty = answer_text is not None and not answer_text.strip()
    return LogReadout(
        name,
        None if empty else answer_text,
        right_of(number),
        number,
        empty or value == "N",
        "The scorer found no answer." if empty or value == "N" else "",
    )
