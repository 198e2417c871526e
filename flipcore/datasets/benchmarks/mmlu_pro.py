"""MMLU-Pro: questions of fourteen subjects with up to ten options. Wang et al. 2024, arXiv:2406.01574 (Apache-2.0)."""

from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row


def item(row: Row) -> Item:
    """A row with up to ten options and the place of the right one; the validation split has worked answers too."""
    values = row.values
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
        meta={"source": values.get("src", "")},
    )


LOADER = Dataset(
    "mmlu_pro",
    "MMLU-Pro",
    "Questions of fourteen subjects, philosophy among them, with up to ten options.",
    "choice",
    item=item,
    hub=Hub("TIGER-Lab/MMLU-Pro", None, "test"),
    license="apache-2.0",
)
