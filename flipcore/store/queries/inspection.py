"""Everything behind one cell of the flip map: prompts, requests, replies and matched spans."""

import json
from dataclasses import dataclass, replace
from typing import Any

from flipcore.core.records import BASE, IDENTITY, Item, Prompt
from flipcore.store.connection import Store
from flipcore.store.harmless import is_harmless
from flipcore.store.queries import studies
from flipcore.store.queries.raters import rater_name
from flipcore.store.visible import OPENED


@dataclass(frozen=True)
class SampleView:
    """One readout of one sample, with the request and the output.

    `span` is the part of the text with the answer, (start, end) in characters. `alternatives` has
    one entry per call that the readout was made from: (text that the call continues, ((token,
    log-probability in nats), …)). The text is "" at the end of the prompt, and a space where the
    extractor looks at the token after a space. `tokens` are (token, log-probability in nats) of a
    scored text. `rater` is who gave the readout, where it is one person's rating of an output that
    several people rated; else "".
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
    rater: str = ""

    @property
    def reasoning_title(self) -> str:
        """The title above the reasoning; "" if the model is not known to have reasoned."""
        if self.n_tokens_reasoning:
            total = f" of {self.n_tokens_out:,}" if self.n_tokens_out else ""
            remark = "" if self.reasoning else "; the server does not return its text"
            return f"Reasoning before the answer, {self.n_tokens_reasoning:,}{total} tokens{remark}"
        return "Reasoning before the answer, tokens not counted apart" if self.reasoning else ""

    @property
    def ended(self) -> str:
        """A sentence on how the output ended; "" if no text could have been cut off."""
        if self.request.get("kind") != "generate":
            return ""
        if self.finish_reason:
            return f"Ended by: {self.finish_reason.replace('_', ' ')}."
        return "Cut off: not recorded."

    @property
    def log_probabilities(self) -> dict[str, list[dict[str, Any]]]:
        """Log-probabilities by the server, in nats, by title; empty where it returned none.
        Alternatives of the first token are sorted, the likeliest first. Tokens of a scored text are
        in their order."""
        by_title: dict[str, list[dict[str, Any]]] = {}
        for text_before, top in self.alternatives:
            name = f"first token after {text_before!r}" if text_before else "first token"
            likeliest_first = sorted(top, key=lambda pair: -pair[1])
            by_title[name] = [{"token": token, "logprob": nats} for token, nats in likeliest_first]
        by_title["scored text"] = [{"token": token, "logprob": nats} for token, nats in self.tokens]
        return {name: rows for name, rows in by_title.items() if rows}


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
    """An item under one axis and model, with its variants in order; the base comes first.

    `has_raters` is True if samples are ratings of one output by several people, and no reruns.
    """

    item: Item
    variants: tuple[SeenVariant, ...]
    has_raters: bool = False


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
_NO_ANSWER = (None,) * 11  # stands for a completion that is not stored here
_READOUTS = """
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
    """Return what the inspector shows of an item. None for an item that is not part of the study,
    or that is set aside without a lock."""
    item_rows = store.rows(_ITEM, study_id=study_id, item_id=item_id)
    if not item_rows:
        return None
    _, dataset, kind, question, options, target, category, solution = item_rows[0]
    item = Item(
        item_id,
        dataset,
        kind=kind,
        question=question,
        options=tuple(options),
        target=target,
        category=category,
        published=None,
        solution=solution,
    )
    axis = _stored_axis(store, study_id, item_id, axis)
    key_columns = {"study_id": study_id, "item_id": item_id, "axis": axis}
    study = studies.study(store, study_id)
    rater_columns = study.rater_columns if study else ()
    graders = study.scorer_names if study and rater_columns else ()
    views: dict[str, list[SampleView]] = {}
    answers = _answers_by_readout(store, model=model, **key_columns)
    for variant_id, sample, extractor, *reading in store.rows(
        _READOUTS, model=model, **key_columns
    ):
        view = _sample_view(
            (sample, extractor, *reading), answers.get((variant_id, sample, extractor), [])
        )
        # Our extractors read the output, which is the same whoever rated it.
        if extractor in graders:
            view = replace(view, rater=rater_name(view.raw_reply, rater_columns, sample))
        views.setdefault(variant_id, []).append(view)
    variant_rows = store.rows(_VARIANTS, **key_columns)
    prompts = _by_id(store, _PROMPTS, [variant_id for variant_id, *_ in variant_rows])
    variants = []
    for variant_id, key, compared_with, params in variant_rows:
        if variant_id not in prompts:
            continue
        parts, system, order, labels, target = prompts[variant_id]
        variants.append(
            SeenVariant(
                variant_id=variant_id,
                key=key,
                compared_with=compared_with,
                prompt=Prompt(tuple((part, text) for part, text in json.loads(parts))).transcript,
                system=system,
                order=tuple(order),
                labels=tuple(labels),
                readings=tuple(views.get(variant_id, ())),
                target=target,
                is_harmless=is_harmless(axis, key, params),
            )
        )
    return Inspection(item, tuple(variants), has_raters=bool(rater_columns))


