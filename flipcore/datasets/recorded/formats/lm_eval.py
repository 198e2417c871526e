"""lm-evaluation-harness: `samples_*.jsonl` with `results_*.json`, or both in one file.

A line holds one document under one filter; lines of one document are readouts of one completion.
Only the results file holds model and settings. Results of `simple_evaluate` contain the samples.
All layouts of `arguments` and `resps` in earlier versions are read.
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.json_streams import json_document, json_lines
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded import log_records as log
from flipcore.datasets.recorded.formats.reader import Reader, first_object, of_same_time, records_at
from flipcore.datasets.recorded.log_records import (
    LogAbout,
    LogReadout,
    LogRecord,
    Rejection,
    ReportedScore,
)

INVALID = {"[invalid]", "[no match]", "[nomatch]", "[invalidanswer]"}
QUESTION = (
    "question",
    "query",
    "problem",
    "Question",
    "input",
    "question_text",
    "ctx",
    "goal",
    "sentence",
    "text",
    "prompt",
)
_OPTIONS = ("options", "choices", "endings", "candidates")
# metrics of loglikelihood_rolling
_PERPLEXITIES = {"word_perplexity", "byte_perplexity", "bits_per_byte"}
# the lookbehind skips quotes in texts, which have a backslash
_SAMPLES = re.compile(rb'(?<!\\)"samples"\s*:\s*\{\s*"[^"]+"\s*:\s*\[')
MODEL_BY_FILE = "model by its file"
# metrics whose readouts are named by the filter alone
_UNNAMED_METRICS = ("exact_match", "acc")


def readout_name(metric: str, filter_name: str) -> str:
    """Return the name of a metric under a filter, the same in rows and in reported scores."""
    if filter_name in ("none", "", "null"):
        return metric
    return filter_name if metric in _UNNAMED_METRICS else f"{filter_name} {metric}"


def _recognises(source: Source) -> bool:
    row = first_object(source)
    is_row = {"doc_id", "doc"} <= row.keys() and ("resps" in row or "filtered_resps" in row)
    return is_row or _holds_samples(source)


def _belongs(source: Source) -> bool:
    return _are_results(source) and not _holds_samples(source)


@dataclass(frozen=True)
class SamplesName:
    """The task and model in the name of a samples file without a results file.

    `group` lists the models of all such files with the same questions.
    """

    task: str
    model: str
    group: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """A note for all files of the group: which models were assumed, and how to correct them."""
        return (
            f"{len(self.group)} sample files have no results file beside them, so each is taken "
            "for a model of its own, "
            f"called by its file: {', '.join(self.group)}. Add their results_….json, or name them: "
            f"--map {shlex.quote(f'model:{self.model}=NAME')}. If they are runs of one model: "
            "--map model=NAME."
        )


def names_of_samples(
    sources: Sequence[Source], companions: Sequence[Source]
) -> dict[str, SamplesName]:
    """Name the models of samples files with the same questions and without a results file, by file.

    Such files do not name their model. If two models were read as one, their differences would
    count as noise between reruns.
    """
    groups: dict[tuple[str, str], list[Source]] = {}
    for source in sources:
        document = first_object(source).get("doc")
        if _recognises(source) and isinstance(document, dict) and not _results(source, companions):
            task = _task(source, {}) if source.stem.startswith("samples_") else ""
            groups.setdefault((task, json.dumps(document, sort_keys=True)), []).append(source)
    names: dict[str, SamplesName] = {}
    for (task, _), group in groups.items():
        folders = [source.path.parent.name for source in group]
        labels = [source.stem.removeprefix(f"samples_{task}_") for source in group]
        if len(set(folders)) == len(group):
            labels = folders
        if len(group) > 1 and len(set(labels)) == len(group):
            for source, label in zip(group, labels, strict=True):
                names[source.name] = SamplesName(task or "samples", label, tuple(labels))
    return names


def named_reader(name: SamplesName) -> Reader:
    """Return the reader of a samples file with this name."""
    return replace(READER, records=partial(_records, name=name), about=partial(_about, name=name))


def _are_results(source: Source) -> bool:
    row = first_object(source)
    return isinstance(row.get("results"), dict) and ("versions" in row or "configs" in row)


def _holds_samples(source: Source) -> bool:
    """Tell whether a results file contains its samples."""
    if not _are_results(source):
        return False
    with source.open() as stream:
        previous_end = b""  # the key may be split between two chunks
        while chunk := stream.read(1 << 20):
            if _SAMPLES.search(previous_end + chunk):
                return True
            previous_end = chunk[-200:]
    return False


def _about(
    source: Source, companions: Sequence[Source], name: SamplesName | None = None
) -> LogAbout:
    about = LogAbout(
        "lm-eval samples",
        leaves=("metrics that are lists", "tokens (none are logged)", "finish reasons"),
    )
    results = _results(source, companions)
    if name:
        if name.model == name.group[0]:  # one note for the group
            about.notes.append(name.sentence)
            about.doubts.append((MODEL_BY_FILE, name.sentence))
        return about
    if not results:
        about.notes.append(
            f"{source.name} has no results file beside it, so the model and the reported scores "
            "are unknown. Add results_….json, or name the model."
        )
        return about
    about.uses = (results["name"],)
    # a group of tasks has a score among the results too, but no rows
    tasks = results["data"].get("configs") or results["data"]["results"]
    for task in tasks if _holds_samples(source) else [_task(source, results)]:
        about.reported += _reported(task, results)
    return about


def _reported(task: str, results: Mapping) -> Iterator[ReportedScore]:
    scores = results["data"]["results"].get(task, {})
    n = (results["data"].get("n-samples") or {}).get(task, {})
    for key, value in scores.items():
        metric, _, filter_name = key.partition(",")
        error = log.number_of(scores.get(f"{metric}_stderr,{filter_name}"))
        if not metric.endswith("_stderr") and isinstance(value, (int, float)) and filter_name:
            name = readout_name(metric, filter_name)
            yield ReportedScore(
                results["model"],
                task,
                readout=name,
                value=float(value),
                n=n.get("effective"),
                stderr=error,
                metric=metric,
            )


def _results(source: Source, companions: Sequence[Source]) -> dict[str, Any]:
    """Return data, name and model of the results of a samples file; {} for none.

    They are in the same file, or in the file of the same folder with the same time in its name.
    """
    folder_files = [file for file in companions if file.folder == source.folder]
    results = source if _holds_samples(source) else of_same_time(source, folder_files)
    if not results:
        return {}
    data = dict(json_document(results))
    data.pop("samples", None)
    config = data["config"] if isinstance(data.get("config"), dict) else {}
    return {"data": data, "name": results.name, "model": _model(data, config)}


def _model(data: Mapping, config: Mapping) -> str:
    """Return the model: `model=` of the arguments, else `model_name`, which may be a back end."""
    settings = config.get("model_args")
    if not isinstance(settings, dict):
        parts = str(settings or "").split(",")
        settings = dict(part.split("=", 1) for part in parts if "=" in part)
    return str(
        settings.get("model")
        or settings.get("pretrained")
        or data.get("model_name")
        or config.get("model")
        or ""
    )


def _task(source: Source, results: Mapping) -> str:
    """Return the longest task of the results file with which the samples file's name begins."""
    names = [*results.get("data", {}).get("results", {})] if results else []
    fitting = [task for task in names if f"{source.stem}_".startswith(f"samples_{task}_")]
    if fitting or len(names) == 1:
        return max(fitting or names, key=len)
    stem = source.stem.removeprefix("samples_")
    name, _, stamp = stem.rpartition("_")
    has_time = name and stamp.startswith("20")  # 2024-05-01T…
    return name if has_time else stem or "task"


