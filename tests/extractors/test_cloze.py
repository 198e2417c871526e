import math

import pytest

from flipcore.core.contracts import Ask
from flipcore.core.records import ABSENT, OK, UNREADABLE
from flipcore.extractors import extractor_of
from tests.extractors.asking import choice, said, shown

ITEM = choice(("tin", "a very long metal", "rye"), target="0")


def scored(*values):
    return [said("", tokens=tuple((f"t{i}", nats) for i, nats in enumerate(one))) for one in values]


def read(norm, *values, item=ITEM, **rest):
    return extractor_of("cloze", {"norm": norm}).read(item, shown(item, **rest), scored(*values))


def test_each_norm_prefers_what_its_arithmetic_says():
    # totals -3, -4, -5; tokens 1, 4, 2: means -3, -1, -2.5; characters 3, 17, 3: -1, -.235, -1.667
    values = ((-3.0,), (-1.0, -1.0, -1.0, -1.0), (-2.0, -3.0))
    assert [read(norm, *values).answer for norm in ("sum", "token", "char")] == ["0", "1", "1"]
    assert read("char", *values).value == pytest.approx(-4 / 17)


def test_shares_are_the_softmax_of_the_scores():
    found = read("sum", (-1.0,), (-2.0,), (-3.0,))
    total = 1 + math.exp(-1) + math.exp(-2)
    assert dict(found.probabilities) == pytest.approx({"0": 1 / total, "1": math.exp(-1) / total, "2": math.exp(-2) / total})
    assert found.label_mass is None


def test_continuations_are_the_options_as_shown_and_scores_go_back_to_the_items_own_order():
    variant = shown(ITEM, order=(2, 0, 1))
    needs = extractor_of("cloze").needs(ITEM, variant, Ask(), [])
    assert [need.request.continuation for need in needs] == [" rye", " tin", " a very long metal"]
    assert read("sum", (-9.0,), (-1.0,), (-9.0,), order=(2, 0, 1)).answer == "0"


@pytest.mark.parametrize("bad", [None, (), ((" x", 0.0),), ((" x", math.nan),), ((" x", -math.inf),)], ids=str)
def test_one_option_without_a_score_makes_the_whole_reading_absent(bad):
    came = [*scored((-1.0,), (-2.0,)), said("", tokens=bad)]
    found = extractor_of("cloze").read(ITEM, shown(ITEM), came)
    assert found.status == ABSENT and found.answer is None and "option 3" in found.reason


def test_equal_scores_are_no_answer_and_equal_options_always_tie():
    twins = choice(("tin", "tin"))
    assert read("sum", (-1.0,), (-1.0,), item=twins).status == UNREADABLE


def test_a_score_that_is_partly_zero_is_believed():
    assert read("sum", (0.0, -0.5), (-2.0,), (-3.0,)).status == OK
