"""The place of a record among the records of its item: its prompt, its sample, its call.

Each row keeps its own output, although rows come in any order (harnesses write samples as they
finish), may name the same sample twice, or may hold one prompt of two items. A million outputs take
some hundred megabytes, because only hashes are remembered, in tables of plain numbers.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, IDENTITY, OTHER_PROMPT, Call, Completion
from flipcore.datasets.recorded.hash_table import HashTable, hash_of
from flipcore.datasets.recorded.log_records import LogRecord

OWN_PROMPT = IDENTITY  # the axis of a log's own prompt: its repeats are the noise floor
_MAX_INTEGER = 2**31 - 1  # the largest integer that the store holds
_BITS = 32
_LOW_BITS = (1 << _BITS) - 1


@dataclass(slots=True)
class Place:
    """The axis, the variant's key and position, and the sample of a record.

    `is_new` is False if an earlier row holds the same completion under another filter or metric. `repeats` is the number of
    other names that the prompt has on this axis already. `output` is the number of the completion in the import.
    """

    axis: str
    key: str
    position: int
    sample: int
    is_new: bool
    repeats: int
    output: int


@dataclass(slots=True)
class _Entry:
    """One prompt of a model and item under one name.

    `source` is the last file that holds it, `first` its first sample there, `following` the number after its last sample.
    """

    prompt: int
    name: int
    axis: int
    source: int
    is_base: bool
    first: int
    following: int = 0

    def packed(self) -> tuple[int, int, int, int]:
        """Return the entry as four numbers of a HashTable."""
        place = (self.source << _BITS | self.axis) << 1 | self.is_base
        return self.prompt, self.name, place, self.first << _BITS | self.following


def _unpacked(prompt: int, name: int, place: int, samples: int) -> _Entry:
    is_base, place = bool(place & 1), place >> 1
    return _Entry(
        prompt,
        name,
        axis=place & _LOW_BITS,
        source=place >> _BITS,
        is_base=is_base,
        first=samples >> _BITS,
        following=samples & _LOW_BITS,
    )


class Prompts:
    """The prompts of each model and item: nearly always one. `axes` are new names of axes, by name."""

    def __init__(self, axes: Mapping[str, str]) -> None:
        self._axes = axes
        self._first = HashTable(4)
        # further prompts, packed, in a dictionary because they are few
        self._others: dict[int, list[tuple[int, int, int, int]]] = {}
        self._axis_names: list[str] = []
        self._rows, self._outputs = HashTable(1), HashTable(1)
        self._prompt_numbers, self._following = HashTable(1), HashTable(1)  # by prompt of an item, and by item
        # by prompt: ranges of unused sample numbers below the largest one, as (start, end)
        self._holes: dict[int, list[tuple[int, int]]] = {}

    def place(self, record: LogRecord, task: str, owner: int, prompt: int, source: int, item: int = 0) -> Place:
        """Return the place of a record; `owner` is the hash of model and item, `prompt` that of the prompt.

        The first prompt of an item is its base. Further ones are numbered by `item`, the hash of the item alone, so that a
        prompt has the same name for all models. `task` is the item's task. Raises BadInput for a sample in another file.
        """
        entries = self._entries(owner)
        name = hash_of(record.axis, record.variant)
        keys = [(entry.prompt, entry.name) for entry in entries]
        index = keys.index((prompt, name)) if (prompt, name) in keys else len(entries)
        if index == len(entries):
            has_base = any(entry.is_base for entry in entries)
            is_base = record.variant == BASE or (_is_own_prompt(record) and not has_base)
            axis = self._axis_of(record, is_base=is_base)
            if axis not in self._axis_names:
                self._axis_names.append(axis)
            entries.append(
                _Entry(
                    prompt,
                    name,
                    axis=self._axis_names.index(axis),
                    source=source,
                    is_base=is_base,
                    first=record.sample_from or 0,
                )
            )
        entry = entries[index]
        if entry.source != source:
            if record.sample_from is not None and record.sample_from < entry.following:
                raise BadInput(f"is sample {record.sample_from} of its prompt, which another file holds already")
            entry.source, entry.first = source, entry.following if record.sample_from is None else record.sample_from
        prompt_of_owner = _combined_hash(owner, prompt, name)
        sample, is_new = self._sample_of(record, entry, prompt_of_owner)
        self._store(owner, index, entry)
        axis = self._axis_names[entry.axis]
        repeats = sum(earlier.prompt == prompt and earlier.axis == entry.axis for earlier in entries[:index])
        output = _combined_hash(prompt_of_owner, sample)
        if entry.is_base:
            return Place(axis, BASE, position=0, sample=sample, is_new=is_new, repeats=repeats, output=output)
        position = sum(not earlier.is_base for earlier in entries[: index + 1])
        key = record.variant or (record.task if record.task != task else "")
        if not key:
            key = f"prompt-{self._prompt_number(item or owner, prompt, position + 1)}"
        return Place(axis, key, position=position, sample=sample, is_new=is_new, repeats=repeats, output=output)

    def _axis_of(self, record: LogRecord, *, is_base: bool) -> str:
        axis = record.axis if is_base or record.axis not in ("", OWN_PROMPT) else OTHER_PROMPT
        return self._axes.get(axis or OWN_PROMPT, axis or OWN_PROMPT)

    def place_alone(self, record: LogRecord, task: str, document: int) -> Place:
        """Return the same place as `place` for the only record of its document, without remembering it."""
        is_base = _is_own_prompt(record) or record.variant == BASE
        axis = self._axis_of(record, is_base=is_base)
        sample = (record.sample_from or 0) + (record.sample or 0)
        if record.sample is None:
            sample = 0
        _check_sample(sample)
        if is_base:
            return Place(axis, BASE, 0, sample, is_new=True, repeats=0, output=document + 1)
        key = record.variant or (record.task if record.task != task else "") or "prompt-2"
        return Place(axis, key, 1, sample, is_new=True, repeats=0, output=document + 1)

    def _prompt_number(self, item: int, prompt: int, least: int) -> int:
        """Return the number of a further prompt of an item, at least `least` and the same for all models."""
        prompt_of_item = _combined_hash(item, prompt)
        earlier = self._prompt_numbers.get(prompt_of_item)
        if earlier:
            return earlier[0]
        number = max(least, (self._following.get(item) or (0,))[0])
        self._prompt_numbers.set(prompt_of_item, number)
        self._following.set(item, number + 1)
        return number

    def _sample_of(self, record: LogRecord, entry: _Entry, prompt: int) -> tuple[int, bool]:
        """Return (sample number, whether its output is new).

        Rows of one sample may hold one output under several filters, or several equal outputs. The i-th row with a text and
        a readout is the i-th output with that text. A row is a further sample if its own sample has another output already.
        """
        wanted = entry.following if record.sample is None else entry.first + record.sample
        _check_sample(wanted)
        output = _combined_hash(
            prompt, wanted, _hash_of_content(record.text, record.reasoning, record.error, record.option_scores)
        )
        rows = [_combined_hash(output, hash_of(name)) for name in {readout.name for readout in record.readouts} or ("",)]
        n_before = max((self._rows.get(row) or (0,))[0] for row in rows)
        for row in rows:
            self._rows.set(row, n_before + 1)
        output = _combined_hash(output, n_before)
        if record.sample is not None and (before := self._outputs.get(output)):
            return before[0], False
        sample = self._take_sample(wanted, entry, prompt)
        if not sample < _MAX_INTEGER:
            raise BadInput(f"has the sample {wanted:,}, which another row has; the largest is {_MAX_INTEGER - 1:,}")
        self._outputs.set(output, sample)
        return sample, True

    def _take_sample(self, sample: int, entry: _Entry, prompt: int) -> int:
        """Take a sample number for an output: `sample` if it is free, else the next one after all samples."""
        if sample >= entry.following:
            if sample > entry.following:
                self._holes.setdefault(prompt, []).append((entry.following, sample))
            entry.following = sample + 1
            return sample
        holes = self._holes.get(prompt, [])
        for index, (start, end) in enumerate(holes):
            if start <= sample < end:
                halves = ((start, sample), (sample + 1, end))
                holes[index : index + 1] = [(first, last) for first, last in halves if first < last]
                return sample
        entry.following += 1
        return entry.following - 1

    def _entries(self, owner: int) -> list[_Entry]:
        first = self._first.get(owner)
        if first is None:
            return []
        return [_unpacked(*packed) for packed in (first, *self._others.get(owner, ()))]

    def _store(self, owner: int, index: int, entry: _Entry) -> None:
        """Store the entry number `index` of an owner, which may be a new one."""
        if index == 0:
            self._first.set(owner, *entry.packed())
            return
        others = self._others.setdefault(owner, [])
        others[index - 1 : index] = [entry.packed()]


def _is_own_prompt(record: LogRecord) -> bool:
    return record.axis in ("", OWN_PROMPT) and record.variant in ("", BASE)


def _check_sample(sample: int) -> None:
    """Raise BadInput for a sample whose number the store cannot hold."""
    if not 0 <= sample < _MAX_INTEGER:
        raise BadInput(f"has the sample {sample:,}; the largest is {_MAX_INTEGER - 1:,}")


Calls = list[tuple[Call, Completion]]  # several if a request scored each option


class OwnCalls:
    """The output of each call of an import.

    Two items may have the same prompt. Their request is the same but their outputs differ, so the later output is a further
    sample of the request. `elsewhere` has the calls of the same files in other studies: {hash of the id: hash of the
    completion}. A call with another completion is not overwritten.
    """

    def __init__(self, elsewhere: HashTable | None = None) -> None:
        self._elsewhere = elsewhere or HashTable(1)
        self._outputs = HashTable(1)  # by call
        self._moved = HashTable(1)  # by output: its sample, if that is not its own
        self._following: dict[int, int] = {}  # by call: the next sample to try

    def calls(self, output: int, sample: int, calls_at: Callable[[int], Calls]) -> Calls:
        """Return the calls of an output, made by `calls_at(sample)`: at its own sample if that is free, else at the next free one."""
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
    """Return a call's id as a key of a HashTable."""
    return int(call_id[:16], 16) or 1


def completion_hash(completion: Completion) -> int:
    """Return the hash of a completion: its text without reasoning, the reasoning, the error and the tokens."""
    return _hash_of_content(completion.text, completion.reasoning, completion.error, completion.tokens)


def hashes_of(completions: Iterable[Completion]) -> HashTable:
    """Return the hashes of completions by call, as `OwnCalls` takes them for other studies."""
    table = HashTable(1)
    for completion in completions:
        table.set(call_number(completion.call_id), completion_hash(completion))
    return table


def is_same(read: Completion, in_store: Completion | None) -> bool:
    """Tell whether the store holds a completion exactly as it was read."""
    return in_store is not None and _content(read) == _content(in_store)


_content = attrgetter("text", "reasoning", "status", "tokens")


def _hash_of_content(text: str | None, *more_parts: object) -> int:
    return hash_of(text or "", str(text is None), *(str(part or "") for part in more_parts))


def _combined_hash(*numbers: int) -> int:
    """Return one key for several hashes and numbers, the same in every process."""
    return hash(numbers) & (1 << 64) - 1 or 1
