"""A study in the format Every Eval Ever 0.3.0 (arXiv:2606.14516).

Each model has a file of aggregates and a file of instances, in which a readout is an
`answer_attribution`. Other tools can read them without knowing Flipscope.
"""

import hashlib
import json
import re
import time
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from flipcore.access.acting import Permission, require
from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, IDENTITY, digest
from flipcore.core.study import ModelUse, Study
from flipcore.core.version import __version__
from flipcore.core.whole_files import whole_file, write
from flipcore.extractors import EXTRACTORS
from flipcore.reports.unread import unread_share, why_unread
from flipcore.stats.base.accuracy import accuracy
from flipcore.stats.base.intervals import mean_interval
from flipcore.store.connection import Store
from flipcore.store.queries import exchange, studies

SCHEMA = "0.3.0"
OWN_PROMPT = IDENTITY  # the axis by which an import knows the base prompt
# Characters that are replaced in file names, because file systems may refuse them.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass
class _Result:
    """Scores of one dataset under one axis by one extractor; the lists have a value per output."""

    evaluation: str
    dataset: str
    extractor: str
    items: list[str] = field(default_factory=list)
    families: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)


@dataclass
class _ModelFiles:
    """The files of one model while they are written. `n_rows` counts the lines. `n_ungraded` counts
    the readouts left out: losses and failed calls, which are neither right nor wrong."""

    name: str
    folder: Path
    stem: str
    results: dict[tuple[str, str], _Result] = field(default_factory=dict)
    # Scores of different roles mean different things, so they are not pooled.
    has_roles: bool = False
    n_rows: int = 0
    n_ungraded: int = 0

    @property
    def samples_path(self) -> Path:
        return self.folder / f"{self.stem}_samples.jsonl"

    @property
    def model_id(self) -> str:
        return self.name if "/" in self.name else f"unknown/{self.name}"


def write_every_eval_ever(
    store: Store, study_id: str, folder: str | Path, retrieved: float | None = None
) -> list[Path]:
    """Write the files and return their paths, aggregates first.

    A base prompt that several axes share is written once. The variants of an axis are an evaluation
    "DATASET under AXIS". Ungraded readouts (losses, failed calls) are left out and counted.
    `retrieved` is a time in seconds since 1970, by default now. Raises BadInput for a study that is
    not stored or has nothing to write.
    """
    require(Permission.PUBLISH)
    study = studies.study(store, study_id)
    if study is None:
        raise BadInput(f"There is no study {study_id!r} in {store.path}.")
    models: dict[str, _ModelFiles] = {}
    written_bases: set[tuple] = set()
    streams: dict[str, Any] = {}
    with ExitStack() as files:
        for row in exchange.rows_to_export(store, study_id):
            name = row["model"]
            if name not in models:
                models[name] = _make_model_files(study, name, Path(folder))
            model = models[name]
            if row["variant"] == BASE:
                key = (name, row["variant_id"], row["sample"], row["extractor"])
                if key in written_bases:
                    continue
                written_bases.add(key)
            if row["is_correct"] is None or row["call_id"] is None:
                model.n_ungraded += 1
                continue
            if name not in streams:
                # The file gets its final name only when it is complete.
                draft = files.enter_context(whole_file(model.samples_path))
                streams[name] = files.enter_context(draft.open("w", encoding="utf-8"))
            line = json.dumps(_add_readout(study, model, row), ensure_ascii=False)
            streams[name].write(f"{line}\n")
    if not streams:
        raise BadInput(
            "No readout of this study is graded, so there is nothing to write in this format."
        )
    # All models share one retrieval time.
    if retrieved is None:
        retrieved = time.time()
    aggregates = [_aggregate(study, models[name], retrieved) for name in streams]
    return [*aggregates, *(models[name].samples_path for name in streams)]


def _make_model_files(study: Study, name: str, folder: Path) -> _ModelFiles:
    developer, _, short_name = (name if "/" in name else f"unknown/{name}").partition("/")
    names = (study.name, developer, short_name)
    parts = [_UNSAFE.sub("-", part).strip("-.") or "x" for part in names]
    # The format needs a UUID. This one depends on the study and model alone, so a repeated export
    # gives the same files.
    content_hash = hashlib.sha256(f"{study.study_id}\x00{name}".encode()).hexdigest()
    stem = str(uuid.UUID(content_hash[:32], version=4))
    has_roles = len(study.roles) > 1
    return _ModelFiles(name, folder.joinpath("data", *parts), stem, has_roles=has_roles)


def _evaluation_id(study: Study, model: _ModelFiles) -> str:
    return f"{study.study_id}/{model.model_id}/{model.stem}"


