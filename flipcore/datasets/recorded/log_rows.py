"""Records of logs -> the pipeline's own types, joined over files: one item for one document, samples counted on.

What is remembered for an item fits in some hundred bytes, so that a million outputs fit in memory.
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
    """Decisions for a whole import: kind, role and clusters ("family" or "subject") of each task,
    and names that recorded readouts may not take."""

    kinds: Mapping[str, str]
    own_names: Collection[str] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    grades: Collection[tuple[str, str]] = ()  # (task, readout) of scores on another scale than 0 to 1: none is right or wrong
    axes: Mapping[str, str] = field(default_factory=dict)  # other names of axes
    harmless: Mapping[str, bool] = field(default_factory=dict)  # by axis, under its other name
    mathematics: Mapping[str, Mathematics] = field(default_factory=dict)  # by task, of those whose right answers are formulas


@dataclass(slots=True)
class LogRow:
    """One record in the pipeline's types; `calls` are several where each option was scored by a request of its own."""

    item: Item
    variant: Variant
    position: int
    role: str
    calls: list[tuple[Call, Completion]]
    readouts: list[Readout]
    sample: int
    source_place: str  # where its row stands in its file, for people
    pair: str
    is_new: bool  # False where the completion itself stood in an earlier row, under another filter or metric
    has_text: bool  # False where the log holds what was read of the output in place of its text


@dataclass(frozen=True, slots=True)
class AskedItem:
    """Item and prompt of one record, in the pipeline's types."""

    item: Item
    variant: Variant
    position: int
    role: str
    sample: int
    pair: str


@dataclass(slots=True)
class _Setting:
    """Question that a record answers: the item, and how it was put."""

    item: Item
    order: tuple[int, ...]
    target: str | None
    prompt: Prompt
    place: Place
    is_alone: bool  # no other record is about its document


class Builder:
    """Records of one import, in its order -> `LogRow`. The first prompt of an item is its base; `placed` tells their documents,
    `elsewhere` what calls of these files hold in other studies (`OwnCalls`)."""

    def __init__(self, joining: Joining, placed: DocumentIndex, elsewhere: HashTable | None = None) -> None:
        self.joining, self._placed, self._n_seen = joining, placed, 0
        self._items, self._prompts, self._calls = ItemIds(), Prompts(joining.axes), OwnCalls(elsewhere)
        self._bases = HashTable(1)  # prompts of items -> whether they are a base
        self._last: tuple[tuple, Item] | None = None

    def entry(self, record: LogRecord, source: int, revision: str, model: str) -> LogRow:
        """Raises BadInput, without the place, for a record that is no item."""
        setting, variant = self._asked(record, source, model)
        item, place = setting.item, setting.place
        calls = self._calls.calls(place.output, place.sample, lambda at: _calls(record, variant, model, revision, at))
        ids = tuple(call.call_id for call, _ in calls)
        readouts = [self.readout(readout, record, item, variant, model, place.sample, ids) for readout in record.readouts]
        about = place.sample, record.place, record.pair, place.is_new, has_text(record)
        return LogRow(item, variant, place.position, self._role(record), calls, readouts, *about)

    def asked(self, record: LogRecord) -> AskedItem:
        """Make what a record asks, without its output. Raises BadInput as `entry` does."""
        setting, variant = self._asked(record, source=0, model="")
        place = setting.place
        return AskedItem(setting.item, variant, place.position, self._role(record), place.sample, record.pair)

    def _role(self, record: LogRecord) -> str:
        return self.joining.roles.get(record.task, record.role)

    def _asked(self, record: LogRecord, source: int, model: str) -> tuple[_Setting, Variant]:
        setting = self._setting(record, source, model)
        item, place = setting.item, setting.place
        labels = record.labels or labels_of("upper", len(setting.order))
        params: dict = {} if self.joining.harmless.get(place.axis, record.harmless) else {"harmless": False}
        repeat = record.repeat or (f"{place.key} {place.repeats}" if place.repeats else "")
        variant = Variant(
            item.item_id,
            place.axis,
            place.key,
            setting.prompt,
            setting.target,
            setting.order,
            tuple(labels)[: len(setting.order)],
            "recorded",
            params=params | ({"repeat": repeat} if repeat else {}),
        )
        if not setting.is_alone and not self._is_free(variant):
            variant = replace(variant, params=params | {"repeat": f"{repeat} {place.key}".strip()})
        return setting, variant

    def _is_free(self, variant: Variant) -> bool:
        """Tell whether no other model has this prompt under another name, where one of them is its
        base: a version of one may be the base of another, and each model keeps its own."""
        if variant.axis in (OWN_PROMPT, OTHER_PROMPT):
            return True  # a base and further prompts are on axes of their own
        at, is_base = hash_of(variant.item_id, variant.axis, variant.variant_id), int(variant.key == BASE)
        before = self._bases.get(at)
        if before is None:
            self._bases.set(at, is_base)
        return before is None or before[0] == is_base

    def _setting(self, record: LogRecord, source: int, model: str) -> _Setting:
        document = self._placed.at(self._n_seen)
        is_alone = self._placed.is_alone(document)
        self._n_seen += 1
        item = self._item(record, source, document, is_alone=is_alone)
        order = _order(record, item)
        is_formula = item.dataset in self.joining.mathematics
        target = _in_item(target_of(record, item.kind, item.options, is_formula), record, item)
        prompt = Prompt((("recorded", record.prompt or record.question),), record.system)
        if is_alone:
            place = self._prompts.place_alone(record, item.dataset, document.number)
            return _Setting(item, order, target, prompt, place, is_alone)
        place = self._prompts.place(
            record,
            item.dataset,
            hash_of(model, item.item_id),
            hash_of(prompt.text, prompt.system, str(order), str(target)),
            source,
            hash_of(item.item_id),
        )
        return _Setting(item, order, target, prompt, place, is_alone)

    def _item(self, record: LogRecord, source: int, document: Document, *, is_alone: bool) -> Item:
        own = (source, record.task, record.item, record.item_hash, record.question, record.options, record.targets, record.axis)
        if self._last and self._last[0] == own:
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
            "source_id": self._source(record, document.task),
        }
        # A table's rows bring the ids of their items, which are older than this way.
        if record.item_id and kind == record.kind:
            item = Item(record.item_id, **fields)
        else:
            item = Item.make(key=document.key(record), **fields)
        item = checked(item)
        if not is_alone:
            item = self._items.as_first_met(document.number, item)
        self._last = (own, item)
        return item

    def _source(self, record: LogRecord, task: str) -> str | None:
        """The cluster of its items that move together; None for an item of its own."""
        name = {"family": record.family, "subject": record.category}.get(self.joining.clusters.get(record.task, ""), "")
        return f"{task}/{name}" if name else None

    def readout(
        self, one: LogReadout, record: LogRecord, item: Item, variant: Variant, model: str, sample: int, ids: tuple
    ) -> Readout:
        """Return what the log read of a record, in the pipeline's types."""
        if (record.task, one.name) in self.joining.grades:
            one = replace(one, is_correct=None)
        reading = reading_of(item, variant, record, one, self.joining.mathematics.get(item.dataset))
        right = one.is_correct
        if right is None and one.score is None:
            right = correctness(reading, variant.target)
        name = f"{one.name} (log)" if one.name in self.joining.own_names else one.name
        return Readout(model, item.item_id, variant.axis, variant.variant_id, sample, name, reading, right, ids)


