"""ZeroEval: a JSON list per model, each entry with question, outputs (JSON) and right answer."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.formats.reader import Reader, first_object, records_at
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    as_text,
    number_of,
    prompt_of,
)

_ANSWER = re.compile(r'"answer"\s*:\s*("(?:[^"\\]|\\.)*"|-?[\d.,]+)')


def _recognises(source: Source) -> bool:
    return {"session_id", "chat_history", "output"} <= set(first_object(source))


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    notes = [
        f"{source.name} holds no scores: the answer in its JSON is read, and the scores are "
        "computed here."
    ]
    return LogAbout(
        "ZeroEval results", notes=notes, leaves=("tokens (none are logged)", "finish reasons")
    )


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    for number, (_, row) in enumerate(json_document(source), start=1):
        yield from records_at(f"Row {number} of {source.name}", "", "result", _row_records, row)


def _row_records(row: Any, place: str) -> Iterator[LogRecord]:
    if not isinstance(row, Mapping) or "session_id" not in row:
        raise BadInput("has no session_id")
    history = row.get("chat_history") or []
    turns = [
        {"role": "user" if i % 2 == 0 else "assistant", "content": as_text(text)}
        for i, text in enumerate(history)
    ]
    prompt, system = prompt_of(turns)
    configs = row.get("configs") or {}
    right = row.get("correct_answer", row.get("answer"))
    choices = row.get("choices")
    choices = choices if isinstance(choices, list) else []
    outputs = row.get("output")
    for sample, text in enumerate([outputs] if isinstance(outputs, str) else outputs or [None]):
        answer = _json_answer(as_text(text))
        yield LogRecord(
            place,
            str(row.get("dataset") or "zeroeval"),
            item=str(row.get("id") or row["session_id"]),
            question=as_text(row.get("question")) or prompt,
            prompt=prompt or as_text(row.get("question")),
            model=str(row.get("generator") or row.get("model") or ""),
            system=system,
            options=tuple(map(as_text, choices)),
            targets=() if right is None else (re.sub(r"^#+ ?", "", as_text(right).strip()),),
            sample=sample,
            sampling={key: configs.get(key) for key in ("temperature", "top_p", "max_tokens")},
            text=None if text is None else as_text(text),
            readouts=(
                LogReadout(
                    "json_answer",
                    answer,
                    unreadable=answer is None,
                    reason="" if answer else "No answer in its JSON.",
                ),
            ),
            cost_usd=number_of(row.get("cost")),
        )


def _json_answer(text: str) -> str | None:
    """Return the last `answer` of the JSON in a text, which may break off; None for none."""
    answers = _ANSWER.findall(text)
    if not answers:
        return None
    try:
        value = json.loads(answers[-1])
    except ValueError:
        value = answers[-1].strip('"')
    return str(value).strip() or None


READER = Reader("zeroeval", "ZeroEval results", _recognises, _records, _about)
