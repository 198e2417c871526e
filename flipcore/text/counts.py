"""Numbers of things in sentences."""


def count_of(n: int, one: str, several: str = "") -> str:
    """ "1 item", "2,000 items"; `several` where an s is not enough: "1 row was refused", "3 rows were refused"."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"
