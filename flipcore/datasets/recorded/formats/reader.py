"""What a reader of one format is, and how readers look at the beginning of a file."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import Source
from flipcore.datasets.recorded.log_records import LogAbout, LogRecord, Rejection


def no_part(_: Source) -> bool:
    """For formats whose logs are never split over files."""
    return False


@dataclass(frozen=True)
class Reader:
    """One format. `recognises` looks at content, never at the name. `records` streams what the file holds, a `Rejection` for
    each row that is none; `about` is what the log says of itself. `belongs` tells a file that holds no outputs but goes with
    one that does (results, run specification); these are handed on as `beside`."""

    name: str
    title: str
    recognises: Callable[[Source], bool]
    records: Callable[[Source, Sequence[Source]], Iterator[LogRecord | Rejection]]
    about: Callable[[Source, Sequence[Source]], LogAbout]
    belongs: Callable[[Source], bool] = no_part


FAULTS = (BadInput, TypeError, ValueError, KeyError, AttributeError, IndexError)  # of a row that is not what its format says


def rejection(place: str, what: str, error: Exception) -> Rejection:
    """Why the row is no `what`."""
    why = str(error) if isinstance(error, BadInput) else f"is no {what} ({type(error).__name__}: {error})"
    return Rejection(f"{place} {why}".rstrip(".") + ".")


def records_at(
    place: str, problem: str, what: str, records: Callable[..., Iterable[LogRecord]], row: Any, *more: Any
) -> Iterator[LogRecord | Rejection]:
    """The `records` of a row, or why it is no `what`; `problem` where it could not even be read."""
    try:
        if problem:
            raise BadInput(problem)
        yield from records(row, place, *more)
    except FAULTS as error:
        yield rejection(place, what, error)


def of_same_time(source: Source, beside: Sequence[Source]) -> Source | None:
    """The one of these with the time that ends this file's name, or the only one."""
    stamp = source.stem.rpartition("_")[2]
    same = [one for one in beside if one.stem.rpartition("_")[2] == stamp] or (beside if len(beside) == 1 else [])
    return next(iter(same), None)


_DECODER = json.JSONDecoder()


def first_object(source: Source) -> Mapping[str, Any]:
    """The first object of the file's beginning: of its first line, of its list, or the document itself; what the beginning
    cuts off is left out. Empty where there is none."""
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
    """The keys of an object that breaks off, with the values that are whole; the last key stands with None."""
    values: dict[str, Any] = {}
    at = 1
    try:
        while True:
            at = _skip(text, at, ", \t\r\n")
            key, at = _DECODER.raw_decode(text, at)
            if not isinstance(key, str):
                return values
            values[key] = None
            at = _skip(text, at, ": \t\r\n")
            values[key], at = _DECODER.raw_decode(text, at)
    except (ValueError, IndexError, RecursionError):
        if values:
            last = next(reversed(values))
            if values[last] is None and text[at : at + 1] in "{[":
                values[last] = {} if text[at : at + 1] == "{" else []
        return values


def _skip(text: str, at: int, blanks: str) -> int:
    while text[at] in blanks:
        at += 1
    return at
