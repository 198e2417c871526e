"""Columns that are called after a model, and their names once a row stands alone."""

import re

SIGNS = " _.:/-"  # between the name of a model and what a column holds of it
OF_MODEL, OF_SAMPLE = "model", "sample"  # of a row once it stands alone
_OUTPUT = re.compile(r"response|output|completion|generation", re.IGNORECASE)


def own_key(column: str, model: str) -> str:
    """Return what a column holds of the model it is called after.

    "correct" for "gpt-4o correct" or "correct_gpt-4o", and "" for any other column.
    """
    if column.lower().startswith(model.lower()):
        remainder = column[len(model) :]
        return remainder.lstrip(SIGNS) if remainder[:1] in SIGNS else ""
    remainder = column[: -len(model)] if column.lower().endswith(model.lower()) else ""
    return remainder.rstrip(SIGNS) if remainder[-1:] in SIGNS else ""


def bare_column(model: str) -> str:
    """Return the name of a model's own column: an output where it says so, else a bare answer."""
    return "response" if _OUTPUT.search(model) else "prediction"


def bare_path(name: str) -> str:
    """A score's path, without the name that an object of one score repeats: correct.correct is
    correct.
    """
    *outer, last = name.split(".")
    return ".".join(outer) if outer and outer[-1] == last else name
