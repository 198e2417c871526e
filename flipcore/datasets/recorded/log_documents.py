"""Find the item of each record of an import.

A document is an item in the records of one or several files. Records belong to one document by the
item's hash, else by its id if the text agrees, else by its text; never by the name of a file or the
order of its rows. The same id with another text is another document, and a user is told. A document
takes some hundred bytes, so that a million fit in memory.
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

BY_ID, BY_TEXT = "id", "text"
JOINS = (BY_ID, BY_TEXT)
# Documents with the same text that can be found by it; further ones are found only by id or hash.
_MAX_WITH_TEXT = 8


@dataclass(slots=True)
class Document:
    """A document: its number from 0, and the task of its first record.

    `shares_hash` is True if another document of the same file has its hash and another id.
    """

    number: int
    task: str
    shares_hash: bool
    is_new: bool = False

    def key(self, record: LogRecord) -> str:
        """Return the item's key within its task, by its first `record`; later records take the stored id."""
        if not record.item_hash:
            return record.item
        return record.item_hash[:12] + (f"-{record.item}" if self.shares_hash else "")


class DocumentIndex:
    """The document of each record of an import, by the record's place among all records.

    It keeps four bytes per record of what `Documents` found while the files were surveyed, so that
    storing does not have to search again.
    """

    def __init__(self) -> None:
        # by record: twice the number of its document, plus one if that shares its hash
        self._numbers = array("I")
        self._tasks = array("I")  # by document
        self._is_repeated = bytearray()  # by document
        self._labels: list[str] = []
        self._label_numbers: dict[str, int] = {}  # places of tasks in `_labels`

    def add(self, document: Document) -> None:
        """Append the next record's document."""
        self._numbers.append(document.number << 1 | document.shares_hash)
        if not document.is_new:
            self._is_repeated[document.number] = True
            return
        if document.task not in self._label_numbers:
            self._label_numbers[document.task] = len(self._labels)
            self._labels.append(document.task)
        self._tasks.append(self._label_numbers[document.task])
        self._is_repeated.append(False)

    def set_all(self, numbers: array, tasks: Sequence[str]) -> None:
        """Set the documents of all records, and the task of each document."""
        n_records = Counter(numbers)
        for number, task in enumerate(tasks):
            self._tasks.append(self._label_numbers.setdefault(task, len(self._label_numbers)))
            self._is_repeated.append(n_records[number] > 1)
        self._labels = list(self._label_numbers)
        self._numbers = array("I", (number << 1 for number in numbers))

    def numbers(self) -> Iterator[int]:
        """Return the document of each record, in the order of the records."""
        return (number >> 1 for number in self._numbers)

    def at(self, place: int) -> Document:
        """Return the document of the record at `place`, from 0."""
        number = self._numbers[place] >> 1
        shares_hash = bool(self._numbers[place] & 1)
        return Document(number, self._labels[self._tasks[number]], shares_hash)

    def is_alone(self, document: Document) -> bool:
        """Tell whether a document has only one record in the import."""
        return not self.is_repeated(document.number)

    def is_repeated(self, number: int) -> bool:
        """Tell whether the document with this number has several records in the import."""
        return bool(self._is_repeated[number])


@dataclass(frozen=True, slots=True)
class _RecordHashes:
    """The hashes of a record (0 for a missing part), and the number of its file."""

    own_id: int
    item: int
    text: int
    gold: int
    source: int


