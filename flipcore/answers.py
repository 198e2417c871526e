"""Canonical answers: an option's index in the item's own order, or an exact number, both as text."""

from __future__ import annotations

import re
from fractions import Fraction

from flipcore.records import Item

_NUMBER = re.compile(r"-?\$?\s?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:\s?/\s?\d+)?%?")


def canonical_number(text: str) -> str | None:
    """An exact number as text: "1,450.00" -> "1450", "$14.50" -> "29/2", "3/4" -> "3/4", "12%" -> "12"; None for anything
    else. A percent sign is dropped: graders compare "12%" with "12", and the question decides the unit."""
    cleaned = text.strip().rstrip(".").strip()
    if not cleaned or not _NUMBER.fullmatch(cleaned) or not re.search(r"\d", cleaned):
        return None
    try:
        return str(Fraction(re.sub(r"[\s,$%]", "", cleaned)))
    except (ValueError, ZeroDivisionError):
        return None


def answer_text(item: Item, answer: str | None) -> str:
    """The answer for people: an option's text, or the number; an em dash for none."""
    if answer is None:
        return "—"
    if item.kind == "choice" and answer.isdigit() and int(answer) < len(item.options):
        return item.options[int(answer)]
    return answer
