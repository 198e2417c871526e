"""The rows of a plain table as columns of the tables that an import stores.

What is asked is made once per item, and a call's id of a text that is written once per item. Per
row there are a text, its id, and what was read of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from flipcore.core.contracts import Extractor
from flipcore.core.errors import BadInput
from flipcore.core.records import CallIds, Completion, Reading, Request, correctness
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_documents import Document, DocumentIndex
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
from flipcore.runs.import_batch import Batch
from flipcore.runs.log_survey import ITEMS, Survey
from flipcore.runs.our_readouts import extractor_of, read_outputs
from flipcore.store import recorded, rows

MOST_ITEMS = 20_000  # that are remembered until their next row
# Columns take a third of the memory of records, and fewer commits write less.
BATCHES = 4  # of records, that are stored together
_MOST_READ = 50_000  # different scores whose readings are remembered

Kept = LogRecord | Rejection
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


class _OnlyItems(DocumentIndex):
    """Documents of which each has a single record, as the first rows of items are."""

    def __init__(self) -> None:
        super().__init__()
        self.task = ""

    def at(self, place: int) -> Document:
        return Document(place, self.task, shares_hash=False)

    def is_alone(self, document: Document) -> bool:
        return True


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
    ) -> Iterator[tuple[int, Batch]]:
        """Yield (rows seen so far, a batch) of the rows after the first `before`.

        `on_item` is given each item, `on_refusal` the sentence of a row whose
        item is none.
        """
        n_seen, n_items = self.survey.n_refused, 0
        batch = Batch(self.study_id, self.leave)
        numbers = self.survey.placed.numbers()
        kept = self.survey.kept
        first_records = kept.records(ITEMS) if kept.holds(ITEMS) else iter(())
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
                asked = self._asked_of(number, row, next(first_records, None) if is_new else None)
            except BadInput as error:
                on_refusal(f"Line {row.line} of {self._table.file} {str(error).removesuffix('.')}.")
                continue
            if is_new:
                on_item(asked.item)
            if n_seen <= before:
                continue
            if is_new:
                batch.take_item(asked.item, n_seen)
            self._take(batch, row, asked)
            if batch.n_outputs == BATCHES * recorded.BATCH or batch.is_full:
                yield n_seen, batch
                batch = Batch(self.study_id, self.leave)
        yield n_seen, batch

    def _take(self, batch: Batch, row: PlainRow, asked: _Asked) -> None:
        """Take in the output of a row and what was read of it."""
        item, variant = asked.item.item, asked.item.variant
        model = self.model(row)
        output = self.output(row, asked, model)
        batch.n_outputs += 1
        batch.take_call(
            model,
            self.revision,
            asked.request_text,
            sample=output.sample,
            completion=output.completion,
        )
        place = model, item.item_id, variant.axis, variant.variant_id, asked.item.sample
        call_ids = (output.completion.call_id,)
        for extractor, reading, is_correct in self.readings(row, asked, output):
            batch.take_readout(place, extractor, reading, is_correct=is_correct, call_ids=call_ids)

    def _asked_of(self, number: int, row: PlainRow, record: Kept | None) -> _Asked:
        asked = self._asked.get(number)
        if asked is None:
            if len(self._asked) >= MOST_ITEMS:
                self._asked.clear()
            # Making a record again takes longer than reading back the one that was kept.
            if not isinstance(record, LogRecord):
                record = self._table.record(row)
            asked = self._asked[number] = self._made(record)
        return asked

    def _made(self, record: LogRecord) -> _Asked:
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
            yield self._log_read(readout, asked)

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
