"""GSM8K: grade-school word problems with calculator chains. Cobbe et al. 2021, arXiv:2110.14168 (MIT)."""

from __future__ import annotations

from flipcore.answers import canonical_number
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading import Row
from flipcore.errors import BadInput
from flipcore.records import Item


def item(row: Row) -> Item:
    question, solution = row.values["question"], row.values["answer"]
    target = canonical_number(solution.rpartition("####")[2])
    if "####" not in solution or target is None:
        raise BadInput("has no number after #### in its answer")
    return Item.make(dataset="gsm8k", key=str(row.line - 1), kind="number", question=question, target=target,
                     solution=solution, published="2021-10-27")


LOADER = Dataset("gsm8k", "GSM8K", "Grade-school word problems with their calculator chains; the answer is a number.",
                 "number", item=item, hub=Hub("openai/gsm8k", "main", "test"))
