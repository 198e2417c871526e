"""Files to rows: JSONL, JSON, CSV and Parquet. A bad row is a row with a problem, so the good ones
still load.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed, spoken_name
from flipcore.datasets.reading.json_streams import ListKey, json_document, n_values
from flipcore.datasets.reading.log_files import MAX_UNPACKED, Source
from flipcore.datasets.reading.packed import GZIP, ZSTD, is_packed, opened, suffix_of, unpacking
from flipcore.datasets.reading.sheets import sheet_rows

MAX_UPLOAD_MB = 200
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".xlsx")
_WRAPPERS = tuple(
    "rows data Data items examples outputs predictions results samples records responses "
    "testCases test_cases".split()
)
_LEAST_ITEMS = 20  # of an object with a value an item: fewer may be settings
_SHARED_KEYS = 0.8  # of the items of two maps by item
_FEWEST_ROWS = 5  # of a list inside: fewer are the options of one item
_DEEPEST = 4  # levels down to a list of rows
_INSTANCES = ("resolved_ids", "unresolved_ids", "submitted_ids", "empty_patch_ids", "error_ids")
MAX_ROW = 10_000_000  # bytes of a row; a larger one is refused without being held
MAX_VALUES = (
    500_000  # of a row: nested lists take some sixty bytes each, however short they are written
)
_BATCH_BYTES, _LEAST_BATCH, _MOST_BATCH = (
    200_000_000,
    8,
    1_000,
)  # of Parquet, unpacked, and its rows
# that a column of Parquet may unpack to, if it is packed more densely than the ratio below
_COLUMN_BYTES = 2_000_000_000
_FREE_BYTES, _RATIO = (
    100_000_000,
    100,
)  # of a part of Parquet: bytes it may unpack to, and times those of the file besides
_LINE_END = re.compile(r"(?<=\r)(?!\n)")  # old files end a line with a carriage return alone


@dataclass(frozen=True)
class Row:
    """One row by column. `line` counts from 1 (rows, in Parquet and in a JSON array); `problem`
    ends "Line 3 …".
    """

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    file: str = ""

    @property
    def place(self) -> str:
        """Place where it stands, for the beginning of a sentence; `file` is set where one source is
        several files.
        """
        return f"Line {self.line} of {self.file}" if self.file else f"Line {self.line}"


def read_rows(
    path: str | Path, header: tuple[str, ...] = (), most_mb: int = MAX_UPLOAD_MB, sheet: str = ""
) -> Iterator[Row]:
    """The rows of a file, read a line at a time. `header` names the columns of a CSV file that has
    no header line, `sheet` the sheet of an Excel file that is read, "" for its first.

    Raises BadInput when the file as a whole cannot be read: absent, larger than `most_mb` megabytes
    (of a packed file, unpacked), of an unknown kind, half-written; some of it is known only on the
    way. A row above MAX_ROW is refused by itself.
    """
    path = allowed(path)
    suffix = suffix_of(path)
    _check_file(path, suffix, most_mb)
    if suffix == ".parquet":
        rows = _parquet(path, most_mb)
    elif suffix == ".xlsx":
        rows = _sheet(path, most_mb, sheet)
    else:
        _check_beginning(path)
        rows = (
            _csv(path, header, most_mb)
            if suffix in (".csv", ".tsv")
            else _json(path, suffix, most_mb)
        )
    is_checked = suffix in (".jsonl", ".json", ".csv", ".tsv")
    return rows if is_checked else (_without_surrogates(row) for row in rows)


def _check_file(path: Path, suffix: str, most_mb: int) -> None:
    if not path.is_file():
        raise BadInput(
            f"There is no file {spoken_name(path)!r}; give the path of a JSONL, JSON, CSV, Excel "
            "or Parquet file."
        )
    if suffix == ".zip":
        raise BadInput(
            f"{spoken_name(path)} holds no log of a known harness. Unpack it to read a table "
            f"({', '.join(SUFFIXES)}) of it."
        )
    if suffix not in SUFFIXES:
        raise BadInput(
            f"{spoken_name(path)} is not of a known kind; a file of items ends in "
            f"{', '.join(SUFFIXES)}."
        )
    size = path.stat().st_size
    if size > most_mb * 1_000_000:
        raise BadInput(
            f"{spoken_name(path)} has {size / 1e6:,.0f} MB and the limit is {most_mb:,} MB; "
            "split it or keep fewer columns."
        )
    if size == 0:
        raise BadInput(f"{spoken_name(path)} is empty; it needs at least one row.")


def _check_beginning(path: Path) -> None:
    with opened(path) as stream, unpacking(path):
        first = stream.read(4)
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{spoken_name(path)} is UTF-16; save it as UTF-8 and try again.")
    if first in (b"PAR1", b"PK\x03\x04") or first[:2] == GZIP or first == ZSTD:
        raise BadInput(
            f"{spoken_name(path)} is a Parquet, Excel, zip, gzip or zstd file under another "
            "name; unpack it or rename it."
        )


def _lines(path: Path, most_mb: int) -> Iterator[tuple[int, str | None]]:
    """(its number from 1, a line with its end); None for a line above MAX_ROW, which is skipped
    without being held. Bytes that are not UTF-8 become surrogates, which mark the rows that hold
    them.

    Raises BadInput for a damaged gzip file, and for one that unpacks to more than a file may have.
    """
    most, n_bytes = most_mb * 1_000_000, 0
    with opened(path) as stream, unpacking(path):
        for number, line in enumerate(iter(lambda: stream.readline(MAX_ROW + 1), b""), start=1):
            n_bytes, is_long, part = n_bytes + len(line), len(line) > MAX_ROW, line
            while is_long and part and not part.endswith(b"\n") and n_bytes <= most:
                part = stream.readline(1 << 20)
                n_bytes += len(part)
            if n_bytes > most:
                raise BadInput(
                    f"{spoken_name(path)} unpacks to more than {most_mb:,} MB; unpack and split it."
                )
            yield (
                number,
                None
                if is_long
                else line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape"),
            )


_TOO_LONG = f"has more than {MAX_ROW // 1_000_000} MB; give each row a line of its own"


_NOT_UTF8 = "holds bytes that are not UTF-8; save the file as UTF-8"


def _without_surrogates(row: Row) -> Row:
    """Text with surrogates cannot be stored or shown, whether it came from wrong bytes or from a
    JSON escape.
    """
    if row.problem:
        return row
    if _can_be_stored(json.dumps(row.values, ensure_ascii=False, default=str)):
        return row
    return replace(row, problem=_NOT_UTF8)


def _can_be_stored(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _json(path: Path, suffix: str, most_mb: int) -> Iterator[Row]:
    """JSON lines, or a JSON document with a list of rows: both occur under both suffixes."""
    lines = (
        (number, line) for number, line in _lines(path, most_mb) if line is None or line.strip()
    )
    first = list(islice(lines, 2))
    line = first[0][1] if first else None
    is_document = line is None or bool(_json_line(1, line).problem)
    if len(first) < 2 or (suffix == ".json" and is_document):
        yield from map(_without_surrogates, _document(path))
        return
    for number, line in chain(first, lines):
        if line is None:
            yield Row(number, problem=_TOO_LONG)
            continue
        row = _json_line(number, line.removesuffix("\n"))
        yield _without_surrogates(row) if _may_hold_surrogates(line) else row


def _may_hold_surrogates(line: str) -> bool:
    """Tell whether a line of JSON has wrong bytes or escapes of half a character; few lines do, and
    a look at each value is dear.
    """
    return "\\ud" in line or "\\uD" in line or not _can_be_stored(line)


def _document(path: Path) -> Iterator[Row]:
    """The rows of a document, one at a time: a list, an object that wraps one, an object of rows by
    id or of columns, or a single object.

    Raises BadInput for anything else, and for one value above MAX_ROW.
    """
    number, values, wrapper = 0, {}, None
    with unpacking(path):
        source = Source(
            path, spoken_name(path), MAX_UPLOAD_MB * 1_000_000 if is_packed(path) else MAX_UNPACKED
        )
        for key, value in json_document(source, _WRAPPERS, MAX_ROW, MAX_VALUES, to_the_end=True):
            if not isinstance(key, ListKey):
                values[key] = value
            elif key and wrapper is None and not isinstance(value, dict):
                values.setdefault(key, []).append(value)
            elif wrapper in (None, key):
                wrapper, number = key, number + 1
                yield _row(number, value, _for_all(values))
    if wrapper is None and source.head.decode("utf-8-sig", "ignore").lstrip()[:1] == "{":
        rows = (
            _below_header(values)
            or _by_outcome(values)
            or _by_column(values)
            or _by_lists(values)
            or _by_name(values)
            or _by_id(values)
            or _inside(values)
            or [values]
        )
        yield from (_row(number, row) for number, row in enumerate(rows, start=1))
    for value in values.get(wrapper) or () if wrapper else ():  # what stood before the first object
        number += 1
        yield _row(number, value)


def _for_all(values: dict[str, Any]) -> dict[str, Any]:
    """Facts that a document says of each of its rows."""
    return {
        key: values[key]
        for key in ("model", "model_name", "model_id")
        if isinstance(values.get(key), str)
    }


def _below_header(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of a header and of lists below it, as MLflow and Weights & Biases write
    tables.
    """
    header, rows = values.get("columns"), values.get("data")
    if not isinstance(header, list) or not isinstance(rows, list) or not rows:
        return []
    is_table = all(isinstance(cells, list) and len(cells) == len(header) for cells in rows)
    return [dict(zip(map(str, header), cells, strict=True)) for cells in rows] if is_table else []


