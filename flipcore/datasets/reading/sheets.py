"""Excel files: one sheet as rows, by openpyxl (an extra, requirements-excel.txt)."""

import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name

# Unpacked bytes per packed byte, and bytes that any sheet may have.
_RATIO, _FREE_BYTES = 200, 100_000_000
_LAST_LINE = 1_048_576  # of Excel itself
_MOST_CELLS = 50_000_000  # with the empty ones before a line's last


def sheet_rows(path: Path, most: int, sheet: str = "") -> Iterator[tuple[int, list[Any]]]:
    """Return (its number from 1, cells) of each line that holds anything of a sheet: the first one
    without a name.

    Raises BadInput without openpyxl, for a damaged file, for one that unpacks to too much, and for
    a sheet that is not there.
    """
    n_cells = n_characters = 0
    with _workbook(path, most) as book:
        if not book.worksheets:
            raise BadInput(f"{spoken_name(path)} has no sheet with cells.")
        titles = [worksheet.title for worksheet in book.worksheets]
        if sheet and sheet not in titles:
            raise BadInput(
                f"{spoken_name(path)} has no sheet {sheet[:60]!r}; it has {', '.join(titles[:12])}."
            )
        cells_of_sheet = book.worksheets[titles.index(sheet) if sheet else 0]
        # A file may say that it has a thousand times as many cells as it holds.
        cells_of_sheet.reset_dimensions()
        for number, cells in enumerate(cells_of_sheet.iter_rows(values_only=True), start=1):
            n_cells += len(cells)
            if number > _LAST_LINE or n_cells > _MOST_CELLS:
                raise BadInput(
                    f"{spoken_name(path)} has cells too far apart; save its sheet as CSV."
                )
            plain = [_plain(cell) for cell in cells]
            while plain and plain[-1] is None:
                plain.pop()
            # A text stands once in the file, in however many cells.
            n_characters += sum(len(cell) for cell in plain if isinstance(cell, str))
            if n_characters > most:
                raise BadInput(_too_large(path, n_characters))
            if plain:
                yield number, plain


def sheet_names(path: Path, most: int) -> tuple[str, ...]:
    """Return the names of the sheets that hold cells, in their order."""
    with _workbook(path, most) as book:
        return tuple(sheet.title for sheet in book.worksheets)


def is_workbook(names: tuple[str, ...]) -> bool:
    """Return whether the members of a zip are those of an Excel file."""
    return "[Content_Types].xml" in names and "xl/workbook.xml" in names


@contextmanager
def _workbook(path: Path, most: int) -> Iterator[Any]:
    """Open a workbook; what goes wrong while it is read is a sentence, too."""
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
        if size > most or size > _FREE_BYTES + _RATIO * path.stat().st_size:
            raise BadInput(_too_large(path, size))
        # openpyxl does not close a file of its own that it cannot read.
        with (
            path.open("rb") as stream,
            closing(openpyxl.load_workbook(stream, read_only=True, data_only=True)) as book,
        ):
            yield book
    except BadInput:
        raise
    # Cells are parsed one by one, and a damaged one may raise anything.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        reason = reason.replace(str(path), name)[:200]
        raise BadInput(
            f"{name} could not be read as an Excel file ({reason}); save it again."
        ) from None


def _too_large(path: Path, size: int) -> str:
    return f"{spoken_name(path)} would unpack to {size / 1e6:,.0f} MB; save its sheet as CSV."


def _plain(cell: Any) -> Any:
    """A cell as JSON would hold it: dates are texts."""
    if cell is None or isinstance(cell, (str, bool, int, float)):
        return cell if cell != "" else None
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
