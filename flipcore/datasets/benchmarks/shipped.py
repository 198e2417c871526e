"""The shipped sets: our own items, and questions of the kinds that the pocket model learned.

A line holds the fields of an item; other keys go into its meta. The chain of a pocket problem is in
`answer`.
"""

from functools import partial

from flipcore.core.paths import DATA
from flipcore.core.records import Item
from flipcore.datasets.dataset import Dataset
from flipcore.datasets.reading.rows import Row

_FIELDS = tuple("key kind question options target category published solution source_id".split())


def item(row: Row, dataset: str, kind: str) -> Item:
    """Make an item from a row of a shipped file; other columns go into the item's meta."""
    values = {"kind": kind} | {field: row.values[field] for field in _FIELDS if field in row.values}
    values["options"] = tuple(values.get("options") or ())
    if kind == "number":
        values.setdefault("solution", str(row.values.get("answer", "")).strip())
    extra = {name: value for name, value in row.values.items() if name not in (*_FIELDS, "meta")}
    return Item.make(dataset=dataset, meta=extra | dict(row.values.get("meta") or {}), **values)


def _shipped(name: str, kind: str, about: str, file: str) -> Dataset:
    title = f"{name.partition('_')[0].capitalize()}: {_TITLES[kind]}"
    make, drawn_alone = partial(item, dataset=name, kind=kind), file.startswith("pocket/")
    return Dataset(
        name,
        title,
        about=about,
        kind=kind,
        item=make,
        local=DATA / f"{file}.jsonl",
        license="mit",
        drawn_alone=drawn_alone,
    )


_TITLES = {"choice": "choices", "number": "word problems", "completion": "passages"}
LOADERS = (
    _shipped(
        "flipscope_choice",
        "choice",
        "Our own multiple-choice questions with 4 to 10 options.",
        "items/choice",
    ),
    _shipped(
        "flipscope_problems",
        "number",
        "Our own grade-school problems with calculator chains.",
        "items/problems",
    ),
    _shipped(
        "flipscope_passages",
        "completion",
        "Our own prose, to be continued or summarised.",
        "items/passages",
    ),
    _shipped(
        "pocket_choice",
        "choice",
        "Questions of the kind that the pocket model was trained on.",
        "pocket/items/choices",
    ),
    _shipped(
        "pocket_problems",
        "number",
        "Problems that the pocket model read up to 256 times, or never.",
        "pocket/items/problems",
    ),
    _shipped(
        "pocket_prose",
        "completion",
        "Prose that the pocket model read up to 256 times, or never.",
        "pocket/items/prose",
    ),
)
