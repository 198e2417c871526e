"""Read rows of JSONL, JSON, CSV, Excel and Parquet files. Only bad rows have a problem."""

import codecs
import csv
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from operator import eq
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed, spoken_name
from flipcore.datasets.reading.json_streams import ListKey, json_document, n_values
from flipcore.datasets.reading.log_files import MAX_UNPACKED, Source
from flipcore.datasets.reading.packed import GZIP, ZSTD, is_packed, suffix_of
from flipcore.datasets.reading.sheets import first_sheet, sheet_names, sheet_rows

MAX_UPLOAD_MB = 200
SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".xlsx")
_WRAPPERS = tuple(
    "rows data Data items examples outputs predictions results samples records responses "
    "testCases test_cases".split()
)
_MIN_ITEMS = 20  # values of an object with a value per item; fewer may be settings
_MIN_LISTED = 8  # entries of each list of an object of lists
_SHARED_KEYS = 0.8  # least share of common items, for two objects with a value per item
_MIN_ROWS = 5  # objects in an inner list; fewer may be the options of one item
_LONGEST_NAME = 20  # characters of a key that names something; longer ones are sentences
# what an object around rows may be called, with or without an s at the end
_LEVEL_NAMES = set("model system method condition task subject language dataset question".split())
_QUESTIONS = ("questions", "qas", "items", "examples", "cases", "results")  # of a group
_ASKED = frozenset("question prompt query input".split())
_MAX_LEVELS = 4  # levels of objects around a list of rows
_SWE_BENCH = ("resolved_ids", "unresolved_ids", "submitted_ids", "empty_patch_ids", "error_ids")
MAX_ROW = 10_000_000  # bytes of a row; a larger one is refused without being held in memory
MAX_VALUES = 500_000  # of a row; a list takes sixty bytes of memory even if it is written as []
_BATCH_BYTES = 200_000_000  # of a batch of Parquet rows, unpacked
_SMALLEST_BATCH, _LARGEST_BATCH = 8, 1_000  # rows of a batch
_COLUMN_BYTES = 2_000_000_000  # that a column of Parquet may unpack to, whatever its packed size
_FREE_BYTES = 100_000_000  # that a row group of Parquet may unpack to, whatever its packed size
_RATIO = 100  # most unpacked bytes per packed byte, above these bounds
SUMMARY_ROWS = re.compile(
    r"(overall |grand |gesamt)?(average|mean|total|sum|overall|avg|mittelwert|durchschnitt|schnitt|"
    r"summe|gesamt|moyenne|promedio|media)s?( accuracy| score| correct| passed)?\.?:?",
    re.IGNORECASE,
)
IMPORT_ID = '{"ImportId"'  # begins the cells of Qualtrics' third header line
MAX_SUMS = 3  # rows at the end that may sum up those above
MIN_SUMMED = 4  # rows; a table of so few has no sums
_LINE_END = re.compile(r"(?<=\r)(?!\n)")  # old files end a line with a carriage return alone


@dataclass(slots=True)
class Row:
    """One row: its values by column, or a problem that completes the sentence "Line 3 …".

    `line` counts from 1, rows instead of lines in Parquet and in a JSON array. `file` is the name
    of the file if one source has several.
    """

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    file: str = ""

    @property
    def place(self) -> str:
        """The place of the row, as the beginning of a sentence."""
        return f"Line {self.line} of {self.file}" if self.file else f"Line {self.line}"


def read_rows(
    path: str | Path,
    header: tuple[str, ...] = (),
    most_mb: int = MAX_UPLOAD_MB,
    sheet: str = "",
    sums: list[str] | None = None,
) -> Iterator[Row]:
    """Return the rows of a file, which are read one by one.

    Rows at the end of a table that sum up those above are left out; `sums` gets their names.

    `header` names the columns of a CSV file without a header line, `sheet` the sheet of an Excel
    file ("" for the first). Raises BadInput, at once or while rows are read, for a file that is
    missing, of an unknown kind, damaged, or larger than `most_mb` megabytes unpacked. A row above
    MAX_ROW has a problem.
    """
    path = allowed(path)
    suffix = suffix_of(path)
    _check_file(path, suffix, most_mb)
    if suffix == ".parquet":
        rows = _parquet(path, most_mb)
    elif suffix == ".xlsx":
        rows = _above_sums(_below_survey_header(_sheet(path, most_mb, sheet)), sums)
    else:
        source = Source(path, spoken_name(path), most_mb * 1_000_000)
        _check_beginning(source)
        is_csv = suffix in (".csv", ".tsv")
        rows = (
            _above_sums(_below_survey_header(_csv(source, header)), sums)
            if is_csv
            else _json(source, suffix)
        )
    is_checked = suffix in (".jsonl", ".json", ".csv", ".tsv")
    return rows if is_checked else (_without_surrogates(row) for row in rows)


