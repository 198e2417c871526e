"""The records of an import on the disk, so that its files are read once.

A survey has to see every record before it is known what any of them is stored as. Reading the
files again for that takes several times as long as reading back what was made of them.
"""

import pickle
import tempfile
import threading
import weakref
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import IO

from flipcore.core.errors import BadInput
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord, Rejection

CHUNK, CHUNK_CHARS = 200, 1_000_000  # records, and characters of theirs, that are written together
_RECORD_NAMES = [field.name for field in fields(LogRecord)]
_READOUTS = _RECORD_NAMES.index("readouts")
_record_values = attrgetter(*_RECORD_NAMES)
_readout_values = attrgetter(*(field.name for field in fields(LogReadout)))


class KeptRecords:
    """Records that were read of each file, by the file's number.

    Holds nothing where the disk was full or a format's record cannot be written: whoever asks
    reads the file again. The same goes for a copy in another process.
    """

    def __init__(self) -> None:
        self._stream: IO[bytes] | None = None
        self._chunks: dict[int, array] = {}  # file -> places and sizes of its chunks
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple:
        return KeptRecords, ()

    def keep(self, number: int, records: Iterable[LogRecord | Rejection]) -> Iterator[LogRecord | Rejection]:
        """Pass on the records of a file, and keep them once all of them were passed on."""
        chunks: array | None = array("Q")
        waiting: list[LogRecord | Rejection] = []
        n_chars = 0
        try:
            for record in records:
                yield record
                waiting.append(record)
                if isinstance(record, LogRecord):
                    n_chars += len(record.prompt) + len(record.question) + len(record.text or "")
                if len(waiting) == CHUNK or n_chars > CHUNK_CHARS:
                    chunks = self._write(chunks, waiting)
                    waiting, n_chars = [], 0
        except BadInput:
            # The rest of the file cannot be read: what stands before that place is used.
            self._finish(number, chunks, waiting)
            raise
        self._finish(number, chunks, waiting)

    def holds(self, number: int) -> bool:
        """Return whether all records of a file are kept."""
        return number in self._chunks

    def records(self, number: int) -> Iterator[LogRecord | Rejection]:
        """Return the records of a file, in their order."""
        chunks = self._chunks[number]
        for place, size in zip(chunks[::2], chunks[1::2], strict=True):
            for values in pickle.loads(self._read(place, size)):
                yield _as_record(values)

    def _finish(self, number: int, chunks: array | None, waiting: list) -> None:
        chunks = self._write(chunks, waiting)
        if chunks is not None:
            self._chunks[number] = chunks

    def _write(self, chunks: array | None, waiting: list) -> array | None:
        """Write a chunk and note its place; None as soon as one could not be written."""
        if chunks is None or not waiting:
            return chunks
        try:
            data = pickle.dumps([_as_values(record) for record in waiting], protocol=5)
            with self._lock:
                if self._stream is None:
                    # It has no name, and is gone with this object or its process.
                    self._stream = tempfile.TemporaryFile()  # noqa: SIM115
                    weakref.finalize(self, self._stream.close)
                place = self._stream.seek(0, 2)
                self._stream.write(data)
        except (OSError, TypeError, AttributeError, pickle.PicklingError):
            return None
        chunks.extend((place, len(data)))
        return chunks

    def _read(self, place: int, size: int) -> bytes:
        assert self._stream is not None
        # Two imports of one survey may run at the same time.
        with self._lock:
            self._stream.seek(place)
            return self._stream.read(size)


def _as_values(record: LogRecord | Rejection) -> str | list:
    """A record as plain values, which are written several times faster than objects."""
    if isinstance(record, Rejection):
        return record.sentence
    values = list(_record_values(record))
    values[_READOUTS] = [_readout_values(readout) for readout in record.readouts]
    return values


def _as_record(values: str | list) -> LogRecord | Rejection:
    if isinstance(values, str):
        return Rejection(values)
    values[_READOUTS] = tuple(LogReadout(*readout) for readout in values[_READOUTS])
    return LogRecord(*values)
