"""Grade-school word problems whose answer is a number: GSM8K with its calculator chains (Cobbe et
al. 2021, arXiv:2110.14168, MIT), and GSM1k, new problems in its style, to see who had learned GSM8K
by heart (Zhang et al. 2024, arXiv:2405.00332, MIT).

GSM1k's answers are bare numbers without a worked chain, so its problems can be renamed and reworded
but not resampled.
"""

from dataclasses import replace

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row
from flipcore.text.answers import canonical_number

# Test items, as row@hash, whose published solution leaves out, adds or misreads something, so that
# a reader of the text alone
# reaches another answer. Found by solving, once, every one of the 1,058 problems that
# numeric_resample could then rewrite.
DISPUTED = frozenset(
    "gsm8k/" + key
    for key in """
    119@2f94f6bf 236@373ab96f 255@e945df9e 306@dab58969 368@a9f3d805 403@36cccd32 454@0b6893e6
    749@46d45c47 768@b1353b98 823@a65d86a7 835@3af21780 952@81675956 984@6d8ac459 1048@fd35db5a
    1161@e0bdb044 1309@353245a3""".split()
)


def gsm8k_item(row: Row) -> Item:
    """A row with `question` and `answer`; the target stands after ####, or BadInput is raised."""
    solution = row.values["answer"]
    target = canonical_number(solution.rpartition("####")[2])
    if "####" not in solution or target is None:
        raise BadInput("has no number after #### in its answer")
    entry = _item("gsm8k", row, target, "2021-10-27", solution)
    return replace(entry, meta={"gold": "disputed"}) if entry.item_id in DISPUTED else entry


def gsm1k_item(row: Row) -> Item:
    """A row with `question` and `answer`. Raises BadInput where the answer is no number."""
    target = canonical_number(str(row.values["answer"]))
    if target is None:
        raise BadInput(f"has the answer {str(row.values['answer'])[:40]!r}, which is no number")
    return _item("gsm1k", row, target, "2024-05-01")


def _item(dataset: str, row: Row, target: str, published: str, solution: str = "") -> Item:
    key, question = str(row.line - 1), row.values["question"]
    return Item.make(
        dataset=dataset,
        key=key,
        kind="number",
        question=question,
        target=target,
        solution=solution,
        published=published,
    )


GSM8K = Dataset(
    "gsm8k",
    "GSM8K",
    "Grade-school word problems with their calculator chains; the answer is a number.",
    "number",
    item=gsm8k_item,
    hub=Hub("openai/gsm8k", "main", "test"),
    license="mit",
)
GSM1K = Dataset(
    "gsm1k",
    "GSM1k",
    "New problems in GSM8K's style, published in May 2024: a control for GSM8K.",
    "number",
    item=gsm1k_item,
    hub=Hub("ScaleAI/gsm1k", None, "test"),
    license="mit",
)
LOADERS = (GSM8K, GSM1K)
