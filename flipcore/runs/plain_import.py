"""The rows of a plain table as columns of the tables that an import stores.

What is asked is made once per item, and a call's id of a text that is written once per item. Per
row there are a text, its id, and what was read of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pyarrow

from flipcore.core.contracts import Extractor
from flipcore.core.errors import BadInput
from flipcore.core.records import Call, CallIds, Completion, Reading, Request, correctness
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_documents import Document, Placed
from flipcore.datasets.recorded.log_places import call_number, completion_hash
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord, Rejection
from flipcore.datasets.recorded.log_rows import (
    AskedItem,
    Builder,
    Joining,
    recorded_text,
    request_of,
)
from flipcore.datasets.recorded.plain_tables import PlainRow, PlainTable
from flipcore.runs.log_survey import Survey
from flipcore.runs.our_readouts import extractor_of, read_outputs
from flipcore.store import recorded, rows
from flipcore.store.schema import tables
from flipcore.store.writer import columns_as_arrow

MOST_ITEMS = 20_000  # that are remembered until their next row
# Columns take a third of the memory of records, and fewer commits write less.
BATCHES = 4  # of records, that are stored together
_MOST_READ = 50_000  # different scores whose readings are remembered

Read = tuple[str, Reading, bool | None]  # (extractor, what it read, whether that is right)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The part that all rows of an item have in common."""

    item: AskedItem
    record: LogRecord  # of its first row
    request: Request
    request_text: str  # as it is stored
    call_ids: CallIds
    extractor: Extractor | None


class _Output(NamedTuple):
    """The output of a row: the sample of its call, and as much of it as was kept."""

    sample: int
    completion: Completion
    has_text: bool  # False where the table holds what was read of the output in place of its text


class _OnlyItems(Placed):
    """Documents of which each has a single record, as the first rows of items are."""

    def __init__(self) -> None:
        super().__init__()
        self.task = ""

    def at(self, place: int) -> Document:
        return Document(place, self.task, is_again=False)

    def is_alone(self, document: Document) -> bool:
        return True


_OF_ITEM = (
    "item_id",
    "dataset",
    "kind",
    "question",
    "options",
    "target",
    "category",
    "solution",
    "source_id",
    "meta",
)
_OF_VARIANT = (
    "variant_id",
    "item_id",
    "system",
    "parts",
    "option_order",
    "labels",
    "layout",
    "target",
)
_OF_STUDY_VARIANT = ("item_id", "axis", "variant_id", "key", "position", "compared_with", "params")
_OF_CALL = (
    "call_id",
    "model",
    "request",
    "sample",
    "status",
    "text",
    "finish_reason",
    "error",
    "raw_reply",
    "reasoning",
)
_PLACE = ("model", "item_id", "axis", "variant_id", "sample", "extractor")
_OF_READING = (
    "status",
    "answer",
    "value",
    "is_correct",
    "span_start",
    "span_end",
    "reason",
    "probabilities",
    "label_mass",
)


class _Columns:
    """Rows of one table: tuples of the cells of `names`, and cells that are the same in all."""

    def __init__(self, table: str, names: Sequence[str]) -> None:
        self.table, self.names = table, names
        self.rows: list[tuple] = []
        self.same: dict[str, Any] = {}

    def arrow(self) -> pyarrow.Table:
        """Return the rows as Arrow holds them."""
        n_rows = len(self.rows)
        cells = dict(zip(self.names, map(list, zip(*self.rows, strict=True)), strict=True))
        shared = {name: [value] * n_rows for name, value in self.same.items()}
        return columns_as_arrow(tables()[self.table], cells | shared)


