"""Outputs that somebody else recorded, several variants an item, so that they go through the same statistics as ours.

A `Recording` declares which columns hold what. Nothing is guessed: a field that a record lacks is an absent readout, and
a score without full probabilities has an unknown label mass.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.finish import separate_reasoning
from flipcore.core.folders import allowed
from flipcore.core.records import BASE, ROLES, Call, Completion, Item, Prompt, Readout, Request, Variant, correctness
from flipcore.datasets.reading.checks import checked
from flipcore.datasets.reading.columns import options_in
from flipcore.datasets.recorded.fields import Field, reading_of, right_answer
from flipcore.datasets.recorded.grouping import Key, Refusal, VariantRow, batches
from flipcore.text.prompts import labels_of


@dataclass(frozen=True)
class Recording:
    """Which columns of a file hold what.

    One row is an item whose columns `nested`... ("shuffle_0", "shuffle_1") hold its variants; without `nested` one row is
    a variant, and rows with the same `item` column belong together, the first being the base unless the column `variant`
    names another "base". The same prompt under the same name again is a further sample. The options shown are the list or
    the keys in the column `options`, or what `option_pattern` finds in the prompt (one group); with neither the answers are
    numbers. `order` names a permutation column, where `order[i]` is the item's own index at position i; without it options
    are matched by their text. `text` is the generated text, read after the last `text_after`. `target` names the right
    option by text, label or place from 0; a variant's own right answer is its own. `model` is the model's name, or `models` the
    column that holds it; `axes`, `role`, `harmless` and `sample` name columns that say them row by row. `answers` is the kind of all items
    ("text", "number", "choice") where it does not follow from the options. A column may be a path: doc.options, resps[0][0].
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
    target: str = ""
    variant: str = ""
    models: str = ""
    answers: str = ""
    axes: str = ""
    role: str = ""
    harmless: str = ""
    sample: str = ""

    @property
    def kind(self) -> str:
        return self.answers or ("choice" if self.options or self.option_pattern else "number")

    @property
    def columns(self) -> tuple[str, ...]:
        """Every name of a column, or path to one, that the recording uses."""
        own = (self.prompt, self.item, self.options, self.order, self.question, self.text, self.target, self.variant)
        inner = [name for one in self.fields for name in (one.column, one.top_token, one.top_score)]
        return (*own, self.models, self.axes, self.role, self.harmless, self.sample, *inner)


@dataclass(frozen=True)
class Record:
    """One sample of one variant as it was recorded, in the pipeline's own types."""

    item: Item
    variant: Variant
    call: Call
    completion: Completion
    readouts: tuple[Readout, ...]
    sample: int = 0
    role: str = "benchmark"

    @property
    def is_repeated(self) -> bool:
        """Whether its prompt stands under another name within the item already."""
        return "repeat" in self.variant.params


@dataclass(frozen=True)
class RecordedReport:
    """`refusals` are of the rows that do not fit the recording; `n_repeated` prompts stand under several names within their
    item."""

    records: tuple[Record, ...]
    refusals: tuple[Refusal, ...] = ()
    n_repeated: int = 0


def recorded(path: str, recording: Recording) -> RecordedReport:
    """All of `stream` at once; raises BadInput when no row fits the recording."""
    records: list[Record] = []
    refusals: list[Refusal] = []
    for one in stream(path, recording):
        if isinstance(one, Record):
            records.append(one)
        else:
            refusals.append(one)
    if not records:
        raise nothing_fits(path, refusals[0].sentence if refusals else "")
    return RecordedReport(tuple(records), tuple(refusals), sum(record.is_repeated for record in records))


def nothing_fits(path: str | Path, first_refusal: str) -> BadInput:
    """What is raised for a file none of whose rows fits its recording."""
    return BadInput(f"Nothing of {Path(path).name} fits the recording. {first_refusal or 'It has no rows.'}")


def stream(path: str, recording: Recording) -> Iterator[Record | Refusal]:
    """Every recorded variant, item by item, the base first; memory does not grow with the file.

    A row that does not fit is refused alone; an item without its base is refused whole. Raises BadInput for a recording that
    cannot be read by.
    """
    if not recording.prompt:
        raise BadInput("The recording names no column for the prompt; say which one holds what the model was asked.")
    try:
        re.compile(recording.option_pattern)
    except re.error as error:
        raise BadInput(
            f"{recording.option_pattern!r} is not a regular expression ({error}); it should find each option in "
            "the prompt, with the option's text in one group."
        ) from None
    builder = _Making(recording, revision_of(path))
    for several in batches(path, recording):
        if isinstance(several, Refusal):
            yield several
            continue
        for key, variants in several:
            yield from builder.group(key, variants)
        builder.forget()


