"""Load a file of rows into a DuckDB table, one text column per column of the file.

Objects become columns with dotted paths as names, which all readers of rows can follow. Small files
are read by `read_rows`, as everywhere else; large ones are read by DuckDB itself.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed, spoken_name
from flipcore.datasets.reading.packed import is_packed, suffix_of
from flipcore.datasets.reading.rows import (
    IMPORT_ID,
    MAX_SUMS,
    MIN_SUMMED,
    Row,
    read_rows,
    sheets_read,
    sum_name,
)
from flipcore.datasets.reading.sheets import sheet_names
from flipcore.datasets.tables.own_columns import parts_of_share, shares_in
from flipcore.datasets.tables.turns import conversation_in, with_last_turn
from flipcore.text.answers import canonical_number

MAX_COLUMNS = 2_000  # DuckDB crashed the process at 10,000
SMALL_BYTES = 4_000_000  # larger files are read by DuckDB
_N_TEXTS = 50  # rows whose texts are searched for the keys of their objects
DEEPEST = 4  # levels of objects in objects that become columns
MAX_MB = 20_000
# Objects of more than _DATA_KEYS keys, most of which are in fewer than _DATA_SHARE of the rows, are
# data and do not become columns.
_DATA_KEYS, _DATA_SHARE = 5, 0.2
_LONGEST = 240  # characters of a text of a large file; a hash replaces the rest
# Most rows of a table whose queries DuckDB does not optimize: for fewer rows that takes longer than
# to run the queries.
_UNOPTIMIZED_ROWS = 1_000
_MISSING = ("", "null", "None", "NaN", "nan")
_MISSING_NUMBERS = frozenset(["NA", "N/A", "n/a", "#N/A", "<NA>"])
_NAMES_OF_ENTRIES = ("name", "metric", "metric_name")
_SCORES_OF_ENTRIES = ("score", "value")
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "700MB",
    "threads": 1,
    "preserve_insertion_order": True,
}


@dataclass(frozen=True)
class Table:
    """The rows of a file in the DuckDB table `relation`; `names[i]` is the column `c<i>`.

    If `is_whole` is False, long texts are cut and end in their hash: different texts stay
    different, but cannot be compared with a right answer. If several files are staged as one table,
    the column `file` numbers them.
    """

    connection: duckdb.DuckDBPyConnection
    relation: str
    names: tuple[str, ...]
    n_rows: int
    n_broken: int = 0
    is_whole: bool = True
    n_files: int = 1
    other_sheets: tuple[str, ...] = ()  # sheets of an Excel file that were not loaded
    sums: tuple[str, ...] = ()  # names of rows at the end that sum up the others, and are left out
    conversation: str = ""  # the column of conversations that prompt and response were taken from

    @property
    def file(self) -> tuple[str, ...]:
        """The SQL column that tells the files of a staged table apart; empty for a single file."""
        return ("file",) if self.n_files > 1 else ()

    @property
    def place(self) -> str:
        """The SQL columns of a row's place: its number, and its file in a staged table."""
        return ", ".join(["place", *self.file])

    def sql(self, name: str) -> str:
        """Return the SQL identifier of a column."""
        return f"c{self.names.index(name)}"

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple]:
        """Run a query and return its rows. Raises BadInput if it needs more memory than allowed."""
        with self._within_memory():
            return self.connection.execute(query, list(parameters)).fetchall()

    def hashes(self, columns: Sequence[str]) -> dict[str, np.ndarray]:
        """Return a hash per row of each SQL column as unsigned numbers, 0 for an empty cell."""
        cells = ", ".join(
            f"CASE WHEN {name}::VARCHAR <> '' THEN hash({name}) ELSE 0 END AS {name}"
            for name in columns
        )
        with self._within_memory():
            query = f"SELECT {cells} FROM {self.relation}"
            arrays = self.connection.execute(query).fetchnumpy()
        return {name: np.asarray(array) for name, array in arrays.items()}

    @contextmanager
    def _within_memory(self) -> Iterator[None]:
        try:
            yield
        except duckdb.OutOfMemoryException as error:
            raise BadInput(
                f"The cells of the table are too long to compare: {self.n_rows:,} rows need more "
                f"than {_SETTINGS['memory_limit']}. Leave out columns of long lists or texts that "
                "are neither question, output nor right answer."
            ) from error

    def frame(self, names: Sequence[str], most: int = 20_000) -> list[dict[str, str | None]]:
        """Return at most `most` rows from the beginning as dictionaries of these columns."""
        selected = ", ".join(self.sql(name) for name in names)
        # With a limit, the query of a small table takes four times as long.
        limit = f" LIMIT {most}" if most < self.n_rows else ""
        selected_rows = self.rows(f"SELECT {selected} FROM {self.relation}{limit}")
        return [dict(zip(names, row, strict=True)) for row in selected_rows]

    def with_relation(self, relation: str, names: Sequence[str]) -> "Table":
        """Return the same connection with another table in view."""
        (n_rows,) = self.rows(f"SELECT count(*) FROM {relation}")[0]
        return replace(self, relation=relation, names=tuple(names), n_rows=n_rows)