class PlainImport:
    """Batches of a plain table, ready to be stored."""

    def __init__(
        self,
        study_id: str,
        survey: Survey,
        joining: Joining,
        *,
        leave: set[str],
        scored: set[str],
        elsewhere: HashTable,
    ) -> None:
        self.study_id, self.survey, self.leave, self.scored = study_id, survey, leave, scored
        self._elsewhere = elsewhere
        self._placed = _OnlyItems()
        self._builder = Builder(joining, self._placed)
        (self._file,) = survey.files
        self.revision = self._file.revision
        self._table: PlainTable = survey.plain_table()
        self._asked: dict[int, _Asked] = {}
        self._read: dict[tuple, Read] = {}

    def batches(
        self,
        before: int,
        *,
        on_item: Callable[[AskedItem], None],
        on_refusal: Callable[[str], None],
    ) -> Iterator[tuple[int, dict[str, pyarrow.Table]]]:
        """Yield (rows seen so far, columns by table) of the rows after the first `before`.

        `on_item` is given each item, `on_refusal` the sentence of a row whose
        item is none.
        """
        n_seen, n_items = self.survey.n_refused, 0
        batch = _PlainBatch(self)
        numbers = self.survey.placed.numbers()
        for row in self._table.rows():
            if isinstance(row, Rejection):
                continue
            n_seen += 1
            number = next(numbers)
            is_new = number == n_items
            n_items += is_new
            if n_seen <= before and not is_new:
                continue
            try:
                asked = self._asked_of(number, row)
            except BadInput as error:
                on_refusal(f"Line {row.line} of {self._table.file} {str(error).removesuffix('.')}.")
                continue
            if is_new:
                on_item(asked.item)
            if n_seen <= before:
                continue
            batch.take(row, asked, n_seen, is_new=is_new)
            if batch.n_rows == BATCHES * recorded.BATCH or batch.n_chars > recorded.BATCH_CHARS:
                yield n_seen, batch.columns()
                batch = _PlainBatch(self)
        yield n_seen, batch.columns()

    def _asked_of(self, number: int, row: PlainRow) -> _Asked:
        asked = self._asked.get(number)
        if asked is None:
            if len(self._asked) >= MOST_ITEMS:
                self._asked.clear()
            asked = self._asked[number] = self._made(row)
        return asked

    def _made(self, row: PlainRow) -> _Asked:
        record = self._table.record(row)
        self._placed.task = record.task
        asked = self._builder.asked(record)
        request = request_of(record, asked.variant)
        extractor = None
        if self.survey.has_text:
            extractor = extractor_of(
                asked.item,
                has_option_scores=False,
                is_scored=asked.item.dataset in self.scored,
                is_mathematics=asked.item.dataset in self.survey.mathematics,
            )
        request_text = rows.json_text(request.declared())
        return _Asked(asked, record, request, request_text, CallIds(request), extractor)

    def model(self, row: PlainRow) -> str:
        """Return the model's name in the study."""
        return self._file.model_of(self.survey.corrections, row.model)

    def output(self, row: PlainRow, asked: _Asked, model: str) -> _Output:
        """Return what came back in a row.

        Another study may hold the call with another content: then it is a further sample of the
        request.
        """
        text, error = self._table.text(row)
        sample = 0
        completion = recorded_text(
            asked.call_ids.call_id(model, self.revision),
            text,
            error=error,
            finish=self._table.finish(row),
            raw_reply=asked.record.raw_reply,
        )
        while len(self._elsewhere):
            stored = self._elsewhere.get(call_number(completion.call_id))
            if stored in (None, (completion_hash(completion),)):
                break
            sample += 1
            call_id = asked.call_ids.call_id(model, self.revision, sample)
            completion = replace(completion, call_id=call_id)
        has_text = text is not None or bool(error) or not asked.record.raw_reply
        return _Output(sample, completion, has_text)

    def readings(self, row: PlainRow, asked: _Asked, output: _Output) -> Iterator[Read]:
        """Yield what our extractors and the table's own scorers read of a row."""
        item, variant = asked.item.item, asked.item.variant
        if asked.extractor and output.has_text:
            reading = read_outputs(asked.extractor, item, variant, [output.completion])
            yield asked.extractor.name, reading, correctness(reading, variant.target)
        for readout in self._table.readouts(row):
            read = self._log_read(readout, asked)
            if read[0] not in self.leave:
                yield read

    def _log_read(self, readout: LogReadout, asked: _Asked) -> Read:
        item, variant, task = asked.item.item, asked.item.variant, asked.record.task
        values = readout.name, readout.score, readout.is_correct, readout.reason
        key = (*values, task, item.kind, variant.target)
        read = self._read.get(key)
        if read is None:
            readout_row = self._builder.readout(readout, asked.record, item, variant, "", 0, ())
            read = readout_row.extractor, readout_row.reading, readout_row.is_correct
            if len(self._read) < _MOST_READ:
                self._read[key] = read
        return read


