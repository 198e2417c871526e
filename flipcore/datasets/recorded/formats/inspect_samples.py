"""One sample of an Inspect log as a record: messages and references resolved, one readout a scorer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
    conversation = (_before(messages) if message else messages) or content
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
        sampling={key: settings.get(key) for key in ("temperature", "top_p", "max_tokens", "seed")}
        | {"stop": settings.get("stop_seqs")},
        text=text,
        finish_reason=str(choices[0].get("stop_reason") or ""),
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


def _before(messages: list) -> list:
    """The messages up to the last answer, which is the completion. Where none came, the last is an example's: nothing is cut then."""
    last = max((i for i, one in enumerate(messages) if one.get("role") == "assistant"), default=len(messages))
    return messages[:last]


def _error(sample: Mapping, output: Mapping) -> str:
    for value in (sample.get("error"), output.get("error")):
        if value:
            return as_text(value.get("message")) if isinstance(value, Mapping) else as_text(value)
    limit = sample.get("limit")
    if limit:
        kind = limit.get("type") if isinstance(limit, Mapping) else limit
        return "" if output.get("choices") or output.get("completion") else f"Stopped at the sample's {kind} limit."
    return ""


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
