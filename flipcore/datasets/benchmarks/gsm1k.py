"""GSM1k: new problems in GSM8K's style, to see who had learned GSM8K by heart. Zhang et al. 2024, arXiv:2405.00332 (MIT).

The answers are bare numbers without a worked chain, so the problems can be renamed and reworded but not resampled.
"""

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row
from flipcore.text.answers import canonical_number


def item(row: Row) -> Item:
    """A row with `question` and `answer`. Raises BadInput where the answer is no number."""
    target = canonical_number(str(row.values["answer"]))
    if target is None:
        raise BadInput(f"has the answer {str(row.values['answer'])[:40]!r}, which is no number")
    return Item.make(
        dataset="gsm1k",
        key=str(row.line - 1),
        kind="number",
        question=row.values["question"],
        target=target,
        published="2024-05-01",
    )


LOADER = Dataset(
    "gsm1k",
    "GSM1k",
    "New problems in GSM8K's style, published in May 2024: a control for GSM8K.",
    "number",
    item=item,
    hub=Hub("ScaleAI/gsm1k", None, "test"),
    license="mit",
)
