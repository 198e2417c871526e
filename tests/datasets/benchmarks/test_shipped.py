"""The sets in the repository load whole."""

import json

import pytest

from flipcore.core.study import ItemSource
from flipcore.datasets import load_report
from flipcore.datasets.benchmarks.shipped import DATA, LOADERS
from flipcore.datasets.reading.rows import Row


@pytest.mark.parametrize("loader", LOADERS, ids=lambda loader: loader.name)
def test_a_shipped_set_loads_whole_and_says_nothing(loader):
    if not loader.local.is_file():
        pytest.skip(f"{loader.local.name} has not been built yet")
    report = load_report(ItemSource(loader.name))
    assert (report.refusals, report.notes) == ((), ())
    assert {item.kind for item in report.items} == {loader.kind}
    assert len(report.items) >= 20


def test_shipped_choices_and_problems_are_many_enough():
    assert len(load_report(ItemSource("flipscope_choice")).items) >= 60
    assert len(load_report(ItemSource("flipscope_problems")).items) >= 60


def test_what_is_no_field_of_an_item_is_kept_in_its_meta():
    item = load_report(ItemSource("flipscope_passages")).items[0]
    assert item.meta["source"] == "flipscope" and item.meta["summary"]


def test_a_pocket_problem_keeps_its_chain_and_its_dose():
    values = {
        "key": "000",
        "question": "8 and 4?",
        "options": [],
        "target": "12",
        "dose": 64,
        "answer": " all: <<8+4=12>>12.\n#### 12",
    }
    item = next(loader for loader in LOADERS if loader.name == "pocket_problems").item(Row(1, values))
    assert (item.kind, item.solution, item.meta["dose"]) == ("number", "all: <<8+4=12>>12.\n#### 12", 64)


def test_every_shipped_paraphrase_belongs_to_a_shipped_item():
    keys = {item.item_id.split("@")[0] for loader in LOADERS[:3] for item in load_report(ItemSource(loader.name)).items}
    lines = (DATA / "paraphrases" / "shipped.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert {f"{row['dataset']}/{row['item_key']}" for row in rows} <= keys
