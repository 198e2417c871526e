"""A batch of outputs: when it is full, and what is kept of it once."""

import pytest

from flipcore.core.records import Completion, Item, Prompt, Reading, Variant
from flipcore.datasets.recorded.log_rows import AskedItem
from flipcore.runs.import_batch import Batch
from flipcore.store.recorded import BATCH_CHARS


@pytest.mark.parametrize(("n_chars", "is_full"), [(0, False), (BATCH_CHARS, False), (BATCH_CHARS + 1, True)])
def test_a_batch_is_full_once_its_texts_take_more_than_they_may(n_chars, is_full):
    batch = Batch("study", ())
    batch.n_chars = n_chars
    assert batch.is_full is is_full


ITEM = Item.make(dataset="d", key="1", kind="choice", question="Which?", options=("oak", "tin"), target="0")


def asked(prompt="Which?", axis="own", position=0, **fields):
    variant = Variant(
        ITEM.item_id, axis, "base", Prompt((("recorded", prompt),), "Be short."), "0", (1, 0), ("A", "B"), **fields
    )
    return AskedItem(ITEM, variant, position, "control", 0, "")


def cells(batch, table, *names):
    return batch.columns()[table].select(list(names)).to_pylist()


def test_an_item_is_stored_once_and_its_prompt_once_per_axis():
    batch = Batch("s", ())
    for number, row in enumerate(
        [asked(), asked(position=1), asked(axis="style", position=2), asked("Which one?", position=3)]
    ):
        batch.add_item(row, 5 + number)
    assert cells(batch, "study_items", "study_id", "item_id", "role", "position", "confirmatory") == [
        {"study_id": "s", "item_id": ITEM.item_id, "role": "control", "position": 5, "confirmatory": False}
    ]
    assert cells(batch, "items", "question", "options", "target") == [
        {"question": "Which?", "options": ["oak", "tin"], "target": "0"}
    ]
    places = cells(batch, "study_variants", "axis", "position", "compared_with", "params")
    assert [tuple(row.values()) for row in places] == [
        ("own", 0, "base", "{}"),
        ("style", 2, "base", "{}"),
        ("own", 3, "base", "{}"),
    ]
    variants = cells(batch, "variants", "system", "parts", "option_order", "labels")
    assert [row["parts"] for row in variants] == ['[["recorded", "Which?"]]', '[["recorded", "Which one?"]]']
    assert variants[0] | {"parts": ""} == {"system": "Be short.", "parts": "", "option_order": [1, 0], "labels": ["A", "B"]}


def test_a_call_is_stored_with_all_that_its_completion_holds():
    batch = Batch("s", ())
    completion = Completion("c", "ok", text="four", reasoning="two twos", top_logprobs={"A": -0.5}, tokens=(("four", -0.1),))
    for _ in range(2):
        batch.add_call("m", "r", "{...}", sample=3, completion=completion, parent_id="p")
    assert batch.n_calls == 2 and batch.n_chars == 2 * (len("{...}") + len("four") + len("two twos"))
    names = (
        "call_id",
        "model",
        "revision",
        "request",
        "sample",
        "parent_id",
        "text",
        "reasoning",
        "tokens",
        "top_logprobs",
        "spread",
    )
    (row,) = cells(batch, "completions", *names)
    stored = ["c", "m", "r", "{...}", 3, "p", "four", "two twos", '[["four", -0.1]]', '{"A": -0.5}', None]
    assert list(row.values()) == stored
    assert batch.columns()["study_calls"].to_pylist() == [{"study_id": "s", "call_id": "c"}]
    assert cells(batch, "completions", "simulated") == [{"simulated": False}]


def test_a_readout_names_its_span_and_its_calls_unless_it_is_left_out():
    batch = Batch("s", ["dropped"])
    place = ("m", "i", "own", "v", 2)
    batch.add_readout(place, "regex", Reading("ok", "1", span=(3, 7)), is_correct=False, call_ids=["c", "d"])
    batch.add_readout(place, "acc", Reading("ok", value=0.5), is_correct=None, call_ids=["c"])
    batch.add_readout(place, "dropped", Reading("ok", "1"), is_correct=True, call_ids=["c"])
    assert batch.n_sources == 3
    readouts = cells(
        batch, "readouts", "study_id", "sample", "extractor", "answer", "value", "is_correct", "span_start", "span_end"
    )
    assert [tuple(row.values()) for row in readouts] == [
        ("s", 2, "regex", "1", None, False, 3, 7),
        ("s", 2, "acc", None, 0.5, None, None, None),
    ]
    sources = cells(batch, "readout_sources", "extractor", "position", "call_id")
    assert [tuple(row.values()) for row in sources] == [("regex", 0, "c"), ("regex", 1, "d"), ("acc", 0, "c")]


def test_a_batch_without_rows_has_no_columns():
    assert Batch("s", ()).columns() == {}
