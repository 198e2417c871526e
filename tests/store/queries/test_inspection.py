"""What the inspector is handed: log-probabilities of every place that a first-token reading looked at."""

import json
import math

import pytest

from flipcore.core.records import BASE, Call, Completion, Item, Prompt, Request, Variant
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.runs import runner
from flipcore.store import rows
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from flipcore.store.queries.inspection import SampleView, _stored_axis, inspection, source_of

pytestmark = pytest.mark.usefixtures("allowed_folders")

DIGITS = Study(
    "digits",
    (ItemSource("pocket_choice", n=1, seed=1),),
    (Part("label_set", {"sets": ["digits"]}),),
    (Part("first_token"), Part("regex")),
    (ModelUse("pocket"),),
)


@pytest.mark.slow
def test_a_reading_through_a_blank_shows_both_distributions_that_came_back(tmp_path):
    store = Store.open(tmp_path / "flips.duckdb")
    assert runner.run(DIGITS, store).state == "done"
    (item,) = studies.study_items(store, DIGITS.study_id)["item_id"]
    view = inspection(store, DIGITS.study_id, "pocket", item, "label_set")
    by_extractor = {(variant.key, one.extractor): one for variant in view.variants for one in variant.readings}
    through = by_extractor["digits", "first_token"]
    store.close()
    assert "p(label | blank)" in through.reason
    returned = through.log_probabilities
    assert list(returned) == ["first token", "first token after ' '"]
    blank, behind = returned.values()
    assert blank[0]["token"].strip() == "" and [one["logprob"] for one in behind] == sorted(
        (one["logprob"] for one in behind), reverse=True
    )
    digits = {one["token"].strip(): math.exp(one["logprob"]) for one in behind if one["token"].strip().isdigit()}
    p_blank = math.exp(blank[0]["logprob"])
    option, share = max(through.probabilities, key=lambda pair: pair[1])
    assert share == pytest.approx(p_blank * digits[str(int(option) + 1)], abs=0.02) and option == through.answer
    assert not by_extractor["digits", "regex"].log_probabilities


def test_an_own_prompt_is_looked_up_under_identity_first(store):
    key = {"study_id": "s", "item_id": "i", "compared_with": "base", "params": "{}", "position": 0}
    rows = [
        key | {"axis": "entity_rename", "variant_id": "base", "key": "base"},
        key | {"axis": "identity", "variant_id": "own", "key": "base"},
        key | {"axis": "versions", "variant_id": "table", "key": "base", "item_id": "other"},
    ]
    store.writer.add("study_variants", rows).result()
    assert _stored_axis(store, "s", "i", "identity") == "identity"
    assert _stored_axis(store, "s", "other", "identity") == "versions"  # an imported table's own prompt
    assert _stored_axis(store, "s", "other", "entity_rename") == "entity_rename"
    assert _stored_axis(store, "s", "unknown", "identity") == "identity"


KEY = {"study_id": "s", "model": "m", "item_id": "i", "axis": "identity"}
KEY_OF_VARIANT = {"study_id": "s", "item_id": "i", "axis": "identity", "compared_with": BASE, "params": "{}"}
ITEM = Item("i", "d", "choice", "Which?", options=("left", "right"), target="1", category="c", solution="It is so.")
SHOWN = Variant("i", "identity", BASE, Prompt((("stem", "Which?"),), "Be brief."), "1", order=(1, 0), labels=("A", "B"))
CALLS = [Call("m", "r", Request("generate", "Which?", continuation=" " * number), number) for number in range(2)]
VARIANT = rows.variant_row(SHOWN)["variant_id"]


