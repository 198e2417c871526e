"""What may be sent in a meeting: every message is bounded and of a known shape before anybody else is handed it."""

import json
import re
import sys
from typing import Any

from flipcore.core.errors import FlipscopeError
from flipcore.core.links import shared_query

MOST_CHARACTERS = 6_000  # of one message
MOST_NAME, MOST_TEXT, MOST_VALUES, MOST_QUERY, MOST_BOARD = 40, 120, 24, 3_000, 400
NO_PAGE = "A message names no page of Flipscope. Reload the page."
PAGE = re.compile(r"[a-z_]{0,40}")


class Refusal(FlipscopeError):
    """A message that a room does not take. `code` closes the socket (RFC 6455, 7.4); None leaves it open."""

    def __init__(self, sentence: str, code: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code


def message_of(text: str) -> dict[str, Any]:
    """A message: a JSON object that says what it wants under `do`. Raises Refusal."""
    if len(text) > MOST_CHARACTERS:
        raise Refusal(f"A message of {len(text):,} characters came; a meeting takes at most {MOST_CHARACTERS:,}.", 1009)
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal("A message came that is no JSON. Reload the page.", 1007) from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        raise Refusal("A message came that does not say what to do. Reload the page.", 1007)
    return message


def name_of(text: object) -> str:
    """A person's name as others read it: one line of printable characters."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text) if isinstance(text, str) else ""
    return " ".join(printable.split())[:MOST_NAME].strip()


def place_of(message: dict[str, Any]) -> dict[str, str]:
    """Where the presenter is: {page, query}, without what belongs to one person's link. Raises Refusal."""
    page, query = message.get("page"), message.get("query")
    # a browser escapes what is not ASCII
    if not isinstance(query, str) or len(query) > MOST_QUERY or not query.isascii():
        raise Refusal(NO_PAGE)
    if not isinstance(page, str) or not PAGE.fullmatch(page):
        raise Refusal(NO_PAGE)
    return {"page": page, "query": shared_query(query)}


def position_of(message: dict[str, Any]) -> dict[str, Any]:
    """Where a board's handles are: {board, at: {handle: number or choice}, moving: bool}. Raises Refusal."""
    board, at = message.get("board"), message.get("at")
    if not isinstance(board, str) or not 0 < len(board) <= MOST_BOARD or not isinstance(at, dict) or len(at) > MOST_VALUES:
        raise Refusal("A message holds no position of a board. Reload the page.")
    for name, value in at.items():
        if len(name) > MOST_TEXT or not _is_value(value):
            raise Refusal("A position holds something that is neither a finite number nor a short text. Reload the page.")
    return {"board": board, "at": at, "moving": message.get("moving") is True}


def _is_value(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
