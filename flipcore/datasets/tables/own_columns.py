"""Columns of one model, run, rater or item each, and their names in a table with a row per column.

A share of two columns, such as tests_passed/tests_total, is named here too.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from functools import cache

from flipcore.datasets.tables.stems import names

SIGNS = " _.:/-"  # separators between a model's name and the rest of a column's name
# columns that are added where a row becomes several rows
OF_MODEL, OF_SAMPLE, OF_RATER, OF_ITEM = "model", "sample", "rater", "item"
MIN_ITEMS = 5  # columns of items; fewer may be aspects
# words for people who rate the same output, so that their rows are no reruns
RATERS = frozenset(
    "annotator evaluator worker rater reviewer turker coder labeler labeller evaluador evaluadora "
    "evaluateur gutachter bewerter correcteur".split()
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


def parts_of_share(name: str, columns: Container[str]) -> tuple[str, str] | None:
    """Return the two columns of a share, tests_passed and tests_total of tests_passed/tests_total;
    None for another name."""
    part, _, total = name.partition("/")
    is_share = part in columns and total in columns and part and total
    return (part, total) if is_share else None


def shares_in(columns: Iterable[str]) -> list[str]:
    """Return the shares that columns hold by their names: what passed, and how many there were."""
    by_subject: dict[tuple[str, str], str] = {}
    for name in columns:
        words = re.findall(r"[a-z]+", name.lower())
        kinds = [word for word in words if word in _PARTS] or [w for w in words if w in _WHOLES]
        subject = "_".join(word for word in words if word not in _PARTS | _WHOLES)
        if len(kinds) == 1 and subject:
            by_subject[subject, "part" if kinds[0] in _PARTS else "total"] = name
    shares = []
    for (subject, kind), part in by_subject.items():
        total = by_subject.get((subject, "total"), "")
        if kind == "part" and total:
            shares.append(f"{part}/{total}")
    return shares


_PARTS = frozenset("passed correct solved passing".split())
_WHOLES = frozenset("total n num count all of".split())


def bare_column(model: str) -> str:
    """Return the new name of a column that is called like the model: "response" or "prediction"."""
    return "response" if _OUTPUT.search(model) else "prediction"


def bare_path(name: str) -> str:
    """Return a score's path without a last key that repeats its object: correct.correct."""
    *outer, last = name.split(".")
    return ".".join(outer) if outer and outer[-1] == last else name


@cache
def row_labels(columns: tuple[str, ...]) -> dict[str, dict[str, str | int]]:
    """Return what the added columns say of a row per column: {"run_1": {"sample": 1}}.

    Columns of numbered runs get OF_SAMPLE, those of raters OF_RATER, those of items (Q1, Q2, …)
    OF_ITEM, those of runs of several models (gpt4_run1) OF_MODEL too, and any other OF_MODEL alone.
    """
    parts = {name: numbered_parts(name) for name in columns}
    kinds = {part[1] if part else "" for part in parts.values()}
    owners = Counter(part[0] for part in parts.values() if part)
    are_alike = len(kinds) == 1 and "" not in kinds and (len(owners) == 1 or "" not in owners)
    if (
        not are_alike
        or min(owners.values()) < 2
        or (kinds == {OF_ITEM} and len(columns) < MIN_ITEMS)
    ):
        return {name: {OF_MODEL: name} for name in columns}
    labels: dict[str, dict[str, str | int]] = {}
    for name, part in parts.items():
        owner, kind, number = part or ("", "", 0)
        labels[name] = {OF_MODEL: owner} if len(owners) > 1 else {}
        labels[name][kind] = name if kind == OF_ITEM else number
    return labels


def label_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are added where a row becomes a row per column."""
    labels = row_labels(tuple(columns))
    return tuple(next(iter(labels.values()), {}))


@cache
def numbered_parts(name: str) -> tuple[str, str, int] | None:
    """Return the owner, the kind and the number of a column such as gpt4_run1 ("gpt4", "sample",
    1) or rater_2 ("", "rater", 2); None for a column of another kind."""
    if matched := _OF_ITEM.fullmatch(name):
        return "", OF_ITEM, int(matched[1])
    matched = _NUMBERED.fullmatch(name)
    if not matched:
        return None
    owner, word, number = matched["owner"] or "", matched["word"].lower(), int(matched["number"])
    if word in RATERS:
        kind = OF_RATER
    else:
        kind = OF_SAMPLE if names(word, "run") else ""
    return (owner, kind, number) if kind else None


_OF_ITEM = re.compile(
    r"(?i)(?:q|item|question|frage|t|task|test|tc|problem|case)[ _.-]?(?:\d{1,3}[_.-])?(\d{1,3})"
)
_NUMBERED = re.compile(r"(?:(?P<owner>.+)[ _.-])?(?P<word>[A-Za-z]+)[ _.-]?(?P<number>\d{1,3})")
