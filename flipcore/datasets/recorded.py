"""Outputs that somebody else recorded, several variants an item, so that they go through the same statistics as ours.

A `Recording` declares which columns hold what. Nothing is guessed: a field that a record lacks is an absent readout, and
a score without full probabilities has an unknown label mass (statistics.md, sections 0 and 15).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.datasets.checks import checked
from flipcore.datasets.reading import Row, read_rows
from flipcore.errors import BadInput
from flipcore.layouts import labels_of
from flipcore.records import (
    ABSENT,
    BASE,
    OK,
    UNREADABLE,
    Call,
    Completion,
    Item,
    Prompt,
    Reading,
    Readout,
    Request,
    Variant,
    correctness,
)


@dataclass(frozen=True)
class Field:
    """One recorded readout: `column` holds a score for each label or option text, or the label or option text itself.

    `top_token` and `top_score` name the columns of the likeliest first token and its score on the same scale (logits or
    log-probabilities); they bound the label mass from above.
    """

    extractor: str
    column: str
    top_token: str = ""
    top_score: str = ""


@dataclass(frozen=True)
class Recording:
    """Which columns of a file hold what.

    One row is an item whose columns `nested`… ("shuffle_0", "shuffle_1") hold its variants; without `nested` one row is
    a variant, and rows with the same `item` column belong together, the first being the base. The options shown are the
    list or the keys in the column `options`, or what `option_pattern` finds in the prompt (one group). `order` names a
    permutation column, where `order[i]` is the item's own index at position i; without it options are matched by their
    text. `text` is the generated text, read after the last `text_after`.
    """

    dataset: str
    model: str
    prompt: str
    fields: tuple[Field, ...] = ()
    nested: str = ""
    item: str = ""
    options: str = ""
    option_pattern: str = ""
    order: str = ""
    question: str = ""
    text: str = ""
    text_after: str = ""
    axis: str = "option_order"


@dataclass(frozen=True)
class Record:
    """One variant as it was recorded, in the pipeline's own types."""

    item: Item
    variant: Variant
    call: Call
    completion: Completion
    readouts: tuple[Readout, ...]


@dataclass(frozen=True)
class RecordedReport:
    """`refused` are (line, sentence) of the items that do not fit the recording."""

    records: tuple[Record, ...]
    refused: tuple[tuple[int, str], ...] = ()


def recorded(path: str, recording: Recording) -> RecordedReport:
    """Every recorded variant, item by item, the base first; raises BadInput when no item fits the recording."""
    kept: list[Record] = []
    refused = []
    for line, key, variants in _grouped(read_rows(path), recording):
        try:
            kept += _records(key, variants, recording)
        except KeyError as error:
            refused.append((line, f"Line {line} has no column {error.args[0]!r}; correct the recording's columns."))
        except (TypeError, ValueError, AttributeError) as error:
            refused.append((line, f"Line {line} holds a value of the wrong type ({error})."))
        except BadInput as error:
            refused.append((line, f"Line {line} {error}."))
    if not kept:
        raise BadInput(f"Nothing of {path} fits the recording. {refused[0][1] if refused else 'It has no rows.'}")
    return RecordedReport(tuple(kept), tuple(refused))


def _grouped(rows: Iterator[Row], recording: Recording) -> Iterator[tuple[int, str, list[tuple[str, Mapping]]]]:
    """(line, item key, [(variant key, its columns)]): the first variant has the key of the base."""
    groups: dict[str, tuple[int, list[tuple[str, Mapping]]]] = {}
    for number, row in enumerate(rows):
        if recording.nested:
            found = [(name, {**row.values, **value}) for name, value in row.values.items()
                     if name.startswith(recording.nested) and isinstance(value, Mapping)]
            groups[str(number)] = row.line, found
        else:
            key = str(row.values.get(recording.item, number))
            _, before = groups.setdefault(key, (row.line, []))
            before.append((f"variant-{len(before)}", row.values))
    for key, (line, found) in groups.items():
        yield line, key, [(BASE if place == 0 else name, values) for place, (name, values) in enumerate(found)]


def _records(key: str, variants: Sequence[tuple[str, Mapping]], recording: Recording) -> list[Record]:
    if not variants:
        raise BadInput(f"has no column that begins with {recording.nested!r}")
    item = _item(key, variants[0][1], recording)
    return [_record(item, name, values, _order(item, values, recording), recording) for name, values in variants]


def _shown(values: Mapping[str, Any], recording: Recording) -> tuple[str, ...]:
    """The options in the order in which the prompt showed them."""
    found = values[recording.options] if recording.options else re.findall(
        recording.option_pattern, values[recording.prompt], re.MULTILINE)
    return tuple(str(one).strip() for one in found)