def _order(record: LogRecord, item: Item) -> tuple[int, ...]:
    """The item's own index of the option at each position. Options that a version lists in another order are matched by
    their text."""
    if item.kind != "choice":
        return ()
    own = unique_options(record.options)
    if sorted(own) != sorted(item.options):
        raise BadInput("shows other options in one version than in its first")
    places = record.order if record.order is not None else range(len(own))
    return tuple(item.options.index(own[place]) for place in places)


def _in_item(target: str | None, record: LogRecord, item: Item) -> str | None:
    """A version's right answer in the item's own order of options."""
    if target is None or item.kind != "choice":
        return target
    own = unique_options(record.options)
    return "\n".join(str(item.options.index(own[int(place)])) for place in target.split("\n"))


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
        stop=tuple(str(one) for one in params.get("stop") or ()),
    )


def _number(value, default):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else default


def has_text(record: LogRecord) -> bool:
    """Tell whether a record holds what its output was, and not only what was read of it."""
    return record.text is not None or bool(record.error) or not record.raw_reply


def recorded_text(call_id: str, text: str | None, *, error: str, finish: str, raw_reply: str) -> Completion:
    """The completion of which a table holds a text and how it ended, as `recorded_completion` makes it of a record."""
    status, error = _outcome(text, error, raw_reply)
    completion = Completion(
        call_id, status, text=text or "", finish_reason=finish_reason(finish), error=error, raw_reply=raw_reply
    )
    return separate_reasoning(completion)


def _outcome(text: str | None, error: str, raw_reply: str) -> tuple[str, str]:
    """(status, error) of a call; one without a text failed, with the log's reason."""
    failed = bool(error) or (text is None and not raw_reply)
    status = "failed" if failed and not text else "ok"
    return status, error or ("The log holds no text." if failed else "")


def recorded_completion(call_id: str, record: LogRecord) -> Completion:
    """The text as recorded; a call without one failed, with the log's reason."""
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
    """One call an option in the order shown: its continuation and its log-likelihood."""
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
