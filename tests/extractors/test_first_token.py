import math

import pytest

from flipcore.core.records import ABSENT, OK, UNREADABLE
from flipcore.extractors import made
from flipcore.extractors.first_token import label_shares, read_first_token
from flipcore.text.prompts import labels_of
from tests.extractors.asking import choice, said, shown

ITEM = choice()


def logs(**shares):
    return {token: math.log(share) for token, share in shares.items()}


def reading(top, item=ITEM, **rest):
    return read_first_token(shown(item, **rest), top)


def test_a_label_counts_with_and_without_a_leading_space():
    # "C" .25 + " C" .20 = .45 beats " A" .30; byte-level marks for a space count too: .05 more on B
    top = {"C": math.log(0.25), " C": math.log(0.20), " A": math.log(0.30), "\u0120B": math.log(0.05), "The": math.log(0.1)}
    found = reading(top)
    assert (found.status, found.answer) == (OK, "2")
    assert found.label_mass == pytest.approx(0.8)
    assert dict(found.probabilities) == pytest.approx({"0": 0.30, "1": 0.05, "2": 0.45, "3": 0.0})


def test_probabilities_name_options_and_not_places():
    found = reading(logs(A=0.6, B=0.3), order=(3, 1, 0, 2))
    assert found.answer == "3"  # the option shown as A is option 3
    assert dict(found.probabilities) == pytest.approx({"3": 0.6, "1": 0.3, "0": 0.0, "2": 0.0})


def test_a_space_before_a_digit_is_no_answer_for_the_first_label():
    # the pocket model under 1/2/3/4: its first token is a lone space, and a naive readout gives label 1 on 400 of 400
    found = reading({" ": math.log(0.97), "\n": math.log(0.02)}, labels=labels_of("digits", 4))
    assert (found.status, found.answer, found.label_mass) == (UNREADABLE, None, 0.0)


def test_a_digit_that_begins_a_longer_label_cannot_be_told_from_it():
    ten = choice([f"option {i}" for i in range(10)])
    found = reading(logs(**{"1": 0.7, "2": 0.2}), ten, labels=labels_of("digits", 10))
    assert found.status == UNREADABLE and "1, 10" in found.reason
    assert found.label_mass == pytest.approx(0.9)


def test_a_digit_stands_for_itself_where_the_longer_label_is_one_token():
    ten = choice([f"option {i}" for i in range(10)])
    found = reading(logs(**{"1": 0.7, "10": 0.2}), ten, labels=labels_of("digits", 10))
    assert (found.status, found.answer) == (OK, "0")


def test_a_beginning_that_only_one_label_has_counts_for_it():
    # of i, ii, iii, iv: "iv" is whole; "ii" begins iii, which is not among the alternatives, so it is shared
    alone, shared = label_shares(labels_of("roman", 4), logs(iv=0.5, ii=0.25, x=0.1))
    assert alone == pytest.approx({"i": 0, "ii": 0, "iii": 0, "iv": 0.5})
    assert shared == pytest.approx({("ii", "iii"): 0.25})


def test_letters_in_another_case_are_other_tokens():
    assert reading(logs(c=0.9)).status == UNREADABLE


def test_a_tie_is_not_broken_by_position():
    found = reading(logs(A=0.4, C=0.4))
    assert found.status == UNREADABLE and "equally" in found.reason


@pytest.mark.parametrize(
    "top", [None, {}, {"A": 0.0}, {"A": 0.0, "B": 0.0}, {"A": math.nan}, {"A": 3.0, "B": 2.0}, {"A": -0.1, "B": -0.1}], ids=str
)
def test_placeholders_and_impossible_log_probabilities_are_absent(top):
    found = reading(top)
    assert (found.status, found.answer, found.label_mass) == (ABSENT, None, None)


def test_the_gate_turns_a_small_label_mass_into_no_answer_and_keeps_what_it_saw():
    top = {" C": math.log(0.3), " A": math.log(0.1), "The": math.log(0.6)}
    open_, gated = made("first_token"), made("first_token_gated")
    low = gated.read(ITEM, shown(ITEM), [said("", top_logprobs=top)])
    assert open_.read(ITEM, shown(ITEM), [said("", top_logprobs=top)]).answer == "2"
    assert (low.status, low.answer) == (UNREADABLE, None)
    assert low.label_mass == pytest.approx(0.4) and dict(low.probabilities)["2"] == pytest.approx(0.3)


def test_the_gate_is_adjustable_and_a_mass_on_the_threshold_passes():
    top = {" C": math.log(0.5), "The": math.log(0.4)}
    at = made("first_token_gated").read(ITEM, shown(ITEM), [said("", top_logprobs={" C": math.log(0.5) + 1e-12})])
    assert at.answer == "2"
    strict = made("first_token_gated", {"least_mass": 0.75}).read(ITEM, shown(ITEM), [said("", top_logprobs=top)])
    assert strict.status == UNREADABLE


def test_top_k_is_asked_for():
    request = made("first_token", {"top_k": 40}).needs(ITEM, shown(ITEM), None, [])[0].request
    assert (request.kind, request.top_k, request.max_tokens) == ("first_token", 40, 1)
