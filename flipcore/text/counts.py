"""Numbers of things in sentences."""

from collections.abc import Sequence


def count_of(n: int, singular: str, plural: str = "") -> str:
    """Count with its noun: "1 item", "2,000 items"; `plural` where an s is not enough ("1 row was
    refused", "3 rows were refused")."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def in_a_row(words: Sequence[str]) -> str:
    """ "losses, rewriting and continuations"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
