"""GSM8K and GSM1k: grade-school word problems whose answer is a number.

GSM8K has calculator chains (Cobbe et al. 2021, arXiv:2110.14168, MIT). GSM1k has new problems in
its style, to find out which models memorized GSM8K (Zhang et al. 2024, arXiv:2405.00332, MIT). Its
answers have no chain, so its problems can be renamed and paraphrased but not resampled.
"""

from dataclasses import replace

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row
from flipcore.text.answers import canonical_number

# Test items, as row@hash, whose published solution omits, adds or misreads something, so that the
# text alone gives another answer. They were found by solving all 1,058 problems that
# numeric_resample could then rewrite.
DISPUTED = frozenset(
    "gsm8k/" + key
    for key in """
    119@2f94f6bf 236@373ab96f 255@e945df9e 306@dab58969 368@a9f3d805 403@36cccd32 454@0b6893e6
    749@46d45c47 768@b1353b98 823@a65d86a7 835@3af21780 952@81675956 984@6d8ac459 1048@fd35db5a
    1161@e0bdb044 1309@353245a3""".split()
)


def gsm8k_item(row: Row) -> Item:
    """Make an item from a row of GSM8K. Raises BadInput without a number after ####."""
    solution = row.values["answer"]
    target = canonical_number(solution.rpartition("####")[2])
    if "####" not in solution or target is None:
        raise BadInput("has no number after #### in its answer")
    item = _item("gsm8k", row, target, "2021-10-27", solution)
    return replace(item, meta={"gold": "disputed"}) if item.item_id in DISPUTED else item


def gsm1k_item(row: Row) -> Item:
    """Make an item from a row of GSM1k. Raises BadInput if the answer is no number."""
    target = canonical_number(str(row.values["answer"]))
    if target is None:
        raise BadInput(f"has the answer {str(row.values['answer'])[:40]!r}, which is no number")
    return _item("gsm1k", row, target, "2024-05-01")


def _item(dataset: str, row: Row, target: str, published: str, solution: str = "") -> Item:
    return Item.make(
        dataset=dataset,
        key=str(row.line - 1),
        kind="number",
        question=row.values["question"],
        target=target,
        solution=solution,
        published=published,
    )


GSM8K = Dataset(
    "gsm8k",
    "GSM8K",
    about="Grade-school word problems with their calculator chains; the answer is a number.",
    kind="number",
    item=gsm8k_item,
    hub=Hub("openai/gsm8k", "main", "test"),
    license="mit",
)
GSM1K = Dataset(
    "gsm1k",
    "GSM1k",
    about="New problems in GSM8K's style, published in May 2024: a control for GSM8K.",
    kind="number",
    item=gsm1k_item,
    hub=Hub("ScaleAI/gsm1k", None, "test"),
    license="mit",
)
LOADERS = (GSM8K, GSM1K)
