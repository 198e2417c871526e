"""Records as rows of their tables."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable

from flipcore import __version__
from flipcore.core.finish import finish_reason, separate_reasoning
from flipcore.core.records import Call, Completion, Item, Readout, Variant
from flipcore.core.study import Study

RULE_VERSION = "majority-1"  # the rule by which `queries.paraphrase_states` lets verdicts decide


def now() -> dt.datetime:
    """This moment, in UTC."""
    return dt.datetime.now(dt.UTC)


def _json(value) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def item_row(item: Item) -> dict:
    """A row of `items`."""
    published = dt.date.fromisoformat(item.published) if item.published else None
    return vars(item) | {"options": list(item.options), "meta": _json(dict(item.meta)), "published": published}


def study_row(study: Study, state: str, message: str = "", **times) -> dict:
    """A row of `studies`; `times` are n_calls, started_at and ended_at."""
    return {
        "study_id": study.study_id,
        "name": study.name,
        "toml": study.to_toml(),
        "code_version": __version__,
        "state": state,
        "message": message,
        "n_calls": times.get("n_calls"),
        "created_at": now(),
        "started_at": times.get("started_at"),
        "ended_at": times.get("ended_at"),
    }


def variant_row(variant: Variant) -> dict:
    """A row of `variants`."""
    return {
        "variant_id": variant.variant_id,
        "item_id": variant.item_id,
        "system": variant.prompt.system,
        "parts": _json(variant.prompt.parts),
        "option_order": list(variant.order),
        "labels": list(variant.labels),
        "layout": variant.layout,
        "target": variant.target,
    }


def study_variant_rows(study_id: str, variants: Iterable[Variant]) -> list[dict]:
    """Rows of `study_variants`, in the order of the variants."""
    return [
        {
            "study_id": study_id,
            "item_id": v.item_id,
            "axis": v.axis,
            "variant_id": v.variant_id,
            "key": v.key,
            "position": i,
            "compared_with": v.compared_with,
            "material_id": v.material_id,
            "params": _json(dict(v.params)),
        }
        for i, v in enumerate(variants)
    ]


def completion_row(call: Call, completion: Completion, simulated: bool) -> dict:
    """A row of `completions`."""
    return {
        "call_id": call.call_id,
        "model": call.model,
        "revision": call.revision,
        "simulated": simulated,
        "request": _json(vars(call.request)),
        "sample": call.sample,
        "parent_id": call.parent_id,
        "status": completion.status,
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "tokens": None if completion.tokens is None else _json(completion.tokens),
        "top_logprobs": None if completion.top_logprobs is None else _json(dict(completion.top_logprobs)),
        "n_tokens_in": completion.n_tokens_in,
        "n_tokens_out": completion.n_tokens_out,
        "cost_usd": completion.cost_usd,
        "latency_s": completion.latency_s,
        "n_attempts": completion.n_attempts,
        "error": completion.error,
        "raw_reply": completion.raw_reply,
        "reasoning": completion.reasoning,
        "created_at": now(),
    }


def completion_of(row: dict) -> Completion:
    """A stored row as the record that extractors read; an older file may hold the reasoning inside the text."""
    tokens, top = row["tokens"], row["top_logprobs"]
    completion = Completion(
        row["call_id"],
        row["status"],
        row["text"],
        finish_reason(row["finish_reason"]),
        None if tokens is None else tuple((text, logprob) for text, logprob in json.loads(tokens)),
        None if top is None else json.loads(top),
        row["n_tokens_in"],
        row["n_tokens_out"],
        row["cost_usd"],
        row["latency_s"],
        row["n_attempts"],
        row["error"],
        row["raw_reply"],
        row.get("reasoning") or "",
    )
    return separate_reasoning(completion)


def readout_rows(study_id: str, readouts: Iterable[Readout]) -> tuple[list[dict], list[dict]]:
    """Rows for `readouts` and for `readout_sources`."""
    rows, sources = [], []
    for r in readouts:
        key = {
            "study_id": study_id,
            "model": r.model,
            "item_id": r.item_id,
            "axis": r.axis,
            "variant_id": r.variant_id,
            "sample": r.sample,
            "extractor": r.extractor,
        }
        low, high = r.reading.span or (None, None)
        rows.append(
            key
            | {
                "status": r.reading.status,
                "answer": r.reading.answer,
                "value": r.reading.value,
                "is_correct": r.is_correct,
                "span_start": low,
                "span_end": high,
                "reason": r.reading.reason,
                "probabilities": _json(r.reading.probabilities),
                "label_mass": r.reading.label_mass,
            }
        )
        sources += [key | {"position": i, "call_id": call_id} for i, call_id in enumerate(r.source_ids)]
    return rows, sources
