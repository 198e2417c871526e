"""MMLU: four-option questions of 57 subjects. Hendrycks et al. 2020, arXiv:2009.03300 (MIT).

A local copy is one CSV file without header (question, A-D, letter) named after its subject, or a folder of them.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row, read_rows

HEADER = ("question", "A", "B", "C", "D", "answer")


def read(path: Path) -> Iterator[Row]:
    """Rows in the hub's columns, with the subject from the file's name; `line` counts within its file."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise BadInput(f"There is no CSV file in {path.name!r}; give an MMLU subject file or a folder of them.")
    for file in files:
        subject = re.sub(r"_(?:dev|val|test)$", "", file.stem)
        for row in read_rows(file, HEADER):
            choices = [row.values.get(letter) for letter in "ABCD"]
            yield replace(row, values=row.values | {"subject": subject, "choices": choices}, file=file.name)


def item(row: Row) -> Item:
    """A row with four choices; the answer is a letter or a place from 0."""
    values = row.values
    answer = values["answer"]
    target = "ABCD".find(answer.strip()) if isinstance(answer, str) and len(answer.strip()) == 1 else answer
    return Item.make(
        dataset="mmlu",
        key=f"{values['subject']}-{row.line - 1}",
        kind="choice",
        question=values["question"],
        options=tuple(values["choices"]),
        target=str(target),
        category=values["subject"],
        published="2020-09-07",
    )


LOADER = Dataset(
    "mmlu",
    "MMLU",
    "Four-option questions of 57 subjects, from school to professional level.",
    "choice",
    item=item,
    hub=Hub("cais/mmlu", "all", "test"),
    license="mit",
    read=read,
)