def connect(*, is_small: bool) -> duckdb.DuckDBPyConnection:
    """Connect to a database in memory; no other connection sees its temporary tables."""
    # To open a database takes 25 ms, a third of the time to read a small table, so small tables
    # share one per process. Each large table has its own, because the memory limit is per database.
    return _shared_database().cursor() if is_small else _new_database()


@cache
def _shared_database() -> duckdb.DuckDBPyConnection:
    return _new_database()


def _new_database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config=_SETTINGS)


def load(path: str | Path, sheet: str = "") -> Table:
    """Load a file; of an Excel file the sheet with this name, "" for the first.

    Raises BadInput for a file without rows, or with more than MAX_COLUMNS columns.
    """
    file = allowed(path)
    plain_suffix = suffix_of(file)
    is_small = file.is_file() and file.stat().st_size <= SMALL_BYTES and not is_packed(file)
    connection = connect(is_small=is_small)
    is_read_by_duckdb = plain_suffix in (".csv", ".tsv", ".parquet", ".jsonl") and file.is_file()
    if is_read_by_duckdb and not is_small and not is_packed(file):
        with suppress(duckdb.Error):
            return _load_large(connection, file, plain_suffix)
    sums: list[str] = []
    rows = read_rows(path, most_mb=MAX_MB, sheet=sheet, sums=sums)
    table = replace(load_rows(connection, rows, spoken_name(path)), sums=tuple(sums))
    if plain_suffix == ".xlsx":
        all_sheets = sheet_names(file, MAX_MB * 1_000_000)
        loaded = sheets_read(file, MAX_MB * 1_000_000, sheet)
        other_sheets = tuple(name for name in all_sheets if name not in loaded)
        return replace(table, other_sheets=other_sheets)
    return table


def stage(files: Sequence[Sequence[Mapping[str, Any]]]) -> Table:
    """Load the rows of many small files with the same columns as one table."""
    rows: list[Mapping[str, Any]] = []
    numbers: list[int] = []
    conversation = ""
    for number, file_rows in enumerate(files):
        conversation = conversation or next(filter(None, map(conversation_in, file_rows)), "")
        rows += map(with_last_turn, file_rows)
        numbers += [number] * len(file_rows)
    connection = connect(is_small=True)
    table = _load_columns(connection, flatten(rows), {"file": numbers})
    return replace(table, n_files=len(files), conversation=conversation)


def load_rows(
    connection: duckdb.DuckDBPyConnection, rows: Iterable[Row], file: str = "The table"
) -> Table:
    """Load rows into the database of a connection; `file` names them in messages.

    Raises BadInput without a readable row, or for more than MAX_COLUMNS columns.
    """
    good: list[Mapping[str, Any]] = []
    n_broken, first_problem, conversation = 0, "", ""
    for row in rows:
        if row.problem:
            n_broken += 1
            first_problem = first_problem or f" {row.place} {row.problem.removesuffix('.')}."
        else:
            conversation = conversation or conversation_in(row.values)
            good.append(with_last_turn(row.values))
    if not good:
        raise BadInput(
            f"{file} has no row that can be read; it needs one JSON object per line, "
            f"or a header line and rows below it.{first_problem}"
        )
    columns = flatten(good)
    columns |= _shares(columns)
    _check_width(file, len(columns))
    if not columns:
        connection.execute(
            f"CREATE TEMP TABLE loaded AS SELECT unnest(range({len(good)})) AS place"
        )
        return Table(connection, "loaded", (), len(good), n_broken)
    table = _load_columns(connection, columns, {})
    return replace(table, n_broken=n_broken, conversation=conversation)