def _by_outcome(values: dict[str, Any]) -> list[dict[str, Any]]:
    """A row an instance of a report of SWE-bench, which lists the ids of those that were resolved
    and of the others.
    """
    ids_by_outcome = {key: values[key] for key in _INSTANCES if isinstance(values.get(key), list)}
    if "resolved_ids" not in ids_by_outcome or len(ids_by_outcome) < 2:
        return []
    resolved = set(map(str, ids_by_outcome["resolved_ids"]))
    instance_ids = dict.fromkeys(map(str, chain.from_iterable(ids_by_outcome.values())))
    return [{"instance_id": name, "resolved": name in resolved} for name in instance_ids]


def _by_column(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of columns, as lists or by the row's number, which pandas writes by
    default; none where it holds anything else.
    """
    columns = {
        name: dict(enumerate(column)) if isinstance(column, list) else column
        for name, column in values.items()
    }
    if len(columns) < 2 or not all(isinstance(column, dict) for column in columns.values()):
        return []
    first = next(iter(columns.values()))
    is_table = all(str(key).isdecimal() for key in first) and all(
        column.keys() == first.keys() for column in columns.values()
    )
    return (
        [{name: column[key] for name, column in columns.items()} for key in first]
        if is_table and len(first) > 1
        else []
    )


def _by_lists(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of lists as long as each other, beside their means."""
    lists = {
        name: column
        for name, column in values.items()
        if isinstance(column, list) and len(column) >= _LEAST_ITEMS
    }
    are_plain = not any(
        isinstance(cell, (list, dict)) for cell in chain.from_iterable(lists.values())
    )
    if len(lists) < 2 or not are_plain or len({len(column) for column in lists.values()}) > 1:
        return []
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def _by_name(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of lists of rows, a list a task or, of one row each, an item; or of
    objects that hold a value an item, all of the same items. None where it holds neither.
    """
    inner = {name: value for name, value in values.items() if isinstance(value, dict) and value}
    of_rows = [value for value in inner.values() if all(map(_are_rows, value.values()))]
    if len(of_rows) == 1:
        column = "id" if all(len(rows) == 1 for rows in of_rows[0].values()) else "task"
        named_rows: list[dict[str, Any]] = []
        for name, rows in of_rows[0].items():
            named_rows += [_for_all(values) | {column: name} | row for row in rows]
        return named_rows
    maps = {
        name: entries
        for name, entries in inner.items()
        if not any(isinstance(cell, dict) for cell in entries.values())
    }
    largest = max(maps.values(), key=len, default={})
    columns = {name: entries for name, entries in maps.items() if _share_keys(entries, largest)}
    # settings of the run may stand beside the maps, but no second table
    if len(largest) < _LEAST_ITEMS or any(
        len(inner[name]) >= _LEAST_ITEMS for name in inner.keys() - columns.keys()
    ):
        return []
    keys = dict.fromkeys(chain.from_iterable(columns.values()))
    rows = [{name: entries.get(key) for name, entries in columns.items()} for key in keys]
    return [_for_all(values) | {"id": key} | row for key, row in zip(keys, rows, strict=True)]


def _share_keys(entries: dict, largest: dict) -> bool:
    """Tell whether two maps are about the same items, but for a few."""
    return len(entries.keys() & largest.keys()) >= _SHARED_KEYS * max(len(entries), len(largest))


def _inside(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The longest list of objects in an object, or inside of its objects: the test cases of
    DeepEval.
    """
    longest: list[dict[str, Any]] = []
    waiting = [(values, 0)]
    while waiting:
        inner, depth = waiting.pop()
        for value in inner.values():
            if isinstance(value, dict) and depth < _DEEPEST:
                waiting.append((value, depth + 1))
            elif _are_rows(value):
                fewest = _FEWEST_ROWS if depth else _LEAST_ITEMS
                longest = value if len(value) >= max(fewest, len(longest) + 1) else longest
    return longest


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _by_id(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object whose values, or those of the one object in it, are rows that share
    columns; their keys are the column `id` where they have none.
    """
    inner = [value for value in values.values() if isinstance(value, dict)]
    rows = values if len(inner) == len(values) else inner[0] if len(inner) == 1 else {}
    if len(rows) < 2 or not all(isinstance(row, dict) for row in rows.values()):
        return []
    shared = set.intersection(*(set(row) for row in rows.values()))
    if 2 * len(shared) <= max(len(row) for row in rows.values()):
        return []
    return [_for_all(values) | {"id": key} | row for key, row in rows.items()]


def _json_line(number: int, line: str) -> Row:
    if n_values(line) > MAX_VALUES:
        return Row(number, problem=f"holds more than {MAX_VALUES:,} values; keep fewer of them")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        return Row(number, problem=f"is not valid JSON ({reason})")
    return _row(number, values)


def _row(number: int, values: Any, for_all: Mapping[str, Any] = MappingProxyType({})) -> Row:
    if not isinstance(values, dict):
        return Row(
            number, problem=f"is {type(values).__name__} instead of an object with named columns"
        )
    inner = values.get("row")
    return Row(number, {**for_all, **(inner if isinstance(inner, dict) else values)})


_DELIMITERS, MOST_TITLES = ",;\t", 5  # lines above the header


class _CsvLines:
    """The lines of a table for the reader, which is told where those of one row (a cell may hold
    line ends) are too many; None stands for a line that was too long itself.
    """

    def __init__(self, parts: Iterator[str | None]) -> None:
        self._parts: Iterator[str | None] = (part for part in parts if part != "")
        self.n_chars = 0

    def first(self) -> str:
        return next(self._parts, "") or ""

    def first_of_table(self) -> str:
        """The first line with columns: titles above it stand in one cell; the very first where no
        line near it has any.
        """
        titles: list[str] = []
        while len(titles) < MOST_TITLES:
            line = self.first()
            if not line or max(map(line.count, _DELIMITERS)):
                break
            titles.append(line)
        if titles and line and max(map(line.count, _DELIMITERS)) > 1:
            return line
        lines = [*titles, line] if len(titles) < MOST_TITLES else titles
        self._parts = chain(lines[1:], self._parts)
        return lines[0]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        part = next(self._parts)
        self.n_chars += len(part or "")
        if part is None or self.n_chars > MAX_ROW:
            raise csv.Error(f"a row of more than {MAX_ROW // 1_000_000} MB")
        return part


def _csv(path: Path, header: tuple[str, ...], most_mb: int) -> Iterator[Row]:
    """Comma, semicolon or tab separated, decided by the first line."""
    csv.field_size_limit(MAX_ROW)
    parts = _CsvLines(_csv_parts(path, most_mb))
    first = parts.first() if header else parts.first_of_table()
    delimiter = "," if header else max(_DELIMITERS, key=first.count)
    reader = csv.reader(chain((first,), parts), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] = header
    is_storable_header = True
    while True:
        start, parts.n_chars = reader.line_num + 1, 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(start, problem=f"is not valid CSV ({error}); the file may be half-written")
            continue
        if not columns and _is_title(cells):
            continue
        if not columns:
            columns = _named_columns(cells)
            _check_columns(path, columns)
            is_storable_header = _can_be_stored("".join(columns))
        elif cells and len(cells) != len(columns):
            yield Row(start, problem=f"has {len(cells)} columns and the header has {len(columns)}")
        elif cells and is_storable_header and _can_be_stored("".join(cells)):
            yield Row(start, dict(zip(columns, cells, strict=True)))
        elif cells:
            yield Row(start, dict(zip(columns, cells, strict=True)), problem=_NOT_UTF8)


def _named_columns(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns; where several have none, as a spreadsheet saves it, they are
    numbered.
    """
    n_empty = sum(not cell.strip() for cell in cells)
    if n_empty < 2:
        return tuple(cells)
    return tuple(cell if cell.strip() else f"Unnamed: {i}" for i, cell in enumerate(cells))


def _csv_parts(path: Path, most_mb: int) -> Iterator[str | None]:
    for _, line in _lines(path, most_mb):
        if line is None or "\r" not in line.removesuffix("\r\n"):
            yield line
        else:
            yield from _LINE_END.split(line)


def _sheet(path: Path, most_mb: int, sheet: str) -> Iterator[Row]:
    """The rows of a sheet of an Excel file, below its first filled line."""
    columns: tuple[str, ...] = ()
    for number, cells in sheet_rows(path, most_mb * 1_000_000, sheet):
        if not columns and _is_title(cells):
            continue
        if not columns:
            columns = tuple(
                f"Unnamed: {i}" if cell is None else str(cell) for i, cell in enumerate(cells)
            )
            _check_columns(path, columns)
        elif any(cell is not None for cell in cells[len(columns) :]):
            yield Row(number, problem=f"has more cells than the {len(columns)} of the header")
        elif sum(len(cell) for cell in cells if isinstance(cell, str)) > MAX_ROW:
            yield Row(number, problem=_TOO_LONG)
        else:
            yield Row(number, dict(zip(columns, [*cells, *[None] * len(columns)], strict=False)))


def _is_title(cells: Sequence[Any]) -> bool:
    """Tell whether a line above the header is none itself, as a spreadsheet saves it: at most one
    of several cells is filled.
    """
    # two cells may be an index without a name and its column
    return len(cells) > 2 and sum(cell not in (None, "") for cell in cells) <= 1


def _check_columns(path: Path, columns: tuple[str, ...]) -> None:
    if len(set(columns)) < len(columns):
        raise BadInput(
            f"{spoken_name(path)} names a column twice: {', '.join(columns)}. Give every column "
            "its own name."
        )


def _parquet(path: Path, most_mb: int) -> Iterator[Row]:
    rows = parquet_rows(path, spoken_name(path), most_mb * 1_000_000)
    return (Row(number, values) for number, values in enumerate(rows, start=1))


def parquet_rows(path: Path, name: str, most: int = MAX_UNPACKED) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file. One text repeated a million times is stored once, so that what is
    unpacked at a time is bounded by the size of a part of the file, of which no value is larger,
    and in all by `most` bytes. Raises BadInput where it cannot be read.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        _check_text_columns(path, name, file)
        n_bytes = 0
        for part in range(file.num_row_groups):
            group = file.metadata.row_group(part)
            n_packed = sum(group.column(i).total_compressed_size for i in range(group.num_columns))
            size = max(1, group.total_byte_size)
            if (
                size > _FREE_BYTES + _RATIO * n_packed
            ):  # one value may be all of it, and is held several times while it is read
                raise BadInput(
                    f"{name} would unpack from {n_packed:,} to {size:,} bytes; it is not read."
                )
            n_rows = max(_LEAST_BATCH, min(_MOST_BATCH, _BATCH_BYTES // size))
            for batch in file.iter_batches(n_rows, row_groups=[part]):
                if batch.nbytes > 2 * _BATCH_BYTES:
                    raise BadInput(
                        f"{name} holds rows of {batch.nbytes / n_rows / 1e6:,.0f} MB; it is not "
                        "read."
                    )
                n_bytes += sum(_plain(column).nbytes for column in batch.columns)
                if n_bytes > most:
                    raise BadInput(f"{name} unpacks to more than {most / 1e6:,.0f} MB; split it.")
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInput(
            f"{name} could not be read as Parquet: {str(error).splitlines()[0]}"
        ) from error


def _check_text_columns(path: Path, name: str, file: Any) -> None:
    """Raise BadInput for a column whose texts unpack to far more than they take in the file: one
    text, stored once, a million times.
    """
    import pyarrow.compute as compute
    import pyarrow.parquet

    texts = [
        column.path
        for column in file.schema
        if str(column.logical_type) == "String" and "." not in column.path
    ]
    packed, unpacked = dict.fromkeys(texts, 0), dict.fromkeys(texts, 0)
    for part in range(file.num_row_groups):
        group = file.metadata.row_group(part)
        for place in range(group.num_columns):
            chunk = group.column(place)
            if chunk.path_in_schema in packed:
                packed[chunk.path_in_schema] += chunk.total_compressed_size
                unpacked[chunk.path_in_schema] += chunk.total_uncompressed_size
    # No value is longer than all that its column holds.
    suspects = [
        column for column in texts if unpacked[column] * file.metadata.num_rows > _COLUMN_BYTES
    ]
    for column in suspects:
        most, size = max(_COLUMN_BYTES, _RATIO * packed[column]), 0
        coded = pyarrow.parquet.ParquetFile(path, read_dictionary=[column])
        for batch in coded.iter_batches(65_536, columns=[column]):
            cells = batch.column(0)
            lengths = compute.binary_length(cells.dictionary)
            size += compute.sum(compute.take(lengths, cells.indices).cast("int64")).as_py() or 0
        if size > most:
            raise BadInput(
                f"{name} would unpack its column {column!r} from {packed[column]:,} to {size:,} "
                f"bytes, and at most {most:,} "
                "are read of one that is packed so densely. Write fewer rows, or leave the "
                "column out."
            )


def _plain(column: Any) -> Any:
    """The values of a column, each as often as it stands there."""
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column