def _item(key: str, first: Mapping[str, Any], recording: Recording) -> Item:
    """The item in its own order of options. Two options with one text are refused unless a permutation tells them apart."""
    shown = _shown(first, recording)
    own = list(first[recording.order]) if recording.order else list(range(len(shown)))
    if sorted(own) != list(range(len(shown))):
        raise BadInput(f"has the order {own} for {len(shown)} options")
    item = Item.make(dataset=recording.dataset, key=key, kind="choice",
                     question=first[recording.question or recording.prompt],
                     options=tuple(shown[own.index(place)] for place in range(len(shown))))
    return item if recording.order else checked(item)


def _order(item: Item, values: Mapping[str, Any], recording: Recording) -> tuple[int, ...]:
    """The item's own index of the option at each position of this variant."""
    shown = _shown(values, recording)
    if sorted(shown) != sorted(item.options):
        raise BadInput("shows other options in one variant than in its first")
    if not recording.order:
        return tuple(item.options.index(text) for text in shown)
    order = tuple(values[recording.order])
    if [item.options[place] for place in order] != list(shown):
        raise BadInput(f"says the order {list(order)}, but the prompt shows another")
    return order


def _record(item: Item, name: str, values: Mapping, order: tuple[int, ...], recording: Recording) -> Record:
    labels = labels_of("upper", len(order))
    variant = Variant(item.item_id, recording.axis, name, Prompt((("recorded", values[recording.prompt]),)), None, order,
                      labels, "recorded")
    call = Call(recording.model, "recorded", Request("generate", variant.prompt.text))
    completion = _completion(call, values, recording)
    readouts = []
    for field in recording.fields:
        reading = _reading(item, variant, values, field)
        readouts.append(Readout(recording.model, item.item_id, recording.axis, variant.variant_id, 0, field.extractor,
                                reading, correctness(reading, item.target), (call.call_id,)))
    return Record(item, variant, call, completion, tuple(readouts))


def _completion(call: Call, values: Mapping, recording: Recording) -> Completion:
    """The generated text; the recorded fields are kept as the raw reply."""
    kept = {field.column: values.get(field.column) for field in recording.fields}
    raw = json.dumps(kept, ensure_ascii=False)
    text = values.get(recording.text)
    if not isinstance(text, str):
        return Completion(call.call_id, "failed", error="The record holds no generated text.", raw_reply=raw)
    if recording.text_after and recording.text_after in text:
        text = text.rpartition(recording.text_after)[2]
    return Completion(call.call_id, "ok", text=text, raw_reply=raw)


def _reading(item: Item, variant: Variant, values: Mapping, field: Field) -> Reading:
    value = values.get(field.column)
    if value is None or value == {} or value != value:
        return Reading(ABSENT, reason=f"The record has no field {field.column!r}.")
    if isinstance(value, Mapping):
        return _scored(item, variant, value, values, field)
    option = _option(item, variant, str(value))
    if option is None:
        return Reading(UNREADABLE, reason=f"{str(value)[:80]!r} names none of the options, or several.")
    return Reading(OK, answer=option)


def _scored(item: Item, variant: Variant, scores: Mapping, values: Mapping, field: Field) -> Reading:
    """The argmax over the options' scores; equal scores everywhere are a placeholder."""
    named = {_option(item, variant, str(key)): score for key, score in scores.items()}
    if None in named or any(not isinstance(score, (int, float)) or score != score for score in named.values()):
        raise BadInput(f"holds scores in {field.column!r} that are no numbers or belong to no option")
    best = max(named.values())
    winners = [option for option, score in named.items() if score == best]
    if len(winners) == len(named) > 1:
        return Reading(ABSENT, reason=f"Every score in {field.column!r} is {best}: a placeholder.")
    if len(winners) > 1:
        return Reading(UNREADABLE, reason=f"{len(winners)} options have the same highest score.")
    return Reading(OK, answer=winners[0], reason=_mass_note(variant, list(named.values()), values, field))


def _mass_note(variant: Variant, scores: Sequence[float], values: Mapping, field: Field) -> str:
    """What is known of the label mass: nothing, or that it is at most labels / (labels + likeliest other token)."""
    top, token = values.get(field.top_score), values.get(field.top_token)
    if not isinstance(top, (int, float)) or token is None or str(token).strip() in variant.labels:
        return "Label mass unknown: only the labels' scores were recorded."
    bound = 1 / (1 + 1 / sum(math.exp(min(score - top, 700.0)) for score in scores))
    return f"Label mass unknown, at most {bound:.2g}: the likeliest first token was {str(token)!r}."


def _option(item: Item, variant: Variant, text: str) -> str | None:
    """The canonical option that a label, an option's text, or both ("B. oak") name; a text of two options names none."""
    text = text.strip()
    if item.options.count(text) == 1:
        return str(item.options.index(text))
    for label, place in zip(variant.labels, variant.order, strict=True):
        if text == label or re.fullmatch(rf"\(?{re.escape(label)}[.):]\s*{re.escape(item.options[place])}", text):
            return str(place)
    return None
