"""TruthfulQA, mc1: one true answer among false ones.

Lin et al. 2021, arXiv:2109.07958 (Apache-2.0). The files list the true answer first, so the options
are sorted by a hash of their text. In alphabetical order, the true answer would come first in 32%
of the items, against 22% by chance.
"""

from flipcore.core.errors import BadInput
from flipcore.core.records import Item, digest
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row


def item(row: Row) -> Item:
    """Make an item from a row of the hub (`mc1_targets`) or of the published CSV."""
    values = row.values
    if "mc1_targets" in values:  # the hub's columns
        answers, labels = values["mc1_targets"]["choices"], values["mc1_targets"]["labels"]
        right = [answer for answer, label in zip(answers, labels, strict=True) if label == 1]
        question, category, kind = values["question"], "", ""
    else:  # the authors' TruthfulQA.csv
        right = [values["Best Answer"].strip()]
        wrong = map(str.strip, values["Incorrect Answers"].split(";"))
        answers = right + [answer for answer in wrong if answer]
        question, category, kind = values["Question"], values["Category"], values["Type"]
    if len(right) != 1:
        raise BadInput(f"marks {len(right)} answers as true; mc1 has one")
    options = sorted(answers, key=lambda text: digest(question, text))
    return Item.make(
        dataset="truthfulqa",
        key=digest(question)[:8],
        kind="choice",
        question=question,
        options=tuple(options),
        target=str(options.index(right[0])),
        category=category,
        published="2021-09-08",
        meta={"type": kind},
    )


LOADER = Dataset(
    "truthfulqa",
    "TruthfulQA (mc1)",
    about="Questions that people often answer wrongly: one true answer among false ones.",
    kind="choice",
    item=item,
    hub=Hub("truthfulqa/truthful_qa", "multiple_choice", "validation"),
    license="apache-2.0",
)
