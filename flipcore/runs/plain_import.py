"""Import a plain table: turn its rows into columns of the database tables.

A plain table has one row per item and model. So the item, its prompt and the constant part of call
ids are made once per item. Only the output, its call's id and its readouts are made per row.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from flipcore.core.contracts import Extractor
from flipcore.core.errors import BadInput
from flipcore.core.records import CallIds, Completion, Reading, RequestEncoder, Variant, correctness
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
from flipcore.store import recorded

MAX_CACHED_ITEMS = 20_000  # remembered until their next row
# Columns take a third of the memory of records, so batches may be larger: fewer commits write less.
CHUNK, CHUNK_CHARS = 500, 1_000_000  # most rows, and characters of outputs, of one step
BATCHES = 4  # batches of records in one batch of columns
_MAX_CACHED_READINGS = 50_000  # readings of different scores that are remembered

KeptRecord = LogRecord | Rejection
NamedReading = tuple[str, Reading, bool | None]  # (extractor, what it read, whether that is right)


@dataclass(slots=True)
class _PreparedItem:
    """The common part of all rows of an item, made from its first row."""

    asked_item: AskedItem
    record: LogRecord  # of its first row
    request_text: str  # as it is stored
    call_ids: CallIds
    extractor: Extractor | None  # None also for a table without outputs
    readings: dict[tuple[str, str, str], NamedReading]  # by text, reason for its end, and error


_Asked = tuple[PlainRow, _PreparedItem, str | None, str]  # with the output's text, and its error


class _Output(NamedTuple):
    """The output of a row."""

    model: str
    sample: int
    completion: Completion


class _OneRecordPerItem(DocumentIndex):
    """An index for `Builder` in which each record is an item of its own, as first rows are."""

    def __init__(self) -> None:
        super().__init__()
        self.task = ""

    def at(self, place: int) -> Document:
        return Document(place, self.task, shares_hash=False)

    def is_alone(self, document: Document) -> bool:
        return True


class PlainImport:
    """Makes batches of a plain table, ready to be stored."""

    def __init__(
        self,
        study_id: str,
        survey: Survey,
        joining: Joining,
        *,
        left_out: set[str],
        scored_tasks: set[str],
        elsewhere: HashTable,
    ) -> None:
        self.study_id, self.survey, self.left_out = study_id, survey, left_out
        self.scored_tasks = scored_tasks  # those with scores of their own
        self._elsewhere = elsewhere
        self._placed = _OneRecordPerItem()
        self._builder = Builder(joining, self._placed)
        (self._file,) = survey.files
        self.revision = self._file.revision
        self._table: PlainTable = survey.plain_table()
        self._prepared_items: dict[int, _PreparedItem] = {}
        self._cached_readings: dict[tuple, NamedReading] = {}
        self._settings: tuple = ()
        self._encoder: RequestEncoder | None = None  # of requests with these settings

    def batches(
        self,
        n_before: int,
        *,
        on_item: Callable[[AskedItem], None],
        on_refusal: Callable[[str], None],
    ) -> Iterator[tuple[int, Batch]]:
        """Yield (rows seen so far, batch), without the first `n_before` rows. `on_item` is called
        with each item, `on_refusal` with a sentence per row whose item cannot be used."""
        n_seen, n_items = self.survey.n_refused, 0
        batch, waiting, n_chars = Batch(self.study_id, self.left_out), list[_Asked](), 0
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
            if n_seen <= n_before and not is_new:
                continue
            try:
                record = next(first_records, None) if is_new else None
                prepared = self._find_item(number, row, record)
            except BadInput as refusal:
                reason = str(refusal).removesuffix(".")
                on_refusal(f"Line {row.line} of {self._table.file} {reason}.")
                continue
            if is_new:
                on_item(prepared.asked_item)
            if n_seen <= n_before:
                continue
            if is_new:
                batch.add_item(prepared.asked_item, n_seen)
            text, error = self._table.text(row)
            waiting.append((row, prepared, text, error))
            n_chars += len(text or "")
            is_last = batch.n_outputs + len(waiting) == BATCHES * recorded.BATCH
            if len(waiting) == CHUNK or n_chars > CHUNK_CHARS or is_last:
                self._add_outputs(batch, waiting)
                waiting, n_chars = [], 0
                if is_last or batch.is_full:
                    yield n_seen, batch
                    batch = Batch(self.study_id, self.left_out)
        self._add_outputs(batch, waiting)
        yield n_seen, batch

    def _add_outputs(self, batch: Batch, asked: Sequence[_Asked]) -> None:
        """Add outputs and their readouts to the batch. Each step is done for all rows together,
        which takes half of the time of all steps row by row."""
        outputs, readings = [], []
        for row, prepared, text, error in asked:
            finish = self._table.finish(row)
            outputs.append(self.output(self.model(row), prepared, text, error=error, finish=finish))
        for (row, prepared, *_), output in zip(asked, outputs, strict=True):
            readings.append(self._readings(row, prepared, output))
        batch.n_outputs += len(asked)
        for (_, prepared, *_), output, row_readings in zip(asked, outputs, readings, strict=True):
            item, variant = prepared.asked_item.item, prepared.asked_item.variant
            model, sample, completion = output
            batch.add_call(
                model, self.revision, prepared.request_text, sample=sample, completion=completion
            )
            place = (
                model,
                item.item_id,
                variant.axis,
                variant.variant_id,
                prepared.asked_item.sample,
            )
            call_ids = (completion.call_id,)
            for extractor, reading, is_correct in row_readings:
                batch.add_readout(
                    place, extractor, reading, is_correct=is_correct, call_ids=call_ids
                )

    def _find_item(self, number: int, row: PlainRow, record: KeptRecord | None) -> _PreparedItem:
        prepared = self._prepared_items.get(number)
        if prepared is None:
            if len(self._prepared_items) >= MAX_CACHED_ITEMS:
                self._prepared_items.clear()
            # Reading back the kept record is faster than making it again from the row.
            if not isinstance(record, LogRecord):
                record = self._table.record(row)
            prepared = self._make_item(record)
            if self.survey.placed.is_repeated(number):
                self._prepared_items[number] = prepared
        return prepared

    def _make_item(self, record: LogRecord) -> _PreparedItem:
        self._placed.task = record.task
        asked_item = self._builder.asked(record)
        encoder = self._find_encoder(record, asked_item.variant)
        prompt = asked_item.variant.prompt.text
        extractor = None
        if self.survey.has_text:
            extractor = extractor_of(
                asked_item.item,
                has_option_scores=False,
                is_scored=asked_item.item.dataset in self.scored_tasks,
                is_mathematics=asked_item.item.dataset in self.survey.mathematics,
            )
        return _PreparedItem(
            asked_item,
            record,
            request_text=encoder.stored(prompt),
            call_ids=encoder.call_ids(prompt),
            extractor=extractor,
            readings={},
        )

    def _find_encoder(self, record: LogRecord, variant: Variant) -> RequestEncoder:
        """Return the encoder of requests with the record's settings, nearly always the last one."""
        settings = record.sampling, variant.prompt.system
        if self._encoder is None or settings != self._settings:
            self._settings = settings
            self._encoder = RequestEncoder(request_of(record, variant))
        return self._encoder

    def model(self, row: PlainRow) -> str:
        """Return the model's name in the study."""
        return self._file.model_of(self.survey.corrections, row.model)

    def output(
        self, model: str, prepared: _PreparedItem, text: str | None, *, error: str, finish: str
    ) -> _Output:
        """Return the output of a row. Where another study holds the same call with another output,
        this one becomes a further sample of the request."""
        sample = 0
        completion = recorded_text(
            prepared.call_ids.call_id(model, self.revision),
            text,
            error=error,
            finish=finish,
            raw_reply=prepared.record.raw_reply,
        )
        while len(self._elsewhere):
            stored = self._elsewhere.get(call_number(completion.call_id))
            if stored in (None, (completion_hash(completion),)):
                break
            sample += 1
            call_id = prepared.call_ids.call_id(model, self.revision, sample)
            completion = replace(completion, call_id=call_id)
        return _Output(model, sample, completion)

    def _readings(
        self, row: PlainRow, prepared: _PreparedItem, output: _Output
    ) -> list[NamedReading]:
        """Return the readings of a row by our extractor and by the table's own scorers."""
        item, variant, completion = (
            prepared.asked_item.item,
            prepared.asked_item.variant,
            output.completion,
        )
        readings = []
        if prepared.extractor:
            # Models often give the same output to an item.
            key = completion.text, completion.finish_reason, completion.error
            named_reading = prepared.readings.get(key)
            if named_reading is None:
                reading = read_outputs(prepared.extractor, item, variant, [completion])
                is_correct = correctness(reading, variant.target)
                named_reading = prepared.extractor.name, reading, is_correct
                prepared.readings[key] = named_reading
            readings.append(named_reading)
        for readout in self._table.readouts(row):
            readings.append(self._read_log_readout(readout, prepared))
        return readings

    def _read_log_readout(self, readout: LogReadout, prepared: _PreparedItem) -> NamedReading:
        item, variant, task = (
            prepared.asked_item.item,
            prepared.asked_item.variant,
            prepared.record.task,
        )
        values = readout.name, readout.score, readout.is_correct, readout.reason
        key = (*values, task, item.kind, variant.target)
        named_reading = self._cached_readings.get(key)
        if named_reading is None:
            readout_row = self._builder.readout(readout, prepared.record, item, variant, "", 0, ())
            named_reading = readout_row.extractor, readout_row.reading, readout_row.is_correct
            if len(self._cached_readings) < _MAX_CACHED_READINGS:
                self._cached_readings[key] = named_reading
        return named_reading