class _PlainBatch:
    """Columns of some thousand rows."""

    def __init__(self, plain: PlainImport) -> None:
        self._plain = plain
        self.n_rows = self.n_chars = 0
        self._items = _Columns("items", _OF_ITEM)
        self._study_items = _Columns("study_items", ("item_id", "role", "position"))
        self._variants = _Columns("variants", _OF_VARIANT)
        self._study_variants = _Columns("study_variants", _OF_STUDY_VARIANT)
        self._calls = _Columns("completions", _OF_CALL)
        self._readouts = _Columns("readouts", (*_PLACE, *_OF_READING))
        self._sources = _Columns("readout_sources", (*_PLACE, "call_id"))
        self._study_items.same = {"study_id": plain.study_id, "confirmatory": False}
        self._study_variants.same = {"study_id": plain.study_id}
        self._readouts.same = {"study_id": plain.study_id}
        self._sources.same = {"study_id": plain.study_id, "position": 0}

    def take(self, row: PlainRow, asked: _Asked, position: int, *, is_new: bool) -> None:
        """Take in a row, and its item where it is the first one of it."""
        plain, item, variant = self._plain, asked.item.item, asked.item.variant
        if is_new:
            self._take_item(asked.item, position)
        model = plain.model(row)
        output = plain.output(row, asked, model)
        completion = output.completion
        if not self.n_rows:
            self._take_same(asked, completion)
        self.n_rows += 1
        self.n_chars += len(asked.request_text) + len(completion.text) + len(completion.reasoning)
        self._calls.rows.append(
            (
                completion.call_id,
                model,
                asked.request_text,
                output.sample,
                completion.status,
                completion.text,
                completion.finish_reason,
                completion.error,
                completion.raw_reply,
                completion.reasoning,
            )
        )
        place = model, item.item_id, variant.axis, variant.variant_id, asked.item.sample
        for extractor, reading, is_correct in plain.readings(row, asked, output):
            self._readouts.rows.append((*place, extractor, *_cells_of(reading, is_correct)))
            self._sources.rows.append((*place, extractor, completion.call_id))

    def _take_same(self, asked: _Asked, completion: Completion) -> None:
        """Take from the first call what is the same in all of them."""
        call = Call("", self._plain.revision, asked.request)
        row = rows.completion_row(call, completion, simulated=False)
        self._calls.same = {name: row[name] for name in row if name not in _OF_CALL}

    def _take_item(self, asked: AskedItem, position: int) -> None:
        item, variant = asked.item, asked.variant
        item_id, variant_id = item.item_id, variant.variant_id
        self._items.rows.append(
            (
                item_id,
                item.dataset,
                item.kind,
                item.question,
                list(item.options),
                item.target,
                item.category,
                item.solution,
                item.source_id,
                rows.json_text(dict(item.meta)),
            )
        )
        self._study_items.rows.append((item_id, asked.role, position))
        self._variants.rows.append(
            (
                variant_id,
                item_id,
                variant.prompt.system,
                rows.json_text(variant.prompt.parts),
                list(variant.order),
                list(variant.labels),
                variant.layout,
                variant.target,
            )
        )
        params = rows.json_text(dict(variant.params))
        place = item_id, variant.axis, variant_id, variant.key, asked.position
        self._study_variants.rows.append((*place, variant.compared_with, params))

    def columns(self) -> dict[str, pyarrow.Table]:
        """Return the columns by table, of tables that have any rows."""
        of_items = (self._items, self._study_items, self._variants, self._study_variants)
        tables = (*of_items, self._calls, self._readouts, self._sources)
        filled = {columns.table: columns.arrow() for columns in tables if columns.rows}
        if self._calls.rows:
            study_ids = [self._plain.study_id] * self.n_rows
            call_ids = filled["completions"]["call_id"]
            filled["study_calls"] = pyarrow.table({"study_id": study_ids, "call_id": call_ids})
        return filled


def _cells_of(reading: Reading, is_correct: bool | None) -> tuple:  # noqa: FBT001
    """The cells of `_OF_READING`."""
    start, end = reading.span or (None, None)
    return (
        reading.status,
        reading.answer,
        reading.value,
        is_correct,
        start,
        end,
        reading.reason,
        rows.json_text(reading.probabilities),
        reading.label_mass,
    )
