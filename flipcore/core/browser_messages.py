"""Checks of messages from a browser.

Anybody with a browser's console can send any JSON, and NaN. So a page checks that a message has the
shape that our scripts send before it uses the message.
"""

import math
from collections.abc import Mapping
from typing import Any

MAX_LETTERS = 4_000  # of a text
MAX_SENTENCES = 1_000
MAX_RANGES = 10_000
_RANGE = ("from", "to", "lowest", "highest")


def is_number(value: Any) -> bool:
    """Tell whether this is a finite number and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def is_text(value: Any) -> bool:
    """Tell whether this is a text of at most MAX_LETTERS characters."""
    return isinstance(value, str) and len(value) <= MAX_LETTERS


def are_values(message: Any) -> bool:
    """Tell whether this is a dictionary of texts, finite numbers, booleans and None."""
    return isinstance(message, Mapping) and all(
        is_text(key)
        and (value is None or isinstance(value, bool) or is_text(value) or is_number(value))
        for key, value in message.items()
    )


def is_move(message: Any) -> bool:
    """Tell whether this is a released slider: its `control`, its settings, and all or none of the
    four numbers of a range."""
    if not are_values(message) or not is_text(message.get("control")):
        return False
    return "lowest" not in message or all(is_number(message.get(name)) for name in _RANGE)


def is_decision(message: Any) -> bool:
    """Tell whether this is a decision: `sentences` to choose from, and settings."""
    if not isinstance(message, Mapping):
        return False
    sentences = message.get("sentences")
    return (
        isinstance(sentences, list)
        and 0 < len(sentences) <= MAX_SENTENCES
        and all(is_text(sentence) and sentence.strip() for sentence in sentences)
        and are_values({key: value for key, value in message.items() if key != "sentences"})
    )


def is_opened(message: Any) -> bool:
    """Tell whether this names a number to show details of: a text, or a dictionary of values."""
    return is_text(message) or are_values(message)


def is_cell(message: Any) -> bool:
    """Tell whether this is a cell of the map: `version`, `column`, `position` and `panel`."""
    return (
        are_values(message)
        and is_text(message.get("version"))
        and is_text(message.get("column"))
        and is_number(message.get("position"))
        and is_number(message.get("panel"))
    )


def is_brush(message: Any) -> bool:
    """Tell whether this is a brush over the map: `version`, and `ranges` of two numbers each."""
    if not isinstance(message, Mapping) or not is_text(message.get("version")):
        return False
    ranges = message.get("ranges")
    return (
        isinstance(ranges, list)
        and len(ranges) <= MAX_RANGES
        and all(
            isinstance(ends, list) and len(ends) == 2 and all(map(is_number, ends))
            for ends in ranges
        )
    )


def is_column(message: Any) -> bool:
    """Tell whether this is a column of the map: its `axis`."""
    return are_values(message) and is_text(message.get("axis"))
