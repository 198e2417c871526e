"""Tables with one row per item and model, read without making a record of every row.

In most tables a row repeats the item and adds one model's output or score. Then the item is made
once, by the same code as a record, and only outputs and scores are read per row. If a row does not
fit, `NotPlain` is raised and the table is read record by record.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from flipcore.core.errors import BadInput
from flipcore.core.folders import allowed
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.datasets.recorded.fields import with_paths
from flipcore.datasets.recorded.grouping import MAX_MB, Key, VariantRow, item_of, model_of, n_parts_of
from flipcore.datasets.recorded.log_records import LogReadout, LogRecord, Rejection
from flipcore.datasets.recorded.recording import SETS, Recording


class NotPlain(Exception):
    """Raised for a row that differs from the other rows of its item in more than the output."""


class TableRows(Protocol):
    """Maker of records of rows; see `formats.tables`."""

    def group(self, key: Key, variants: list[VariantRow]) -> Iterator[LogRecord | Rejection]: ...

    def forget(self) -> None: ...

    def scores(self, key: Key, name: str, values: Mapping[str, Any]) -> tuple[LogReadout, ...]: ...

    def text(self, values: Mapping[str, Any]) -> tuple[str | None, str]: ...


class PlainRow(NamedTuple):
    """One row: its line, its model, its item (task and key) and its cells."""

    line: int
    model: str
    item: tuple[str, str]
    values: Mapping[str, Any]


def is_plain(recording: Recording) -> bool:
    """Tell whether the rows of a table with this recording may be plain."""
    holds_several = recording.nested or recording.models_beside or recording.lists
    holds_more = recording.variant or recording.sample or recording.fields
    return not (holds_several or holds_more or recording.copies or recording.answers == SETS)


class PlainTable:
    """The rows of a table file, in the order of the file."""

    def __init__(self, path: str, file: str, recording: Recording, rows: TableRows) -> None:
        self.path, self.file, self.recording, self._rows = path, file, recording, rows
        cells_of_row = {recording.text, recording.finish, recording.error, recording.scorer, *recording.scores}
        names = {*recording.columns, recording.pair} - cells_of_row - {""}
        names -= {*recording.models.split(","), recording.models}
        # In a table without prompts, the column "" distinguishes the prompts.
        self._item_columns = sorted(names if recording.prompt else {*names, ""})
        self._models: dict[Any, str] = {}

    @property
    def has_own_order(self) -> bool:
        """Tell whether rows come in another order than their records would."""
        return bool(self.recording.item) and n_parts_of(allowed(self.path)) > 1

    def rows(self) -> Iterator[PlainRow | Rejection]:
        """Read the rows; a row that cannot be read becomes a `Rejection`."""
        recording, paths = self.recording, self.recording.paths
        is_flat_file = allowed(self.path).name.lower().endswith((".csv", ".tsv")) and not paths
        file_rows = read_rows(self.path, most_mb=MAX_MB, sheet=recording.sheet)
        for number, row in enumerate(file_rows):
            # looking for paths and conversations takes time, so rows without them are used as they are
            if not is_flat_file and (paths or any(type(cell) is list for cell in row.values.values())):
                row = with_paths(row, paths)
            if row.problem:
                yield self.rejection(row.line, f"{row.problem}.")
                continue
            task = str(row.values.get(recording.tasks) or "") if recording.tasks else ""
            item = item_of(number, row, recording) if recording.item else str(number)
            yield PlainRow(row.line, self._model(row), (task, item), row.values)

    def _model(self, row: Row) -> str:
        column = self.recording.models
        cell = row.values.get(column)
        if not column or not isinstance(cell, str):
            return model_of(row, self.recording)
        if cell not in self._models:
            self._models[cell] = model_of(row, self.recording)
        return self._models[cell]

    def rejection(self, line: int, problem: str) -> Rejection:
        """Return the rejection of a row; `problem` is a predicate with a period."""
        return Rejection(f"Line {line} of {self.file} {problem}")

    def content(self, row: PlainRow) -> int:
        """Hash the cells about the item, which must be equal in all rows of the item."""
        cells = [row.values.get(name) for name in self._item_columns]
        return hash(repr(cells))

    def record(self, row: PlainRow) -> LogRecord:
        """Make the record of a row. Raises NotPlain if the row is refused."""
        record = self.record_or_rejection(row)
        if isinstance(record, Rejection):
            raise NotPlain
        return record

    def record_or_rejection(self, row: PlainRow) -> LogRecord | Rejection:
        """Make the record of a row, the only one of its item and model."""
        self._rows.forget()
        name = str(row.values.get(self.recording.variant, ""))
        variant = VariantRow(row.line, name, row.values)
        (record,) = self._rows.group(Key(row.model, *row.item), [variant])
        return record

    def records(self) -> Iterator[LogRecord | Rejection]:
        """Make a record of every row, in the order of the file."""
        for row in self.rows():
            yield row if isinstance(row, Rejection) else self.record_or_rejection(row)

    def readouts(self, row: PlainRow) -> tuple[LogReadout, ...]:
        """Return the readouts of the scorers. Raises NotPlain for a cell that is no score."""
        try:
            return self._rows.scores(Key(row.model, *row.item), "", row.values)
        except (BadInput, TypeError, ValueError, AttributeError) as error:
            raise NotPlain from error

    def text(self, row: PlainRow) -> tuple[str | None, str]:
        """Return (output, "") of a row, or (None, the error)."""
        return self._rows.text(row.values)

    def finish(self, row: PlainRow) -> str:
        """Return the finish reason of a row as the table writes it; "" for none."""
        column = self.recording.finish
        return str(row.values.get(column) or "") if column else ""
