"""The rows behind one cell of the flip surface: prompts, completions, matched spans, the raw
exchange."""

import json
from dataclasses import dataclass
from typing import Any

from flipcore.core.records import BASE, IDENTITY, Item, Prompt
from flipcore.store.connection import Store
from flipcore.store.harmless import is_harmless
from flipcore.store.visible import OPENED


@dataclass(frozen=True)
class SampleView:
    """One readout of one sample: what was sent, what came back, what was read from it, and from
    where.

    `alternatives` are the first-token alternatives in nats of every call that it was read from, in
    order, each behind the text that the call went on from ("" at the prompt's end; a blank where
    the reading looks through one).
    """

    sample: int
    extractor: str
    status: str
    answer: str | None
    value: float | None
    is_correct: bool | None
    span: tuple[int, int] | None
    reason: str
    probabilities: tuple[tuple[str, float], ...]
    label_mass: float | None
    text: str
    error: str
    request: dict
    raw_reply: str
    reasoning: str = ""
    finish_reason: str = ""
    alternatives: tuple[tuple[str, tuple[tuple[str, float], ...]], ...] = ()
    tokens: tuple[tuple[str, float], ...] = ()
    n_tokens_out: int | None = None
    n_tokens_reasoning: int | None = None

    @property
    def reasoning_title(self) -> str:
        """The title above the folded reasoning; "" where the model is not known to have
        reasoned."""
        if self.n_tokens_reasoning:
            total = f" of {self.n_tokens_out:,}" if self.n_tokens_out else ""
            remark = "" if self.reasoning else "; the server does not return its text"
            return f"Reasoning before the answer, {self.n_tokens_reasoning:,}{total} tokens{remark}"
        return "Reasoning before the answer, tokens not counted apart" if self.reasoning else ""

    @property
    def ended(self) -> str:
        """Say how the completion ended; "" where no text could have been cut off."""
        if self.request.get("kind") != "generate":
            return ""
        if self.finish_reason:
            return f"Ended by: {self.finish_reason.replace('_', ' ')}."
        return "Cut off: not recorded."

    @property
    def log_probabilities(self) -> dict[str, list[dict[str, Any]]]:
        """The log-probabilities that the server returned, in nats, the likeliest first: of the
        first token's alternatives at each place that was asked about, or of a scored text's tokens
        in their order. Empty where it returned none."""
        by_place: dict[str, list[dict[str, Any]]] = {}
        for behind, top in self.alternatives:
            name = f"first token after {behind!r}" if behind else "first token"
            likeliest_first = sorted(top, key=lambda pair: -pair[1])
            by_place[name] = [{"token": token, "logprob": nats} for token, nats in likeliest_first]
        by_place["scored text"] = [{"token": token, "logprob": nats} for token, nats in self.tokens]
        return {name: rows for name, rows in by_place.items() if rows}


@dataclass(frozen=True)
class SeenVariant:
    variant_id: str
    key: str
    compared_with: str
    prompt: str
    system: str
    order: tuple[int, ...]
    labels: tuple[str, ...]
    readings: tuple[SampleView, ...]
    target: str | None = None
    is_harmless: bool = True


@dataclass(frozen=True)
class Inspection:
    """An item under one axis and model: its variants in order, the base first."""

    item: Item
    variants: tuple[SeenVariant, ...]


_VARIANTS = """
SELECT variant_id, key, compared_with, params FROM study_variants
WHERE study_id = $study_id AND item_id = $item_id AND axis = $axis ORDER BY position
"""
_AXIS_OF_BASE = """
SELECT axis FROM study_variants
WHERE study_id = $study_id AND item_id = $item_id AND key = $base
GROUP BY axis ORDER BY min(position), axis LIMIT 1
"""
_PROMPTS = (
    "SELECT variant_id, parts, system, option_order, labels, target FROM variants WHERE variant_id"
    " IN ({ids})"
)
_SOURCES = """
SELECT variant_id, sample, extractor, call_id FROM readout_sources
WHERE study_id = $study_id AND model = $model AND item_id = $item_id AND axis = $axis
    ORDER BY position
"""
_ANSWERS = """
SELECT call_id, text, error, request, raw_reply, reasoning, finish_reason, tokens, n_tokens_out,
    n_tokens_reasoning,
       coalesce(request->>'$.continuation', ''), top_logprobs::VARCHAR
FROM completions WHERE call_id IN ({ids})
"""
_NO_ANSWER = (None,) * 11  # of a source that this file does not hold
_READINGS = """
SELECT variant_id, sample, extractor, status, answer, value, is_correct, span_start, span_end,
    reason, probabilities, label_mass
FROM readouts WHERE study_id = $study_id AND model = $model AND item_id = $item_id AND axis = $axis
    ORDER BY sample, extractor
"""
_ITEM = f"""
SELECT item_id, dataset, kind, question, options, target, category, solution
FROM study_items i JOIN items USING (item_id) WHERE study_id = $study_id AND item_id = $item_id
    AND {OPENED}
"""


