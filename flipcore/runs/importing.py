"""Recorded outputs -> an ordinary study: items, variants, completions as they were stored, and readouts of them; in batches, so that
memory does not grow with the file."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.records import WRITTEN_ANSWER, Call, Completion, Readout, correctness
from flipcore.core.study import RECORDED, ItemSource, ModelUse, Part, Study
from flipcore.datasets.recorded.columns import mapping_of
from flipcore.datasets.recorded.grouping import Refusal
from flipcore.datasets.recorded.hash_table import HashTable
from flipcore.datasets.recorded.log_places import OwnCalls, hashes_of, is_same
from flipcore.datasets.recorded.outputs import Record, Recording, nothing_fits, revision_of, stream
from flipcore.extractors import EXTRACTORS
from flipcore.runs.log_import import ImportProgress
from flipcore.runs.origins import study_row
from flipcore.runs.progress import DONE, INCOMPLETE
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.recorded import (
    BATCH,
    BATCH_CHARS,
    MEMORY_MB,
    completions_at,
    import_mark,
    import_state,
    store_marked,
    stored_elsewhere,
)
from flipcore.text.answers import answer_text
from flipcore.text.counts import count_of

# generated text of a recording is read by the written answer, the default reference, and short answers in words by their match
READ_TEXT, READ_WORDS = WRITTEN_ANSWER, "text_match"


N_FIRST, N_REFUSALS = 8, 200  # records and refusals that are kept to be looked at


@dataclass(frozen=True)
class Imported:
    """What a file of recorded outputs holds, as a study that is not stored yet: `first` are its first records, `readouts` those
    that were recorded of them or read from their text, `refusals` the first rows that do not fit."""

    study: Study
    path: str
    recording: Recording
    first: tuple[Record, ...]
    readouts: tuple[Readout, ...]
    refusals: tuple[Refusal, ...]
    n_records: int
    n_items: int
    n_refused: int
    n_repeated: int

    @property
    def sentence(self) -> str:
        """What was found, for people."""
        models, names = ([one.name for one in several] for several in (self.study.models, self.study.extractors))
        sentence = (
            f"{self.n_records:,} recorded output{'s' * (self.n_records != 1)} on {self.n_items:,} item{'s' * (self.n_items != 1)} "
            f"by {', '.join(models)}, read by {', '.join(names)}."
        )
        if self.n_repeated:
            again = count_of(self.n_repeated, "prompt stands", "prompts stand")
            sentence += f" {again} under two names within an item, counted as recorded."
        if self.refusals:
            sentence += f" Rows that were refused: {self.n_refused:,}. The first: {self.refusals[0].sentence}"
        return sentence


@dataclass
class _Survey:
    """What one pass over a file counts."""

    first: list[Record] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    models: dict[str, None] = field(default_factory=dict)
    axes: dict[str, None] = field(default_factory=dict)
    items: set[bytes] = field(default_factory=set)
    n_records: int = 0
    n_refused: int = 0
    n_repeated: int = 0

    def take(self, one: Record | Refusal) -> None:
        if isinstance(one, Refusal):
            self.n_refused += 1
            self.refusals += [one] if self.n_refused <= N_REFUSALS else []
            return
        self.n_records, self.n_repeated = self.n_records + 1, self.n_repeated + one.is_repeated
        self.first += [one] if self.n_records <= N_FIRST else []
        self.models[one.call.model] = self.axes[one.variant.axis] = None
        self.items.add(_short(one.item.item_id))


def imported(path: str | Path, recording: Recording, name: str = "") -> Imported:
    """What a recording holds, as a study. Raises BadInput when nothing of it fits, or nothing of it can be read."""
    names = _names(recording)
    summary = _Survey()
    for one in stream(str(path), recording):
        summary.take(one)
    if not summary.first:
        raise nothing_fits(path, summary.refusals[0].sentence if summary.refusals else "")
    if not names:
        raise BadInput(
            "The recording names neither a column of answers or scores nor one of generated text, so there is "
            "nothing to read. Name at least one."
        )
    study = _study(
        recording,
        [*summary.models],
        summary.first[0].call.revision,
        names,
        name or f"{recording.dataset}, recorded",
        [*summary.axes],
    )
    return Imported(
        study,
        str(path),
        recording,
        tuple(summary.first),
        tuple(readout for record in summary.first for readout in _readouts(record, recording)),
        tuple(summary.refusals),
        summary.n_records,
        len(summary.items),
        summary.n_refused,
        summary.n_repeated,
    )


def _names(recording: Recording) -> list[str]:
    """The readouts: those recorded, and the one that is read from the text. Raises BadInput where two have one name."""
    names = [field.extractor for field in recording.fields]
    own_name = _own_name(recording)
    if recording.text and own_name in names:
        raise BadInput(
            f"Two readouts would be called {own_name!r}: a recorded one and the one read from the text. Give the "
            "recorded one another name."
        )
    if len(set(names)) < len(names):
        raise BadInput(f"Two readouts are called {max(names, key=names.count)!r}; give each its own name.")
    return [*names, own_name] if recording.text else names


def _own_name(recording: Recording) -> str:
    return READ_WORDS if recording.kind == "text" else READ_TEXT


def _readouts(record: Record, recording: Recording) -> list[Readout]:
    return [*record.readouts, *([_read(record, _own_name(recording))] if recording.text else ())]


def store_imported(
    outputs: Imported,
    store: Store,
    on_progress: Callable[[ImportProgress], None] | None = None,
    stop: threading.Event | None = None,
) -> str:
    """Writes everything and returns the study's id; the study is "done" when all of it is stored. Importing the same again changes
    nothing; with `stop` set it ends after the batch in hand, and the same import goes on from there.

    Raises BadInput for a file that changed since it was looked at."""
    study_id = outputs.study.study_id
    before = import_mark(store, study_id)
    if before >= outputs.n_records and import_state(store, study_id)[0] == DONE:
        return study_id
    if revision_of(outputs.path) != outputs.first[0].call.revision:
        raise BadInput(f"{Path(outputs.path).name} has changed since it was looked at. Look at it again, then import.")
    _say(outputs, store, "running", "Importing.")
    try:
        with store.memory_bound(MEMORY_MB):
            table = hashes_of(stored_elsewhere(store, study_id, [outputs.first[0].call.revision]))
            whole = _all_stored(outputs, store, table, before, on_progress, stop)
            n_astray = _n_astray(outputs, store, table) if whole else 0
    except BaseException:  # an interrupt, a full disk: what was stored stays, and the state says so
        _say_stopped(outputs, store)
        raise
    if whole and n_astray:
        sentence = (
            f"Read again, {count_of(n_astray, 'row is', 'rows are')} not stored as the file holds them. Please report this."
        )
        _say(outputs, store, INCOMPLETE, f"Imported: {outputs.sentence} {sentence}", ended_at=rows.now())
    elif whole:
        sentence = f"Imported: {outputs.sentence} Read again, every output is stored as written."
        _say(outputs, store, DONE, sentence, ended_at=rows.now())
    else:
        _say_stopped(outputs, store)
    return study_id


def _say(outputs: Imported, store: Store, state: str, message: str, **times) -> None:
    row = study_row(outputs.study, state, message, n_calls=outputs.n_records, **times)
    store.writer.add("studies", [row]).result()


def _say_stopped(outputs: Imported, store: Store) -> None:
    n_stored = import_mark(store, outputs.study.study_id)
    sentence = f"Import stopped after {n_stored:,} of {outputs.n_records:,} outputs. Import the same file again to go on."
    _say(outputs, store, "cancelled", sentence)


def _all_stored(
    outputs: Imported,
    store: Store,
    elsewhere: HashTable,
    before: int,
    on_progress: Callable[[ImportProgress], None] | None,
    stop: threading.Event | None,
) -> bool:
    """Stores the records after the first `before`, a batch at a time; False where it was stopped."""
    study_id, records = outputs.study.study_id, _own_records(outputs, elsewhere)
    tables, waiting = _Tables(study_id, outputs.recording), None
    for n_seen, record in enumerate(records, start=1):
        tables.take(record)
        if n_seen <= before:
            tables.drop()
        elif tables.is_full or n_seen == outputs.n_records:
            waiting = store_marked(store, study_id, tables.rows(), n_seen, waiting)
            tables.drop()
            if on_progress:
                on_progress(ImportProgress(n_seen, outputs.n_records))
            if stop and stop.is_set() and n_seen < outputs.n_records:
                waiting.result()
                return False
    if waiting:
        waiting.result()
    return True


def _own_records(outputs: Imported, elsewhere: HashTable) -> Iterator[Record]:
    """Every record of the file, with a call of its own: the same file read by another column keeps its texts in its study."""
    own, n_seen = OwnCalls(elsewhere), 0
    for record in stream(outputs.path, outputs.recording):
        if isinstance(record, Refusal):
            continue
        n_seen += 1
        ((call, completion),) = own.calls(n_seen, record.call.sample, partial(_calls_at, record))
        if call.call_id != record.call.call_id:
            readouts = tuple(replace(one, source_ids=(call.call_id,)) for one in record.readouts)
            record = replace(record, call=call, completion=completion, readouts=readouts)
        yield record


def _calls_at(record: Record, sample: int) -> list[tuple[Call, Completion]]:
    call = record.call if sample == record.call.sample else replace(record.call, sample=sample)
    return [(call, replace(record.completion, call_id=call.call_id))]


def _n_astray(outputs: Imported, store: Store, elsewhere: HashTable) -> int:
    """How many outputs are not stored as a second reading of the file finds them."""
    n_astray = 0
    records = _own_records(outputs, elsewhere)
    while batch := list(islice(records, BATCH)):
        by_call = completions_at(store, [one.call.call_id for one in batch])
        n_astray += sum(not is_same(one.completion, by_call.get(one.call.call_id)) for one in batch)
    return n_astray


class _Tables:
    """Rows of some thousand records by table. Remembers which items and variants the batches before held: an item is stored as it
    first occurs, in the role that it has there."""

    def __init__(self, study_id: str, recording: Recording) -> None:
        self.study_id, self.recording = study_id, recording
        self.items: set[bytes] = set()
        self.variants: set[bytes] = set()
        self.n_variants: Counter[bytes] = Counter()
        self.drop()

    def drop(self) -> None:
        """Lets go of the batch."""
        self.by_table: dict[str, list[dict]] = {}
        self.readouts: list[Readout] = []
        self.n_records = self.n_chars = 0

    @property
    def is_full(self) -> bool:
        return self.n_records >= BATCH or self.n_chars > BATCH_CHARS

    def take(self, record: Record) -> None:
        self._take_item(record)
        self._take_variant(record)
        self._add("completions", rows.completion_row(record.call, record.completion, False))
        self._add("study_calls", {"study_id": self.study_id, "call_id": record.call.call_id})
        self.readouts += _readouts(record, self.recording)
        self.n_records += 1
        self.n_chars += len(record.call.request.prompt) + len(record.completion.text)

    def _take_item(self, record: Record) -> None:
        if (short := _short(record.item.item_id)) in self.items:
            return
        place = {"position": len(self.items), "confirmatory": False}
        self.items.add(short)
        self._add("items", rows.item_row(record.item))
        self._add("study_items", {"study_id": self.study_id, "item_id": record.item.item_id, "role": record.role} | place)

    def _take_variant(self, record: Record) -> None:
        short = _short(f"{record.item.item_id} {record.variant.variant_id}")
        if short in self.variants:
            return
        self.variants.add(short)
        item = _short(record.item.item_id)
        (row,) = rows.study_variant_rows(self.study_id, [record.variant])
        self._add("study_variants", row | {"position": self.n_variants[item]})
        self._add("variants", rows.variant_row(record.variant))
        self.n_variants[item] += 1

    def _add(self, table: str, row: dict) -> None:
        self.by_table.setdefault(table, []).append(row)

    def rows(self) -> dict[str, list[dict]]:
        readouts, sources = rows.readout_rows(self.study_id, self.readouts)
        return self.by_table | {"readouts": readouts, "readout_sources": sources}


def _short(name: str) -> bytes:
    """A name in sixteen bytes: a million of them are remembered at once."""
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def _read(record: Record, name: str) -> Readout:
    """The written answer of one record's text."""
    reading = EXTRACTORS[name].read(record.item, record.variant, [record.completion])
    return Readout(
        record.call.model,
        record.item.item_id,
        record.variant.axis,
        record.variant.variant_id,
        record.sample,
        name,
        reading,
        correctness(reading, record.variant.target),
        (record.call.call_id,),
    )


def _study(
    recording: Recording, models: Sequence[str], revision: str, names: Sequence[str], name: str, axes: Sequence[str]
) -> Study:
    """The declaration says where the outputs came from and how they were read; the file's digest makes it this file's."""
    source = ItemSource(RECORDED, columns=mapping_of(recording), options={"content": revision})
    return Study(
        name,
        (source,),
        tuple(Part(axis) for axis in axes),
        tuple(Part(one) for one in names),
        tuple(ModelUse(model) for model in dict.fromkeys(models)),
        protocol=Part(RECORDED),
    )


def preview_row(record: Record, readouts: Sequence[Readout]) -> dict:
    """One record as a row: the question, the version, and what each readout says."""
    row = {
        "question": record.item.question[:200],
        "version": record.variant.key,
        "options shown": " | ".join(record.item.options[place] for place in record.variant.order),
    }
    for readout in readouts:
        if record.call.call_id in readout.source_ids:
            row[readout.extractor] = answer_text(record.item, readout.reading.answer)
    return row
