"""Where a record stands among all others of its item: which of the item's prompts, which sample of it.

A million outputs are remembered in some hundred megabytes: by hash, in tables of plain numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, IDENTITY
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_records import LogRecord

OWN_PROMPT = IDENTITY  # the axis of a log's own prompt: its repeats are the floor
OTHER_PROMPT = "prompt"  # the axis of one model's further prompts for the same item
_MOST = 65_000
_BITS = 16


@dataclass(slots=True)
class Place:
    """`is_new` is False where the same completion stood in an earlier row, under another filter or metric."""

    axis: str
    key: str
    position: int
    sample: int
    is_new: bool


@dataclass(slots=True)
class _Entry:
    """One prompt of a model and item: the last file that held it, its first sample there, and its next one."""

    prompt: int
    source: int
    first: int
    following: int
    is_base: bool

    def packed(self) -> tuple[int, int]:
        numbers = (self.first, self.following, int(self.is_base))
        packed = self.source
        for one in numbers:
            packed = packed << _BITS | one
        return self.prompt, packed


def _unpacked(prompt: int, packed: int) -> _Entry:
    low = (1 << _BITS) - 1
    is_base, following, first = (packed >> shift & low for shift in (0, _BITS, 2 * _BITS))
    return _Entry(prompt, packed >> 3 * _BITS, first, following, bool(is_base))


class Prompts:
    """The prompts of each model and item. Nearly always there is one; further ones are kept apart."""

    def __init__(self) -> None:
        self._first = HashTable(2)
        self._others: dict[int, list[tuple[int, int]]] = {}

    def place(self, record: LogRecord, task: str, owner: int, prompt: int, source: int) -> Place:
        """The place of a record whose model and item are `owner` and whose prompt is `prompt`, both hashes. The first prompt of
        an item is its base; `task` is the item's own. Raises BadInput for a sample that another file is said to hold."""
        entries = self._entries(owner)
        at = next((i for i, one in enumerate(entries) if one.prompt == prompt), len(entries))
        own = record.axis in ("", OWN_PROMPT) and record.variant in ("", BASE)
        if at == len(entries):
            is_base = (own and not any(one.is_base for one in entries)) or record.variant == BASE
            entries.append(_Entry(prompt, source, record.sample_from or 0, 0, is_base))
        entry = entries[at]
        if entry.source != source:
            if record.sample_from is not None and record.sample_from < entry.following:
                raise BadInput(f"is sample {record.sample_from} of its prompt, which another file holds already")
            entry.source, entry.first = source, entry.following if record.sample_from is None else record.sample_from
        sample = min(entry.following if record.sample is None else entry.first + record.sample, _MOST)
        is_new, entry.following = sample >= entry.following, max(entry.following, sample + 1)
        self._keep(owner, at, entry)
        if entry.is_base:
            return Place(record.axis or OWN_PROMPT, BASE, 0, sample, is_new)
        others = sum(not one.is_base for one in entries[: at + 1])
        key = record.variant or (record.task if record.task != task else f"prompt-{others + 1}")
        return Place(record.axis if record.axis not in ("", OWN_PROMPT) else OTHER_PROMPT, key, others, sample, is_new)

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
        others[at - 1 :] = [entry.packed(), *others[at:]]
