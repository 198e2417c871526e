"""Canonical answers: an option's index in the item's own order, or an exact number, both as text."""

from __future__ import annotations

import re
from fractions import Fraction

from flipcore.core.records import Item

_NUMBER = re.compile(r"[$€£]?-?[$€£]?\s?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:\s?/\s?\d+)?\s?%?", re.ASCII)


def canonical_number(text: str) -> str | None:
    """An exact number as text: "1,450.00" -> "1450", "$14.50" -> "29/2", "12%" -> "12"; None for anything else.

    A percent sign is dropped: graders compare "12%" with "12", and the question decides the unit.
    """
    cleaned = text.strip().rstrip(".").replace("\u2212", "-").strip()
    if not _NUMBER.fullmatch(cleaned) or not re.search(r"\d", cleaned):
        return None
    try:
        return str(Fraction(re.sub(r"[\s,$€£%]", "", cleaned)))
    except (ValueError, ZeroDivisionError):
        return None


def option_text(item: Item, answer: str | None) -> str | None:
    """The text of the option that a canonical answer names; None where it names none."""
    named = answer is not None and answer.isdecimal() and int(answer) < len(item.options)
    return item.options[int(answer)] if named else None


def answer_text(item: Item, answer: str | None) -> str:
    """The answer for people: an option's text, or the number; an em dash for none."""
    if answer is None:
        return "—"
    option = option_text(item, answer) if item.kind == "choice" else None
    return answer if option is None else option