class Documents:
    """Find the document of each record, or make a new one.

    `join` is "" to search by hash, id and text, "id" to trust ids whatever the text, "text" to ignore
    ids. `n_other_text` counts ids with a second text, the first of which is `first_other_text`;
    `n_by_text` counts documents that were found by their text alone.
    """

    def __init__(self, join: str = "") -> None:
        self.join = join
        self.n_other_text, self.n_by_text, self.first_other_text = 0, 0, ""
        # numbers of documents, by the hash of an item, of a task and id, and of a text
        self._by_item, self._by_id, self._by_text = HashTable(1), HashTable(1), HashTable(1)
        self._label_numbers: dict[str, int] = {}  # places of tasks and models in `_labels`
        self._labels: list[str] = []
        # By document, in arrays, because objects would take a gigabyte in a large import. A source is
        # the number of a file.
        self._tasks, self._models = array("I"), array("I")
        self._sources, self._first_sources = array("I"), array("I")
        self._id_hashes, self._text_hashes = array("Q"), array("Q")
        self._gold_hashes = array("Q")
        self._formats: dict[int, str] = {}

    def place(self, record: LogRecord, source: int, file_format: str = "") -> Document:
        """Return the document of a record of the file number `source`."""
        self._formats[source] = file_format
        text, gold = (0, 0) if _is_version(record) else (text_hash(record), gold_hash(record))
        item = hash_of(record.item_hash) if record.item_hash and not self.join else 0
        hashes = _RecordHashes(hash_of(record.item), item, text, gold, source)
        number = self._find_by_hash(record, hashes) if item else self._find_by_id(record, hashes)
        if number is None:
            number = self._find_by_text(record, hashes)
        is_new = number is None
        if number is None:
            number = self._add(record, hashes)
        elif text and not self._text_hashes[number]:
            self._text_hashes[number], self._gold_hashes[number] = text, gold
        self._sources[number] = source
        first = self._by_item.get(item) if item else None
        shares_hash = first is not None and first[0] != number
        return Document(number, self._labels[self._tasks[number]], shares_hash, is_new)

    def _find_by_hash(self, record: LogRecord, hashes: _RecordHashes) -> int | None:
        """Return the document with the record's hash; if a file has the hash under two ids, one per id."""
        same_hash = self._by_item.get(hashes.item)
        if same_hash is None or self._id_hashes[same_hash[0]] == hashes.own_id:
            return None if same_hash is None else same_hash[0]
        exact_key = hash_of(record.item_hash, record.item)
        same_hash_and_id = self._by_item.get(exact_key)
        if same_hash_and_id is None and self._sources[same_hash[0]] != hashes.source:
            self._by_item.set(exact_key, same_hash[0])
            return same_hash[0]
        return same_hash_and_id[0] if same_hash_and_id else None

    def _find_by_id(self, record: LogRecord, hashes: _RecordHashes) -> int | None:
        """Return the document with the record's task and id, if text and right answer agree."""
        if self.join == BY_TEXT:
            return None
        same_id = self._by_id.get(hash_of(record.task, record.item))
        if same_id is None:
            return None
        number = same_id[0]
        if not hashes.text or not self._text_hashes[number] or self.join == BY_ID:
            return number
        if self._text_hashes[number] == hashes.text and self._may_have_gold(number, hashes.gold):
            return number
        exact_key = hash_of(record.task, record.item, str(hashes.text), str(hashes.gold))
        same_id_and_text = self._by_id.get(exact_key)
        if same_id_and_text is None and self._text_hashes[number] != hashes.text:
            self.n_other_text += 1
            self.first_other_text = self.first_other_text or f"id {record.item} of {record.task}"
        return same_id_and_text[0] if same_id_and_text else None

    def _find_by_text(self, record: LogRecord, hashes: _RecordHashes) -> int | None:
        """Return a document of another file with the record's text, of the same task or of another run.

        Within one run, two tasks may have the same question as two items.
        """
        if not hashes.text or self.join == BY_ID:
            return None
        fitting = []
        for rank in range(_MAX_WITH_TEXT):
            entry = self._by_text.get(hash_of(str(hashes.text), str(rank)))
            if entry is None:
                break
            number = entry[0]
            is_elsewhere = bool(self._sources[number] != hashes.source or self.join)
            if is_elsewhere and self._may_have_gold(number, hashes.gold):
                fitting.append(number)
        same_task = [number for number in fitting if self._labels[self._tasks[number]] == record.task]
        other_run = [number for number in fitting if self._is_other_run(number, record, hashes.source)]
        candidates = same_task or other_run
        if not candidates:
            return None
        number = candidates[0]
        if self._sources[number] != hashes.source:
            self._add_to_index(record, number, hashes)
            self.n_by_text += self._id_hashes[number] != hashes.own_id
        return number

    def _may_have_gold(self, number: int, gold: int) -> bool:
        """Tell whether a document has the right answer `gold`, or one of the two is unknown (0)."""
        return not gold or not self._gold_hashes[number] or self._gold_hashes[number] == gold

    def _is_other_run(self, number: int, record: LogRecord, source: int) -> bool:
        """Tell whether a document was first met in a log of another model or format."""
        first_source = self._first_sources[number]
        is_other_model = self._labels[self._models[number]] != record.model
        return bool(self.join) or is_other_model or self._formats.get(first_source) != self._formats[source]

    def _add(self, record: LogRecord, hashes: _RecordHashes) -> int:
        number = len(self._id_hashes)
        self._tasks.append(self._label_number(record.task))
        self._models.append(self._label_number(record.model))
        self._sources.append(hashes.source)
        self._first_sources.append(hashes.source)
        self._id_hashes.append(hashes.own_id)
        self._text_hashes.append(hashes.text)
        self._gold_hashes.append(hashes.gold)
        self._add_to_index(record, number, hashes)
        if hashes.text:
            for rank in range(_MAX_WITH_TEXT):
                text_key = hash_of(str(hashes.text), str(rank))
                if self._by_text.get(text_key) is None:
                    self._by_text.set(text_key, number)
                    break
        return number

    def _add_to_index(self, record: LogRecord, number: int, hashes: _RecordHashes) -> None:
        """Index a document by its hash, or by its id if it has none, so that its next row is found directly."""
        table = self._by_item if hashes.item else self._by_id
        key = hashes.item or hash_of(record.task, record.item)
        first = table.get(key)
        if first is None:
            table.set(key, number)
        if first is not None or self._id_hashes[number] != hashes.own_id:
            if hashes.item:
                exact_key = hash_of(record.item_hash, record.item)
            else:
                exact_key = hash_of(record.task, record.item, str(hashes.text), str(hashes.gold))
            table.set(exact_key, number)

    def _label_number(self, label: str) -> int:
        if label not in self._label_numbers:
            self._label_numbers[label] = len(self._labels)
            self._labels.append(label)
        return self._label_numbers[label]


