"""Ids are hashes of content: the same thing made on two machines has one id."""

import pytest

from flipcore.core.records import (
    ABSENT,
    CUT,
    OK,
    UNREADABLE,
    Call,
    Item,
    Prompt,
    Reading,
    Request,
    Variant,
    correctness,
    digest,
)


def test_a_digest_ignores_the_order_of_keys_and_nothing_else():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 2, "b": 1})
    assert len(digest("x")) == 20 and digest("\ud800") != digest("\ud801")


def test_an_items_id_says_where_it_came_from_and_changes_with_its_content():
    one, other = (Item.make(dataset="gsm8k", key="17", kind="number", question="How many?", target=t) for t in ("3", "4"))
    assert one.item_id.startswith("gsm8k/17@") and one.item_id != other.item_id


def test_one_prompt_has_one_id_on_every_axis_and_a_recordings_repeat_another():
    first, again = (Variant("i", axis, key, Prompt((("stem", "a?"),)), "1") for axis, key in (("x", "base"), ("y", "other")))
    assert first.variant_id == again.variant_id
    assert Variant("i", "x", "base", Prompt((("stem", "a?"),)), "1", params={"repeat": 2}).variant_id != first.variant_id


def test_another_sample_is_another_call():
    calls = [Call("m", "1", Request("generate", "a?"), sample).call_id for sample in (0, 0, 1)]
    assert calls[0] == calls[1] != calls[2]


def test_a_token_after_a_given_text_needs_what_scoring_needs():
    kinds = [Request("first_token", "a"), Request("first_token", "a", continuation=" "), Request("generate", "a")]
    assert [one.ability for one in kinds] == ["first_token_logprobs", "score", "generate"]


@pytest.mark.parametrize(
    ("reading", "target", "is_right"),
    [
        (Reading(OK, answer="2"), "2", True),
        (Reading(OK, answer="2"), "1\n2", True),
        (Reading(OK, answer="2"), "1", False),
        (Reading(OK, answer="2"), None, None),
        (Reading(OK, value=0.5), "2", None),
        (Reading(UNREADABLE), "2", False),
        (Reading(CUT), "2", False),
        (Reading(ABSENT), "2", None),
    ],
)
def test_unreadable_and_cut_are_wrong_and_absent_is_missing(reading, target, is_right):
    assert correctness(reading, target) is is_right
