"""τ-bench and τ²-bench: result files of agents, a trajectory and a reward per trial.

There is no right answer: the reward is the score. τ-bench writes a list of
`{task_id, reward, info, traj, trial}`, τ²-bench one document with `info`, `tasks` and
`simulations` (read by its published code; no such file was available).
"""

import json
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
    right_of,
)

_ENDED_BY_ERROR = ("too_many_errors", "agent_error", "user_error")


def _is_tau2(source: Source) -> bool:
    row = first_object(source)
    return "simulations" in row and ("tasks" in row or "info" in row)


def _recognises(source: Source) -> bool:
    return {"task_id", "reward", "traj", "trial"} <= set(first_object(source)) or _is_tau2(source)


def _about(source: Source, companions: Sequence[Source]) -> LogAbout:
    about = LogAbout("τ²-bench results", leaves=("the tasks' expected actions",))
    if not _is_tau2(source):
        note = f"{source.name} does not say which model acted. Name it with --map model=NAME."
        about.format, about.notes = "τ-bench results", [note]
    return about


def _records(source: Source, companions: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    rows = (
        _simulations(source)
        if _is_tau2(source)
        else ((row, "tau-bench", "", {}) for _, row in json_document(source))
    )
    for number, (row, *context) in enumerate(rows, start=1):
        yield from records_at(
            f"Trial {number} of {source.name}", "", "trial", _trial_records, row, *context
        )


def _simulations(source: Source) -> Iterator[tuple[Any, str, str, Mapping[str, str]]]:
    """Yield (trial, domain, model, instructions by task) of a τ²-bench document."""
    task, model, instructions = "tau2-bench", "", {}
    for key, value in json_document(source, ("tasks", "simulations")):
        if key == "info" and isinstance(value, Mapping):
            task = str((value.get("environment_info") or {}).get("domain_name") or task)
            model = str((value.get("agent_info") or {}).get("llm") or "")
        elif key == "tasks" and isinstance(value, Mapping):
            scenario = (value.get("user_scenario") or {}).get("instructions")
            instructions[str(value.get("id"))] = (
                scenario if isinstance(scenario, str) else json.dumps(scenario, ensure_ascii=False)
            )
        elif key == "simulations":
            yield value, task, model, instructions


def _trial_records(
    row: Any, place: str, task: str, model: str, instructions: Mapping[str, str]
) -> Iterator[LogRecord]:
    if not isinstance(row, Mapping) or "task_id" not in row:
        raise BadInput("has no task_id")
    item = str(row["task_id"])
    info, turns = row.get("info") or {}, row.get("traj") or row.get("messages") or []
    reward_info = row.get("reward_info") or {}
    reward = number_of(row["reward"] if "reward" in row else reward_info.get("reward"))
    instruction = as_text((info.get("task") or {}).get("instruction")) or instructions.get(item, "")
    replies = [as_text(turn.get("content")) for turn in turns if turn.get("role") == "assistant"]
    replies = [reply for reply in replies if reply.strip()]
    ending, error = str(row.get("termination_reason") or ""), as_text(info.get("error") or "")
    if not error and ending in _ENDED_BY_ERROR:
        error = f"Ended by {ending.replace('_', ' ')}."
    reason = "No reward." if reward is None else ""
    yield LogRecord(
        place,
        task,
        item=item,
        question=instruction or f"task {item}",
        prompt=instruction or f"task {item}",
        model=model,
        system=next(
            (as_text(turn.get("content")) for turn in turns if turn.get("role") == "system"), ""
        ),
        kind="text",
        sample=int(row.get("trial") or 0),
        text=replies[-1] if replies else "",
        error=error,
        cost_usd=number_of(row.get("agent_cost")),
        latency_s=number_of(row.get("duration")),
        raw_reply=json.dumps({"messages": turns}, ensure_ascii=False),
        readouts=(LogReadout("reward", None, right_of(reward), reward, reason=reason),),
    )


READER = Reader("tau-bench", "τ-bench and τ²-bench results", _recognises, _records, _about)
