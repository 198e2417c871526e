"""Read a sheet of an Excel file, with openpyxl (an extra, requirements-excel.txt)."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name

# A sheet may unpack to _FREE_BYTES, plus _RATIO bytes per packed byte.
_RATIO, _FREE_BYTES = 200, 100_000_000
_MAX_LINES = 1_048_576  # the limit of Excel itself
_MAX_CELLS = 50_000_000  # empty cells before the last one of a line count too


def sheet_rows(path: Path, max_bytes: int, sheet: str = "") -> Iterator[tuple[int, list[Any]]]:
    """Yield (number from 1, cells) of each filled line of a sheet; "" is the first sheet.

    Raises BadInput without openpyxl, for a damaged file, for one that unpacks to more than
    `max_bytes`, and for a missing sheet.
    """
    n_cells = n_characters = 0
    with _workbook(path, max_bytes) as book:
        if not book.worksheets:
            raise BadInput(f"{spoken_name(path)} has no sheet with cells.")
        titles = [worksheet.title for worksheet in book.worksheets]
        if sheet and sheet not in titles:
            raise BadInput(
                f"{spoken_name(path)} has no sheet {sheet[:60]!r}; it has {', '.join(titles[:12])}."
            )
        chosen_sheet = book.worksheets[titles.index(sheet or first_sheet(titles))]
        # a file may claim a thousand times as many cells as it has
        chosen_sheet.reset_dimensions()
        for number, cells in enumerate(chosen_sheet.iter_rows(values_only=True), start=1):
            n_cells += len(cells)
            if number > _MAX_LINES or n_cells > _MAX_CELLS:
                raise BadInput(
                    f"{spoken_name(path)} has cells too far apart; save its sheet as CSV."
                )
            values = [_json_cell(cell) for cell in cells]
            while values and values[-1] is None:
                values.pop()
            # the file holds a text once, but any number of cells may have it
            n_characters += sum(len(value) for value in values if isinstance(value, str))
            if n_characters > max_bytes:
                raise BadInput(_too_large(path, n_characters))
            if values:
                yield number, values


def first_sheet(titles: Sequence[str]) -> str:
    """Return the first sheet that is not called like an explanation of the others."""
    tables = [title for title in titles if title.strip().lower() not in _EXPLANATIONS]
    return (tables or list(titles))[0]


_EXPLANATIONS = frozenset(
    "codebook legend legende readme info notes about cover instructions key variables".split()
)


def sheet_names(path: Path, max_bytes: int) -> tuple[str, ...]:
    """Return the names of the sheets that hold cells, in their order."""
    with _workbook(path, max_bytes) as book:
        return tuple(sheet.title for sheet in book.worksheets)


def is_workbook(names: tuple[str, ...]) -> bool:
    """Tell whether the members of a zip are those of an Excel file."""
    return "[Content_Types].xml" in names and "xl/workbook.xml" in names


@contextmanager
def _workbook(path: Path, max_bytes: int) -> Iterator[Any]:
    """Open a workbook. Raises BadInput for any error while it is read."""
    name = spoken_name(path)
    try:
        import openpyxl
    except ImportError:
        raise BadInput(
            f"{name} is an Excel file, which needs openpyxl: pip install -r "
            "requirements-excel.txt. Or save it as CSV."
        ) from None
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(info.file_size for info in packed.infolist())
        if size > max_bytes or size > _FREE_BYTES + _RATIO * path.stat().st_size:
            raise BadInput(_too_large(path, size))
        # opened here, because openpyxl does not close a file that it cannot read
        with (
            path.open("rb") as stream,
            closing(openpyxl.load_workbook(stream, read_only=True, data_only=True)) as book,
        ):
            yield book
    except BadInput:
        raise
    # a damaged cell may raise any error
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = reason.replace(str(path), name)[:200]
        raise BadInput(
            f"{name} could not be read as an Excel file ({reason}); save it again."
        ) from None


def _too_large(path: Path, size: int) -> str:
    return f"{spoken_name(path)} would unpack to {size / 1e6:,.0f} MB; save its sheet as CSV."


def _json_cell(cell: Any) -> Any:
    """Return a cell as JSON could hold it, a date as text."""
    if cell is None or isinstance(cell, (str, bool, int, float)):
        return cell if cell != "" else None
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
