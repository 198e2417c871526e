"""How long a verdict may be: counted over every claim that any test makes, and over the headings of every page."""

import re

MAX_WORDS = 25


def n_words(text: str) -> int:
    """Words have letters; numbers and intervals are none."""
    return sum(bool(re.search(r"[^\W\d_]", word)) for word in re.sub(r"\[[^\]]*\]", "", text).split())


def too_long(text: str) -> bool:
    return n_words(text) > MAX_WORDS


def check_made(claim) -> None:
    """Refuses a claim whose sentence, or any sentence of why it is withheld, is too long."""
    parts = [claim.sentence] if claim.assertion else re.split(r"(?<=[.:]) ", claim.sentence)
    parts += re.split(r"(?<=[.;]) ", claim.withheld)
    for text in parts:
        assert not too_long(text), f"{n_words(text)} words, at most {MAX_WORDS}: {text}"