def _is_version(record: LogRecord) -> bool:
    """Tell whether a record is a changed version, whose text is not the item's."""
    return record.axis not in ("", OWN_PROMPT) and record.variant != BASE


def folded(text: str) -> str:
    """Return a text in lower case with single blanks, because prompt layouts differ in these."""
    return " ".join(text.casefold().split())


def text_hash(record: LogRecord) -> int:
    """Return the hash of the question and the set of its options; 0 without a question."""
    question = folded(record.question)
    return hash_of(question, *sorted(map(folded, record.options))) if question else 0


def gold_hash(record: LogRecord) -> int:
    """Return the hash of the right answers, an option by its text; 0 if there are none."""
    kind = kind_of(record)
    options = unique_options(record.options) if kind == "choice" else ()
    target = target_of(record, kind, options)
    if target is None:
        return 0
    answers = target.split("\n")
    if options:
        answers = [folded(options[int(place)]) for place in answers]
    return hash_of(*sorted(answers))


class ItemIds:
    """The first item of each document, packed: its stored id, and the order and hash of its options."""

    def __init__(self) -> None:
        self._packed, self._ends = bytearray(), array("Q")

    def as_first_met(self, number: int, item: Item) -> Item:
        """Return an item with the id and the order of options of the document's first item.

        Raises BadInput if the options differ from the first ones.
        """
        while len(self._ends) < number:  # documents whose first rows were refused
            self._ends.append(len(self._packed))
        if len(self._ends) == number:
            self._packed += _packed(item)
            self._ends.append(len(self._packed))
            return item
        start = self._ends[number - 1] if number else 0
        packed = bytes(self._packed[start : self._ends[number]])
        return item if not packed or packed == _packed(item) else _as_stored(item, packed)


# An item in bytes: the hash of its options, their number, the rank of each by text, and its id.
_HASH_BYTES = 8


def _packed(item: Item) -> bytes:
    ranks = [0] * len(item.options)
    for rank, place in enumerate(_places_by_text(item.options)):
        ranks[place] = rank
    options_hash = hash_of(*sorted(map(folded, item.options)))
    head = options_hash.to_bytes(_HASH_BYTES, "little") + bytes([len(ranks), *ranks])
    return head + item.item_id.encode("utf-8", "surrogatepass")


def _places_by_text(options: Sequence[str]) -> list[int]:
    """Return the places of options in the order of their texts."""
    return sorted(range(len(options)), key=lambda place: (folded(options[place]), options[place]))


def _as_stored(item: Item, packed: bytes) -> Item:
    """Return an item with the id and the order of options of a packed one; BadInput for other options."""
    n_options, ranks_end = packed[_HASH_BYTES], _HASH_BYTES + 1 + packed[_HASH_BYTES]
    ranks = packed[_HASH_BYTES + 1 : ranks_end]
    item_id = packed[ranks_end:].decode("utf-8", "surrogatepass")
    if not n_options or not item.options:
        return replace(item, item_id=item_id) if n_options == len(item.options) else item
    if packed[: _HASH_BYTES + 1] != _packed(item)[: _HASH_BYTES + 1]:
        raise BadInput("shows other options in one version than in its first")
    by_text = _places_by_text(item.options)
    places = [by_text[rank] for rank in ranks]  # of the stored item's options, in this item
    target = item.target
    if target:
        target = "\n".join(str(places.index(int(answer))) for answer in target.split("\n"))
    options = tuple(item.options[place] for place in places)
    return replace(item, item_id=item_id, options=options, target=target)
