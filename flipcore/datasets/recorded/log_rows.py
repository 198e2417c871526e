"""Convert records of logs to the pipeline's types. A document is one item in all files, and its samples are numbered on.

An item takes some hundred bytes of memory, so that a million outputs can be imported.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from flipcore.core.errors import BadInput
from flipcore.core.finish import finish_reason, separate_reasoning
from flipcore.core.records import BASE, OTHER_PROMPT, Call, Completion, Item, Prompt, Readout, Request, Variant, correctness
from flipcore.datasets.reading.checks import checked
from flipcore.datasets.recorded.hash_table import HashTable, hash_of
from flipcore.datasets.recorded.log_answers import Mathematics, reading_of, target_of, unique_options
from flipcore.datasets.recorded.log_documents import Document, DocumentIndex, ItemIds
from flipcore.datasets.recorded.log_places import OWN_PROMPT, OwnCalls, Place, Prompts
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord
from flipcore.text.prompts import labels_of
from flipcore.text.same_question import NO_QUESTION

UNNAMED = "model not named in the log"


@dataclass(frozen=True)
class Joining:
    """Decisions for a whole import, most of them by task."""

    kinds: Mapping[str, str]
    own_names: Collection[str] = ()  # names of extractors, which recorded readouts may not take
    roles: Mapping[str, str] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)  # "family" or "subject"
    grades: Collection[tuple[str, str]] = ()  # (task, readout) of scores that do not say what is right
    axes: Mapping[str, str] = field(default_factory=dict)  # new names of axes, by name
    harmless: Mapping[str, bool] = field(default_factory=dict)  # by new name of an axis
    mathematics: Mapping[str, Mathematics] = field(default_factory=dict)  # of tasks with formulas as right answers


@dataclass(slots=True)
class LogRow:
    """One record in the pipeline's types; `calls` are several if a request scored each option."""

    item: Item
    variant: Variant
    position: int
    role: str
    calls: list[tuple[Call, Completion]]
    readouts: list[Readout]
    sample: int
    source_place: str  # the place of its row in the file, for people
    pair: str
    is_new: bool  # False if an earlier row holds the same completion under another filter or metric
    has_text: bool  # False if the log holds a readout in place of the output's text


@dataclass(slots=True)
class AskedItem:
    """Item and prompt of one record, in the pipeline's types."""

    item: Item
    variant: Variant
    position: int
    role: str
    sample: int
    pair: str


@dataclass(slots=True)
class _PlacedPrompt:
    """The prompt of a record, with its item and its place among the item's prompts."""

    item: Item
    order: tuple[int, ...]
    target: str | None
    prompt: Prompt
    place: Place
    is_alone: bool  # whether its document has no other record


