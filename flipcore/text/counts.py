"""Counts, lists of words, capital letters and beginnings of texts on screen."""

from collections.abc import Sequence


def count_of(n: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun: "1 item", "2,000 items". `plural` is for nouns that do not just
    take an s ("1 row was refused", "3 rows were refused")."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def all_of(n: int, plural: str) -> str:
    """Return "both" or "all" with the noun: "both ways", "all 15 ways"."""
    return f"both {plural}" if n == 2 else f"all {n:,} {plural}"


def in_a_row(words: Sequence[str]) -> str:
    """Return the words as a list in a sentence: "losses, rewriting and continuations"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def with_capital(text: str) -> str:
    """Return the text with a capital first letter; "" stays empty."""
    # `str.capitalize` would also change the other letters to lower case, even in names.
    return f"{text[:1].upper()}{text[1:]}"


def without_capital(text: str) -> str:
    """Return the text with a small first letter; the other letters stay, because of names."""
    return f"{text[:1].lower()}{text[1:]}"


def beginning(text: str, most_letters: int) -> str:
    """Return the text, cut to `most_letters` with an ellipsis if it is longer."""
    return text if len(text) <= most_letters else f"{text[:most_letters]}…"
