"""Group the rows of recorded outputs by item.

A small file is grouped in memory, a large one in parts on disk, so that memory does not grow with the file.
"""

import pickle
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from flipcore.core.folders import allowed
from flipcore.core.records import BASE, digest
from flipcore.core.work_folders import work_folder
from flipcore.datasets.reading.packed import is_packed
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.datasets.recorded.fields import split_row, with_paths
from flipcore.datasets.recorded.recording import Recording
from flipcore.datasets.tables.stems import names

MAX_MB = 20_000  # of a file of recorded outputs
_IS_NUMBER = re.compile(r"-?\d+(\.\d+)?")
IN_MEMORY = 48_000_000  # bytes of text that are grouped in memory
_PACKING_RATIO = 8  # assumed bytes of text per byte of a packed file
_MAX_PARTS = 256  # files that are open at the same time


@dataclass(slots=True)
class VariantRow:
    """One variant: its line, its name ("" for none) and the cells of its row."""

    line: int
    name: str
    values: Mapping[str, Any]


class Key(NamedTuple):
    """The model, the task ("" for none) and the item's key, which is unique within the task."""

    model: str
    task: str
    item: str


Group = tuple[Key, list[VariantRow]]


def batches(path: str, recording: Recording) -> Iterator[list[Group] | Row]:
    """Yield groups of rows, each with its base first, in batches that share no item; and each bad row."""
    file_rows = read_rows(path, most_mb=MAX_MB, sheet=recording.sheet)
    if recording.copies == "out":
        file_rows = _without_copies(file_rows)
    rows = _answer_rows(file_rows, recording)
    if recording.nested or not recording.item:
        for number, row in rows:
            yield row if row.problem else [_single_group(number, row, recording)]
        return
    n_parts = n_parts_of(allowed(path))
    if n_parts == 1:
        groups: dict[Key, list[VariantRow]] = {}
        for number, row in rows:
            if row.problem:
                yield row
            else:
                _add_to_group(groups, number, row, recording)
        yield _with_bases_first(groups)
        return
    yield from _group_on_disk(rows, recording, n_parts)


def _answer_rows(file_rows: Iterator[Row], recording: Recording) -> Iterator[tuple[int, Row]]:
    """Yield one row per answer with the number of its row in the file."""
    for number, row in enumerate(file_rows):
        for answer_row in split_row(row, recording.models_beside, recording.lists):
            yield number, with_paths(answer_row, recording.paths)


def _without_copies(rows: Iterator[Row]) -> Iterator[Row]:
    """Drop rows that repeat another one word for word, as a resumed run writes them."""
    seen = set()
    for row in rows:
        key = digest(row.values) if not row.problem else ""
        if not key or key not in seen:
            yield row
        seen.add(key)


def _group_on_disk(rows: Iterator[tuple[int, Row]], recording: Recording, n_parts: int) -> Iterator[list[Group] | Row]:
    """Group rows on the disk: all rows of an item go to the same one of `n_parts` files."""
    with work_folder("import") as folder:
        paths = [Path(folder, str(part)) for part in range(n_parts)]
        with ExitStack() as stack:
            files: list[IO[bytes]] = [stack.enter_context(part_path.open("wb")) for part_path in paths]
            for number, row in rows:
                if row.problem:
                    yield row
                    continue
                key = item_of(number, row, recording).encode("utf-8")
                pickle.dump((number, row), files[zlib.crc32(key) % n_parts], protocol=5)
        for path in paths:
            groups: dict[Key, list[VariantRow]] = {}
            with path.open("rb") as part:
                while part.peek(1):
                    number, row = pickle.load(part)
                    _add_to_group(groups, number, row, recording)
            path.unlink()
            if groups:
                yield _with_bases_first(groups)


def n_parts_of(path: Path) -> int:
    """Return the number of parts in which a file is grouped; its records come part by part."""
    is_compressed = path.suffix.lower() in (".parquet", ".xlsx") or is_packed(path)
    n_bytes = path.stat().st_size * (_PACKING_RATIO if is_compressed else 1)
    return min(_MAX_PARTS, 1 + n_bytes // IN_MEMORY)


def model_of(row: Row, recording: Recording) -> str:
    """Return the name of the model that answered in a row, with its settings: "gpt-4o, temperature 0"."""
    if "," in recording.models and recording.models not in row.values:
        cells = [(column, row.values.get(column)) for column in recording.models.split(",")]
        parts = [_setting_name(column, value) for column, value in cells if value not in (None, "")]
        return ", ".join(parts) or recording.model
    if names(recording.models, "setting") and row.values.get(recording.models) is not None:
        return _setting_name(recording.models, row.values[recording.models])
    return str(row.values.get(recording.models) or recording.model) if recording.models else recording.model


def _setting_name(column: str, value: Any) -> str:
    """Return the value of a setting, with the name of the setting before a number: "temperature 0"."""
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{column.rpartition('.')[2]} {number}" if _IS_NUMBER.fullmatch(number) else number


def _key(item: str, row: Row, recording: Recording) -> Key:
    task = str(row.values.get(recording.tasks) or "") if recording.tasks else ""
    return Key(model_of(row, recording), task, item)


def item_of(number: int, row: Row, recording: Recording) -> str:
    """Return the key of a row's item; the row's number if no column names it."""
    if "," in recording.item and recording.item not in row.values:
        return "/".join(str(row.values.get(column, "")) for column in recording.item.split(","))
    return str(row.values.get(recording.item, number))


def _single_group(number: int, row: Row, recording: Recording) -> Group:
    """Return the group of a row that is an item by itself, with its nested variants if it has any."""
    nested = [
        VariantRow(row.line, name, {**row.values, **value})
        for name, value in row.values.items()
        if recording.nested and name.startswith(recording.nested) and isinstance(value, Mapping)
    ]
    name = "" if recording.nested else str(row.values.get(recording.variant, ""))
    return _key(str(number), row, recording), _base_first(nested or [VariantRow(row.line, name, row.values)])


def _add_to_group(groups: dict[Key, list[VariantRow]], number: int, row: Row, recording: Recording) -> None:
    """Add a row to the group of its item and model."""
    key = _key(item_of(number, row, recording), row, recording)
    variant = VariantRow(row.line, str(row.values.get(recording.variant, "")), row.values)
    groups.setdefault(key, []).append(variant)


def _with_bases_first(groups: dict[Key, list[VariantRow]]) -> list[Group]:
    return [(key, _base_first(variants)) for key, variants in groups.items()]


def _base_first(variants: list[VariantRow]) -> list[VariantRow]:
    return sorted(variants, key=lambda variant: variant.name != BASE)  # stable: without a "base" the first stays first
