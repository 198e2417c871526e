"""Columns that are named after a model, and their names in a table with a row per model."""

import re
from collections.abc import Sequence

from flipcore.datasets.tables.stems import names

SIGNS = " _.:/-"  # separators between a model's name and the rest of a column's name
# columns that are added where a row becomes several rows
OF_MODEL, OF_SAMPLE, OF_RATER = "model", "sample", "rater"
# words for people who rate the same output, so that their rows are no reruns
RATERS = frozenset(
    "annotator evaluator worker rater reviewer turker coder labeler labeller".split()
)
_OUTPUT = re.compile(r"response|output|completion|generation", re.IGNORECASE)


def own_key(column: str, model: str) -> str:
    """Return a column's name without the model's: "correct" for "gpt-4o correct".

    The model's name may stand first or last, in brackets, or as a key of an object: "scores.bleu"
    for "scores.gpt-4o.bleu". "" for a column that is not named after the model.
    """
    if column.lower().endswith(f"({model.lower()})"):
        return column[: -len(model) - 2].rstrip(SIGNS)
    before, key, after = column.partition(f".{model}.")
    if key:
        return f"{before}.{after}"
    if column.lower().startswith(model.lower()):
        remainder = column[len(model) :]
        return remainder.lstrip(SIGNS) if remainder[:1] in SIGNS else ""
    remainder = column[: -len(model)] if column.lower().endswith(model.lower()) else ""
    return remainder.rstrip(SIGNS) if remainder[-1:] in SIGNS else ""


def is_shared(column: str, key: str, model: str, columns: Sequence[str]) -> bool:
    """Tell whether a column that ends like a model's name belongs to all: problem_en beside
    problem, where a column `en` holds the model's cells."""
    return key in columns and model in columns and column not in (key, model)


def bare_column(model: str) -> str:
    """Return the new name of a column that is called like the model: "response" or "prediction"."""
    return "response" if _OUTPUT.search(model) else "prediction"


def bare_path(name: str) -> str:
    """Return a score's path without a last key that repeats its object: correct.correct."""
    *outer, last = name.split(".")
    return ".".join(outer) if outer and outer[-1] == last else name


def label_cell(column: str) -> str:
    """Return what the added column says of a row: the number of its run or rater, or the model's
    name."""
    match = _NUMBERED.fullmatch(column) if label_of([column]) != OF_MODEL else None
    return match[2] if match else column


def label_of(columns: Sequence[str]) -> str:
    """Return the column that is added where a row becomes a row per column: OF_SAMPLE for columns
    of numbered runs, such as run_1 and run_2, OF_RATER for rater_1 and rater_2, else OF_MODEL."""
    matches = [_NUMBERED.fullmatch(name) for name in columns]
    beginnings = {match[1].lower() if match else "" for match in matches}
    if len(beginnings) != 1 or "" in beginnings:
        return OF_MODEL
    (beginning,) = beginnings
    if beginning in RATERS:
        return OF_RATER
    return OF_SAMPLE if names(beginning, "run") else OF_MODEL


_NUMBERED = re.compile(r"([A-Za-z]+)[ _.-]?(\d{1,3})")