class Builder:
    """Makes a `LogRow` of each record of an import, which must come in the order of `documents`.

    The first prompt of an item is its base. `elsewhere` has the calls of these files in other studies (see `OwnCalls`).
    """

    def __init__(self, joining: Joining, documents: DocumentIndex, elsewhere: HashTable | None = None) -> None:
        self.joining, self._documents, self._n_seen = joining, documents, 0
        self._items, self._prompts, self._calls = ItemIds(), Prompts(joining.axes), OwnCalls(elsewhere)
        self._bases = HashTable(1)  # by variant: whether it is a base
        self._last: tuple[tuple, Item] | None = None  # the facts of the last record, and its item

    def entry(self, record: LogRecord, source: int, revision: str, model: str) -> LogRow:
        """Make the row of a record. Raises BadInput, without the place, for a record that is no item."""
        placed_prompt, variant = self._prompt_and_variant(record, source, model)
        item, place = placed_prompt.item, placed_prompt.place
        calls = self._calls.calls(place.output, place.sample, lambda sample: _calls(record, variant, model, revision, sample))
        ids = tuple(call.call_id for call, _ in calls)
        readouts = [self.readout(readout, record, item, variant, model, place.sample, ids) for readout in record.readouts]
        return LogRow(
            item,
            variant,
            position=place.position,
            role=self._role(record),
            calls=calls,
            readouts=readouts,
            sample=place.sample,
            source_place=record.place,
            pair=record.pair,
            is_new=place.is_new,
            has_text=has_text(record),
        )

    def asked(self, record: LogRecord) -> AskedItem:
        """Make the item and the prompt of a record, without its output. Raises BadInput as `entry` does."""
        placed_prompt, variant = self._prompt_and_variant(record, source=0, model="")
        place = placed_prompt.place
        return AskedItem(
            placed_prompt.item, variant, position=place.position, role=self._role(record), sample=place.sample, pair=record.pair
        )

    def _role(self, record: LogRecord) -> str:
        return self.joining.roles.get(record.task, record.role)

    def _prompt_and_variant(self, record: LogRecord, source: int, model: str) -> tuple[_PlacedPrompt, Variant]:
        placed_prompt = self._placed_prompt(record, source, model)
        item, place = placed_prompt.item, placed_prompt.place
        labels = record.labels or labels_of("upper", len(placed_prompt.order))
        params: dict = {} if self.joining.harmless.get(place.axis, record.harmless) else {"harmless": False}
        repeat = record.repeat or (f"{place.key} {place.repeats}" if place.repeats else "")
        variant = Variant(
            item.item_id,
            place.axis,
            key=place.key,
            prompt=placed_prompt.prompt,
            target=placed_prompt.target,
            order=placed_prompt.order,
            labels=tuple(labels)[: len(placed_prompt.order)],
            layout="recorded",
            params=params | ({"repeat": repeat} if repeat else {}),
        )
        if not placed_prompt.is_alone and not self._keeps_role(variant):
            variant = replace(variant, params=params | {"repeat": f"{repeat} {place.key}".strip()})
        return placed_prompt, variant

    def _keeps_role(self, variant: Variant) -> bool:
        """Tell whether a variant is a base for all models so far, or for none.

        A version of one model may be the base of another one, and each model keeps its own.
        """
        if variant.axis in (OWN_PROMPT, OTHER_PROMPT):
            return True  # a base and further prompts are on different axes
        key, is_base = hash_of(variant.item_id, variant.axis, variant.variant_id), int(variant.key == BASE)
        before = self._bases.get(key)
        if before is None:
            self._bases.set(key, is_base)
        return before is None or before[0] == is_base

    def _placed_prompt(self, record: LogRecord, source: int, model: str) -> _PlacedPrompt:
        document = self._documents.at(self._n_seen)
        is_alone = self._documents.is_alone(document)
        self._n_seen += 1
        item = self._item(record, source, document, is_alone=is_alone)
        prompt = Prompt((("recorded", record.prompt or record.question),), record.system)
        if is_alone:  # its options and right answer are in the item's own order
            order = tuple(range(len(item.options)) if record.order is None else record.order)
            place = self._prompts.place_alone(record, item.dataset, document.number)
            return _PlacedPrompt(item, order, target=item.target, prompt=prompt, place=place, is_alone=is_alone)
        order = _order(record, item)
        is_formula = item.dataset in self.joining.mathematics
        target = _in_item_order(target_of(record, item.kind, item.options, is_formula), record, item)
        place = self._prompts.place(
            record,
            item.dataset,
            hash_of(model, item.item_id),
            hash_of(prompt.text, prompt.system, str(order), str(target)),
            source,
            hash_of(item.item_id),
        )
        return _PlacedPrompt(item, order, target=target, prompt=prompt, place=place, is_alone=is_alone)

    def _item(self, record: LogRecord, source: int, document: Document, *, is_alone: bool) -> Item:
        """Make the item of a record, or return that of the last record with the same facts."""
        facts = (
            source,
            record.task,
            record.item,
            record.item_hash,
            record.question,
            record.options,
            record.targets,
            record.axis,
        )
        if self._last and self._last[0] == facts:
            return self._last[1]
        kind = self.joining.kinds.get(document.task, "text")
        kind = "text" if kind == "choice" and len(record.options) < 2 else kind
        options = unique_options(record.options) if kind == "choice" else ()
        question = record.question.strip() or record.prompt.strip() or NO_QUESTION
        fields: dict = {
            "dataset": document.task,
            "kind": kind,
            "question": question,
            "options": options,
            "target": target_of(record, kind, options, document.task in self.joining.mathematics),
            "category": record.category,
            "meta": dict(record.meta),
            "source_id": self._cluster(record, document.task),
        }
        # rows of tables have item ids of their own, so that the ids of earlier imports stay
        if record.item_id and kind == record.kind:
            item = Item(record.item_id, **fields)
        else:
            item = Item.make(key=document.key(record), **fields)
        item = checked(item)
        if not is_alone:
            item = self._items.as_first_met(document.number, item)
        self._last = (facts, item)
        return item

    def _cluster(self, record: LogRecord, task: str) -> str | None:
        """Return the name of the item's cluster; None for an item by itself."""
        name = {"family": record.family, "subject": record.category}.get(self.joining.clusters.get(record.task, ""), "")
        return f"{task}/{name}" if name else None

    def readout(
        self, recorded: LogReadout, record: LogRecord, item: Item, variant: Variant, model: str, sample: int, ids: tuple
    ) -> Readout:
        """Convert a recorded readout; `ids` are those of its calls."""
        if (record.task, recorded.name) in self.joining.grades:
            recorded = replace(recorded, is_correct=None)
        reading = reading_of(item, variant, record, recorded, self.joining.mathematics.get(item.dataset))
        is_correct = recorded.is_correct
        if is_correct is None and recorded.score is None:
            is_correct = correctness(reading, variant.target)
        name = f"{recorded.name} (log)" if recorded.name in self.joining.own_names else recorded.name
        return Readout(
            model,
            item.item_id,
            axis=variant.axis,
            variant_id=variant.variant_id,
            sample=sample,
            extractor=name,
            reading=reading,
            is_correct=is_correct,
            source_ids=ids,
        )