def _below_survey_header(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows without the two that Qualtrics writes below the header: the questions' texts,
    and objects with an ImportId each."""
    first_rows = list(islice(rows, 2))
    cells = first_rows[1].values.values() if len(first_rows) == 2 else ()
    if not any(str(cell).startswith(IMPORT_ID) for cell in cells):
        yield from first_rows
    yield from rows


def _above_sums(rows: Iterator[Row], sums: list[str] | None) -> Iterator[Row]:
    """Yield the rows without those at the end that sum up the rows above them."""
    last_rows: deque[Row] = deque()
    n_rows = 0
    for row in rows:
        last_rows.append(row)
        n_rows += 1
        if len(last_rows) > MAX_SUMS:
            yield last_rows.popleft()
    for row in last_rows:
        called = sum_name(row.values) if n_rows > MIN_SUMMED and not row.problem else ""
        if not called:
            yield row
        elif sums is not None:
            sums.append(called)


def sum_name(values: Mapping[str, Any]) -> str:
    """Return what a row is called that has nothing but its name and numbers; "" for any other."""
    cells = [str(cell).strip() for cell in values.values() if cell not in (None, "")]
    if len(cells) < 2 or not SUMMARY_ROWS.fullmatch(cells[0]):
        return ""
    return cells[0] if all(map(_is_number_of_a_sum, cells[1:])) else ""


def _is_number_of_a_sum(cell: str) -> bool:
    return bool(re.fullmatch(r"[-+±\d.,/%\s]*\d[-+±\d.,/%\s]*", cell))


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


def _check_beginning(source: Source) -> None:
    beginning = source.magic[:4]
    if is_packed(source.path):
        with source.open() as stream:
            beginning = stream.read(4)
    if beginning[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput(f"{source.name} is UTF-16; save it as UTF-8 and try again.")
    if beginning in (b"PAR1", b"PK\x03\x04") or beginning[:2] == GZIP or beginning == ZSTD:
        raise BadInput(
            f"{source.name} is a Parquet, Excel, zip, gzip or zstd file under another name; "
            "unpack it or rename it."
        )


def _encoding(source: Source) -> str:
    """Return the encoding of a table: "cp1252" for one that an old spreadsheet saved in a Western
    European language, else "utf-8", whose wrong bytes are recognised row by row."""
    n_high = n_letters = 0
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    is_utf8 = True
    with source.open() as stream:
        for part in iter(partial(stream.read, 1 << 20), b""):
            if part.isascii():
                continue
            text = decoder.decode(part)
            wrong = sum("\udc80" <= sign <= "\udcff" for sign in text if sign > "\x7f")
            n_right = sum(sign > "\x7f" for sign in text) - wrong
            if n_right:
                return "utf-8"
            is_utf8 &= not wrong
            n_high += wrong
            n_letters += sum(map(str.isalpha, text))
    # most letters of another script are not ASCII
    return "utf-8" if is_utf8 or n_high > n_letters else "cp1252"


def _lines(source: Source, encoding: str = "utf-8") -> Iterator[tuple[int, str | None]]:
    """Yield (number from 1, line with its line end); None instead of a line above MAX_ROW.

    Bytes that are not UTF-8 become surrogates, by which their rows are recognised.
    """
    with source.open() as stream:
        lines = iter(partial(stream.readline, MAX_ROW + 1), b"")
        for number, line in enumerate(lines, start=1):
            is_long, part = len(line) > MAX_ROW, line
            # skip the rest of a long line
            while is_long and part and not part.endswith(b"\n"):
                part = stream.readline(1 << 20)
            if is_long:
                yield number, None
                continue
            text = line.decode(encoding, "surrogateescape")
            yield number, text.removeprefix("\ufeff") if number == 1 else text


_TOO_LONG = f"has more than {MAX_ROW // 1_000_000} MB; give each row a line of its own"
_NOT_UTF8 = "holds bytes that are not UTF-8; save the file as UTF-8"


def _without_surrogates(row: Row) -> Row:
    """Return the row, with a problem if it has surrogates from wrong bytes or JSON escapes."""
    text = "" if row.problem else json.dumps(row.values, ensure_ascii=False, default=str)
    return row if _can_be_stored(text) else replace(row, problem=_NOT_UTF8)


def _can_be_stored(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _json(source: Source, suffix: str) -> Iterator[Row]:
    """Yield the rows of JSON lines or of one JSON document; both occur under either suffix."""
    lines = ((number, line) for number, line in _lines(source) if line is None or line.strip())
    first_lines = list(islice(lines, 2))
    first_line = first_lines[0][1] if first_lines else None
    is_document = first_line is None or bool(_json_line(1, first_line).problem)
    if len(first_lines) < 2 or (suffix == ".json" and is_document):
        yield from map(_without_surrogates, _document(source))
        return
    for number, line in chain(first_lines, lines):
        if line is None:
            yield Row(number, problem=_TOO_LONG)
            continue
        row = _json_line(number, line.removesuffix("\n"))
        # checking all values takes long, and few lines have wrong bytes or escapes of surrogates
        may_hold_surrogates = "\\ud" in line or "\\uD" in line or not _can_be_stored(line)
        yield _without_surrogates(row) if may_hold_surrogates else row


def _document(source: Source) -> Iterator[Row]:
    """Yield the rows of a document: a list, an object around one, an object of rows or of columns.

    Any other object is a single row. Raises BadInput for anything else, and for one value above
    MAX_ROW.
    """
    # `wrapper` is the key of the list of rows: "" for a document that is a list, None for no list
    number, values, wrapper = 0, {}, None
    source = replace(source, max_bytes=MAX_UPLOAD_MB * 1_000_000)
    for key, value in json_document(source, _WRAPPERS, MAX_ROW, MAX_VALUES, to_the_end=True):
        if not isinstance(key, ListKey):
            values[key] = value
        elif key and wrapper is None and not isinstance(value, dict):
            values.setdefault(key, []).append(value)
        elif wrapper in (None, key):
            for inner in _inner_rows(value):
                wrapper, number = key, number + 1
                yield _row(number, inner, _shared_values(values))
    if wrapper is None and source.head.decode("utf-8-sig", "ignore").lstrip()[:1] == "{":
        rows = (
            _rows_below_header(values)
            or _rows_by_outcome(values)
            or _rows_by_list(values)
            or _rows_by_column(values)
            or _rows_of_lists(values)
            or _rows_by_name(values)
            or _rows_by_two_names(values)
            or _rows_by_id(values)
            or _rows_inside(values)
            or [values]
        )
        yield from (_row(number, row) for number, row in enumerate(rows, start=1))
    # what the list holds before its first object
    for value in values.get(wrapper) or () if wrapper else ():
        number += 1
        yield _row(number, value)


def _inner_rows(values: Any) -> list[Any]:
    """Return the questions of a story or a group, each with the values of the group, or else the
    row itself: {"group": 1, "questions": [{"question": …, "is_correct": …}, …]}."""
    if not isinstance(values, dict) or not _ASKED.isdisjoint(values):
        return [values]
    for key, inner in values.items():
        if key in _QUESTIONS and _are_rows(inner) and all(map(_asks, inner)):
            group = {name: value for name, value in values.items() if name != key}
            return [{**group, **row} for row in inner]
    return [values]


def _asks(row: dict[str, Any]) -> bool:
    return not _ASKED.isdisjoint(row) and len(row) > 1


def _shared_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a document that every row gets: the name of the model."""
    return {
        key: values[key]
        for key in ("model", "model_name", "model_id")
        if isinstance(values.get(key), str)
    }


def _rows_below_header(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of {"columns": …, "data": …}, as MLflow and Weights & Biases write it."""
    header, rows = values.get("columns"), values.get("data")
    if not isinstance(header, list) or not isinstance(rows, list):
        return []
    is_table = all(isinstance(cells, list) and len(cells) == len(header) for cells in rows)
    return [dict(zip(map(str, header), cells, strict=True)) for cells in rows] if is_table else []


def _rows_by_outcome(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row per instance of a SWE-bench report, which lists the ids of each outcome."""
    ids_by_outcome = {key: values[key] for key in _SWE_BENCH if isinstance(values.get(key), list)}
    if "resolved_ids" not in ids_by_outcome or len(ids_by_outcome) < 2:
        return []
    resolved = set(map(str, ids_by_outcome["resolved_ids"]))
    instance_ids = dict.fromkeys(map(str, chain.from_iterable(ids_by_outcome.values())))
    return [{"instance_id": name, "resolved": name in resolved} for name in instance_ids]


def _rows_by_column(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object of columns: lists, or {row number: cell} as pandas writes."""
    columns = {
        name: dict(enumerate(column)) if isinstance(column, list) else column
        for name, column in values.items()
    }
    if len(columns) < 2 or not all(isinstance(column, dict) for column in columns.values()):
        return []
    numbers = next(iter(columns.values())).keys()
    if len(numbers) < 2 or not all(str(number).isdecimal() for number in numbers):
        return []
    if any(column.keys() != numbers for column in columns.values()):
        return []
    return [{name: column[number] for name, column in columns.items()} for number in numbers]


def _rows_of_lists(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of an object of lists of equal length, which may hold other values too."""
    lists = {
        name: column
        for name, column in values.items()
        if isinstance(column, list) and len(column) >= _MIN_LISTED
    }
    are_plain = not any(
        isinstance(cell, (list, dict)) for cell in chain.from_iterable(lists.values())
    )
    if len(lists) < 2 or not are_plain or len({len(column) for column in lists.values()}) > 1:
        return []
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def _rows_by_name(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of {task or id: list of rows}, or of {column: {id: value}}."""
    inner = {name: value for name, value in values.items() if isinstance(value, dict) and value}
    objects_of_rows = [value for value in inner.values() if all(map(_are_rows, value.values()))]
    if len(objects_of_rows) == 1:
        is_id = all(len(rows) == 1 for rows in objects_of_rows[0].values())
        column = "id" if is_id else _level_name(set(), objects_of_rows[0])
        named_rows: list[dict[str, Any]] = []
        for name, rows in objects_of_rows[0].items():
            named_rows += [_shared_values(values) | {column: name} | row for row in rows]
        return named_rows
    maps = {
        name: entries
        for name, entries in inner.items()
        if not any(isinstance(cell, dict) for cell in entries.values())
    }
    largest = max(maps.values(), key=len, default={})
    columns: dict[str, dict] = {}
    for name, entries in maps.items():
        n_shared = len(entries.keys() & largest.keys())
        n_largest = max(len(entries), len(largest))
        if n_shared >= _SHARED_KEYS * n_largest:
            columns[name] = entries
    # the object may also hold settings of the run, but no second table
    has_other = any(len(inner[name]) >= _MIN_ITEMS for name in inner.keys() - columns.keys())
    if len(largest) < _MIN_ITEMS or has_other:
        return []
    rows = []
    for key in dict.fromkeys(chain.from_iterable(columns.values())):
        cells = {name: entries.get(key) for name, entries in columns.items()}
        rows.append(_shared_values(values) | {"id": key} | cells)
    return rows


def _rows_by_two_names(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of {system: {question: {score, …}}}, where systems share their questions."""
    inner = {name: value for name, value in values.items() if isinstance(value, dict)}
    if len(inner) < 2 or len(inner) < len(values):
        return []
    largest = max(inner.values(), key=len)
    rows = []
    for system, questions in inner.items():
        are_rows = all(isinstance(row, dict) and row for row in questions.values())
        n_shared = len(questions.keys() & largest.keys())
        if len(questions) < _MIN_ROWS or not are_rows or n_shared < _SHARED_KEYS * len(largest):
            return []
        rows += [{"condition": system, "id": key} | row for key, row in questions.items()]
    # an object with a key per column has other keys in each row
    shared = set.intersection(*(set(row) for row in rows))
    return rows if len(shared) > 2 and not shared & inner.keys() else []


def _rows_inside(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the longest list of objects within an object, such as the test cases of DeepEval.

    Lists with the same columns in parallel objects are one table: baseline.queries, final.queries.
    """
    lists: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    stack: list[tuple[dict[str, Any], tuple[str, ...]]] = [(values, ())]
    while stack:
        inner, path = stack.pop()
        for key, value in inner.items():
            if isinstance(value, dict) and len(path) < _MAX_LEVELS:
                stack.append((value, (*path, key)))
            elif _are_rows(value):
                lists[*path, key] = value
    longest: tuple[str, ...] = ()
    for path, rows in lists.items():
        fewest = _MIN_ROWS if len(path) > 1 else _MIN_ITEMS
        if len(rows) >= fewest and (not longest or len(rows) > len(lists[longest])):
            longest = path
    if not longest:
        return []
    parallel = {
        path: lists[path]
        for path in reversed(lists)  # the stack turned their order around
        if len(path) == len(longest) > 1 and _share_columns(lists[path], lists[longest])
    }
    return _with_path(parallel) if len(parallel) > 1 else lists[longest]


def _rows_by_list(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of {system or task: list of rows}, where all lists have the same columns."""
    lists: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    has_only_lists = True
    for name, value in values.items():
        if _are_rows(value):
            lists[name,] = value
        elif isinstance(value, (list, dict)) and value:
            has_only_lists = False
    if len(lists) < 2 or not has_only_lists:
        return []
    first = next(iter(lists.values()))
    if not all(_share_columns(rows, first) for rows in lists.values()):
        return []
    rows = _with_path(lists)
    return [_shared_values(values) | row for row in rows] if len(rows) >= _MIN_ITEMS else []


def _share_columns(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> bool:
    """Tell whether the first rows of two lists have more than half of their columns in common."""
    return 2 * len(first[0].keys() & second[0].keys()) > max(len(first[0]), len(second[0]))


def _with_path(lists: Mapping[tuple[str, ...], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the rows of several lists, with a column per level of keys that differs."""
    paths = list(lists)
    columns: dict[str, int] = {}
    for level in range(len(paths[0])):
        if len({path[level] for path in paths}) > 1:
            groups: dict[str, list[dict[str, Any]]] = {}
            for path, rows in lists.items():
                groups.setdefault(path[level], []).extend(rows)
            outer_keys = {path[level - 1] for path in paths} if level else set()
            name = _level_name(outer_keys, groups)
            columns[name if name not in columns else f"{name}_{level}"] = level
    all_rows = []
    for path, rows in lists.items():
        keys = {name: path[level] for name, level in columns.items()}
        all_rows += [keys | row for row in rows]
    return all_rows


def _level_name(outer_keys: set[str], groups: Mapping[str, list[dict[str, Any]]]) -> str:
    """Name the column of the keys in `groups`: after the object around them, or by their kind."""
    outer = next(iter(outer_keys)).lower().removesuffix("s") if len(outer_keys) == 1 else ""
    if outer in _LEVEL_NAMES:
        return outer
    n_sentences = sum(len(key) > _LONGEST_NAME and " " in key.strip() for key in groups)
    if n_sentences > len(groups) / 2:
        return "question"
    return "condition" if _share_texts(list(groups.values())) else "task"


def _share_texts(lists: list[list[dict[str, Any]]]) -> bool:
    """Tell whether lists are about the same questions: they share the texts of a column."""
    for column in lists[0][0]:
        texts = [{str(row.get(column)) for row in rows} for rows in lists]
        are_texts = all(
            isinstance(row.get(column), str) and not row[column].strip().isdecimal()
            for row in lists[0]
        )
        n_largest = max(map(len, texts))
        n_shared = len(set.intersection(*texts))
        if are_texts and n_largest >= _MIN_ROWS and n_shared >= _SHARED_KEYS * n_largest:
            return True
    return False


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _rows_by_id(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of {id: row}, or of the only object inside, if they share columns."""
    inner = [value for value in values.values() if isinstance(value, dict)]
    rows = values if len(inner) == len(values) else inner[0] if len(inner) == 1 else {}
    if len(rows) < 2 or not all(isinstance(row, dict) for row in rows.values()):
        return []
    shared = set.intersection(*(set(row) for row in rows.values()))
    if 2 * len(shared) <= max(len(row) for row in rows.values()):
        return []
    return [_shared_values(values) | {"id": key} | row for key, row in rows.items()]


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
    """Return the row of an object, or of its key `row`, with the values of all rows."""
    if not isinstance(values, dict):
        problem = f"is {type(values).__name__} instead of an object with named columns"
        return Row(number, problem=problem)
    inner = values.get("row")
    return Row(number, {**for_all, **(inner if isinstance(inner, dict) else values)})


_DELIMITERS = ",;\t"
MAX_TITLES = 5  # lines of titles above the header


class _CsvLines:
    """The lines of a table for `csv.reader`.

    Raises csv.Error if the lines of one row are too long together (a cell may contain line ends),
    or for None, a line that is too long itself. The caller sets `n_chars` to 0 before each row.
    """

    def __init__(self, lines: Iterator[str | None]) -> None:
        self._lines = lines
        self.n_chars = 0

    def read_line(self) -> str:
        return next(self._lines, "") or ""

    def read_header(self) -> str:
        """Return the first line with several cells below titles, or else the first line."""
        titles: list[str] = []
        while len(titles) < MAX_TITLES:
            line = self.read_line()
            if not line or max(map(line.count, _DELIMITERS)):
                break
            titles.append(line)
        if titles and line and max(map(line.count, _DELIMITERS)) > 1:
            return line
        lines = [*titles, line] if len(titles) < MAX_TITLES else titles
        self._lines = chain(lines[1:], self._lines)
        return lines[0]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.n_chars += len(line or "")
        if line is None or self.n_chars > MAX_ROW:
            raise csv.Error(f"a row of more than {MAX_ROW // 1_000_000} MB")
        return line


def _csv(source: Source, header: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows of a file with commas, semicolons or tabs; the header decides which."""
    csv.field_size_limit(MAX_ROW)
    lines = _CsvLines(_csv_lines(source))
    first_line = lines.read_line() if header else lines.read_header()
    delimiter = "," if header else max(_DELIMITERS, key=first_line.count)
    reader = csv.reader(chain((first_line,), lines), delimiter=delimiter, strict=True)
    columns: tuple[str, ...] = header
    is_storable_header = True
    is_joined = False
    upper: list[str] | None = None  # the header, while a second line of it may follow
    while True:
        start, lines.n_chars = reader.line_num + 1, 0
        try:
            cells = next(reader)
        except StopIteration:
            if upper and not columns:
                _check_columns(source.name, _named_columns(upper))
            return
        except csv.Error as error:
            yield Row(start, problem=f"is not valid CSV ({error}); the file may be half-written")
            continue
        if (not columns and _is_title(cells)) or (columns and _is_no_row(cells, columns)):
            continue
        if not columns and upper is None and _may_be_joined(cells):
            upper = cells
            continue
        if not columns:
            joined = _joined_header(upper, cells) if upper else []
            is_joined = bool(joined)
            columns = _named_columns(joined or upper or cells)
            _check_columns(source.name, columns)
            is_storable_header = _can_be_stored("".join(columns))
            if joined or not upper:
                continue
        if is_joined and cells[0] and not any(cells[1:]):
            columns = (cells[0], *columns[1:])  # pandas names the index below the header
            is_joined = False
            continue
        if len(cells) != len(columns):
            yield Row(start, problem=f"has {len(cells)} columns and the header has {len(columns)}")
        elif is_storable_header and _can_be_stored("".join(cells)):
            yield Row(start, dict(zip(columns, cells, strict=True)))
        else:
            yield Row(start, dict(zip(columns, cells, strict=True)), problem=_NOT_UTF8)


def _named_columns(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns; one without a name, such as the index of pandas, is numbered.

    Files that pandas wrote several times have several such columns, some of them alike.
    """
    columns: list[str] = []
    for place, cell in enumerate(cells):
        is_unnamed = not cell.strip() or (cell.startswith("Unnamed: ") and cell in columns)
        columns.append(f"Unnamed: {place}" if is_unnamed else cell)
    return tuple(columns)


def _csv_lines(source: Source) -> Iterator[str | None]:
    """Yield lines, which may end with a carriage return alone; None instead of a line too long."""
    for _, line in _lines(source, _encoding(source)):
        if line is not None and "\r" in line.removesuffix("\r\n"):
            yield from filter(None, _LINE_END.split(line))
        elif line != "":
            yield line


def _sheet(path: Path, most_mb: int, sheet: str) -> Iterator[Row]:
    """Yield the rows of a sheet of an Excel file, or of all sheets with the header of the first."""
    sheets = sheets_read(path, most_mb * 1_000_000, sheet)
    for name in sheets:
        for row in _rows_of_sheet(path, most_mb, name):
            values = {"sheet": name, **row.values} if len(sheets) > 1 else row.values
            yield replace(row, values=values)


def sheets_read(path: Path, max_bytes: int, sheet: str = "") -> list[str]:
    """Return the sheets of an Excel file that are read as one table, or the one that was named."""
    names = sheet_names(path, max_bytes)
    if sheet or len(names) < 2:
        return [sheet or first_sheet(names)]
    first = first_sheet(names)
    headers = {name: _header_of(path, max_bytes, name) for name in names}
    return [name for name in names if headers[name] and headers[name] == headers[first]] or [first]


def _header_of(path: Path, max_bytes: int, sheet: str) -> list[Any]:
    return next((cells for _, cells in _headed(sheet_rows(path, max_bytes, sheet))), [])


def _rows_of_sheet(path: Path, most_mb: int, sheet: str) -> Iterator[Row]:
    columns: tuple[str, ...] = ()
    for number, cells in _headed(sheet_rows(path, most_mb * 1_000_000, sheet)):
        if (not columns and _is_title(cells)) or (columns and _is_no_row(cells, columns)):
            continue
        if not columns:
            columns = _named_columns(["" if cell is None else str(cell) for cell in cells])
            _check_columns(spoken_name(path), columns)
        elif any(cell is not None for cell in cells[len(columns) :]):
            yield Row(number, problem=f"has more cells than the {len(columns)} of the header")
        elif sum(len(cell) for cell in cells if isinstance(cell, str)) > MAX_ROW:
            yield Row(number, problem=_TOO_LONG)
        else:
            yield Row(number, dict(zip(columns, [*cells, *[None] * len(columns)], strict=False)))


def _headed(lines: Iterator[tuple[int, list[Any]]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the lines of a sheet from its header on: titles above it have one filled cell each, and
    a header of two lines is joined to one."""
    first_lines = list(islice(lines, MAX_TITLES + 2))
    sizes = [sum(cell is not None for cell in cells) for _, cells in first_lines]
    start = next((i for i, size in enumerate(sizes[: MAX_TITLES + 1]) if size > 1), 0)
    if sizes[start : start + 1] < [3]:
        start = 0  # a table of one or two columns has no titles
    head, *below = first_lines[start:] or [(0, [])]
    if below and (joined := _joined_header(head[1], below[0][1])):
        head, below = (below[0][0], joined), below[1:]
    yield from [head, *below] if first_lines else []
    yield from lines


def _joined_header(upper: Sequence[Any], lower: Sequence[Any]) -> list[str]:
    """Return the names of a header of two lines: "Model X Style" below "Model X", which stands once
    above all of its columns, or above each. [] for a header of one line."""
    names = [str(cell or "").strip() for cell in lower]
    are_texts = all(isinstance(cell, str) for cell in lower if cell not in (None, ""))
    repeated = [name for name in names if names.count(name) > 1 and name]
    groups = [str(cell or "").strip() for cell in [*upper, *[""] * len(names)]][: len(names)]
    if not (are_texts and repeated and _may_be_joined(groups)):
        return []
    if any(map(_is_number, names)):
        return []
    joined, group = [], ""
    for above, name in zip(groups, names, strict=True):
        group = above or (group if names.count(name) > 1 else "")
        joined.append(f"{group} {name}".strip() if group != name else name)
    return joined if len(set(joined)) == len(joined) else []


def _may_be_joined(upper: Sequence[Any]) -> bool:
    """Tell whether a header may have a second line: a name stands above several columns."""
    filled = [cell for cell in upper if cell not in (None, "")]
    return len(set(filled)) > 1 and len(set(filled)) < len(upper)


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?[\d.,]+%?", text))


def _is_title(cells: Sequence[Any]) -> bool:
    """Tell whether a line above the header is a title: at most one of its cells is filled."""
    # a header of two cells may be an index without a name and one column
    return len(cells) > 2 and sum(cell not in (None, "") for cell in cells) <= 1


def _is_no_row(cells: Sequence[Any], columns: Sequence[str]) -> bool:
    """Tell whether no cell of a row is filled, or most repeat the header, as in joined files.

    A single empty cell is an output, and a row.
    """
    if len(cells) == 1:
        return False
    n_names = sum(map(eq, cells, columns))
    is_filled = any(cells) or any(cell not in (None, "") for cell in cells)
    return 2 * n_names > len(columns) or not is_filled


def _check_columns(name: str, columns: tuple[str, ...]) -> None:
    if len(set(columns)) < len(columns):
        raise BadInput(
            f"{name} names a column twice: {', '.join(columns)}. Give every column its own name."
        )


def _parquet(path: Path, most_mb: int) -> Iterator[Row]:
    rows = parquet_rows(path, spoken_name(path), most_mb * 1_000_000)
    return (Row(number, values) for number, values in enumerate(rows, start=1))


def parquet_rows(path: Path, name: str, max_bytes: int = MAX_UNPACKED) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file; `name` is its name in messages.

    A small file may repeat one text a million times. So row groups and batches are bounded, and
    all values together by `max_bytes` bytes. Raises BadInput above a bound and for a damaged file.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        _check_text_columns(path, name, file)
        n_bytes = 0
        for group_index in range(file.num_row_groups):
            group = file.metadata.row_group(group_index)
            n_packed = sum(group.column(i).total_compressed_size for i in range(group.num_columns))
            n_unpacked = max(1, group.total_byte_size)
            # one value may fill the whole group, and is copied several times while it is read
            if n_unpacked > _FREE_BYTES + _RATIO * n_packed:
                raise BadInput(
                    f"{name} would unpack from {n_packed:,} to {n_unpacked:,} bytes; it is not "
                    "read."
                )
            n_rows = max(_SMALLEST_BATCH, min(_LARGEST_BATCH, _BATCH_BYTES // n_unpacked))
            for batch in file.iter_batches(n_rows, row_groups=[group_index]):
                if batch.nbytes > 2 * _BATCH_BYTES:
                    raise BadInput(
                        f"{name} holds rows of {batch.nbytes / n_rows / 1e6:,.0f} MB; it is not "
                        "read."
                    )
                for column in batch.columns:
                    has_dictionary = hasattr(column, "dictionary_decode")
                    n_bytes += (column.dictionary_decode() if has_dictionary else column).nbytes
                if n_bytes > max_bytes:
                    raise BadInput(
                        f"{name} unpacks to more than {max_bytes / 1e6:,.0f} MB; split it."
                    )
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise BadInput(
            f"{name} could not be read as Parquet: {str(error).splitlines()[0]}"
        ) from error


def _check_text_columns(path: Path, name: str, file: Any) -> None:
    """Raise BadInput for a column whose texts unpack to far more than they take in the file."""
    import pyarrow.compute as compute
    import pyarrow.parquet

    texts = [
        column.path
        for column in file.schema
        if str(column.logical_type) == "String" and "." not in column.path
    ]
    packed, unpacked = dict.fromkeys(texts, 0), dict.fromkeys(texts, 0)
    for group_index in range(file.num_row_groups):
        group = file.metadata.row_group(group_index)
        for column_index in range(group.num_columns):
            chunk = group.column(column_index)
            if chunk.path_in_schema in packed:
                packed[chunk.path_in_schema] += chunk.total_compressed_size
                unpacked[chunk.path_in_schema] += chunk.total_uncompressed_size
    for column in texts:
        # no value is longer than the unpacked column, so only large products are examined
        if unpacked[column] * file.metadata.num_rows <= _COLUMN_BYTES:
            continue
        max_bytes, size = max(_COLUMN_BYTES, _RATIO * packed[column]), 0
        coded = pyarrow.parquet.ParquetFile(path, read_dictionary=[column])
        for batch in coded.iter_batches(65_536, columns=[column]):
            cells = batch.column(0)
            lengths = compute.binary_length(cells.dictionary)
            size += compute.sum(compute.take(lengths, cells.indices).cast("int64")).as_py() or 0
        if size > max_bytes:
            raise BadInput(
                f"{name} would unpack its column {column!r} from {packed[column]:,} to {size:,} "
                f"bytes, and at most {max_bytes:,} are read of one that is packed so densely. "
                "Write fewer rows, or leave the column out."
            )
