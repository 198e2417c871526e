"""Read many small tables with the same columns together.

A folder may hold thousands of files of a few rows each. To read one takes a database and some
hundred queries, and a file of one row does not show enough to be read at all. Files with the same
columns are therefore staged as one table. A file that is unlike all other files is read alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.datasets.recorded.by_structure import recording_by
from flipcore.datasets.recorded.columns import N_LOOKED_AT
from flipcore.datasets.recorded.fields import with_messages
from flipcore.datasets.recorded.grouping import MAX_MB
from flipcore.datasets.recorded.log_records import LogAbout
from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.load import as_cell, stage
from flipcore.datasets.tables.reading import TableReading, read_loaded

MIN_FILES = 20  # files of one layout; fewer are not worth reading together
MAX_BYTES = 1_000_000  # size of a small file
STAGED_BYTES = 64_000_000  # of files that are staged with all rows; of further files, only FIRST_ROWS are staged
FIRST_ROWS = 20
LEAST_ROWS = 20  # rows of a file that shows by itself what its columns hold

_Rows = list[Mapping[str, Any]]


@dataclass
class Layout:
    """Tables of the same columns: their rows by path, and how all of them are read."""

    rows: dict[Path, _Rows] = field(default_factory=dict)
    # by recording: how columns name options, and the description, which the readers of all tables share
    shared: dict[Recording, tuple[dict[str, str], LogAbout]] = field(default_factory=dict)
    _readings: dict[tuple[tuple[str, str], ...], TableReading] = field(default_factory=dict)
    _recordings: dict[tuple[tuple[str, str], ...], Recording] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its first file, for sentences about all of them."""
        return next(iter(self.rows)).name

    def reading(self, words: Mapping[str, str]) -> TableReading:
        """Return the reading of the tables; `words` are the words of `--map` and their values."""
        key = tuple(sorted(words.items()))
        if key not in self._readings:
            table = stage(list(self.rows.values()))
            with closing(table.connection):
                self._readings[key] = read_loaded(table, self.name, words)
        return self._readings[key]

    def recording(self, words: Mapping[str, str]) -> Recording:
        """Return the recording of the tables. Raises BadInput for tables without outputs and scores."""
        key = tuple(sorted(words.items()))
        if key not in self._recordings:
            self._recordings[key] = recording_by(self.reading(words), self.first_rows, self.name)
        return self._recordings[key]

    @cached_property
    def first_rows(self) -> _Rows:
        """The first rows of the first files."""
        all_rows = chain.from_iterable(self.rows.values())
        return list(islice(map(_flat_row, all_rows), N_LOOKED_AT))

    def rows_of(self, path: Path) -> _Rows:
        """Return the first rows of one table."""
        return [_flat_row(values) for values in self.rows[path][:N_LOOKED_AT]]

    @cached_property
    def models(self) -> dict[Path, frozenset[str]]:
        """The models that the rows of each table name, by path."""
        by_number = self.reading({}).models_of_files
        return {path: by_number.get(number, frozenset()) for number, path in enumerate(self.rows)}


def _flat_row(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with its conversations as texts."""
    return with_messages(Row(0, dict(values))).values


def layouts_of(sources: Sequence[Source]) -> dict[Path, Layout]:
    """Return the layouts that many small tables share, by the path of each table."""
    small = [source for source in sources if 0 < source.size <= MAX_BYTES]
    if len(small) < MIN_FILES:
        return {}
    layouts: dict[tuple, Layout] = {}
    n_bytes = 0
    for source in small:
        n_bytes += source.size
        rows = _rows_of(source, is_whole=n_bytes <= STAGED_BYTES)
        if rows:
            layouts.setdefault(_layout_key(source, rows), Layout()).rows[source.path] = rows
    layout_of: dict[Path, Layout] = {}
    for layout in layouts.values():
        if len(layout.rows) >= MIN_FILES:
            layout_of |= dict.fromkeys(layout.rows, layout)
    return layout_of


def _rows_of(source: Source, *, is_whole: bool) -> _Rows:
    """Return the rows of a file, only the first unless `is_whole`; [] if one cannot be read."""
    rows: _Rows = []
    try:
        file_rows: Iterator[Row] = read_rows(source.path, most_mb=MAX_MB)
        for row in file_rows if is_whole else islice(file_rows, FIRST_ROWS):
            if row.problem:  # the file is read alone, and its problem reported then
                return []
            rows.append(row.values)
    except (BadInput, OSError):
        return []
    return rows


def _layout_key(source: Source, rows: _Rows) -> tuple:
    """Return what the tables of a layout share: suffix, columns, and the kinds of cells if there are enough rows."""
    columns = dict.fromkeys(chain.from_iterable(rows))
    kinds = frozenset(_kind(rows, name) for name in columns) if len(rows) >= LEAST_ROWS else frozenset()
    return source.path.suffix.lower(), frozenset(columns), kinds


def _kind(rows: _Rows, name: str) -> tuple[str, str]:
    """Return (column, kind of its cells): "numbers", "letters" or "texts", "" if it is empty."""
    cells = [cell for row in rows[:N_LOOKED_AT] if (cell := as_cell(row.get(name))) is not None]
    if not cells:
        return name, ""
    if all(len(cell) == 1 and cell.isalpha() for cell in cells):
        return name, "letters"
    are_numbers = all(cell.lstrip("-").replace(".", "", 1).isdigit() for cell in cells)
    return name, "numbers" if are_numbers else "texts"
