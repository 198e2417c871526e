"""Files to rows: JSONL, JSON, CSV and Parquet. A bad row is a row with a problem, so the good ones still load."""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, cast

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed

MAX_UPLOAD_MB = 200
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
_WRAPPERS = ("rows", "data", "Data", "items", "examples")
_MAX_CELL = 10_000_000  # characters
_MAX_LINE = MAX_UPLOAD_MB * 1_000_000  # bytes
_GZIP = b"\x1f\x8b"
_LINE_END = re.compile(r"(?<=\r)(?!\n)")  # old files end a line with a carriage return alone


@dataclass(frozen=True)
class Row:
    """One row by column. `line` counts from 1 (rows, in Parquet and in a JSON array); `problem` ends "Line 3 …"."""

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    file: str = ""

    @property
    def place(self) -> str:
        """Where it stands, for the beginning of a sentence; `file` is set where one source is several files."""
        return f"Line {self.line} of {self.file}" if self.file else f"Line {self.line}"


def read_rows(path: str | Path, header: tuple[str, ...] = (), most_mb: int = MAX_UPLOAD_MB) -> Iterator[Row]:
    """The rows of a file, read a line at a time. `header` names the columns of a CSV file that has no header line.

    Raises BadInput when the file as a whole cannot be read: absent, larger than `most_mb` megabytes, of an unknown kind,
    half-written; of a packed file the last two are known only on the way.
    """
    path = allowed(path)
    suffix = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    _check_file(path, suffix, most_mb)
    if suffix == ".parquet":
        rows = _parquet(path)
    else:
        _check_beginning(path)
        rows = _csv(path, header, most_mb) if suffix in (".csv", ".tsv") else _json(path, suffix, most_mb)
    return (_without_surrogates(row) for row in rows)


def _check_file(path: Path, suffix: str, most_mb: int) -> None:
    if not path.is_file():
        raise BadInput(f"There is no file {path.name!r}; give the path of a JSONL, JSON, CSV or Parquet file.")
    if suffix == ".zip":
        raise BadInput(f"{path.name} holds no log of a known harness. Unpack it to read a table ({', '.join(SUFFIXES)}) of it.")
    if suffix not in SUFFIXES:
        raise BadInput(f"{path.name} is not of a known kind; a file of items ends in {', '.join(SUFFIXES)}.")
    size = path.stat().st_size
    if size > most_mb * 1_000_000:
        raise BadInput(f"{path.name} has {size / 1e6:,.0f} MB and the limit is {most_mb:,} MB; split it or keep fewer columns.")
    if size == 0:
        raise BadInput(f"{path.name} is empty; it needs at least one row.")


def is_packed(path: Path) -> bool:
    """Whether it is a gzip file by its name and by its content."""
    with path.open("rb") as stream:
        return path.suffix.lower() == ".gz" and stream.read(2) == _GZIP


def _check_beginning(path: Path) -> None:
    with _content(path) as stream, _unpacking(path.name):
        first = stream.read(4)
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{path.name} is UTF-16; save it as UTF-8 and try again.")
    if first in (b"PAR1", b"PK\x03\x04") or first[:2] == _GZIP:
        raise BadInput(f"{path.name} is a Parquet, zip or gzip file under another name; unpack it or rename it.")