def _records(
    source: Source, companions: Sequence[Source], name: SamplesName | None = None
) -> Iterator[LogRecord | Rejection]:
    results = _results(source, companions)
    model = name.model if name else results.get("model", "")
    for task, place, row, problem in _rows(source, results):
        task = name.task if name else task
        yield from records_at(
            f"{place} of {source.name}", problem, "lm-eval sample", _row_records, row, task, model
        )


def _rows(source: Source, results: Mapping) -> Iterator[tuple[str, str, Any, str]]:
    """Yield (task, place, row, problem) of each sample."""
    if _holds_samples(source):
        samples: Any = next((value for key, value in json_document(source) if key == "samples"), {})
        for task, rows in samples.items():
            for number, row in enumerate(rows, 1):
                yield task, f"Sample {number} of {task}", row, ""
        return
    task = _task(source, results)
    if source.head.lstrip()[:1] == b"[":
        for number, (_, row) in enumerate(json_document(source), 1):
            yield task, f"Row {number}", row, ""
    else:
        for number, row, problem in json_lines(source):
            yield task, f"Line {number}", row, problem


def _row_records(row: Any, place: str, task: str, model: str) -> Iterator[LogRecord]:
    if not isinstance(row, dict) or not isinstance(row.get("doc"), dict):
        raise BadInput("has no document")
    if "doc_id" not in row and "doc_hash" not in row:
        raise BadInput("has no doc_id")
    requests = _requests(row.get("arguments"))
    if not requests:
        raise BadInput("has no arguments, so its prompt is not known")
    if not (_PERPLEXITIES.isdisjoint(_metrics(row)) and _PERPLEXITIES.isdisjoint(row)):
        raise BadInput("scores a whole text by its perplexity, which is no answer to anything")
    doc = row["doc"]
    context, continuation = requests[0]  # settings in place of a continuation ask for a text
    prompt, system = log.prompt_from(context)
    record = LogRecord(
        place,
        task,
        item=str(row.get("doc_id", "")),
        question=_question(doc) or prompt,
        prompt=prompt,
        model=model,
        system=system,
        item_hash=str(row.get("doc_hash") or _document_hash(doc)),
        category=str(doc.get("category") or doc.get("subject") or doc.get("Subject") or ""),
        family=log.family_of(doc),
        mark=log.mark_of(doc),
    )
    if isinstance(continuation, str):
        yield _with_scores(record, row, doc, requests)
    else:
        record.sampling = _sampling(continuation)
        yield from _generated_records(record, row, doc)


