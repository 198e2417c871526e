"""ARC: grade-school science questions, the Challenge part by default.

Clark et al. 2018, arXiv:1803.05457 (CC BY-SA 4.0).
"""

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row


def item(row: Row) -> Item:
    """Make an item from a row of the hub, or of the original files with choices in the question."""
    values = row.values
    if isinstance(values["question"], dict):
        question, choices = values["question"]["stem"], values["question"]["choices"]
        options = [choice["text"] for choice in choices]
        labels = [str(choice["label"]) for choice in choices]
    else:
        question, options = values["question"], list(values["choices"]["text"])
        labels = [str(label) for label in values["choices"]["label"]]
    key = str(values["answerKey"])
    if key not in labels:
        raise BadInput(
            f"has the right answer {key!r}, but its choices are labelled {', '.join(labels)}"
        )
    return Item.make(
        dataset="arc",
        key=str(values.get("id", row.line)),
        kind="choice",
        question=question,
        options=tuple(options),
        target=str(labels.index(key)),
        category="science",
        published="2018-03-14",
    )


LOADER = Dataset(
    "arc",
    "ARC-Challenge",
    about="Grade-school science questions that simple retrieval gets wrong.",
    kind="choice",
    item=item,
    hub=Hub("allenai/ai2_arc", "ARC-Challenge", "test"),
    license="cc-by-sa-4.0",
)
