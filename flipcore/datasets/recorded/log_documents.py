"""The document that a record is about, over all files of an import: by its hash, by its id where
the text agrees, else by its text.

Never by the name of a file or the order of its rows. The same id with another text is another item,
and is said; so is a text that stands under other ids in another file. A million documents are
remembered in some hundred bytes each.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from flipcore.core.errors import BadInput
from flipcore.core.records import BASE, Item
from flipcore.datasets.recorded.hash_table import HashTable, hash_of
from flipcore.datasets.recorded.log_answers import kind_of, target_of, unique_options
from flipcore.datasets.recorded.log_places import OWN_PROMPT
from flipcore.datasets.recorded.log_records import LogRecord

BY_ID, BY_TEXT = JOINS = "id", "text"
_MOST_ALIKE = 8  # documents of one text in one file that are told apart; further ones are joined by id or hash alone


@dataclass(frozen=True, slots=True)
class Document:
    """`number` counts documents from 0, `task` is where it was first met. `is_again` tells that a document of the same hash
    stands under another id in the same file."""

    number: int
    task: str
    is_again: bool
    is_new: bool = False

    def key(self, record: LogRecord) -> str:
        """Its id within its task, from the record that is met first; a later one takes the item's stored id, whatever it is
        called there."""
        if not record.item_hash:
            return record.item
        return record.item_hash[:12] + (f"-{record.item}" if self.is_again else "")


class Placed:
    """The document of each record of an import, by the record's place among all of them.

    Four bytes per record are what is left of `Documents` once every file was looked at, so that
    storing need not look again.
    """

    def __init__(self) -> None:
        self._numbers, self._tasks = array("I"), array("I")
        self._is_repeated = bytearray()  # by document
        self._labels: list[str] = []
        self._label_places: dict[str, int] = {}  # of tasks

    def add(self, document: Document) -> None:
        """Take in the next record's document."""
        self._numbers.append(document.number << 1 | document.is_again)
        if not document.is_new:
            self._is_repeated[document.number] = True
            return
        if document.task not in self._label_places:
            self._label_places[document.task] = len(self._labels)
            self._labels.append(document.task)
        self._tasks.append(self._label_places[document.task])
        self._is_repeated.append(False)

    def add_all(self, numbers: array, tasks: Sequence[str]) -> None:
        """Take in the documents of all records, and the task of each document."""
        n_records = Counter(numbers)
        for number, task in enumerate(tasks):
            self._tasks.append(self._label_places.setdefault(task, len(self._label_places)))
            self._is_repeated.append(n_records[number] > 1)
        self._labels = list(self._label_places)
        self._numbers = array("I", (number << 1 for number in numbers))

    def numbers(self) -> Iterator[int]:
        """Return the document of each record, in the order of the records."""
        return (number >> 1 for number in self._numbers)

    def at(self, place: int) -> Document:
        """Return the document of the record at `place`, from 0."""
        number = self._numbers[place] >> 1
        return Document(number, self._labels[self._tasks[number]], bool(self._numbers[place] & 1))

    def is_alone(self, document: Document) -> bool:
        """Return whether one record of the import is about this document, and no other."""
        return not self._is_repeated[document.number]


