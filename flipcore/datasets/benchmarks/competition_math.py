"""MATH: competition problems with worked solutions. Hendrycks et al. 2021, arXiv:2103.03874 (MIT).

A problem whose boxed answer is a number is a number item. Other answers (expressions, intervals,
words) are read by the extractor `math`, which compares mathematically.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row, read_rows
from flipcore.text.answers import boxed_spans, canonical_number, text_target

_FRACTION = re.compile(r"^(-?)\\[dt]?frac\{?(-?\d+)\}?\{?(\d+)\}?$")
_NOISE = re.compile(
    r"\\[!,;:\s]|\\(?:left|right)|\\?\$|\\%|\^\{?\\circ\}?|\\text\{[^{}]*\}|\\mbox\{[^{}]*\}|\s"
)


def boxed(solution: str) -> str | None:
    """Return the content of the last \\boxed{…} or \\fbox{…}; None for none."""
    spans = boxed_spans(solution)
    return solution[slice(*spans[-1])] if spans else None


def number(answer: str) -> str | None:
    """Return a boxed answer as an exact number, also with degrees or percent; None for others."""
    bare = _NOISE.sub("", answer).replace(",\\!", ",")
    fraction = _FRACTION.match(bare)
    if fraction:
        sign, numerator, denominator = fraction.groups()
        return canonical_number(f"{sign}{numerator}/{denominator}") if int(denominator) else None
    return canonical_number(bare) if re.fullmatch(r"-?[\d,]*\.?\d+(?:/\d+)?", bare) else None


def item(row: Row) -> Item:
    """Make an item from a row; the right answer is in the last box. Raises BadInput without one."""
    values = row.values
    answer = boxed(values["solution"])
    if answer is None:
        raise BadInput("has no \\boxed answer in its solution")
    target = number(answer)
    key = str(values.get("unique_id") or (f"{row.file}-{row.line}" if row.file else row.line - 1))
    more_fields = {
        "category": str(values.get("type") or values.get("subject") or ""),
        "published": "2021-03-05",
        "solution": values["solution"],
        "meta": {"level": str(values.get("level", "")), "answer": answer},
    }
    kind = "number" if target is not None else "text"
    target = target if target is not None else text_target([answer], as_written=True)
    return Item.make(
        dataset="math", key=key, kind=kind, question=values["problem"], target=target, **more_fields
    )


def read(path: Path) -> Iterator[Row]:
    """Return the rows of a file, or of the original folders with a JSON file per problem."""
    if not path.is_dir():
        return read_rows(path)
    files = sorted(path.rglob("*.json"))
    if not files:
        raise BadInput(
            f"{path.name} holds no .json file; give the folder of MATH's test or train part."
        )
    return _rows_of(files)


def _rows_of(files: Sequence[Path]) -> Iterator[Row]:
    for file in files:
        for row in read_rows(file):
            yield Row(row.line, row.values, row.problem, f"{file.parent.name}/{file.stem}")


LOADER = Dataset(
    "math",
    "MATH",
    about="Competition problems with worked solutions; the extractor `math` reads expressions.",
    kind="any",
    item=item,
    hub=Hub("HuggingFaceH4/MATH-500", None, "test"),
    license="mit",
    read=read,
)
