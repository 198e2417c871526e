"""HumanEval: Python functions as texts to be continued, and as functions to be written and tested.

Chen et al. 2021, arXiv:2107.03374 (MIT).
"""

from flipcore.core.records import CODE, Item
from flipcore.datasets.dataset import Dataset, Hub
from flipcore.datasets.reading.rows import Row


def item(row: Row) -> Item:
    """Make a text from a row: prompt and canonical solution."""
    values = row.values
    return Item.make(
        dataset="humaneval",
        key=str(values["task_id"]).rpartition("/")[2],
        kind="completion",
        question=values["prompt"] + values["canonical_solution"].rstrip(),
        published="2021-07-07",
        category="code",
        meta={"entry_point": values.get("entry_point", "")},
    )


def function(row: Row) -> Item:
    """Make a function to be written from a row; its tests are in `meta`, which no prompt shows."""
    values = row.values
    return Item.make(
        dataset="humaneval_code",
        key=str(values["task_id"]).rpartition("/")[2],
        kind=CODE,
        question=values["prompt"],
        target="passed",
        published="2021-07-07",
        category="code",
        solution=values["prompt"] + values["canonical_solution"].rstrip(),
        meta={
            "entry_point": values["entry_point"],
            "tests": values["test"],
            "before": values["prompt"],
        },
    )


_HUB = Hub("openai/openai_humaneval", None, "test")
TEXTS = Dataset(
    "humaneval",
    "HumanEval",
    about="Python functions with docstring and body, as texts to be continued.",
    kind="completion",
    item=item,
    hub=_HUB,
    license="mit",
)
FUNCTIONS = Dataset(
    "humaneval_code",
    "HumanEval, functions to be written",
    about="Python functions from their docstring, which unit tests call.",
    kind=CODE,
    item=function,
    hub=_HUB,
    license="mit",
)
LOADERS = (TEXTS, FUNCTIONS)
