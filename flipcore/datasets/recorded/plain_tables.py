"""Tables with one row per item and model, read without making a record of every row.

In most tables a row repeats what was asked and adds what one model said or scored. What is asked
is then made once per item, by the same code as a record, and only texts and scores are read per
row. A table whose rows do not all fit that is left to the way of records: `NotPlain` says so, and
nothing is decided here.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.datasets.recorded.fields import with_paths
from flipcore.datasets.recorded.grouping import MOST_MB, Key, VariantRow, item_of, model_of, n_parts_of
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord, Rejection
from flipcore.datasets.recorded.recording import SETS, Recording

MOST_REMEMBERED = 50_000  # different scores, whose readouts are made once


class NotPlain(Exception):
    """A row that differs from the others of its item in more than what its model said."""


class TableRows(Protocol):
    """Maker of records of rows; see `formats.tables`."""

    def group(self, key: Key, variants: list[VariantRow]) -> Iterator[LogRecord | Rejection]: ...

    def forget(self) -> None: ...

    def scores(self, key: Key, name: str, values: Mapping[str, Any]) -> Iterator[LogReadout]: ...

    def text(self, values: Mapping[str, Any]) -> tuple[str | None, str]: ...


class PlainRow(NamedTuple):
    """One row: whose it is, which item, and its cells."""

    line: int
    model: str
    item: tuple[str, str]  # its task and key
    values: Mapping[str, Any]


def is_plain(recording: Recording) -> bool:
    """Tell whether rows that are read by this recording may be plain."""
    names_several = recording.nested or recording.models_beside or recording.lists
    says_more = recording.variant or recording.sample or recording.fields
    return not (names_several or says_more or recording.copies or recording.answers == SETS)


class PlainTable:
    """The rows of a table file, in the order of the file."""

    def __init__(self, path: str, file: str, recording: Recording, rows: TableRows) -> None:
        self.path, self.file, self.recording, self._rows = path, file, recording, rows
        cells_of_row = {recording.text, recording.finish, recording.scorer, *recording.scores}
        names = {*recording.columns, recording.pair} - cells_of_row - {""}
        names -= {*recording.models.split(","), recording.models}
        # A table without prompts tells prompts apart by a column without a name.
        self._content = sorted(names if recording.prompt else {*names, ""})
        self._scored: dict[tuple, tuple[LogReadout, ...]] = {}
        self._models: dict[Any, str] = {}

    @property
    def has_own_order(self) -> bool:
        """Tell whether rows come in another order than records of them would."""
        return bool(self.recording.item) and n_parts_of(allowed(self.path)) > 1

    def rows(self) -> Iterator[PlainRow | Rejection]:
        """Read the rows; a `Rejection` stands for one that is none."""
        recording = self.recording
        inside = [name for name in recording.columns if any(sign in name for sign in ",.[")]
        of_texts = allowed(self.path).name.lower().endswith((".csv", ".tsv")) and not inside
        file_rows = read_rows(self.path, most_mb=MOST_MB, sheet=recording.sheet)
        for number, row in enumerate(file_rows):
            # Without a path or a list, a row is whole as it is.
            is_whole = of_texts or not (inside or any(type(cell) is list for cell in row.values.values()))
            whole = row if is_whole else with_paths(row, inside)
            if whole.problem:
                yield self.rejection(whole.line, f"{whole.problem}.")
                continue
            values = whole.values
            task = str(values.get(recording.tasks) or "") if recording.tasks else ""
            item = item_of(number, whole, recording) if recording.item else str(number)
            yield PlainRow(whole.line, self._model(whole), (task, item), values)

    def _model(self, row: Row) -> str:
        column = self.recording.models
        cell = row.values.get(column)
        if not column or not isinstance(cell, str):
            return model_of(row, self.recording)
        if cell not in self._models:
            self._models[cell] = model_of(row, self.recording)
        return self._models[cell]

    def rejection(self, line: int, why: str) -> Rejection:
        """Say why a row is none."""
        return Rejection(f"Line {line} of {self.file} {why}")

    def content(self, row: PlainRow) -> int:
        """Hash what a row says of its item, which all rows of the item must say alike."""
        cells = [row.values.get(name) for name in self._content]
        return hash(repr(cells))

    def record(self, row: PlainRow) -> LogRecord:
        """Make the record of a row. Raises NotPlain where it is refused."""
        found = self.record_or_rejection(row)
        if isinstance(found, Rejection):
            raise NotPlain
        return found

    def record_or_rejection(self, row: PlainRow) -> LogRecord | Rejection:
        """Make the record of a row that no other row of its item and model stands beside."""
        self._rows.forget()
        name = str(row.values.get(self.recording.variant, ""))
        variant = VariantRow(row.line, name, row.values)
        (found,) = self._rows.group(Key(row.model, *row.item), [variant])
        return found

    def records(self) -> Iterator[LogRecord | Rejection]:
        """Make a record of every row, in the order of the file."""
        for row in self.rows():
            yield row if isinstance(row, Rejection) else self.record_or_rejection(row)

    def readouts(self, row: PlainRow) -> tuple[LogReadout, ...]:
        """Return what scorers gave a row. Raises NotPlain for what is no score."""
        recording, values = self.recording, row.values
        if not recording.scores:
            return ()
        cells = tuple(values.get(name) for name in recording.scores)
        key = (*cells, values.get(recording.scorer), values.get(recording.text) in (None, ""))
        try:
            known = self._scored.get(key)
        except TypeError:  # a list or an object
            known, key = None, ()
        # Equal numbers of other kinds, 1 and 1.0 and True, are the same score.
        if known is None:
            known = self._read_scores(row)
            if key and len(self._scored) < MOST_REMEMBERED:
                self._scored[key] = known
        return known

    def _read_scores(self, row: PlainRow) -> tuple[LogReadout, ...]:
        try:
            return tuple(self._rows.scores(Key(row.model, *row.item), "", row.values))
        except (BadInput, TypeError, ValueError, AttributeError) as error:
            raise NotPlain from error

    def text(self, row: PlainRow) -> tuple[str | None, str]:
        """(the text, why there is none) of a row."""
        return self._rows.text(row.values)

    def finish(self, row: PlainRow) -> str:
        """Return why the output of a row ended, as the table says it."""
        column = self.recording.finish
        return str(row.values.get(column) or "") if column else ""
