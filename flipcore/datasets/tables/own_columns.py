"""What a column that is called after a model holds of it, and how such columns are called once a row stands alone."""

import re

SIGNS = " _.:/-"  # between the name of a model and what a column holds of it
OF_MODEL, OF_SAMPLE = "model", "sample"  # of a row once it stands alone
_OUTPUT = re.compile(r"response|output|completion|generation", re.IGNORECASE)


def own_key(column: str, model: str) -> str:
    """What a column that is called after the column of a model holds of it: "correct" for "gpt-4o correct" or "correct_gpt-4o"."""
    if column.lower().startswith(model.lower()):
        rest = column[len(model) :]
        return rest.lstrip(SIGNS) if rest[:1] in SIGNS else ""
    rest = column[: -len(model)] if column.lower().endswith(model.lower()) else ""
    return rest.rstrip(SIGNS) if rest[-1:] in SIGNS else ""


def bare_column(model: str) -> str:
    """How the column of a model itself is called: an output where its name says so, else a bare answer."""
    return "response" if _OUTPUT.search(model) else "prediction"


def bare_path(name: str) -> str:
    """A score's path, without the name that an object of one score repeats: correct.correct is correct."""
    *outer, last = name.split(".")
    return ".".join(outer) if outer and outer[-1] == last else name