def _load_columns(
    connection: duckdb.DuckDBPyConnection,
    columns: Mapping[str, list[str | None]],
    extra_columns: Mapping[str, list[int]],
) -> Table:
    arrays: dict[str, Any] = dict(extra_columns)
    for i, cells in enumerate(columns.values()):
        arrays[f"c{i}"] = pyarrow.array(cells, pyarrow.string())
    arrived = pyarrow.table(arrays)
    n_rows = arrived.num_rows
    arrived = arrived.add_column(0, "place", [pyarrow.array(np.arange(1, n_rows + 1))])
    if n_rows <= _UNOPTIMIZED_ROWS:
        connection.execute("PRAGMA disable_optimizer")
    # DuckDB finds the variable by its name. To register it would take as long as to copy its rows.
    connection.execute("CREATE TEMP TABLE loaded AS FROM arrived")
    return Table(connection, "loaded", tuple(columns), n_rows)


def _check_width(file: str, n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        raise BadInput(
            f"{file} has {n_columns:,} columns; a table of outputs or scores has at most "
            f"{MAX_COLUMNS:,}. Write one row per output, with a column for each thing said of it."
        )


def flatten(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    """Return the cells of each column as texts; keys of objects become columns: meta.subject."""
    names = dict.fromkeys(chain.from_iterable(rows))
    columns: dict[str, list[str | None]] = {}
    texts = [_texts_of(row) for row in rows[:_N_TEXTS]]
    for name in names:
        cells = [row.get(name) for row in rows]
        columns |= _expand(name, cells, texts, depth=1)
    return columns


def _texts_of(value: Any) -> str:
    """Return all texts of a row as one, including those inside its objects and lists."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(map(_texts_of, value.values()))
    return "\n".join(map(_texts_of, value)) if isinstance(value, list) else ""


def _shares(columns: Mapping[str, list[str | None]]) -> dict[str, list[str | None]]:
    """Return a column per share of two whole numbers, such as tests_passed/tests_total: "3/5"."""
    shares: dict[str, list[str | None]] = {}
    for name in shares_in(columns):
        part, total = parts_of_share(name, columns) or ("", "")
        pairs = [(k or "", n or "") for k, n in zip(columns[part], columns[total], strict=True)]
        counts = [(int(k), int(n)) for k, n in pairs if k.isdecimal() and n.isdecimal()]
        if len(counts) == len(pairs) and all(k <= n and n for k, n in counts):
            if any(n > 1 for _, n in counts):
                shares[name] = [f"{k}/{n}" for k, n in counts]
    return shares


def _are_by_option(cells: Sequence[Any], texts: Sequence[str]) -> bool:
    """Tell whether objects hold a number per option: the keys occur in the texts of the row."""
    has_objects = False
    for cell, text in zip(cells, texts, strict=False):
        if isinstance(cell, Mapping) and len(cell) > 1:
            has_objects = True
            for key, value in cell.items():
                if not isinstance(value, (int, float)) or str(key) not in text:
                    return False
    return has_objects


def _expand(
    name: str, cells: list[Any], texts: Sequence[str], depth: int
) -> dict[str, list[str | None]]:
    """Return the columns of a cell per row, an object's keys as columns down to DEEPEST levels."""
    filled = [cell for cell in cells if cell not in (None, "", {}, [])]
    if filled and depth < DEEPEST and all(isinstance(cell, Mapping) for cell in filled):
        n_by_key = Counter(chain.from_iterable(filled))
        if _are_columns(n_by_key, len(cells)) and not _are_by_option(cells, texts):
            columns: dict[str, list[str | None]] = {}
            for key in n_by_key:
                inner = [cell.get(key) if isinstance(cell, Mapping) else None for cell in cells]
                columns |= _expand(f"{name}.{key}", inner, texts, depth + 1)
            return columns
    if filled and all(_are_named_scores(cell) for cell in filled):
        return _named_scores(name, cells)
    texts_of_cells = [as_cell(cell) for cell in cells]
    if any(text in _MISSING_NUMBERS for text in texts_of_cells) and _are_numbers(texts_of_cells):
        texts_of_cells = [None if text in _MISSING_NUMBERS else text for text in texts_of_cells]
    return {name: texts_of_cells}


def _are_numbers(texts: Sequence[str | None]) -> bool:
    """Tell whether all texts are numbers but for the words for a missing one, as R writes NA."""
    numbers = [text for text in texts if text is not None and text not in _MISSING_NUMBERS]
    return bool(numbers) and all(canonical_number(text) is not None for text in numbers)


def _are_columns(n_by_key: Mapping[str, int], n_rows: int) -> bool:
    """Tell whether the keys of objects are columns, and neither labels of options nor data."""
    if all(len(str(key)) <= 2 for key in n_by_key):
        return False
    n_rare = sum(n < _DATA_SHARE * n_rows for n in n_by_key.values())
    return len(n_by_key) <= _DATA_KEYS or 2 * n_rare <= len(n_by_key)


def _are_named_scores(cell: Any) -> bool:
    """Tell whether a cell is a list of objects with a name and a score each, as DeepEval writes."""
    return isinstance(cell, list) and all(
        isinstance(entry, Mapping)
        and _first_key(entry, _NAMES_OF_ENTRIES)
        and _first_key(entry, _SCORES_OF_ENTRIES)
        for entry in cell
    )


def _first_key(entry: Mapping, keys: Sequence[str]) -> str:
    return next((key for key in keys if key in entry), "")


def _named_scores(name: str, cells: list[Any]) -> dict[str, list[str | None]]:
    """Return a column per name in lists of {name, score}, such as `metrics[Relevancy].score`."""
    columns: dict[str, list[str | None]] = {}
    for row_number, cell in enumerate(cells):
        for entry in cell or ():
            score = _first_key(entry, _SCORES_OF_ENTRIES)
            path = f"{name}[{entry[_first_key(entry, _NAMES_OF_ENTRIES)]}].{score}"
            columns.setdefault(path, [None] * len(cells))[row_number] = as_cell(entry[score])
    return columns


def as_cell(value: Any) -> str | None:
    """Return a cell as text; None for an empty cell or a word for "missing"."""
    if value is None or value != value or value in ("", [], {}):
        return None
    if isinstance(value, str):
        return None if value.strip() in _MISSING else value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


# Large files.


def _load_large(connection: duckdb.DuckDBPyConnection, file: Path, suffix: str) -> Table:
    """Let DuckDB read a large CSV, JSON lines or Parquet file; long texts are cut."""
    if suffix == ".jsonl":
        return _load_lines(connection, file)
    if suffix == ".parquet":
        source = "read_parquet(?)"
    else:
        source = "read_csv(?, all_varchar = true, header = true, sample_size = 20480)"
    description = connection.execute(f"DESCRIBE SELECT * FROM {source}", [str(file)]).fetchall()
    names = [row[0] for row in description]
    _check_width(spoken_name(file), len(names))
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = [f"{_cut(f'CAST({name} AS VARCHAR)')} AS c{i}" for i, name in enumerate(quoted)]
    # a row without a filled cell is none, nor is a repeated header, as in `read_rows`
    is_row, cells = "true", [str(file)]
    if suffix != ".parquet" and len(names) > 1:
        n_names = " + ".join(f"({name} IS NOT DISTINCT FROM ?)::INT" for name in quoted)
        is_row = f"coalesce({', '.join(quoted)}) IS NOT NULL AND 2 * ({n_names}) <= {len(names)}"
        cells += names
    connection.execute(
        f"CREATE TEMP TABLE loaded AS SELECT row_number() OVER () AS place, "
        f"{', '.join(columns)} FROM {source} WHERE {is_row}",
        cells,
    )
    (n_rows,) = connection.execute("SELECT count(*) FROM loaded").fetchone() or (0,)
    table = Table(connection, "loaded", tuple(names), n_rows, is_whole=False)
    return table if suffix == ".parquet" else _above_sums(_below_survey_header(table))


def _below_survey_header(table: Table) -> Table:
    """Return a table without the two rows of Qualtrics below its header, as `read_rows` does."""
    columns = ", ".join(map(table.sql, table.names))
    second = table.rows(f"SELECT {columns} FROM loaded WHERE place = 2")
    if not any((cell or "").startswith(IMPORT_ID) for cell in chain.from_iterable(second)):
        return table
    table.rows("DELETE FROM loaded WHERE place <= 2")
    table.rows("UPDATE loaded SET place = place - 2")
    return replace(table, n_rows=table.n_rows - 2)


def _above_sums(table: Table) -> Table:
    """Return a table without the rows at its end that sum up those above, as `read_rows` does."""
    if table.n_rows <= MIN_SUMMED:
        return table
    columns = ", ".join(map(table.sql, table.names))
    last_rows = table.rows(
        f"SELECT place, {columns} FROM loaded WHERE place > ?", [table.n_rows - MAX_SUMS]
    )
    named = {
        place: sum_name(dict(zip(table.names, cells, strict=True))) for place, *cells in last_rows
    }
    sums = {place: name for place, name in named.items() if name}
    if sums:
        table.rows("DELETE FROM loaded WHERE list_contains(?, place)", [list(sums)])
    return replace(table, n_rows=table.n_rows - len(sums), sums=tuple(sums.values()))


def _cut(value: str) -> str:
    """Return the SQL of a cell: NULL for a missing value, a hash for the end of a long text."""
    missing = ", ".join(f"'{word}'" for word in _MISSING)
    cut = f"left({value}, {_LONGEST}) || ' #' || hash({value})"
    return (
        f"CASE WHEN trim({value}) IN ({missing}) THEN NULL WHEN length({value}) > {_LONGEST} "
        f"THEN {cut} ELSE {value} END"
    )


def _load_lines(connection: duckdb.DuckDBPyConnection, file: Path) -> Table:
    """Let DuckDB read JSON lines; each path of the first 500 rows becomes a column.

    Raises duckdb.Error where `read_rows` must read the file.
    """
    first: list[Mapping[str, Any]] = []
    for row in read_rows(file, most_mb=MAX_MB):
        if not row.problem:
            first.append(row.values)
        if len(first) == 500:
            break
    names = list(flatten(first))
    _check_width(spoken_name(file), len(names))
    if any("[" in name for name in names) or any(map(conversation_in, first[:_N_TEXTS])):
        raise duckdb.Error("lists of named scores and conversations are read row by row")
    paths = ", ".join("'" + _json_path(name, first[0]).replace("'", "''") + "'" for name in names)
    lines = (
        "read_csv(?, columns = {'line': 'VARCHAR'}, header = false, auto_detect = false, "
        "delim = '\x01', quote = '', escape = '', max_line_size = 10000000)"
    )
    cells = ", ".join(f"{_cut(f'cells[{i + 1}]')} AS c{i}" for i in range(len(names)))
    # Python writes NaN and Infinity, which are not valid JSON
    without_nan = r"regexp_replace(line, ':\s*(NaN|-?Infinity)\b', ': null', 'g')"
    valid_line = f"CASE WHEN json_valid(line) THEN line ELSE {without_nan} END"
    connection.execute(
        f"CREATE TEMP TABLE loaded AS SELECT row_number() OVER () AS place, {cells} FROM ("
        f"SELECT json_extract_string(line, [{paths}]) AS cells FROM (SELECT {valid_line} AS line "
        f"FROM {lines}) WHERE json_valid(line))",
        [str(file)],
    )
    (n_rows,) = connection.execute("SELECT count(*) FROM loaded").fetchone() or (0,)
    return Table(connection, "loaded", tuple(names), n_rows, is_whole=False)


def _json_path(name: str, row: Mapping[str, Any]) -> str:
    """Return the JSON path of a column; a key with dots in it stays one key."""
    steps = [name] if name in row else name.split(".")
    return "$" + "".join('."' + step.replace('"', '\\"') + '"' for step in steps)
