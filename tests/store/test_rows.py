"""Records become rows of their tables, and rows of this and older releases become records."""

import json
from dataclasses import asdict, replace

import pytest

from flipcore.core.records import Call, Completion, Item, Prompt, Reading, Readout, Request, Variant
from flipcore.store import rows

CALL = Call("m", "r", Request("generate", "p"))
FULL = Completion(
    CALL.call_id,
    "ok",
    text="B",
    finish_reason="stop",
    tokens=(("B", -0.5), (".", -1.0)),
    top_logprobs={"A": -2.0, "B": -0.5},
    n_tokens_in=3,
    n_tokens_out=4,
    cost_usd=0.25,
    latency_s=1.5,
    n_attempts=2,
    error="once",
    raw_reply="{}",
    reasoning="A, or B?",
    n_lost=5,
    n_tokens_reasoning=6,
    spread=((-1.5, 0.25),),
    other_model="m-2",
)
EMPTY = Completion(CALL.call_id, "failed")
ADDED_LATER = ("reasoning", "n_lost", "n_tokens_reasoning", "spread", "other_model")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(({}, "{}"), ([], "[]"), ((), "[]"), ({"a": [1]}, '{"a": [1]}'), ([0], "[0]"), (("é",), '["é"]')),
        *((0, "0"), (0.0, "0.0"), (False, "false"), ("", '""'), (None, "null"), (2, "2"), (True, "true")),
    ],
)
def test_values_are_json_whether_they_are_empty_or_not(value, text):
    assert rows.json_text(value) == text


@pytest.mark.parametrize("completion", [FULL, EMPTY, replace(FULL, top_logprobs={}, tokens=(), spread=())])
def test_every_field_of_a_completion_comes_back(completion):
    row = rows.completion_row(CALL, completion, simulated=False)
    assert asdict(rows.completion_of(row)) == asdict(completion)


def test_rows_of_older_releases_lack_columns_or_hold_null_there():
    row = rows.completion_row(CALL, FULL, simulated=False)
    older = {name: value for name, value in row.items() if name not in ADDED_LATER}
    expected = replace(FULL, reasoning="", n_lost=0, n_tokens_reasoning=None, spread=None, other_model="")
    for stored in (older, older | dict.fromkeys(ADDED_LATER)):
        assert asdict(rows.completion_of(stored)) == asdict(expected)


@pytest.mark.parametrize("is_simulated", [True, False])
def test_a_row_of_completions_has_its_call_and_json_as_text(is_simulated):
    row = rows.completion_row(CALL, FULL, simulated=is_simulated)
    assert (row["model"], row["revision"], row["sample"], row["simulated"]) == ("m", "r", 0, is_simulated)
    assert json.loads(row["request"]) == CALL.request.declared() | {"stop": []}
    assert (row["tokens"], row["top_logprobs"]) == ('[["B", -0.5], [".", -1.0]]', '{"A": -2.0, "B": -0.5}')
    assert rows.completion_row(CALL, EMPTY, simulated=is_simulated)["top_logprobs"] is None


def test_items_come_back_whether_their_day_is_known_or_not():
    item = Item.make(dataset="d", key="1", kind="choice", question="Which?", options=("oak", "tin"), target="0", meta={"a": 1})
    dated = replace(item, published="2024-02-29")
    assert rows.item_row(item)["published"] is None and rows.item_row(dated)["published"].isoformat() == "2024-02-29"
    for made in (item, dated):
        stored = rows.item_row(made)
        assert stored["meta"] == '{"a": 1}'
        assert rows.item_of(stored | {"published": made.published}) == made


def test_readouts_have_a_span_or_none_and_their_sources_in_order():
    cell = ("m", "i", "identity", "v", 0)
    readouts = [
        Readout(*cell, "regex", Reading("ok", "B", span=(3, 4)), True, ("c2", "c1")),
        Readout(*cell, "judge", Reading("absent"), None),
    ]
    stored, sources = rows.readout_rows("s", readouts)
    assert [(row["extractor"], row["span_start"], row["span_end"], row["is_correct"]) for row in stored] == [
        ("regex", 3, 4, True),
        ("judge", None, None, None),
    ]
    key = {"study_id": "s", "model": "m", "item_id": "i", "axis": "identity", "variant_id": "v", "sample": 0}
    assert sources == [
        key | {"extractor": "regex", "position": 0, "call_id": "c2"},
        key | {"extractor": "regex", "position": 1, "call_id": "c1"},
    ]


def test_variants_of_a_study_stand_in_their_order_with_their_parameters():
    prompt = Prompt((("stem", "Which?"),), "Be short.")
    base = Variant("i", "option_order", "base", prompt, "0", (0, 1), ("A", "B"))
    rotated = replace(base, key="rotate-1", order=(1, 0), params={"repeat": 2})
    stored = rows.study_variant_rows("s", [base, rotated])
    assert [(row["study_id"], row["key"], row["position"], json.loads(row["params"])) for row in stored] == [
        ("s", "base", 0, {}),
        ("s", "rotate-1", 1, {"repeat": 2}),
    ]
    row = rows.variant_row(rotated)
    assert row["variant_id"] == rotated.variant_id == stored[1]["variant_id"]
    assert (row["system"], row["option_order"], row["labels"]) == ("Be short.", [1, 0], ["A", "B"])
    assert json.loads(row["parts"]) == [["stem", "Which?"]]
