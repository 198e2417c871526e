"""Inspect AI: `.eval` (a zip of samples) and `.json` (one document), finished or broken off.

A sample is one member, or a folder of chunks; both occur in one log, so it is decided sample by sample. Long texts and
repeated messages are kept once and referred to.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document
from flipcore.datasets.reading.log_files import Source, member_bytes
from flipcore.datasets.recorded.formats.inspect_samples import record_of
from flipcore.datasets.recorded.formats.reader import Reader, first_object
from flipcore.datasets.recorded.log_records import LogAbout, LogRecord, Rejection, ReportedScore, number_of

_MEMBER = re.compile(r"samples/(.+)_epoch_(\d+)(?:\.json|/sample\.json)")
_MEANS = ("accuracy", "mean")


def _recognises(source: Source) -> bool:
    if source.members:
        return any(name in ("header.json", "_journal/start.json") for name in source.members)
    row = first_object(source)
    return isinstance(row.get("eval"), Mapping) and "version" in row and ("status" in row or "plan" in row or "results" in row)


def _header(source: Source) -> dict[str, Any]:
    """What the log says of itself; of a log that broke off, what it said at the start."""
    if not source.members:
        return _document_header(source)
    name = "header.json" if "header.json" in source.members else "_journal/start.json"
    with zipfile.ZipFile(source.path) as packed:
        header = _parsed(member_bytes(source, packed.getinfo(name)), f"{name} in {source.name}")
    if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
        raise BadInput(f"{name} in {source.name} says nothing of an evaluation; the log is damaged.")
    return header | ({} if name == "header.json" else {"status": "started"})


def _document_header(source: Source) -> dict[str, Any]:
    """The header of a log in one document; one that breaks off among its samples never finished."""
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


def _about(source: Source, beside: Sequence[Source]) -> LogAbout:
    header = _header(source)
    about = LogAbout("Inspect log", leaves=("events", "tool calls", "state"))
    status = str(header.get("status", ""))
    if status and status != "success":
        what = {"started": "never finished", "cancelled": "was cancelled", "error": "ended with an error"}.get(status, status)
        about.notes.append(f"{source.name} {what}: it holds the samples that were done by then, which need not be typical.")
    if _shuffles(header):
        about.notes.append(
            f"{source.name} shuffled each sample's options before asking (shuffle=True). Inspect then rewrites "
            "prompt and answer as if it had not, so the log holds neither the order that the model saw nor what it wrote."
        )
    evaluation = _mapping(header.get("eval"))
    task, model = task_of(evaluation), str(evaluation.get("model") or "")
    about.plan = _plan(evaluation) if status == "success" else {}
    results = _mapping(header.get("results"))
    about.reported = list(_reported(results, task, model, _scorers_of(source) if results else ()))
    return about


def _shuffles(header: Mapping) -> bool:
    """Whether a step of the plan shuffles options (True, or a seed for it)."""
    steps = _mapping(header.get("plan")).get("steps")
    shuffles = (
        [_mapping(_mapping(step).get("params")).get("shuffle") for step in steps or ()] if isinstance(steps, list) else []
    )
    return any(shuffles)


def _mapping(value: Any) -> Mapping:
    return value if isinstance(value, Mapping) else {}


def task_of(evaluation: Mapping) -> str:
    """The task's name without its package."""
    return str(evaluation.get("task_display_name") or evaluation.get("task") or "task").rpartition("/")[2]


def _plan(evaluation: Mapping) -> dict[str, Any]:
    """How many items and epochs a finished log set out to ask, and their ids."""
    dataset, config = _mapping(evaluation.get("dataset")), _mapping(evaluation.get("config"))
    ids = dataset.get("sample_ids")
    own_ids = {str(one) for one in ids} if isinstance(ids, list) and not config.get("sample_id") else set()
    limit, n = config.get("limit"), dataset.get("samples")
    n_items = limit if isinstance(limit, int) and isinstance(n, int) and limit < n else n
    if isinstance(limit, list) or config.get("sample_id"):
        n_items = len(own_ids)
    n_items = min(n_items, len(own_ids)) if own_ids and isinstance(n_items, int) else n_items
    return {"items": n_items if isinstance(n_items, int) else 0, "epochs": config.get("epochs") or 1, "ids": own_ids}


