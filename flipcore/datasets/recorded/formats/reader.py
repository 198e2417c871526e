"""The reader of one format, and how readers look at the beginning of a file."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.log_records import LogAbout, LogRecord, Rejection
from flipcore.datasets.recorded.plain_tables import PlainTable


def no_part(_: Source) -> bool:
    """Say no, for formats whose logs are never split over files."""
    return False


@dataclass(frozen=True)
class Reader:
    """One format.

    `recognises` looks at content, never at the name. `records` streams what the file holds, a
    `Rejection` for each row that is none; `about` is what the log says of itself. `belongs` tells a
    file that holds no outputs but goes with one that does (results, run specification); these are
    handed on as `companions`. `plain` reads a table whose rows may be plain.
    """

    name: str
    title: str
    recognises: Callable[[Source], bool]
    records: Callable[[Source, Sequence[Source]], Iterator[LogRecord | Rejection]]
    about: Callable[[Source, Sequence[Source]], LogAbout]
    belongs: Callable[[Source], bool] = no_part
    plain: Callable[[Source], PlainTable] | None = None


# What reading a row raises that is not what its format says.
FAULTS = (BadInput, TypeError, ValueError, KeyError, AttributeError, IndexError)


def rejection(place: str, row_kind: str, error: Exception) -> Rejection:
    """Say why the row is none of the kind that was expected."""
    reason = (
        str(error)
        if isinstance(error, BadInput)
        else f"is no {row_kind} ({type(error).__name__}: {error})"
    )
    return Rejection(f"{place} {reason}".rstrip(".") + ".")


def records_at(
    place: str,
    problem: str,
    row_kind: str,
    records: Callable[..., Iterable[LogRecord]],
    row: Any,
    *more: Any,
) -> Iterator[LogRecord | Rejection]:
    """Yield the `records` of a row, or why it is none of its kind.

    `problem` says why it could not even be read.
    """
    try:
        if problem:
            raise BadInput(problem)
        yield from records(row, place, *more)
    except FAULTS as error:
        yield rejection(place, row_kind, error)


def of_same_time(source: Source, companions: Sequence[Source]) -> Source | None:
    """Find the companion with the time that ends this file's name, or the only one."""
    stamp = source.stem.rpartition("_")[2]
    same = [file for file in companions if file.stem.rpartition("_")[2] == stamp] or (
        companions if len(companions) == 1 else []
    )
    return next(iter(same), None)


_DECODER = json.JSONDecoder()


def first_object(source: Source) -> Mapping[str, Any]:
    """Return the first object of the file: of its first line, of its list, or the document itself.

    What the beginning cuts off is left out. Empty where there is none.
    """
    # All formats ask the same of one file before the next file comes. Threads may take turns here,
    # so the pair is read and written whole.
    latest = _latest.get("pair")
    if latest is None or latest[0] is not source:
        latest = _latest["pair"] = (source, _first_object(source))
    return latest[1]


_latest: dict[str, tuple[Source, Mapping[str, Any]]] = {}


def _first_object(source: Source) -> Mapping[str, Any]:
    text = source.head.decode("utf-8-sig", "ignore").lstrip()
    text = text[1:].lstrip() if text[:1] == "[" else text
    if text[:1] != "{":
        return {}
    try:
        value = _DECODER.raw_decode(text)[0]
        return value if isinstance(value, dict) else {}
    except RecursionError:
        return {}
    except ValueError:
        return _partial(text)


def _partial(text: str) -> Mapping[str, Any]:
    """Return the keys of an object that breaks off, with the values that are whole.

    The last key stands with None.
    """
    values: dict[str, Any] = {}
    position = 1
    try:
        while True:
            position = _skip(text, position, ", \t\r\n")
            key, position = _DECODER.raw_decode(text, position)
            if not isinstance(key, str):
                return values
            values[key] = None
            position = _skip(text, position, ": \t\r\n")
            values[key], position = _DECODER.raw_decode(text, position)
    except (ValueError, IndexError, RecursionError):
        if values:
            last = next(reversed(values))
            if values[last] is None and text[position : position + 1] in "{[":
                values[last] = {} if text[position : position + 1] == "{" else []
        return values


def _skip(text: str, position: int, blanks: str) -> int:
    while text[position] in blanks:
        position += 1
    return position
