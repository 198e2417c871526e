"""The place of a record among all others of its item: its prompt, the sample of it, the call.

Every row keeps its own output: rows come in any order (harnesses write samples as they finish), say
the same sample twice, or ask for two items with one prompt. A million outputs are remembered in
some hundred megabytes: by hash, in tables of plain numbers.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, IDENTITY, OTHER_PROMPT, Call, Completion
from flipcore.datasets.recorded.hash_table import HashTable, hash_of
from flipcore.datasets.recorded.log_records import LogRecord

OWN_PROMPT = IDENTITY  # the axis of a log's own prompt: its repeats are the floor
_MOST = 2**31 - 1  # the store's whole numbers
_BITS = 32
_LOW = (1 << _BITS) - 1


@dataclass(slots=True)
class Place:
    """`is_new` is False where the same completion stood in an earlier row, under another filter or metric. `repeats` says under
    how many other names the prompt stands on this axis already. `output` names the completion among all of the import."""

    axis: str
    key: str
    position: int
    sample: int
    is_new: bool
    repeats: int
    output: int


@dataclass(slots=True)
class _Entry:
    """One prompt of a model and item under one name: the last file that held it, its first sample there, and the one after its
    last."""

    prompt: int
    name: int
    axis: int
    source: int
    is_base: bool
    first: int
    following: int = 0

    def packed(self) -> tuple[int, int, int, int]:
        place = (self.source << _BITS | self.axis) << 1 | self.is_base
        return self.prompt, self.name, place, self.first << _BITS | self.following


def _unpacked(prompt: int, name: int, place: int, samples: int) -> _Entry:
    is_base, place = bool(place & 1), place >> 1
    return _Entry(prompt, name, place & _LOW, place >> _BITS, is_base, samples >> _BITS, samples & _LOW)


class Prompts:
    """The prompts of each model and item. Nearly always there is one; further ones are kept apart. `axes` are other names that
    axes take."""

    def __init__(self, axes: Mapping[str, str]) -> None:
        self._axes = axes
        self._first = HashTable(4)
        self._others: dict[int, list[tuple[int, int, int, int]]] = {}
        self._axis_names: list[str] = []
        self._rows, self._outputs = HashTable(1), HashTable(1)
        self._numbers, self._following = HashTable(1), HashTable(1)  # of further prompts by item
        self._holes: dict[int, list[tuple[int, int]]] = {}  # samples that no row had when a later one came, as (from, before)

    def place(self, record: LogRecord, task: str, owner: int, prompt: int, source: int, item: int = 0) -> Place:
        """The place of a record whose model and item are `owner` and whose prompt is `prompt`, both hashes.

        The first prompt of an item is its base; further ones are numbered by `item`, the hash of
        the item alone, so that one prompt has one name for all models. `task` is the item's own.
        Raises BadInput for a sample that another file is said to hold."""
        entries = self._entries(owner)
        name = hash_of(record.axis, record.variant)
        at = next((i for i, one in enumerate(entries) if one.prompt == prompt and one.name == name), len(entries))
        if at == len(entries):
            own = record.axis in ("", OWN_PROMPT) and record.variant in ("", BASE)
            is_base = (own and not any(one.is_base for one in entries)) or record.variant == BASE
            axis = record.axis if is_base or record.axis not in ("", OWN_PROMPT) else OTHER_PROMPT
            axis = self._axes.get(axis or OWN_PROMPT, axis or OWN_PROMPT)
            if axis not in self._axis_names:
                self._axis_names.append(axis)
            entries.append(_Entry(prompt, name, self._axis_names.index(axis), source, is_base, record.sample_from or 0))
        entry = entries[at]
        if entry.source != source:
            if record.sample_from is not None and record.sample_from < entry.following:
                raise BadInput(f"is sample {record.sample_from} of its prompt, which another file holds already")
            entry.source, entry.first = source, entry.following if record.sample_from is None else record.sample_from
        prompt_of_owner = _mixed(owner, prompt, name)
        sample, is_new = self._sample(record, entry, prompt_of_owner)
        self._keep(owner, at, entry)
        axis = self._axis_names[entry.axis]
        repeats = sum(one.prompt == prompt and one.axis == entry.axis for one in entries[:at])
        output = _mixed(prompt_of_owner, sample)
        if entry.is_base:
            return Place(axis, BASE, 0, sample, is_new, repeats, output)
        others = sum(not one.is_base for one in entries[: at + 1])
        key = record.variant or (record.task if record.task != task else "")
        if not key:
            key = f"prompt-{self._number(item or owner, prompt, others + 1)}"
        return Place(axis, key, others, sample, is_new, repeats, output)

    def place_alone(self, record: LogRecord, task: str, document: int) -> Place:
        """Return the place of the only record of its document, which `place` would give it too.

        Nothing has to be remembered of it, because no other record meets it.
        """
        own = record.axis in ("", OWN_PROMPT) and record.variant in ("", BASE)
        is_base = own or record.variant == BASE
        axis = record.axis if is_base or record.axis not in ("", OWN_PROMPT) else OTHER_PROMPT
        axis = self._axes.get(axis or OWN_PROMPT, axis or OWN_PROMPT)
        sample = (record.sample_from or 0) + (record.sample or 0)
        if record.sample is None:
            sample = 0
        _check_sample(sample)
        if is_base:
            return Place(axis, BASE, 0, sample, is_new=True, repeats=0, output=document + 1)
        key = record.variant or (record.task if record.task != task else "") or "prompt-2"
        return Place(axis, key, 1, sample, is_new=True, repeats=0, output=document + 1)

    def _number(self, item: int, prompt: int, least: int) -> int:
        """The number of a further prompt of an item, the same for each model that was given it."""
        prompt_of_item = _mixed(item, prompt)
        earlier = self._numbers.get(prompt_of_item)
        if earlier:
            return earlier[0]
        number = max(least, (self._following.get(item) or (0,))[0])
        self._numbers.set(prompt_of_item, number)
        self._following.set(item, number + 1)
        return number

    def _sample(self, record: LogRecord, entry: _Entry, prompt: int) -> tuple[int, bool]:
        """(sample, whether it is new). Rows of one sample that hold one output under several filters are told from rows that are
        outputs of their own: the i-th row of a text under one readout is its i-th output. Where the sample that a row says
        holds another output already, the row is a further sample."""
        own_number = entry.following if record.sample is None else entry.first + record.sample
        _check_sample(own_number)
        output = _mixed(prompt, own_number, _hash_of_content(record.text, record.reasoning, record.error, record.option_scores))
        rows = [_mixed(output, hash_of(name)) for name in {one.name for one in record.readouts} or ("",)]
        nth = max((self._rows.get(row) or (0,))[0] for row in rows)
        for row in rows:
            self._rows.set(row, nth + 1)
        output = _mixed(output, nth)
        if record.sample is not None and (before := self._outputs.get(output)):
            return before[0], False
        sample = self._free(own_number, entry, prompt)
        if not sample < _MOST:
            raise BadInput(f"has the sample {own_number:,}, which another row has; the largest is {_MOST - 1:,}")
        self._outputs.set(output, sample)
        return sample, True

    def _free(self, sample: int, entry: _Entry, prompt: int) -> int:
        """The sample itself where no other output has it, else the next one; taken from now on."""
        if sample >= entry.following:
            if sample > entry.following:
                self._holes.setdefault(prompt, []).append((entry.following, sample))
            entry.following = sample + 1
            return sample
        holes = self._holes.get(prompt, [])
        for place, (least, end) in enumerate(holes):
            if least <= sample < end:
                holes[place : place + 1] = [one for one in ((least, sample), (sample + 1, end)) if one[0] < one[1]]
                return sample
        entry.following += 1
        return entry.following - 1

    def _entries(self, owner: int) -> list[_Entry]:
        first = self._first.get(owner)
        if first is None:
            return []
        return [_unpacked(*first), *(_unpacked(*one) for one in self._others.get(owner, ()))]

    def _keep(self, owner: int, at: int, entry: _Entry) -> None:
        if at == 0:
            self._first.set(owner, *entry.packed())
            return
        others = self._others.setdefault(owner, [])
        others[at - 1 : at] = [entry.packed()]


def _check_sample(sample: int) -> None:
    """Raise BadInput for a sample that the store has no number for."""
    if not 0 <= sample < _MOST:
        raise BadInput(f"has the sample {sample:,}; the largest is {_MOST - 1:,}")


Calls = list[tuple[Call, Completion]]  # several where each option was scored by a request of its own


class OwnCalls:
    """The output that each call of an import stands for. Two items may have one prompt: the request
    is the same, the outputs are two, so that the later one is a further sample of the request.
    `elsewhere` are calls of the same files in other studies, by the hash of their id, with the hash
    of what they hold: a call of another content is not written over."""

    def __init__(self, elsewhere: HashTable | None = None) -> None:
        self._elsewhere = elsewhere or HashTable(1)
        self._outputs, self._moved = HashTable(1), HashTable(1)
        self._following: dict[int, int] = {}

    def calls(self, output: int, sample: int, calls_at: Callable[[int], Calls]) -> Calls:
        """The calls of `output`: those at `sample` wherever nothing else stands there, else at the next free one of the request.
        `calls_at` makes them at a sample."""
        if moved := self._moved.get(output):
            return calls_at(moved[0])
        calls = calls_at(sample)
        if not self._are_free(output, calls):
            first = call_number(calls[0][0].call_id)
            free = self._following.get(first, sample + 1)
            while not self._are_free(output, calls := calls_at(free)):
                free += 1
            self._following[first] = free + 1
            self._moved.set(output, free)
        for call, _ in calls:
            self._outputs.set(call_number(call.call_id), output)
        return calls

    def _are_free(self, output: int, calls: Calls) -> bool:
        for call, completion in calls:
            number = call_number(call.call_id)
            if self._outputs.get(number) not in (None, (output,)):
                return False
            if len(self._elsewhere) and self._elsewhere.get(number) not in (None, (completion_hash(completion),)):
                return False
        return True


def call_number(call_id: str) -> int:
    """A call's id as a key of a HashTable."""
    return int(call_id[:16], 16) or 1


def completion_hash(completion: Completion) -> int:
    """Of what came back: the text as it is read, and what else tells two outputs apart."""
    return _hash_of_content(completion.text, completion.reasoning, completion.error, completion.tokens)


def hashes_of(completions: Iterable[Completion]) -> HashTable:
    """Return what calls hold, as `OwnCalls` takes it: here what other studies have of the same
    files, read in another way."""
    table = HashTable(1)
    for one in completions:
        table.set(call_number(one.call_id), completion_hash(one))
    return table


def is_same(read: Completion, in_store: Completion | None) -> bool:
    """Tell whether a completion is kept as it was read, byte for byte."""
    return in_store is not None and (read.text, read.reasoning, read.status, read.tokens) == (
        in_store.text,
        in_store.reasoning,
        in_store.status,
        in_store.tokens,
    )


def _hash_of_content(text: str | None, *more: object) -> int:
    return hash_of(text or "", str(text is None), *(str(one or "") for one in more))


def _mixed(*numbers: int) -> int:
    """A key of hashes and numbers, the same in every process."""
    return hash(numbers) & (1 << 64) - 1 or 1
