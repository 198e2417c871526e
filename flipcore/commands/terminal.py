"""What is printed: names come from files, and a terminal obeys what it can take for a command."""

import re
from typing import Any, TextIO

# all that moves a cursor, colours, sets a title or turns the direction of reading; what remains is a line end and a tab
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PLAINER = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u2014": "-", "\u2026": "...", "\u00a0": " ", "\u00d7": "x", "\u2264": "<=", "\u2265": ">="}
)


class Terminal:
    """A stream that shows control characters as their numbers, except a return with which a text begins (progress writes over its
    line), and what its encoding has no letter for as the nearest words or as its number, too."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        start = text[:1] if text[:1] == "\r" else ""
        letters = start + _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text[len(start) :])
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            letters.encode(encoding)
        except UnicodeEncodeError:
            letters = letters.translate(_PLAINER).encode(encoding, "backslashreplace").decode(encoding)
        self._stream.write(letters)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