def _add_readout(study: Study, model: _ModelFiles, row: Mapping[str, Any]) -> dict[str, Any]:
    """Add one readout to the aggregates, and return the object of its line in the file."""
    evaluation = row["dataset"]
    if model.has_roles:
        evaluation = f"{evaluation}, {row['role'].replace('_', ' ')} items"
    if row["variant"] != BASE:
        evaluation = f"{evaluation} under {row['axis']}"
    result = model.results.setdefault(
        (evaluation, row["extractor"]), _Result(evaluation, row["dataset"], row["extractor"])
    )
    result.items.append(row["item_id"])
    result.families.append(row["family"])
    result.scores.append(float(row["is_correct"]))
    result.statuses.append(row["status"])
    model.n_rows += 1
    targets = [target for target in (row["target"] or "").split("\n") if target]
    reference = [_answer_text(row, target) for target in targets]
    prompt = "".join(text for _, text in json.loads(row["parts"]))
    n_in, n_out, usage = row["n_tokens_in"], row["n_tokens_out"], None
    if n_in is not None and n_out is not None:
        usage = {"input_tokens": n_in, "output_tokens": n_out, "total_tokens": n_in + n_out}
    latency = None if row["latency_s"] is None else {"latency_ms": 1000 * row["latency_s"]}
    extracted = "" if row["answer"] is None else _answer_text(row, row["answer"])
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(study, model),
        "model_id": model.model_id,
        "evaluation_name": evaluation,
        "evaluation_result_id": _result_id(study, model, result),
        "sample_id": row["item_id"],
        "sample_hash": _sample_hash(row["question"], reference),
        "interaction_type": "single_turn",
        "input": {
            "raw": row["question"],
            "formatted": f"{row['system']}\n\n{prompt}" if row["system"] else prompt,
            "reference": reference,
            "choices": [row["options"][index] for index in row["option_order"]] or None,
        },
        "output": {
            "raw": [row["text"] or ""],
            "reasoning_trace": [row["reasoning"]] if row["reasoning"] else None,
        },
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": extracted,
                "extraction_method": row["extractor"],
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(row["is_correct"]), "is_correct": bool(row["is_correct"])},
        "token_usage": usage,
        "performance": latency,
        "error": row["error"] or None,
        "metadata": _metadata(row),
    }


def _metadata(row: Mapping[str, Any]) -> dict[str, str]:
    """Return what the format has no field for, such as axis and variant."""
    meta = {
        "flipscope_axis": OWN_PROMPT if row["variant"] == BASE else row["axis"],
        "flipscope_variant_key": row["variant"],
        "flipscope_role": row["role"],
        "flipscope_status": row["status"],
        "sample": str(row["sample"]),
        "finish_reason": row["finish_reason"] or "",
        "category": row["category"] or "",
        "reason": row["reason"] or "",
    }
    return {key: value for key, value in meta.items() if value}


def _answer_text(row: Mapping[str, Any], answer: str) -> str:
    """Return an answer as text; for a multiple-choice item the text of the option."""
    options = row["options"]
    if row["kind"] == "choice" and answer.isdecimal() and int(answer) < len(options):
        return options[int(answer)]
    return answer


def _sample_hash(raw: str, reference: list[str]) -> str:
    """Return the hash by which the format matches samples across harnesses."""
    text = json.dumps(
        {"raw": raw, "reference": reference},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _result_id(study: Study, model: _ModelFiles, result: _Result) -> str:
    extractor = result.extractor.replace("/", "-").replace("#", "-")
    return f"{study.study_id}/{digest(model.name, result.evaluation)[:8]}#{extractor}"


def _why_unread(model: _ModelFiles, result: _Result) -> str:
    """Say why a result has no score: most of the outputs could not be read. "" if it has one."""
    # The scores of a log's own scorer are exported as they were imported.
    if result.extractor not in EXTRACTORS:
        return ""
    return why_unread(model.name, result.extractor, unread_share(pd.Series(result.statuses)))


def _aggregate(study: Study, model: _ModelFiles, retrieved: float) -> Path:
    """Write the file of aggregates: one result per dataset, axis and extractor. Intervals resample
    clusters of items."""
    content = model.samples_path.read_bytes()
    formats: list[str] = []
    for source in study.items:
        formats += source.options.get("formats", ())
    declared_uses = (use for use in study.models if use.name == model.name)
    use = next(declared_uses, ModelUse(model.name))
    results, withheld = [], {}
    for result in model.results.values():
        if reason := _why_unread(model, result):
            withheld[f"not_claimed: {result.evaluation}, {result.extractor}"] = reason
        else:
            results.append(_result_document(study, model, use, result))
    details = {"study_id": study.study_id}
    if formats:
        details["imported_from"] = ", ".join(formats)
    document = {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(study, model),
        "retrieved_timestamp": str(retrieved),
        "source_metadata": {
            "source_name": study.name,
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": details,
        },
        "eval_library": {"name": "flipscope", "version": __version__},
        "model_info": {
            "name": model.name,
            "id": model.model_id,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": results,
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": "/".join(["data", *model.folder.parts[-3:], model.samples_path.name]),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(content).hexdigest(),
            "total_rows": model.n_rows,
            "additional_details": {"readouts_without_a_score": str(model.n_ungraded)} | withheld,
        },
    }
    path = model.folder / f"{model.stem}.json"
    return write(path, json.dumps(document, ensure_ascii=False, indent=1))


def _result_document(
    study: Study, model: _ModelFiles, use: ModelUse, result: _Result
) -> dict[str, Any]:
    # With reruns an item's score is a mean, not just 0 or 1, so it needs another interval.
    is_single = len(set(result.items)) == len(result.items)
    compute_mean = accuracy if is_single else mean_interval
    score = compute_mean(result.scores, result.families)
    uncertainty: dict[str, Any] = {"num_samples": len(set(result.items))}
    if score.has_interval:
        uncertainty["confidence_interval"] = {
            "lower": score.low,
            "upper": score.high,
            "confidence_level": score.level,
            "method": score.method,
        }
    return {
        "evaluation_result_id": _result_id(study, model, result),
        "evaluation_name": result.evaluation,
        "source_data": {"dataset_name": result.dataset, "source_type": "other"},
        "metric_config": {
            "evaluation_description": (
                f"Share of answers that are right, read by {result.extractor}"
            ),
            "metric_id": "accuracy",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
            "additional_details": {"extractor": result.extractor},
        },
        "score_details": {"score": score.value, "uncertainty": uncertainty},
        "generation_config": {
            "generation_args": {
                "temperature": use.temperature,
                "top_p": use.top_p,
                "max_tokens": use.max_tokens,
            }
        },
    }
