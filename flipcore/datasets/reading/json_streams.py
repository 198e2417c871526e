"""Read JSON piece by piece, so that memory does not grow with the file."""

import codecs
import json
from collections.abc import Iterator
from typing import IO, Any

from flipcore.core.errors import BadInput
from flipcore.datasets.reading.log_files import MAX_LINE, Source

_CHUNK = 1 << 20
# The most values in one line or element. A nested list takes some sixty bytes of memory, although
# it may have only two characters.
MAX_VALUES = 3_000_000
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


def json_lines(source: Source) -> Iterator[tuple[int, Any, str]]:
    """Yield (number from 1, value, "") per line that is not blank, or (number, None, problem)."""
    for number, line in _lines(source):
        if line is None:
            yield number, None, f"has more than {MAX_LINE // 1_000_000} MB"
            continue
        if n_values(line) > MAX_VALUES:
            yield number, None, f"holds more than {MAX_VALUES:,} values"
            continue
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            yield number, None, "holds bytes that are not UTF-8"
        except RecursionError:
            yield number, None, "is nested too deeply"
        except ValueError as error:
            yield number, None, f"is not valid JSON ({error}); the file may be half-written"
        else:
            yield number, value, ""


def n_values(text: str | bytes) -> int:
    """Estimate the number of values in a JSON text from its punctuation, without parsing it."""
    if isinstance(text, bytes):
        return text.count(b",") + text.count(b"[") + text.count(b"{")
    return text.count(",") + text.count("[") + text.count("{")


def _lines(source: Source) -> Iterator[tuple[int, bytes | None]]:
    """Yield (number from 1, line). A line above MAX_LINE is None and is not kept in memory."""
    number, line_start, is_too_long = 1, b"", False
    with source.open() as stream:
        while chunk := stream.read(_CHUNK):
            *line_ends, next_start = chunk.split(b"\n")
            for line_end in line_ends:
                yield number, None if is_too_long else line_start + line_end
                number, line_start, is_too_long = number + 1, b"", False
            is_too_long = is_too_long or len(line_start) + len(next_start) > MAX_LINE
            line_start = b"" if is_too_long else line_start + next_start
    if line_start or is_too_long:
        yield number, None if is_too_long else line_start


class _Text:
    """The text of a document. It is read in chunks, which drop the text before `position`."""

    def __init__(
        self, source: Source, stream: IO[bytes], max_characters: int, max_values: int
    ) -> None:
        self.source, self.stream = source, stream
        self.max_characters, self.max_values = max_characters, max_values
        self.decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.text, self.position, self.has_ended = "", 0, False

    def read_chunk(self) -> bool:
        """Read a chunk; False at the end. Raises BadInput for wrong bytes or too large values."""
        if self.has_ended:
            return False
        if len(self.text) - self.position > self.max_characters:
            raise BadInput(
                f"{self.source.name} holds one value of more than "
                f"{self.max_characters // 1_000_000} MB; it is not read."
            )
        # A short text cannot have too many values, so it is not counted.
        is_long = len(self.text) - self.position >= _CHUNK // 2
        if is_long and n_values(self.text[self.position :]) > self.max_values:
            raise BadInput(
                f"{self.source.name} holds one value of more than {self.max_values:,} values; it "
                "is not read."
            )
        # A long value is parsed again from its start after each read, so each one doubles the text.
        data = _decode_next(self, max(_CHUNK, len(self.text) - self.position))
        self.text, self.position = self.text[self.position :] + data, 0
        return not self.has_ended or bool(data)

    def peek(self) -> str:
        """Skip blanks and return the next character without reading it; "" at the end."""
        while True:
            while self.position < len(self.text) and self.text[self.position] in _BLANK:
                self.position += 1
            if self.position < len(self.text):
                return self.text[self.position]
            if not self.read_chunk():
                return ""

    def value(self) -> Any:
        """Read the next JSON value. Raises BadInput if the document breaks off."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.position)
            except RecursionError:
                raise BadInput(f"{self.source.name} is nested too deeply to be a log.") from None
            except ValueError as error:
                if self.read_chunk():
                    continue
                raise BadInput(_half_written(self.source, str(error))) from None
            length = end - self.position  # `read_chunk` moves the position
            if end == len(self.text) and self.read_chunk():
                continue  # a number may continue in the next chunk
            self.position += length
            return value

    def expect(self, characters: str) -> str:
        """Read one of these characters. Raises BadInput for another one."""
        character = self.peek()
        if character == "" or character not in characters:
            reason = f"{character!r} stands where one of {' '.join(characters)} was expected"
            raise BadInput(_half_written(self.source, reason))
        self.position += 1
        return character


def _decode_next(text: _Text, n: int) -> str:
    data = text.stream.read(n)
    if not data:
        text.has_ended = True
    try:
        return text.decoder.decode(data, final=not data)
    except UnicodeDecodeError:
        raise BadInput(
            f"{text.source.name} holds bytes that are not UTF-8; save it as UTF-8."
        ) from None


def _half_written(source: Source, reason: str) -> str:
    return (
        f"{source.name} is not valid JSON ({reason}). It may be half-written; fetch or save "
        "it again."
    )


class ListKey(str):
    """The key of a list whose elements are yielded one by one."""


def json_document(
    source: Source,
    lists: tuple[str, ...] = (),
    max_characters: int = MAX_LINE,
    max_values: int = MAX_VALUES,
    *,
    to_the_end: bool = False,
) -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of a document's top level.

    The lists named in `lists` are yielded as one (ListKey, element) at a time, and so is a document
    that is a list itself, with the key "". Raises BadInput if the document breaks off, for a value
    of more than `max_characters` or `max_values`, and with `to_the_end` for text after its end.
    """
    with source.open() as stream:
        text = _Text(source, stream, max_characters, max_values)
        yield from _top_level(text, lists)
        if to_the_end and text.peek():
            raise BadInput(_half_written(source, "more text follows its end"))


def _top_level(text: _Text, lists: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    first = text.expect("{[")
    if first == "[":
        for element in _elements(text):
            yield ListKey(""), element
        return
    if text.peek() == "}":
        text.position += 1
        return
    while True:
        key = text.value()
        text.expect(":")
        if key in lists and text.peek() == "[":
            text.position += 1
            for element in _elements(text):
                yield ListKey(key), element
        else:
            yield str(key), text.value()
        if text.expect(",}") == "}":
            return


def _elements(text: _Text) -> Iterator[Any]:
    if text.peek() == "]":
        text.position += 1
        return
    while True:
        yield text.value()
        if text.expect(",]") == "]":
            return


def read_document(source: Source) -> Any:
    """Return a whole small document. Raises BadInput if it is large or broken."""
    if source.size > MAX_LINE:
        raise BadInput(
            f"{source.name} has {source.size / 1e6:,.0f} MB, more than such a file can have."
        )
    with source.open() as stream:
        data = stream.read(MAX_LINE)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise BadInput(f"{source.name} is nested too deeply to be a log.") from None
    except ValueError as error:
        raise BadInput(_half_written(source, str(error))) from None