def _stored_axis(store: Store, study_id: str, item_id: str, axis: str) -> str:
    """Return the axis under which the item's rows are stored. Results on an item's own prompt name
    the axis `identity`. But an imported table's own prompt is stored as the base of another axis,
    that of its versions."""
    key_columns = {"study_id": study_id, "item_id": item_id}
    if axis != IDENTITY or store.rows(_VARIANTS, axis=axis, **key_columns):
        return axis
    return store.value(_AXIS_OF_BASE, base=BASE, **key_columns) or axis


def _answers_by_readout(
    store: Store, **key_columns: str
) -> dict[tuple[str, int, str], list[tuple]]:
    """Return (variant, sample, extractor) -> completions that it was read from, in order."""
    sources = store.rows(_SOURCES, **key_columns)
    answers = _by_id(store, _ANSWERS, list({call_id for *_, call_id in sources}))
    by_readout: dict[tuple[str, int, str], list[tuple]] = {}
    for variant_id, sample, extractor, call_id in sources:
        by_readout.setdefault((variant_id, sample, extractor), []).append(
            answers.get(call_id, _NO_ANSWER)
        )
    return by_readout


def _by_id(store: Store, sql: str, ids: list[str]) -> dict[str, tuple]:
    """Return id -> the other columns of its row. The query lists the ids one by one, so that DuckDB
    uses its index. A join would read the texts of all studies."""
    if not ids:
        return {}
    params = {f"id_{number}": row_id for number, row_id in enumerate(ids)}
    query = sql.format(ids=", ".join(f"${name}" for name in params))
    return {row[0]: row[1:] for row in store.rows(query, **params)}


def _sample_view(row: tuple, answers: list[tuple]) -> SampleView:
    """Return the view of a readout; its text is that of the last of its completions `answers`."""
    # The columns of _READOUTS and _ANSWERS, in their order.
    sample, extractor, status, answer, value, is_correct, *remaining_columns = row
    start, end, reason, probabilities, label_mass = remaining_columns
    text, error, request, raw_reply, reasoning, finish_reason, tokens, *token_counts = (
        answers[-1] if answers else _NO_ANSWER
    )
    n_tokens_out, n_tokens_reasoning, *_ = token_counts
    return SampleView(
        sample=sample,
        extractor=extractor,
        status=status,
        answer=answer,
        value=value,
        is_correct=is_correct,
        span=None if start is None else (start, end),
        reason=reason,
        probabilities=tuple((option, share) for option, share in json.loads(probabilities)),
        label_mass=label_mass,
        text=text or "",
        error=error or "",
        request=json.loads(request) if request else {},
        raw_reply=raw_reply or "",
        reasoning=reasoning or "",
        finish_reason=finish_reason or "",
        alternatives=tuple(
            (text_before, tuple(json.loads(top).items()))
            for *_, text_before, top in answers
            if top is not None
        ),
        tokens=tuple((token, nats) for token, nats in json.loads(tokens)) if tokens else (),
        n_tokens_out=n_tokens_out,
        n_tokens_reasoning=n_tokens_reasoning,
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
    """Return the id of the last completion that a readout was read from; None without one."""
    key_columns = {"study_id": study_id, "model": model, "item_id": item_id, "axis": axis}
    readout = {"variant_id": variant_id, "sample": sample, "extractor": extractor}
    [(call_id,)] = store.rows(_SOURCE, **key_columns, **readout)
    return call_id
