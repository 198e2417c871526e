"""GSM8K: grade-school word problems with calculator chains. Cobbe et al. 2021, arXiv:2110.14168 (MIT)."""

from dataclasses import replace

from flipcore.core.errors import BadInput
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row
from flipcore.text.answers import canonical_number

# Test items, as row@hash, whose published solution leaves out, adds or misreads something, so that a reader of the text alone
# reaches another answer. Found by solving, once, every one of the 1,058 problems that numeric_resample could then rewrite.
DISPUTED = frozenset(
    "gsm8k/" + key
    for key in """
    119@2f94f6bf 236@373ab96f 255@e945df9e 306@dab58969 368@a9f3d805 403@36cccd32 454@0b6893e6 749@46d45c47
    768@b1353b98 823@a65d86a7 835@3af21780 952@81675956 984@6d8ac459 1048@fd35db5a 1161@e0bdb044 1309@353245a3""".split()
)


def item(row: Row) -> Item:
    """A row with `question` and `answer`; the target stands after ####. Raises BadInput without it."""
    question, solution = row.values["question"], row.values["answer"]
    target = canonical_number(solution.rpartition("####")[2])
    if "####" not in solution or target is None:
        raise BadInput("has no number after #### in its answer")
    entry = Item.make(
        dataset="gsm8k",
        key=str(row.line - 1),
        kind="number",
        question=question,
        target=target,
        solution=solution,
        published="2021-10-27",
    )
    return replace(entry, meta={"gold": "disputed"}) if entry.item_id in DISPUTED else entry


LOADER = Dataset(
    "gsm8k",
    "GSM8K",
    "Grade-school word problems with their calculator chains; the answer is a number.",
    "number",
    item=item,
    hub=Hub("openai/gsm8k", "main", "test"),
    license="mit",
)