def inspection(
    store: Store, study_id: str, model: str, item_id: str, axis: str
) -> Inspection | None:
    """Return what the inspector shows of an item; None for an item that is not the study's, or that
    it set aside and has no lock for."""
    item_rows = store.rows(_ITEM, study_id=study_id, item_id=item_id)
    if not item_rows:
        return None
    key, dataset, kind, question, options, target, category, solution = item_rows[0]
    item = Item(key, dataset, kind, question, tuple(options), target, category, None, solution)
    axis = _stored_axis(store, study_id, item_id, axis)
    place = {"study_id": study_id, "item_id": item_id, "axis": axis}
    readings: dict[str, list[SampleView]] = {}
    answers = _answers_by_place(store, model=model, **place)
    for variant_id, sample, extractor, *reading in store.rows(_READINGS, model=model, **place):
        view = _reading(
            (sample, extractor, *reading), answers.get((variant_id, sample, extractor), [])
        )
        readings.setdefault(variant_id, []).append(view)
    rows = store.rows(_VARIANTS, **place)
    prompts = _by_id(store, _PROMPTS, [variant_id for variant_id, *_ in rows])
    variants = []
    for variant_id, name, base_key, params in rows:
        if variant_id not in prompts:
            continue
        parts, system, order, labels, target = prompts[variant_id]
        variants.append(
            SeenVariant(
                variant_id=variant_id,
                key=name,
                compared_with=base_key,
                prompt=Prompt(tuple((part, text) for part, text in json.loads(parts))).transcript,
                system=system,
                order=tuple(order),
                labels=tuple(labels),
                readings=tuple(readings.get(variant_id, ())),
                target=target,
                is_harmless=is_harmless(axis, name, params),
            )
        )
    return Inspection(item, tuple(variants))


def _stored_axis(store: Store, study_id: str, item_id: str, axis: str) -> str:
    """Return the axis under which the item's rows are stored.

    What is said of an item's own prompt is said of the axis `identity`. The own prompt of an
    imported table is stored as the base of the axis of its versions.
    """
    place = {"study_id": study_id, "item_id": item_id}
    if axis != IDENTITY or store.rows(_VARIANTS, axis=axis, **place):
        return axis
    rows = store.rows(_AXIS_OF_BASE, base=BASE, **place)
    return rows[0][0] if rows else axis


def _answers_by_place(store: Store, **place: str) -> dict[tuple[str, int, str], list[tuple]]:
    """(variant, sample, extractor) -> the completions that it was read from, in order."""
    sources = store.rows(_SOURCES, **place)
    answers = _by_id(store, _ANSWERS, list({call_id for *_, call_id in sources}))
    by_place: dict[tuple[str, int, str], list[tuple]] = {}
    for variant_id, sample, extractor, call_id in sources:
        by_place.setdefault((variant_id, sample, extractor), []).append(
            answers.get(call_id, _NO_ANSWER)
        )
    return by_place


def _by_id(store: Store, sql: str, ids: list[str]) -> dict[str, tuple]:
    """Id -> the rest of its row. The ids stand in the query one by one, so that DuckDB looks them
    up in its index: a join reads the texts of every study."""
    if not ids:
        return {}
    params = {f"id_{place}": row_id for place, row_id in enumerate(ids)}
    query = sql.format(ids=", ".join(f"${name}" for name in params))
    return {row[0]: row[1:] for row in store.rows(query, **params)}


def _reading(row: tuple, answers: list[tuple]) -> SampleView:
    """`answers` are the completions that it was read from; its text is the last one's."""
    sample, extractor, status, answer, value, right, start, end, reason, probabilities, mass = row
    text, error, request, raw, reasoning, finish, tokens, n_out, n_reasoning, *_ = (
        answers[-1] if answers else _NO_ANSWER
    )
    return SampleView(
        sample=sample,
        extractor=extractor,
        status=status,
        answer=answer,
        value=value,
        is_correct=right,
        span=None if start is None else (start, end),
        reason=reason,
        probabilities=tuple((option, share) for option, share in json.loads(probabilities)),
        label_mass=mass,
        text=text or "",
        error=error or "",
        request=json.loads(request) if request else {},
        raw_reply=raw or "",
        reasoning=reasoning or "",
        finish_reason=finish or "",
        alternatives=tuple(
            (behind, tuple(json.loads(top).items()))
            for *_, behind, top in answers
            if top is not None
        ),
        tokens=tuple((token, nats) for token, nats in json.loads(tokens)) if tokens else (),
        n_tokens_out=n_out,
        n_tokens_reasoning=n_reasoning,
    )


_SOURCE = f"""
SELECT arg_max(call_id, r.position) FROM readout_sources r JOIN study_items i
    USING (study_id, item_id)
WHERE study_id = $study_id AND model = $model AND item_id = $item_id AND axis = $axis
    AND variant_id = $variant_id
AND sample = $sample AND extractor = $extractor AND {OPENED}
"""


def source_of(
    store: Store,
    study_id: str,
    model: str,
    item_id: str,
    axis: str,
    variant_id: str,
    sample: int,
    extractor: str,
) -> str | None:
    """The id of the completion that a readout was read from last; None where it was read from
    none."""
    place = {"study_id": study_id, "model": model, "item_id": item_id, "axis": axis}
    readout = {"variant_id": variant_id, "sample": sample, "extractor": extractor}
    [(call_id,)] = store.rows(_SOURCE, **place, **readout)
    return call_id
