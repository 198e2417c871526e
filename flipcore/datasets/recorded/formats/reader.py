"""The reader of one format, and the first object of a file, by which readers recognise it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.log_records import LogAbout, LogRecord, Rejection
from flipcore.datasets.recorded.plain_tables import PlainTable


def no_part(_: Source) -> bool:
    """Return False, for formats whose logs are never split over files."""
    return False


@dataclass(frozen=True)
class Reader:
    """The functions that read one format.

    `recognises` decides by the content of a file, never by its name. `records` yields records, or a
    `Rejection` for a row that cannot be one. `about` returns the facts beside the records.
    `belongs` recognises files without outputs that belong to a log, such as results; the other
    functions get them as `companions`. `plain` reads a table whose rows may be plain.
    """

    name: str
    title: str
    recognises: Callable[[Source], bool]
    records: Callable[[Source, Sequence[Source]], Iterator[LogRecord | Rejection]]
    about: Callable[[Source, Sequence[Source]], LogAbout]
    belongs: Callable[[Source], bool] = no_part
    plain: Callable[[Source], PlainTable] | None = None


# errors that reading a row raises if it does not follow its format
FAULTS = (BadInput, TypeError, ValueError, KeyError, AttributeError, IndexError)


def rejection(place: str, row_kind: str, error: Exception) -> Rejection:
    """Return the rejection of a row, with the error as its reason."""
    reason = str(error)
    if not isinstance(error, BadInput):
        reason = f"is no {row_kind} ({type(error).__name__}: {error})"
    return Rejection(f"{place} {reason}".rstrip(".") + ".")


def records_at(
    place: str,
    problem: str,
    row_kind: str,
    records: Callable[..., Iterable[LogRecord]],
    row: Any,
    *more: Any,
) -> Iterator[LogRecord | Rejection]:
    """Yield the `records` of a row, or its rejection; `problem` is "" for a readable row."""
    try:
        if problem:
            raise BadInput(problem)
        yield from records(row, place, *more)
    except FAULTS as error:
        yield rejection(place, row_kind, error)


def of_same_time(source: Source, companions: Sequence[Source]) -> Source | None:
    """Return the companion whose name ends with the same time, or the only one, or None."""
    stamp = source.stem.rpartition("_")[2]
    same = [file for file in companions if file.stem.rpartition("_")[2] == stamp]
    if not same and len(companions) == 1:
        return companions[0]
    return same[0] if same else None


_DECODER = json.JSONDecoder()


def first_object(source: Source) -> Mapping[str, Any]:
    """Return the first object in a file's head: a line, an entry of a list or a document; or {}.

    If the head ends within the object, only its first keys are returned.
    """
    # All formats ask for the object of one file before that of the next one. Threads may alternate,
    # so source and object are read and written as one pair.
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
        return _parse_partial(text)


def _parse_partial(text: str) -> Mapping[str, Any]:
    """Return the keys and values of an object that breaks off.

    A last value that breaks off becomes {} or [] by its first character, or else None.
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
        last = next(reversed(values), None)
        first_character = text[position : position + 1]
        if last is not None and values[last] is None and first_character in ("{", "["):
            values[last] = {} if first_character == "{" else []
        return values


def _skip(text: str, position: int, characters: str) -> int:
    while text[position] in characters:
        position += 1
    return position