@pytest.fixture
def filled(store):
    """A store with two readouts of a prompt: one of two calls, and one without a reply or a span."""
    readout = KEY | {"variant_id": VARIANT, "status": "ok", "reason": "", "probabilities": "[]"}
    source = KEY | {"variant_id": VARIANT, "sample": 0, "extractor": "regex"}
    completions = [
        Completion(CALLS[0].call_id, "ok", text="first", top_logprobs=(("B", -0.5), ("A", -0.1))),
        Completion(CALLS[1].call_id, "ok", text="It is B.", top_logprobs=(("B", 0.0),), tokens=(("It", -1.0),), n_tokens_out=3),
    ]
    stored = [
        ("items", [rows.item_row(ITEM)]),
        ("study_items", [{"study_id": "s", "item_id": "i", "role": "target", "position": 0, "confirmatory": False}]),
        ("variants", [rows.variant_row(SHOWN)]),
        (
            "study_variants",
            [
                KEY_OF_VARIANT | {"variant_id": VARIANT, "key": BASE, "position": 0},
                KEY_OF_VARIANT | {"variant_id": "not here", "key": "short", "position": 1},
            ],
        ),
        (
            "readouts",
            [
                readout
                | {"sample": 0, "extractor": "regex", "answer": "0", "is_correct": False, "span_start": 0, "span_end": 5}
                | {"probabilities": json.dumps([["0", 0.75]])},
                readout | {"sample": 1, "extractor": "regex", "answer": None, "is_correct": None, "reason": "No reply."},
            ],
        ),
        ("readout_sources", [source | {"position": n, "call_id": call.call_id} for n, call in enumerate(CALLS)]),
        ("completions", [rows.completion_row(*pair, simulated=False) for pair in zip(CALLS, completions, strict=True)]),
    ]
    for table, table_rows in stored:
        store.writer.add(table, table_rows)
    store.writer.flush()
    return store


def test_an_item_is_shown_with_its_prompts_and_what_was_read_from_which_reply(filled):
    view = inspection(filled, **KEY)
    assert view.item == ITEM
    (variant,) = view.variants  # a prompt that is not stored here is not shown
    assert (variant.variant_id, variant.key, variant.compared_with) == (VARIANT, BASE, BASE)
    assert (variant.order, variant.labels, variant.target, variant.system) == ((1, 0), ("A", "B"), "1", "Be brief.")
    first, second = variant.readings
    assert (first.text, first.span, first.answer, first.is_correct) == ("It is B.", (0, 5), "0", False)
    assert first.probabilities == (("0", 0.75),) and first.tokens == (("It", -1.0),) and first.n_tokens_out == 3
    assert first.alternatives == (("", (("B", -0.5), ("A", -0.1))), (" ", (("B", 0.0),)))
    assert first.request["prompt"] == "Which?"
    assert list(first.log_probabilities) == ["first token", "first token after ' '", "scored text"]
    assert [row["token"] for row in first.log_probabilities["first token"]] == ["A", "B"]
    assert (second.sample, second.span, second.reason, second.request, second.alternatives) == (1, None, "No reply.", {}, ())
    texts = (second.text, second.error, second.raw_reply, second.reasoning, second.finish_reason)
    assert texts == ("",) * 5 and second.tokens == () and second.log_probabilities == {}


def test_an_item_of_another_study_and_one_that_is_set_aside_are_not_shown(filled):
    assert inspection(filled, **KEY | {"study_id": "t"}) is None
    filled.writer.add("study_items", [{"study_id": "t", "item_id": "i", "role": "target", "position": 0, "confirmatory": True}])
    filled.writer.flush()
    assert inspection(filled, **KEY | {"study_id": "t"}) is None


def test_a_readouts_source_is_the_last_of_its_calls(filled):
    place = KEY | {"variant_id": VARIANT, "extractor": "regex"}
    assert source_of(filled, **place, sample=0) == CALLS[1].call_id and source_of(filled, **place, sample=1) is None


def seen(**fields):
    readout = {"sample": 0, "extractor": "regex", "status": "ok", "answer": "1", "value": None, "is_correct": True}
    rest = {"span": None, "reason": "", "probabilities": (), "label_mass": None, "text": "", "error": "", "raw_reply": ""}
    return SampleView(**{"request": {"kind": "generate"}, **readout, **rest} | fields)


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({}, ""),
        ({"reasoning": "So."}, "Reasoning before the answer, tokens not counted apart"),
        ({"reasoning": "So.", "n_tokens_reasoning": 1_200}, "Reasoning before the answer, 1,200 tokens"),
        (
            {"n_tokens_reasoning": 5, "n_tokens_out": 9},
            "Reasoning before the answer, 5 of 9 tokens; the server does not return its text",
        ),
    ],
)
def test_reasoning_has_a_title_with_what_is_known_of_its_length(fields, title):
    assert seen(**fields).reasoning_title == title


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"finish_reason": "content_filter"}, "Ended by: content filter."),
        ({}, "Cut off: not recorded."),
        ({"request": {"kind": "score"}, "finish_reason": "stop"}, ""),
        ({"request": {}}, ""),
    ],
)
def test_only_a_written_output_says_how_it_ended(fields, sentence):
    assert seen(**fields).ended == sentence
