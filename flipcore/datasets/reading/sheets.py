"""Excel files: the first sheet as rows, by openpyxl (an extra, requirements-excel.txt)."""

import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.core.folders import spoken_name

_RATIO, _FREE_BYTES = (
    200,
    100_000_000,
)  # unpacked bytes per packed byte, and bytes that any sheet may have


def sheet_rows(path: Path, most: int) -> Iterator[tuple[int, list[Any]]]:
    """Return (its number from 1, cells) of each line of the first sheet that holds anything.

    Raises BadInput without openpyxl, for a damaged file, and for one that unpacks to too much.
    """
    with closing(_workbook(path, most)) as book:
        if not book.worksheets:
            raise BadInput(f"{spoken_name(path)} has no sheet with cells.")
        for number, cells in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
            plain = [_plain(cell) for cell in cells]
            while plain and plain[-1] is None:
                plain.pop()
            if plain:
                yield number, plain


def other_sheets(path: Path, most: int) -> tuple[str, ...]:
    """Return the names of the sheets that are not read."""
    with closing(_workbook(path, most)) as book:
        return tuple(sheet.title for sheet in book.worksheets[1:])


def is_workbook(names: tuple[str, ...]) -> bool:
    """Return whether the members of a zip are those of an Excel file."""
    return "[Content_Types].xml" in names and "xl/workbook.xml" in names


def _workbook(path: Path, most: int) -> Any:
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
            raise BadInput(f"{name} would unpack to {size / 1e6:,.0f} MB; save its sheet as CSV.")
        return openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, OSError, KeyError, ValueError, SyntaxError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(
            f"{name} could not be read as an Excel file ({reason}); save it again."
        ) from None


def _plain(cell: Any) -> Any:
    """A cell as JSON would hold it: dates are texts."""
    if cell is None or isinstance(cell, (str, bool, int, float)):
        return cell if cell != "" else None
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