def revision_of(path: str | Path) -> str:
    """What tells two files apart: the same prompt in another recording is another completion."""
    file = allowed(path)
    if not file.is_file():
        return "recorded-"
    with file.open("rb") as content:
        return f"recorded-{hashlib.file_digest(content, 'sha256').hexdigest()[:8]}"


class _Making:
    """Rows to records. Remembers each item, so that all models are asked the same one, and each prompt, so that what was
    asked twice is a further sample or a repeated variant."""

    def __init__(self, recording: Recording, revision: str) -> None:
        self.recording, self.revision = recording, revision
        self.n_calls: Counter[tuple[str, bytes]] = Counter()  # by the model and a digest of the prompt
        self.forget()

    def forget(self) -> None:
        """Lets go of the items so far: those that follow are others."""
        self.items: dict[str, Item] = {}
        self.names: dict[tuple, dict[str, str]] = {}  # (model, item) -> prompt -> name, where rows carry no name
        self.raw: dict[str, Any] = {}  # item -> its base's right answer as the row wrote it
        self.samples: set[tuple] = set()
        self.n_samples: Counter[tuple] = Counter()  # (model, item, prompt, name)

    def group(self, key: Key, variants: Sequence[VariantRow]) -> Iterator[Record | Refusal]:
        """The records of one item under one model."""
        for place, row in enumerate(variants):
            try:
                yield self.record(key, row, is_base=place == 0)
                continue
            except KeyError as error:
                why = f"has no column {error.args[0]!r}; correct the recording's columns"
            except (TypeError, ValueError, AttributeError) as error:
                why = f"holds a value of the wrong type ({error})"
            except BadInput as error:
                why = str(error).removesuffix(".")
            yield Refusal(row.line, f"Line {row.line} {why}.")
            if place == 0:
                for one in variants[1:]:
                    if one.line != row.line:
                        yield Refusal(one.line, f"Line {one.line} belongs to the base of line {row.line}, which is refused.")
                return

    def record(self, key: Key, row: VariantRow, is_base: bool) -> Record:
        model, item_key = key
        item = self.items.get(item_key) or self._item(item_key, row.values)
        prompt = row.values[self.recording.prompt]
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadInput("has no prompt")
        order = self._order(item, row.values)
        name = BASE if is_base else self._name(key, row, prompt)
        target = item.target if is_base else self._own_right_answer(item, row.values, order)
        self.raw[item_key] = self.raw.get(item_key, row.values.get(self.recording.target))
        variant, sample = self._variant(key, item, name, prompt, order, target, row.values)
        times = model, hashlib.blake2b(prompt.encode(), digest_size=16).digest()
        call = Call(model, self.revision, Request("generate", prompt), self.n_calls[times])
        completion = _completion(call, row.values, self.recording)
        readouts = tuple(
            Readout(
                model,
                item.item_id,
                variant.axis,
                variant.variant_id,
                sample,
                field.extractor,
                reading,
                correctness(reading, variant.target),
                (call.call_id,),
            )
            for field in self.recording.fields
            for reading in [reading_of(item, variant, row.values, field)]
        )
        self.items[item_key] = item
        self.names.setdefault(key, {}).setdefault(prompt, name)
        self.n_calls[times] += 1
        self.n_samples[*key, prompt, name] += 1
        return Record(item, variant, call, completion, readouts, sample, self._role(row.values))

    def _role(self, values: Mapping[str, Any]) -> str:
        role_name = str(values.get(self.recording.role) or "") if self.recording.role else ""
        role = "control" if role_name == "baseline" else role_name or "benchmark"
        if role not in ROLES:
            raise BadInput(f"has the item role {role_name!r}; a role is one of {', '.join(ROLES)}")
        return role

    def _own_right_answer(self, item: Item, values: Mapping[str, Any], order: tuple[int, ...]) -> str | None:
        """The right answer that a variant's own row names. One that repeats the base's word stays the item's: a label or place
        then counts in the item's own order."""
        answer = values.get(self.recording.target) if self.recording.target else None
        if answer is None or answer == "" or answer == self.raw.get(item.item_id.partition("/")[2].rpartition("@")[0]):
            return item.target
        return right_answer(answer, self._prompt_options(values), order, item.kind)

    def _name(self, key: Key, row: VariantRow, prompt: str) -> str:
        names = self.names.get(key, {})
        return row.name or names.get(prompt) or f"variant-{len(names)}"

    def _variant(
        self, key, item: Item, name: str, prompt: str, order: tuple[int, ...], target: str | None, values: Mapping
    ) -> tuple[Variant, int]:
        """The variant and its sample. A prompt that the recording asks under several names stays several variants."""
        sample = self.n_samples[*key, prompt, name]
        if self.recording.sample:
            sample = _sample(values.get(self.recording.sample))
            if (*key, prompt, name, sample) in self.samples:
                raise BadInput(f"is sample {sample} of its prompt, which an earlier row is already")
            self.samples.add((*key, prompt, name, sample))
        names = self.names.get(key, {})
        params: dict[str, Any] = {"repeat": name} if names.get(prompt, name) != name else {}
        if self.recording.harmless and str(values.get(self.recording.harmless)).lower() in ("false", "0", "no"):
            params = params | {"harmless": False}
        axis = str(values.get(self.recording.axes) or "") if self.recording.axes else ""
        labels = labels_of("upper", len(order))
        return Variant(
            item.item_id,
            axis or self.recording.axis,
            name,
            Prompt((("recorded", prompt),)),
            target,
            order,
            labels,
            "recorded",
            params=params,
        ), sample

    def _prompt_options(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The options in the order in which the prompt showed them."""
        recording = self.recording
        if recording.kind != "choice":
            return ()
        options = (
            values[recording.options]
            if recording.options
            else re.findall(recording.option_pattern, values[recording.prompt], re.MULTILINE)
        )
        if isinstance(options, str) and recording.options:
            options = options_in(values, recording.options) or options
        if isinstance(options, str) or not isinstance(options, (Mapping, Sequence)):
            raise TypeError(f"the options are {str(options)[:40]!r}, not a list")
        return tuple(str(one).strip() for one in options)

    def _item(self, key: str, first: Mapping[str, Any]) -> Item:
        """The item in its own order of options. Two options with one text are refused unless a permutation tells them
        apart."""
        recording = self.recording
        if recording.nested and not any(name.startswith(recording.nested) for name in first):
            raise BadInput(f"has no column that begins with {recording.nested!r}")
        prompt_options = self._prompt_options(first)
        own = list(first[recording.order]) if recording.order else list(range(len(prompt_options)))
        if sorted(own) != list(range(len(prompt_options))):
            raise BadInput(f"has the order {own} for {len(prompt_options)} options")
        options = tuple(prompt_options[own.index(place)] for place in range(len(prompt_options)))
        item = Item.make(
            dataset=recording.dataset,
            key=key,
            kind=recording.kind,
            question=first[recording.question or recording.prompt],
            options=options,
            target=right_answer(first.get(recording.target), prompt_options, own, recording.kind),
        )
        return item if recording.order and len(set(options)) < len(options) else checked(item)

    def _order(self, item: Item, values: Mapping[str, Any]) -> tuple[int, ...]:
        """The item's own index of the option at each position of this variant."""
        prompt_options = self._prompt_options(values)
        if sorted(prompt_options) != sorted(item.options):
            raise BadInput("shows other options in one variant than in its first")
        if not self.recording.order:
            return tuple(item.options.index(text) for text in prompt_options)
        order = tuple(values[self.recording.order])
        if [item.options[place] for place in order] != list(prompt_options):
            raise BadInput(f"says the order {list(order)}, but the prompt shows another")
        return order


def _sample(value: Any) -> int:
    """A repeat's number from 0."""
    if str(value).isdecimal():
        return int(value)
    raise BadInput(f"has the sample {str(value)[:40]!r}, which is no whole number from 0")


def _completion(call: Call, values: Mapping, recording: Recording) -> Completion:
    """The generated text; the recorded fields are kept as the raw reply."""
    raw_fields = {field.column: values.get(field.column) for field in recording.fields}
    raw = json.dumps(raw_fields, ensure_ascii=False, default=str)
    if not recording.text:
        return Completion(call.call_id, "ok", raw_reply=raw)
    text = values.get(recording.text)
    text = text[0] if isinstance(text, list) and len(text) == 1 else text
    if not isinstance(text, str):
        return Completion(call.call_id, "failed", error="The record holds no generated text.", raw_reply=raw)
    if recording.text_after and recording.text_after in text:
        text = text.rpartition(recording.text_after)[2]
    return separate_reasoning(Completion(call.call_id, "ok", text=text, raw_reply=raw))