def _scorers_of(source: Source) -> tuple[str, ...]:
    """The names under which the first sample that was scored holds its scores."""
    scores = (_mapping(sample).get("scores") for _, sample, _ in _samples(source))
    return tuple(next((_mapping(one) for one in scores if one), ()))


def _reported(results: Mapping, task: str, model: str, scorers: Sequence[str]) -> Iterator[ReportedScore]:
    """Means over samples; other metrics are no mean of rows. Older logs hold one `scorer` and its `metrics`. A scorer that gives
    several values (`scorers` has its name alone) reports each under the value's name."""
    scores = results.get("scores")
    if not isinstance(scores, list):
        scorer = results.get("scorer")
        scores = [{**_mapping(scorer), "metrics": results.get("metrics")}] if isinstance(scorer, Mapping) else []
    for one in scores:
        metrics = _mapping(_mapping(one).get("metrics"))
        metric = next((name for name in _MEANS if name in metrics), None)
        value = number_of(_mapping(metrics.get(metric)).get("value")) if metric else None
        if value is not None:
            name, scorer = str(one.get("name") or ""), str(one.get("scorer") or "")
            readout = f"{scorer} {name}" if name not in scorers and scorer in scorers else name
            error = number_of(_mapping(metrics.get("stderr")).get("value"))
            n = one.get("scored_samples") or results.get("completed_samples")
            reducer = str(one["reducer"]) if one.get("reducer") else None
            yield ReportedScore(model, task, readout, value, n, error, str(metric), reducer)


def _records(source: Source, beside: Sequence[Source]) -> Iterator[LogRecord | Rejection]:
    header = _header(source)
    evaluation, plan = _mapping(header.get("eval")), _mapping(header.get("plan"))
    settings = {**_mapping(evaluation.get("model_generate_config")), **_mapping(plan.get("config"))}
    common = (task_of(evaluation), str(evaluation.get("model") or ""), settings)
    for place, sample, problem in _samples(source):
        try:
            if problem:
                raise BadInput(problem)
            yield record_of(sample, place, *common)
        except (BadInput, TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            why = str(error) if isinstance(error, BadInput) else f"is no Inspect sample ({type(error).__name__}: {error})"
            yield Rejection(f"{place} {why}".rstrip(".") + ".")


def _samples(source: Source) -> Iterator[tuple[str, Any, str]]:
    """(place, sample, "") or (place, None, what is wrong)."""
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
    """Names of the chunks of each sequence of each chunked sample, in order of their first index."""
    by_folder: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        start = last.removesuffix(".json")
        if folder.count("/") >= 2 and start.isdecimal():
            by_folder.setdefault(folder, []).append((int(start), name))
    return {folder: [name for _, name in sorted(several)] for folder, several in by_folder.items()}


def _sample(source: Source, packed: zipfile.ZipFile, name: str, chunks: Mapping[str, list[str]]) -> dict[str, Any]:
    """A sample as the older shape has it, whichever it is stored in."""

    def read(member: str) -> Any:
        return _parsed(member_bytes(source, packed.getinfo(member)), f"{member} in {source.name}")

    sample = read(name)
    if not isinstance(sample, dict):
        raise BadInput("is no sample")
    if not name.endswith("/sample.json"):
        return sample
    folder = name.removesuffix("/sample.json")
    sequence = {
        kind: [one for chunk in chunks.get(f"{folder}/{kind}", ()) for one in read(chunk)]
        for kind in ("messages", "attachments")
    }
    if f"{folder}/metadata.json" in source.members:
        sample["metadata"] = read(f"{folder}/metadata.json")
    sample["messages"] = [one for ref in sample.get("message_refs", ()) for one in sequence["messages"][ref[0] : ref[1]]]
    sample["attachments"] = {str(i): text for i, text in enumerate(sequence["attachments"])}
    return sample


READER = Reader("inspect", "Inspect AI log", _recognises, _records, _about)
