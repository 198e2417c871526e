"""A dataset: sums as riddles, with four options each."""

from pathlib import Path

from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.rows import Row


def rows(path):
    """A row a riddle; a package may as well read a file of its own."""
    for number in range(1, 41):
        options = [str(number + 7 + step) for step in range(4)]
        yield Row(number, {"question": f"Riddle {number}: what is {number} plus 7?", "options": options})


def item(row):
    return Item.make(
        dataset="riddles",
        key=f"{row.line}",
        kind="choice",
        question=row.values["question"],
        options=tuple(row.values["options"]),
        target="0",
    )


DATASET = Dataset("riddles", "Riddles", "Forty sums as riddles.", "choice", item, read=rows, local=Path(__file__))