def _content(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where they are packed."""
    return cast(IO[bytes], gzip.open(path)) if is_packed(path) else path.open("rb")


@contextmanager
def _unpacking(name: str) -> Iterator[None]:
    try:
        yield
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise BadInput(f"{name} is a damaged or half-written gzip file ({error}); fetch it again.") from None


def _lines(path: Path, most_mb: int) -> Iterator[tuple[int, str]]:
    """(its number from 1, a line with its end); bytes that are not UTF-8 become surrogates, which mark the rows that hold them.

    Raises BadInput for a damaged gzip file, and for one that unpacks to more than ten times what it may have."""
    most, n_bytes = most_mb * (10_000_000 if is_packed(path) else 1_000_000), 0
    with _content(path) as stream, _unpacking(path.name):
        for number, line in enumerate(iter(lambda: stream.readline(_MAX_LINE + 1), b""), start=1):
            n_bytes += len(line)
            if n_bytes > most:
                raise BadInput(f"{path.name} unpacks to more than {most // 1_000_000:,} MB; unpack and split it.")
            if len(line) > _MAX_LINE:
                raise BadInput(
                    f"Line {number:,} of {path.name} has more than {MAX_UPLOAD_MB} MB; give each row a line of its own."
                )
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def _without_surrogates(row: Row) -> Row:
    """Text with surrogates cannot be stored or shown, whether it came from wrong bytes or from a JSON escape."""
    if row.problem:
        return row
    try:
        json.dumps(row.values, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        return replace(row, problem="holds bytes that are not UTF-8; save the file as UTF-8")
    return row


def _json(path: Path, suffix: str, most_mb: int) -> Iterator[Row]:
    """JSON lines, or one JSON document with a list of rows in it: both occur under both suffixes."""
    if suffix == ".json":
        yield from _document(path, most_mb)
        return
    lines = ((number, line.removesuffix("\n")) for number, line in _lines(path, most_mb) if line.strip())
    first = list(islice(lines, 2))
    if len(first) == 1:
        yield from _document(path, most_mb)
    for number, line in chain(first if len(first) > 1 else (), lines):
        yield _json_line(number, line)


def _document(path: Path, most_mb: int) -> Iterator[Row]:
    """The rows of a document, which is read whole; of a file of lines under a document's name those of its lines."""
    if most_mb > MAX_UPLOAD_MB and path.stat().st_size > MAX_UPLOAD_MB * 1_000_000:
        raise BadInput(
            f"{path.name} has {path.stat().st_size / 1e6:,.0f} MB, and a JSON document is read whole, at most "
            f"{MAX_UPLOAD_MB} MB. Save it as JSON lines (.jsonl): one row a line has no such limit."
        )
    text = "".join(line for _, line in _lines(path, MAX_UPLOAD_MB))
    try:
        document = json.loads(text)
    except RecursionError:
        raise BadInput(f"{path.name} is nested too deeply to be rows.") from None
    except ValueError as error:
        rows = json_lines(text)
        first = list(islice(rows, 2))
        if len(first) < 2 or first[0].problem:
            raise BadInput(f"{path.name} is not valid JSON: {error}. It may be half-written; save it again.") from None
        yield from chain(first, rows)
    else:
        yield from _listed(document, path.name)


def json_lines(text: str) -> Iterator[Row]:
    """The rows of a text of one JSON object a line."""
    return (_json_line(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _json_line(number: int, line: str) -> Row:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        return Row(number, problem=f"is not valid JSON ({why})")
    return _row(number, values)


def _row(number: int, values: Any) -> Row:
    if not isinstance(values, dict):
        return Row(number, problem=f"is {type(values).__name__} instead of an object with named columns")
    inner = values.get("row")
    return Row(number, inner if isinstance(inner, dict) else values)


def _listed(document: Any, name: str) -> Iterator[Row]:
    """The rows of a document: a list, an object that wraps one, or a single object."""
    if isinstance(document, dict):
        wrapped = [document[key] for key in _WRAPPERS if isinstance(document.get(key), list)]
        document = wrapped[0] if wrapped else [document]
    if not isinstance(document, list):
        raise BadInput(f"{name} holds {type(document).__name__}; it should hold a list of objects.")
    for number, values in enumerate(document, start=1):
        yield _row(number, values)


def _csv(path: Path, header: tuple[str, ...], most_mb: int) -> Iterator[Row]:
    """Comma, semicolon or tab separated, decided by the first line."""
    csv.field_size_limit(_MAX_CELL)
    lines = (part for _, line in _lines(path, most_mb) for part in _LINE_END.split(line) if part)
    first = next(lines, "")
    delimiter = "," if header else max(",;\t", key=first.count)
    reader = csv.reader(chain((first,), lines), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] = header
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(start, problem=f"is not valid CSV ({error}); the file may be half-written")
            continue
        if not columns:
            columns = tuple(cells)
            if len(set(columns)) < len(columns):
                raise BadInput(f"{path.name} names a column twice: {', '.join(columns)}. Give every column its own name.")
        elif cells and len(cells) != len(columns):
            yield Row(start, problem=f"has {len(cells)} columns and the header has {len(columns)}")
        elif cells:
            yield Row(start, dict(zip(columns, cells, strict=True)))


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        number = 0
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches(1000):
            for values in batch.to_pylist():
                number += 1
                yield Row(number, values)
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInput(f"{path.name} could not be read as Parquet: {str(error).splitlines()[0]}") from error
