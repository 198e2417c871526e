"""Many small tables of one layout, read together: profiled once, and their roles found once.

A folder may hold thousands of files of a few rows each. Read one by one, each costs a database of
its own and some hundred queries, and a file of one row says too little to be read at all. Files of
the same columns are staged as one table instead; a file that is unlike all others is read alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.datasets.recorded.by_structure import recording_by
from flipcore.datasets.recorded.columns import N_LOOKED_AT
from flipcore.datasets.recorded.fields import with_messages
from flipcore.datasets.recorded.grouping import MOST_MB
from flipcore.datasets.recorded.log_records import LogAbout
from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.load import as_cell, stage
from flipcore.datasets.tables.reading import TableReading, read_loaded

FEWEST_FILES = 20  # of one layout, that are worth reading together
MOST_BYTES = 1_000_000  # of such a file
STAGED_BYTES = 64_000_000  # of all files of an import that are staged with all of their rows
FIRST_ROWS = 20  # that are looked at of further files
LEAST_ROWS = 20  # of a file that tells by itself what its columns hold

_Rows = list[Mapping[str, Any]]


@dataclass
class Layout:
    """Tables of the same columns: their rows by path, and how all of them are read."""

    rows: dict[Path, _Rows] = field(default_factory=dict)
    # what the readers of these tables share, by their recording
    shared: dict[Recording, tuple[dict[str, str], LogAbout]] = field(default_factory=dict)
    _readings: dict[tuple[tuple[str, str], ...], TableReading] = field(default_factory=dict)
    _recordings: dict[tuple[tuple[str, str], ...], Recording] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its first file, for sentences about all of them."""
        return next(iter(self.rows)).name

    def reading(self, words: Mapping[str, str]) -> TableReading:
        """Return how the tables are read; `words` are what a user said of their columns."""
        key = tuple(sorted(words.items()))
        if key not in self._readings:
            table = stage(list(self.rows.values()))
            with closing(table.connection):
                self._readings[key] = read_loaded(table, self.name, words)
        return self._readings[key]

    def recording(self, words: Mapping[str, str]) -> Recording:
        """Return the words by which rows of these tables become records. Raises BadInput for what is no table of outputs."""
        key = tuple(sorted(words.items()))
        if key not in self._recordings:
            self._recordings[key] = recording_by(self.reading(words), self.first_rows, self.name)
        return self._recordings[key]

    @cached_property
    def first_rows(self) -> _Rows:
        """The first rows of the first files."""
        every = (row for rows in self.rows.values() for row in rows)
        return list(islice(map(_spoken, every), N_LOOKED_AT))

    def rows_of(self, path: Path) -> _Rows:
        """Return the first rows of one table."""
        return [_spoken(values) for values in self.rows[path][:N_LOOKED_AT]]

    @cached_property
    def models(self) -> dict[Path, frozenset[str]]:
        """Models that the rows of each table name."""
        by_number = self.reading({}).models_of_files
        return {path: by_number.get(number, frozenset()) for number, path in enumerate(self.rows)}


def _spoken(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return with_messages(Row(0, dict(values))).values


def layouts_of(sources: Sequence[Source]) -> dict[Path, Layout]:
    """Return the layout of each small table that shares it with many others."""
    small = [source for source in sources if 0 < source.size <= MOST_BYTES]
    if len(small) < FEWEST_FILES:
        return {}
    layouts: dict[tuple, Layout] = {}
    n_bytes = 0
    for source in small:
        n_bytes += source.size
        rows = _rows_of(source, is_whole=n_bytes <= STAGED_BYTES)
        if rows:
            layouts.setdefault(_layout_key(source, rows), Layout()).rows[source.path] = rows
    found: dict[Path, Layout] = {}
    for layout in layouts.values():
        if len(layout.rows) >= FEWEST_FILES:
            found |= dict.fromkeys(layout.rows, layout)
    return found


def _rows_of(source: Source, *, is_whole: bool) -> _Rows:
    """The rows of a file; none where one of them cannot be read, which is said of that file alone."""
    rows: _Rows = []
    try:
        every: Iterator[Row] = read_rows(source.path, most_mb=MOST_MB)
        for row in every if is_whole else islice(every, FIRST_ROWS):
            if row.problem:
                return []
            rows.append(row.values)
    except (BadInput, OSError):
        return []
    return rows


def _layout_key(source: Source, rows: _Rows) -> tuple:
    """Return what tables must share: the suffix, the columns, and in files of many rows what these
    hold."""
    columns = dict.fromkeys(name for row in rows for name in row)
    kinds = frozenset(_kind(rows, name) for name in columns) if len(rows) >= LEAST_ROWS else frozenset()
    return source.path.suffix.lower(), frozenset(columns), kinds


def _kind(rows: _Rows, name: str) -> tuple[str, str]:
    """Tell whether a column holds numbers, letters or something else, as far as its roles depend on
    it."""
    cells = [cell for row in rows[:N_LOOKED_AT] if (cell := as_cell(row.get(name))) is not None]
    if not cells:
        return name, ""
    if all(len(cell) == 1 and cell.isalpha() for cell in cells):
        return name, "letters"
    are_numbers = all(cell.lstrip("-").replace(".", "", 1).isdigit() for cell in cells)
    return name, "numbers" if are_numbers else "texts"
