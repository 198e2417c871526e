"""MMLU, four-option questions of 57 subjects, and MMLU-Pro, of 14 subjects with up to ten options.

Hendrycks et al. 2020, arXiv:2009.03300 (MIT). Wang et al. 2024, arXiv:2406.01574 (Apache-2.0).
A local copy of MMLU is a CSV file without header (question, A-D, letter), named after its subject,
or a folder of them.
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
    """Yield rows of local files with the hub's columns; the subject is in the file's name."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise BadInput(
            f"There is no CSV file in {path.name!r}; give an MMLU subject file or a folder of them."
        )
    for file in files:
        subject = re.sub(r"_(?:dev|val|test)$", "", file.stem)
        for row in read_rows(file, HEADER):
            choices = [row.values.get(letter) for letter in "ABCD"]
            yield replace(
                row, values=row.values | {"subject": subject, "choices": choices}, file=file.name
            )


def mmlu_item(row: Row) -> Item:
    """Make an item from a row of MMLU, whose answer is a letter or a place from 0."""
    values = row.values
    target = values["answer"]
    if isinstance(target, str) and len(target.strip()) == 1:
        target = "ABCD".find(target.strip())
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


def pro_item(row: Row) -> Item:
    """Make an item from a row of MMLU-Pro; rows of the validation split have worked answers."""
    values = row.values
    source = values.get("src") or ""
    return Item.make(
        dataset="mmlu_pro",
        key=str(values["question_id"]),
        kind="choice",
        question=values["question"],
        options=tuple(values["options"]),
        target=str(values["answer_index"]),
        category=values["category"],
        solution=(values.get("cot_content") or "").removeprefix("A: Let's think step by step. "),
        published="2024-06-03",
        # "ori_mmlu-law" or "theoremQA-Math": the collection, then a subject.
        meta={"source": source, "origin": source.partition("-")[0]},
    )


MMLU = Dataset(
    "mmlu",
    "MMLU",
    about="Four-option questions of 57 subjects, from school to professional level.",
    kind="choice",
    item=mmlu_item,
    hub=Hub("cais/mmlu", "all", "test"),
    license="mit",
    read=read,
)
MMLU_PRO = Dataset(
    "mmlu_pro",
    "MMLU-Pro",
    about="Questions of fourteen subjects, philosophy among them, with up to ten options.",
    kind="choice",
    item=pro_item,
    hub=Hub("TIGER-Lab/MMLU-Pro", None, "test"),
    license="apache-2.0",
)
LOADERS = (MMLU_PRO, MMLU)
