"""Convert records to rows of their tables, and back."""

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flipcore.core.finish import finish_reason, separate_reasoning
from flipcore.core.json_encoding import json_encoder
from flipcore.core.records import Call, Completion, Item, Readout, Variant
from flipcore.core.study import Study
from flipcore.core.version import __version__
from flipcore.store.schema import tables

RULE_VERSION = "majority-1"  # the rule by which `queries.paraphrase_states` lets verdicts decide


def now() -> dt.datetime:
    """Return the current time in UTC."""
    return dt.datetime.now(dt.UTC)


_encode = json_encoder()
_EMPTY_JSON: dict[type, str] = {dict: "{}", list: "[]", tuple: "[]"}


def json_text(value: Any) -> str:
    """Return a value as JSON text."""
    if not value and type(value) in _EMPTY_JSON:
        return _EMPTY_JSON[type(value)]
    return _encode(value)


def _row(table: str, values: Mapping[str, Any]) -> dict:
    """Return the values for columns of the table, those for JSON columns as text."""
    names, json_names = tables()[table].columns_among(tuple(values))
    row = {name: values[name] for name in names}
    for name in json_names:
        if row[name] is not None:
            row[name] = json_text(row[name])
    return row


def item_row(item: Item) -> dict:
    """Return the row of `items`."""
    published = dt.date.fromisoformat(item.published) if item.published else None
    return _row(
        "items",
        vars(item)
        | {"options": list(item.options), "meta": dict(item.meta), "published": published},
    )


def item_of(row: Mapping[str, Any]) -> Item:
    """Return the item of a row of `items` whose `published` is text."""
    return Item(**{**row, "options": tuple(row["options"]), "meta": json.loads(row["meta"])})


def study_row(
    study: Study,
    state: str,
    message: str = "",
    plugins: Sequence[Mapping[str, str]] = (),
    **further_columns: Any,
) -> dict:
    """Return the row of `studies`. `plugins` are kind, name, package and version of each plug-in of
    another package. `further_columns` are n_calls, started_at, ended_at and others, as far as they
    are known."""
    declared = {
        "study_id": study.study_id,
        "name": study.name,
        "toml": study.to_toml(),
        "code_version": __version__,
        "plugins": list(plugins),
    }
    return _row(
        "studies",
        declared | {"state": state, "message": message, "created_at": now()} | further_columns,
    )


def variant_row(variant: Variant) -> dict:
    """Return the row of `variants`."""
    prompt_columns = {
        "variant_id": variant.variant_id,
        "option_order": list(variant.order),
        "labels": list(variant.labels),
    }
    return _row(
        "variants",
        vars(variant)
        | prompt_columns
        | {"system": variant.prompt.system, "parts": variant.prompt.parts},
    )


def study_variant_rows(study_id: str, variants: Iterable[Variant]) -> list[dict]:
    """Return the rows of `study_variants`, in the order of the variants."""
    return [
        _row(
            "study_variants",
            vars(variant)
            | {
                "study_id": study_id,
                "variant_id": variant.variant_id,
                "position": i,
                "params": dict(variant.params),
            },
        )
        for i, variant in enumerate(variants)
    ]


def completion_row(call: Call, completion: Completion, simulated: bool) -> dict:  # noqa: FBT001
    """Return the row of `completions`."""
    top_logprobs = completion.top_logprobs
    call_columns = {
        "request": call.request.declared(),
        "top_logprobs": None if top_logprobs is None else dict(top_logprobs),
        "simulated": simulated,
    }
    return _row("completions", vars(call) | vars(completion) | call_columns | {"created_at": now()})


def completion_of(row: dict) -> Completion:
    """Return the completion of a stored row; reasoning within an older row's text is separated."""
    top_logprobs, spread = row["top_logprobs"], row.get("spread")
    completion = Completion(
        call_id=row["call_id"],
        status=row["status"],
        text=row["text"],
        finish_reason=finish_reason(row["finish_reason"]),
        tokens=_pairs(row["tokens"]),
        top_logprobs=None if top_logprobs is None else json.loads(top_logprobs),
        n_tokens_in=row["n_tokens_in"],
        n_tokens_out=row["n_tokens_out"],
        cost_usd=row["cost_usd"],
        latency_s=row["latency_s"],
        n_attempts=row["n_attempts"],
        error=row["error"],
        raw_reply=row["raw_reply"],
        reasoning=row.get("reasoning") or "",
        n_lost=row.get("n_lost") or 0,
        n_tokens_reasoning=row.get("n_tokens_reasoning"),
        spread=_pairs(spread),
        other_model=row.get("other_model") or "",
    )
    return separate_reasoning(completion)


def _pairs(text: str | None) -> tuple[tuple[Any, Any], ...] | None:
    """Return a stored JSON list of pairs as tuples."""
    return None if text is None else tuple((first, second) for first, second in json.loads(text))


def readout_rows(study_id: str, readouts: Iterable[Readout]) -> tuple[list[dict], list[dict]]:
    """Return (rows of `readouts`, rows of `readout_sources`)."""
    rows, sources = [], []
    key = tables()["readouts"].key
    for readout in readouts:
        start, end = readout.reading.span or (None, None)
        values = (
            vars(readout)
            | vars(readout.reading)
            | {"study_id": study_id, "span_start": start, "span_end": end}
        )
        rows.append(_row("readouts", values))
        key_values = {name: values[name] for name in key}
        sources += [
            key_values | {"position": i, "call_id": call_id}
            for i, call_id in enumerate(readout.source_ids)
        ]
    return rows, sources
