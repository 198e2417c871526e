"""Files to rows: JSONL, JSON, CSV and Parquet. A bad row is a row with a problem, so the good ones still load."""

from __future__ import annotations

import csv
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed

MAX_UPLOAD_MB = 200
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
_WRAPPERS = ("rows", "data", "Data", "items", "examples")
_MAX_CELL = 10_000_000


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


def read_rows(path: str | Path, header: tuple[str, ...] = ()) -> Iterator[Row]:
    """The rows of a file. `header` names the columns of a CSV file that has no header line.

    Raises BadInput when the file as a whole cannot be read: absent, too large, of an unknown kind, half-written.
    """
    path = allowed(path)
    suffix = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    _check_file(path, suffix)
    if suffix == ".parquet":
        rows = _parquet(path)
    else:
        text = _text(path)
        rows = _csv(text, path.name, header) if suffix in (".csv", ".tsv") else _json(text, path.name, suffix)
    return (_without_surrogates(row) for row in rows)


def _check_file(path: Path, suffix: str) -> None:
    if not path.is_file():
        raise BadInput(f"There is no file {path.name!r}; give the path of a JSONL, JSON, CSV or Parquet file.")
    if suffix not in SUFFIXES:
        raise BadInput(f"{path.name} is not of a known kind; a file of items ends in {', '.join(SUFFIXES)}.")
    size = path.stat().st_size
    if size > MAX_UPLOAD_MB * 1_000_000:
        raise BadInput(
            f"{path.name} has {size / 1e6:,.0f} MB and the limit is {MAX_UPLOAD_MB} MB; split it or keep fewer columns."
        )
    if size == 0:
        raise BadInput(f"{path.name} is empty; it needs at least one row.")


def _text(path: Path) -> str:
    """The file's text; bytes that are not UTF-8 become surrogates, which mark the rows that hold them."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b" and path.suffix.lower() == ".gz":
        data = _unpacked(data, path.name)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{path.name} is UTF-16; save it as UTF-8 and try again.")
    if data[:4] in (b"PAR1", b"PK\x03\x04") or data[:2] == b"\x1f\x8b":
        raise BadInput(f"{path.name} is a Parquet, zip or gzip file under another name; unpack it or rename it.")
    return data.decode("utf-8-sig", "surrogateescape")


def _unpacked(data: bytes, name: str) -> bytes:
    """A gzip file's content; BadInput where it is damaged or larger than ten times what a file may have."""
    unpacker = zlib.decompressobj(31)
    try:
        content = unpacker.decompress(data, 10 * MAX_UPLOAD_MB * 1_000_000)
    except zlib.error as error:
        raise BadInput(f"{name} is a damaged gzip file ({error}); fetch it again.") from None
    if not unpacker.eof:
        raise BadInput(f"{name} is half-written or unpacks to more than {10 * MAX_UPLOAD_MB:,} MB; unpack and split it.")
    return content


def _without_surrogates(row: Row) -> Row:
    """Text with surrogates cannot be stored or shown, whether it came from wrong bytes or from a JSON escape."""
    if row.problem:
        return row
    try:
        json.dumps(row.values, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        return replace(row, problem="holds bytes that are not UTF-8; save the file as UTF-8")
    return row


def _json(text: str, name: str, suffix: str) -> Iterator[Row]:
    """JSON lines, or one JSON document with a list of rows in it: both occur under both suffixes."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) == 1 or suffix == ".json":
        try:
            document = json.loads(text)
        except RecursionError:
            raise BadInput(f"{name} is nested too deeply to be rows.") from None
        except ValueError as error:
            if len(lines) < 2 or _json_line(*lines[0]).problem:
                raise BadInput(f"{name} is not valid JSON: {error}. It may be half-written; save it again.") from None
        else:
            yield from _listed(document, name)
            return
    for number, line in lines:
        yield _json_line(number, line)


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


def _csv(text: str, name: str, header: tuple[str, ...]) -> Iterator[Row]:
    """Comma, semicolon or tab separated, decided by the first line."""
    csv.field_size_limit(_MAX_CELL)
    first = text.split("\n", 1)[0]
    delimiter = "," if header else max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
                raise BadInput(f"{name} names a column twice: {', '.join(columns)}. Give every column its own name.")
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