def _order(record: LogRecord, item: Item) -> tuple[int, ...]:
    """Return the item's own index of the option at each position; options are matched by their text."""
    if item.kind != "choice":
        return ()
    record_options = unique_options(record.options)
    if sorted(record_options) != sorted(item.options):
        raise BadInput("shows other options in one version than in its first")
    places = record.order if record.order is not None else range(len(record_options))
    return tuple(item.options.index(record_options[place]) for place in places)


def _in_item_order(target: str | None, record: LogRecord, item: Item) -> str | None:
    """Return a version's right answer in the item's own order of options."""
    if target is None or item.kind != "choice":
        return target
    record_options = unique_options(record.options)
    return "\n".join(str(item.options.index(record_options[int(place)])) for place in target.split("\n"))


def _calls(record: LogRecord, variant: Variant, model: str, revision: str, sample: int) -> list[tuple[Call, Completion]]:
    if record.option_scores is not None or record.continuations:
        return list(_scored_calls(record, variant, model, revision, sample))
    call = Call(model, revision, request_of(record, variant), sample)
    return [(call, recorded_completion(call.call_id, record))]


def request_of(record: LogRecord, variant: Variant) -> Request:
    """Return the request whose output a record holds as text."""
    params = record.sampling
    return Request(
        "generate",
        variant.prompt.text,
        variant.prompt.system,
        max_tokens=int(_number(params.get("max_tokens"), 0)),
        temperature=_number(params.get("temperature"), None),  # None: the log does not say
        top_p=float(_number(params.get("top_p"), 1.0)),
        seed=None if not isinstance(params.get("seed"), int) else params["seed"],
        stop=tuple(map(str, params.get("stop") or ())),
    )


def _number(value, default):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else default


def has_text(record: LogRecord) -> bool:
    """Tell whether a record holds the output itself, and not only readouts."""
    return record.text is not None or bool(record.error) or not record.raw_reply


def recorded_text(call_id: str, text: str | None, *, error: str, finish: str, raw_reply: str) -> Completion:
    """Return the completion of a text in a table, the same as `recorded_completion` of its record."""
    status, error = _outcome(text, error, raw_reply)
    completion = Completion(
        call_id, status, text=text or "", finish_reason=finish_reason(finish), error=error, raw_reply=raw_reply
    )
    return separate_reasoning(completion)


def _outcome(text: str | None, error: str, raw_reply: str) -> tuple[str, str]:
    """Return (status, error) of a call; one without a text failed, with the log's reason."""
    failed = bool(error) or (text is None and not raw_reply)
    status = "failed" if failed and not text else "ok"
    return status, error or ("The log holds no text." if failed else "")


def recorded_completion(call_id: str, record: LogRecord) -> Completion:
    """Return the completion of a record; a call without a text failed, with the log's reason."""
    status, error = _outcome(record.text, record.error, record.raw_reply)
    recorded = Completion(
        call_id,
        status,
        text=record.text or "",
        finish_reason=finish_reason(record.finish_reason),
        tokens=record.tokens,
        top_logprobs=record.top_logprobs,
        n_tokens_in=record.n_tokens_in,
        n_tokens_out=record.n_tokens_out,
        cost_usd=record.cost_usd,
        latency_s=record.latency_s,
        error=error,
        reasoning=record.reasoning,
        raw_reply=record.raw_reply,
    )
    return separate_reasoning(recorded)


def _scored_calls(
    record: LogRecord, variant: Variant, model: str, revision: str, sample: int
) -> Iterator[tuple[Call, Completion]]:
    """Yield one call per option in the order shown: its continuation and its log-likelihood."""
    scores = record.option_scores or (float("nan"),) * len(record.continuations)
    places = variant.order if len(variant.order) == len(scores) else range(len(scores))
    for place in places:
        text = record.continuations[place] if place < len(record.continuations) else ""
        call = Call(
            model, revision, Request("score", variant.prompt.text, variant.prompt.system, continuation=text, seed=place), sample
        )
        has_score = scores[place] == scores[place]
        yield (
            call,
            Completion(
                call.call_id,
                "ok" if has_score else "failed",
                tokens=((text, scores[place]),) if has_score else None,
                error="" if has_score else record.error or "The log has no log-likelihood here.",
            ),
        )