class Documents:
    """`n_other_text` ids stood for another text than before, `first_other_text` is the first of them; `n_by_text` documents were
    known again by their text alone. `join` is "" for all three ways, "id" to trust ids whatever the text, "text" to ignore them."""

    def __init__(self, join: str = "") -> None:
        self.join, self.n_other_text, self.n_by_text, self.first_other_text = join, 0, 0, ""
        self._hashes, self._names, self._texts = HashTable(1), HashTable(1), HashTable(1)
        self._numbers: dict[str, int] = {}  # of tasks and models
        self._labels: list[str] = []
        self._tasks, self._models, self._sources, self._homes = array("I"), array("I"), array("I"), array("I")
        self._own, self._text, self._gold = array("Q"), array("Q"), array("Q")
        self._formats: dict[int, str] = {}

    def place(self, record: LogRecord, source: int, file_format: str = "") -> Document:
        """The document of a record of the file number `source`."""
        self._formats[source] = file_format
        text, gold = (0, 0) if _is_version(record) else (text_hash(record), gold_hash(record))
        own = hash_of(record.item)
        by_hash = hash_of(record.item_hash) if record.item_hash and not self.join else 0
        number = self._by_hash(record, by_hash, own, source) if by_hash else self._by_name(record, text, gold)
        if number is None:
            number = self._by_words(record, text, gold, source, by_hash, own)
        is_new = number is None
        if number is None:
            number = self._add(record, own, text, gold, source, by_hash)
        elif text and not self._text[number]:
            self._text[number], self._gold[number] = text, gold
        self._sources[number] = source
        first = self._hashes.get(by_hash) if by_hash else None
        return Document(number, self._labels[self._tasks[number]], first is not None and first[0] != number, is_new)

    def _by_hash(self, record: LogRecord, by_hash: int, own: int, source: int) -> int | None:
        """The same hash is the same document, unless this file holds it under another id: then it holds it twice."""
        first = self._hashes.get(by_hash)
        if first is None or self._own[first[0]] == own:
            return None if first is None else first[0]
        name = hash_of(record.item_hash, record.item)
        again = self._hashes.get(name)
        if again is None and self._sources[first[0]] != source:
            self._hashes.set(name, first[0])
            return first[0]
        return again[0] if again else None

    def _by_name(self, record: LogRecord, text: int, gold: int) -> int | None:
        if self.join == BY_TEXT:
            return None
        first = self._names.get(hash_of(record.task, record.item))
        if first is None:
            return None
        number = first[0]
        if not text or not self._text[number] or self.join == BY_ID:
            return number
        if self._text[number] == text and self._agrees(number, gold):
            return number
        other = self._names.get(hash_of(record.task, record.item, str(text), str(gold)))
        if other is None and self._text[number] != text:
            self.n_other_text += 1
            self.first_other_text = self.first_other_text or f"id {record.item} of {record.task}"
        return other[0] if other else None

    def _by_words(self, record: LogRecord, text: int, gold: int, source: int, by_hash: int, own: int) -> int | None:
        """A document of another file with this text. Tasks of one run share no items: two of them may ask one question."""
        if not text or self.join == BY_ID:
            return None
        fitting = []
        for place in range(_MOST_ALIKE):
            entry = self._texts.get(hash_of(str(text), str(place)))
            if entry is None:
                break
            number = entry[0]
            if (self._sources[number] != source or self.join) and self._agrees(number, gold):
                fitting.append(number)
        same_task = [one for one in fitting if self._labels[self._tasks[one]] == record.task]
        other_run = [one for one in fitting if self._is_other_run(one, record, source)]
        for number in [*same_task, *other_run][:1]:
            if self._sources[number] != source:
                self._enter(record, number, text, gold, by_hash, own)
                self.n_by_text += self._own[number] != own
            return number
        return None

    def _agrees(self, number: int, gold: int) -> bool:
        """Tell whether the right answers are the same, where both are known: a contradiction is
        shown, not hidden."""
        return not gold or not self._gold[number] or self._gold[number] == gold

    def _is_other_run(self, number: int, record: LogRecord, source: int) -> bool:
        home = self._homes[number]
        is_other_model = self._labels[self._models[number]] != record.model
        return bool(self.join) or is_other_model or self._formats.get(home) != self._formats[source]

    def _add(self, record: LogRecord, own: int, text: int, gold: int, source: int, by_hash: int) -> int:
        number = len(self._own)
        for column, value in (
            (self._tasks, self._number(record.task)),
            (self._models, self._number(record.model)),
            (self._sources, source),
            (self._homes, source),
            (self._own, own),
            (self._text, text),
            (self._gold, gold),
        ):
            column.append(value)
        self._enter(record, number, text, gold, by_hash, own)
        places = (hash_of(str(text), str(place)) for place in range(_MOST_ALIKE)) if text else ()
        free = next((one for one in places if self._texts.get(one) is None), None)
        if free is not None:
            self._texts.set(free, number)
        return number

    def _enter(self, record: LogRecord, number: int, text: int, gold: int, by_hash: int, own: int) -> None:
        """Under its hash, or under its id where it has none, so that its next row is known at once."""
        table = self._hashes if by_hash else self._names
        name = by_hash or hash_of(record.task, record.item)
        first = table.get(name)
        if first is None:
            table.set(name, number)
        if first is not None or self._own[number] != own:
            more = (record.item_hash, record.item) if by_hash else (record.task, record.item, str(text), str(gold))
            table.set(hash_of(*more), number)

    def _number(self, label: str) -> int:
        if label not in self._numbers:
            self._numbers[label] = len(self._labels)
            self._labels.append(label)
        return self._numbers[label]