def _requests(arguments: Any) -> list[tuple[Any, Any]]:
    """Return (context, continuation or settings) of each request of a row, in any layout."""
    if isinstance(arguments, dict):
        named = [value for name, value in arguments.items() if str(name).startswith("gen_args")]
        requests = [request for request in named or [arguments] if isinstance(request, dict)]
        return [(request.get("arg_0"), request.get("arg_1")) for request in requests]
    if isinstance(arguments, list):
        calls = arguments if arguments and isinstance(arguments[0], (list, tuple)) else [arguments]
        return [(call[0], call[1] if len(call) > 1 else {}) for call in calls if call]
    return []


def _document_hash(doc: Mapping) -> str:
    """Compute the `doc_hash` of newer versions, for rows of older ones."""
    text = json.dumps(doc, indent=2, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _question(doc: Mapping) -> str:
    for name in QUESTION:
        value = doc.get(name)
        if isinstance(value, dict):
            value = value.get("stem") or value.get("text")
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _options(doc: Mapping) -> tuple[str, ...]:
    for name in _OPTIONS:
        value = doc.get(name)
        if isinstance(value, dict):
            value = value.get("text")
        if isinstance(value, (list, tuple)) and len(value) > 1:
            return tuple(log.as_text(text) for text in value)
    # GPQA holds its options in the order shown, as choice1, choice2 …
    numbered = tuple(log.as_text(doc[name]) for n in range(1, 27) if (name := f"choice{n}") in doc)
    inner = doc.get("question")
    return numbered if len(numbered) > 1 else _options(inner) if isinstance(inner, dict) else ()


def _sampling(settings: Any) -> dict[str, Any]:
    params = settings if isinstance(settings, dict) else {}
    until, temperature = params.get("until"), params.get("temperature")
    if params.get("do_sample") is False and log.number_of(temperature) is None:
        temperature = 0.0
    return {
        "temperature": temperature,
        "top_p": params.get("top_p"),
        "max_tokens": params.get("max_gen_toks")
        or params.get("max_tokens")
        or params.get("max_new_tokens"),
        "seed": params.get("seed"),
        "stop": [until] if isinstance(until, str) else until,
    }


def _generated_records(record: LogRecord, row: Mapping, doc: Mapping) -> Iterator[LogRecord]:
    """Yield one record per repeat.

    The first has the row's readouts; each has its own if the filter returns an answer per repeat.
    """
    texts, answers = _texts(row.get("resps")), _answers(row.get("filtered_resps"))
    target = row.get("target")
    record.options = _options(doc)
    if target is None or target == "":
        record.targets = ()
    else:
        record.targets = tuple(map(str, target if isinstance(target, (list, tuple)) else [target]))
    score_version(record, doc)
    if not texts:
        raise BadInput("has no response")
    for sample, text in enumerate(texts):
        sample_record = record if sample == len(texts) - 1 else replace(record)
        sample_record.sample, sample_record.text = sample, text
        if sample == 0 or len(answers) == len(texts):
            sample_record.readouts = tuple(
                _readouts(row, answers[sample] if sample < len(answers) else None, sample)
            )
        else:
            sample_record.readouts = ()
        yield sample_record


def _texts(resps: Any) -> list[str]:
    """Return the responses of one document, from [[text, text]] or flat [text]."""
    resps = _innermost_list(resps)
    if not isinstance(resps, list):
        return [resps] if isinstance(resps, str) else []
    texts = []
    for response in resps:
        if isinstance(response, list):
            response = response[0] if response else ""
        texts.append(log.as_text(response))
    return texts


def _answers(filtered: Any) -> list[Any]:
    filtered = _innermost_list(filtered)
    return filtered if isinstance(filtered, list) else [] if filtered is None else [filtered]


def _innermost_list(value: Any) -> Any:
    """Remove lists around a single list."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    return value


def _metrics(row: Mapping) -> list[str]:
    metrics = row.get("metrics")
    if isinstance(metrics, list) and metrics:
        return [str(metric) for metric in metrics]
    usual = ("exact_match", "acc", "acc_norm", "f1", "em", "mc1", "mc2")
    return [name for name in usual if name in row]


def _readouts(row: Mapping, answer: Any, sample: int) -> Iterator[LogReadout]:
    """Yield the readouts of a row's metrics; the first has the filter's answer, the rest a score.

    A metric of all rows together (BLEU) logs lists, so a row has no score of it.
    """
    filter_name = str(row.get("filter") or "none")
    answer_text = None if answer is None else log.as_text(answer)
    for place, metric in enumerate(_metrics(row) or ["answer"]):
        name, is_first = readout_name(metric, filter_name), place == 0
        if isinstance(row.get(metric), (list, tuple)):
            yield LogReadout(name, reason=f"{metric} is a measure of all rows together.")
            continue
        score = log.number_of(row.get(metric)) if sample == 0 else None
        unreadable = is_first and (answer_text is None or answer_text.strip().lower() in INVALID)
        yield LogReadout(
            name,
            answer_text if is_first and not unreadable else None,
            is_correct=log.right_of(score),
            score=score,
            unreadable=unreadable,
            reason=f"The filter {filter_name} found no answer." if unreadable else "",
        )


def _with_scores(record: LogRecord, row: Mapping, doc: Mapping, requests: list) -> LogRecord:
    """Complete the record of a log-likelihood row, with a score per option."""
    continuations = [log.as_text(continuation) for _, continuation in requests]
    scores = _scores(row, len(requests))
    half = len(requests) // 2
    if len(requests) > 2 and continuations[:half] == continuations[half:]:
        # the second half scores the same options without the question
        continuations, scores, requests = continuations[:half], scores[:half], requests[:half]
    record.options = _scored_options(doc, continuations, requests)
    record.option_scores, record.continuations = tuple(scores), tuple(continuations)
    target = row.get("target")
    right = "" if target is None else str(target).strip()
    record.targets = () if target is None else (right,)
    record.target_is_place = right.isdecimal() and int(right) < len(scores)
    record.kind = "choice" if len(record.options) > 1 else "text"
    record.readouts = tuple(_scored_readouts(row, scores, continuations))
    return record


def _scores(row: Mapping, n: int) -> list[float]:
    """Return log-likelihoods from `resps`, [[["-25.6", "False"]], …], or flat `filtered_resps`."""
    log_likelihoods = []
    for response in row.get("resps") or row.get("filtered_resps") or []:
        while isinstance(response, list) and response and isinstance(response[0], list):
            response = response[0]
        value = log.number_of(response[0] if isinstance(response, list) and response else response)
        log_likelihoods.append(float("nan") if value is None else value)
    if len(log_likelihoods) != n:
        raise BadInput(f"has {len(log_likelihoods)} log-likelihoods for {n} requests")
    return log_likelihoods


def _scored_options(doc: Mapping, continuations: list[str], requests: list) -> tuple[str, ...]:
    options = _options(doc)
    if len(options) == len(continuations):
        return options
    if len(set(continuations)) == len(continuations):
        return tuple(continuation.strip() for continuation in continuations)
    return tuple(log.as_text(context)[-200:] for context, _ in requests)


def _scored_readouts(
    row: Mapping, scores: list[float], continuations: list[str]
) -> Iterator[LogReadout]:
    """Yield the readouts of a log-likelihood row: the option with the highest score per length."""
    texts = [continuation.lstrip() for continuation in continuations]
    lengths = {
        "acc": [1] * len(scores),
        "acc_norm": [len(text) for text in texts],
        "acc_bytes": [len(text.encode()) for text in texts],
    }
    for metric in _metrics(row) or ["acc"]:
        score = log.number_of(row.get(metric))
        place = None
        if metric in lengths and len(scores) > 1:
            values = [value / max(1, n) for value, n in zip(scores, lengths[metric], strict=True)]
            if not any(value != value for value in values):
                place = max(range(len(values)), key=values.__getitem__)
        name = readout_name(metric, str(row.get("filter") or "none"))
        yield LogReadout(
            name, None if place is None else str(place), log.right_of(score), score, place=place
        )


# SCORE tasks ask an item several times: its right option is moved, or its prompt is changed.

MOVED, PROMPT = "option_order", "prompt_format"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def score_version(record: LogRecord, doc: Mapping) -> None:
    """Make a record of a SCORE task a version of its question; leave other records as they are."""
    if "question_id" not in doc:
        return
    original = log.whole_number(doc.get("original_answer_index"))
    if original is not None and isinstance(doc.get("always_same_option"), str) and record.options:
        _restore_order(record, doc, original, doc["always_same_option"])
    elif "prompt_id" in doc and "prompt" in doc:
        record.item, record.item_hash = str(doc["question_id"]), ""
        prompt = str(doc["prompt_id"])
        record.axis, record.variant = (PROMPT, f"prompt-{prompt}") if prompt != "0" else ("", "")


def _restore_order(record: LogRecord, doc: Mapping, original: int, label: str) -> None:
    """Restore the item's own order: the right option was moved from place `original` to `label`."""
    place = _LETTERS.find(label)
    n_options = len(record.options)
    order = list(range(n_options))
    if 0 <= place < n_options and original < n_options:
        order[place], order[original] = order[original], order[place]
    original_options = list(record.options)
    for position, index in enumerate(order):
        original_options[index] = record.options[position]
    record.item, record.item_hash = str(doc["question_id"]), ""
    record.options, record.order = tuple(original_options), tuple(order)
    record.targets, record.target_is_place = (str(original),), True
    is_unchanged = place == original or place >= n_options
    record.axis, record.variant = ("", "") if is_unchanged else (MOVED, f"right at {label}")
    record.meta = {}


READER = Reader(
    "lm-eval",
    "lm-evaluation-harness samples",
    recognises=_recognises,
    records=_records,
    about=_about,
    belongs=_belongs,
)
