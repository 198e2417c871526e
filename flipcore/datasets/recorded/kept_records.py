"""Keep the records of an import on the disk, so that its files are read once.

A survey reads all records before the first one can be stored. To read the files again would take
several times as long as to read the records back.
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

CHUNK, CHUNK_CHARS = 200, 1_000_000  # most records, and characters in them, that are written at once
_RECORD_NAMES = [field.name for field in fields(LogRecord)]
_READOUTS = _RECORD_NAMES.index("readouts")
_record_values = attrgetter(*_RECORD_NAMES)
_readout_values = attrgetter(*(field.name for field in fields(LogReadout)))


class KeptRecords:
    """The records of each file, by the file's number.

    A file's records are missing if the disk was full or a record cannot be pickled, and in a copy
    in another process. Then the file is read again.
    """

    def __init__(self) -> None:
        self._stream: IO[bytes] | None = None
        self._chunks: dict[int, array] = {}  # by file: offset, size, offset, size … of its chunks
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple:
        return KeptRecords, ()

    def keep(self, number: int, records: Iterable[LogRecord | Rejection]) -> Iterator[LogRecord | Rejection]:
        """Yield the records of a file, and keep them as soon as all were yielded."""
        chunks: array | None = array("Q")
        unwritten: list[LogRecord | Rejection] = []
        n_chars = 0
        try:
            for record in records:
                yield record
                unwritten.append(record)
                if isinstance(record, LogRecord):
                    n_chars += len(record.prompt) + len(record.question) + len(record.text or "")
                if len(unwritten) == CHUNK or n_chars > CHUNK_CHARS:
                    chunks = self._write(chunks, unwritten)
                    unwritten, n_chars = [], 0
        except BadInput:
            # The rest of the file cannot be read; the records before it are imported.
            self._finish(number, chunks, unwritten)
            raise
        self._finish(number, chunks, unwritten)

    def holds(self, number: int) -> bool:
        """Tell whether all records of a file are kept."""
        return number in self._chunks

    def records(self, number: int) -> Iterator[LogRecord | Rejection]:
        """Yield the records of a file, in their order."""
        chunks = self._chunks[number]
        for offset, size in zip(chunks[::2], chunks[1::2], strict=True):
            for values in pickle.loads(self._read(offset, size)):
                yield _record_of_values(values)

    def _finish(self, number: int, chunks: array | None, unwritten: list) -> None:
        chunks = self._write(chunks, unwritten)
        if chunks is not None:
            self._chunks[number] = chunks

    def _write(self, chunks: array | None, unwritten: list) -> array | None:
        """Write a chunk and append its offset and size; None if this or an earlier chunk failed."""
        if chunks is None or not unwritten:
            return chunks
        try:
            data = pickle.dumps([_plain_values(record) for record in unwritten], protocol=5)
            with self._lock:
                if self._stream is None:
                    # the file has no name, and vanishes with this object or its process
                    self._stream = tempfile.TemporaryFile()  # noqa: SIM115
                    weakref.finalize(self, self._stream.close)
                offset = self._stream.seek(0, 2)
                self._stream.write(data)
        except (OSError, TypeError, AttributeError, pickle.PicklingError):
            return None
        chunks.extend((offset, len(data)))
        return chunks

    def _read(self, offset: int, size: int) -> bytes:
        assert self._stream is not None
        # Two imports of one survey may run at the same time.
        with self._lock:
            self._stream.seek(offset)
            return self._stream.read(size)


def _plain_values(record: LogRecord | Rejection) -> str | list:
    """Return a record as plain values, which pickle writes several times faster than objects."""
    if isinstance(record, Rejection):
        return record.sentence
    values = list(_record_values(record))
    values[_READOUTS] = [_readout_values(readout) for readout in record.readouts]
    return values


def _record_of_values(values: str | list) -> LogRecord | Rejection:
    if isinstance(values, str):
        return Rejection(values)
    values[_READOUTS] = tuple(LogReadout(*readout) for readout in values[_READOUTS])
    return LogRecord(*values)