def _is_version(record: LogRecord) -> bool:
    """Tell whether the record says itself that it is a changed version: then its text is not the
    item's."""
    return record.axis not in ("", OWN_PROMPT) and record.variant != BASE


def folded(text: str) -> str:
    """Without case and blanks that layouts add."""
    return " ".join(text.casefold().split())


def text_hash(record: LogRecord) -> int:
    """Of the question and the set of its options; 0 without a question."""
    question = folded(record.question)
    return hash_of(question, *sorted(map(folded, record.options))) if question else 0


def gold_hash(record: LogRecord) -> int:
    """Of the right answers, an option by its text; 0 without any."""
    kind = kind_of(record)
    options = unique_options(record.options) if kind == "choice" else ()
    target = target_of(record, kind, options)
    if target is None:
        return 0
    answers = [folded(options[int(one)]) for one in target.split("\n")] if options else target.split("\n")
    return hash_of(*sorted(answers))


class ItemIds:
    """Each document's item as it was first met: its stored id, and its options' order and hash."""

    def __init__(self) -> None:
        self._packed, self._ends = bytearray(), array("Q")

    def as_first_met(self, number: int, item: Item) -> Item:
        """The item under its stored id and with its options in the stored order; the first one of a document as it is.

        Raises BadInput for other options than the first time."""
        while len(self._ends) < number:  # documents whose first rows were no item
            self._ends.append(len(self._packed))
        if len(self._ends) == number:
            self._packed += _packed(item)
            self._ends.append(len(self._packed))
            return item
        packed = bytes(self._packed[self._ends[number - 1] if number else 0 : self._ends[number]])
        return item if not packed or packed == _packed(item) else _as_stored(item, packed)


def _packed(item: Item) -> bytes:
    """The options' hash, how many there are, the rank of each, and the id."""
    own_ranks = [0] * len(item.options)
    for rank, place in enumerate(_by_text(item.options)):
        own_ranks[place] = rank
    of_set = hash_of(*sorted(map(folded, item.options)))
    return of_set.to_bytes(8, "little") + bytes([len(own_ranks), *own_ranks]) + item.item_id.encode("utf-8", "surrogatepass")


def _by_text(options: Sequence[str]) -> list[int]:
    return sorted(range(len(options)), key=lambda place: (folded(options[place]), options[place]))


def _as_stored(item: Item, packed: bytes) -> Item:
    n = packed[8]
    item_id = packed[9 + n :].decode("utf-8", "surrogatepass")
    if not n or not item.options:
        return replace(item, item_id=item_id) if n == len(item.options) else item
    if packed[:9] != _packed(item)[:9]:
        raise BadInput("shows other options in one version than in its first")
    by_text = _by_text(item.options)
    places = [by_text[rank] for rank in packed[9 : 9 + n]]  # of the stored item's options in this one
    target = item.target and "\n".join(str(places.index(int(one))) for one in item.target.split("\n"))
    return replace(item, item_id=item_id, options=tuple(item.options[place] for place in places), target=target)
