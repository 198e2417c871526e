"""Numbers of things in sentences, lists of words, and first letters."""

from collections.abc import Sequence


def count_of(n: int, singular: str, plural: str = "") -> str:
    """Count with its noun: "1 item", "2,000 items"; `plural` where an s is not enough ("1 row was
    refused", "3 rows were refused")."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def in_a_row(words: Sequence[str]) -> str:
    """ "losses, rewriting and continuations"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def with_capital(text: str) -> str:
    """The text with a capital first, as at the beginning of a sentence; "" stays empty."""
    # `str.capitalize` would write the rest small, names among it.
    return f"{text[:1].upper()}{text[1:]}"
