import asyncio
import math

import pytest

from flipcore.axes import axis_of as axis
from flipcore.core.contracts import Ask, History, Material
from flipcore.core.randomness import generator
from flipcore.core.records import ABILITIES, ABSENT, OK, UNREADABLE
from flipcore.core.study import ItemSource
from flipcore.datasets import load_report
from flipcore.extractors import extractor_of
from flipcore.extractors.first_token import label_shares, read_first_token
from flipcore.models import model_cards, open_backend
from flipcore.protocols.single_shot import PROTOCOL as SINGLE
from flipcore.text.prompts import labels_of
from tests.extractors.asking import choice, said, shown
from tests.protocols.test_rotation import Lab

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


@pytest.mark.parametrize("token", ["b", "(B", "B.", "**B**", " (B)", " b", "B:"])
def test_a_label_counts_however_it_is_set(token):
    assert reading({token: math.log(0.6), " A": math.log(0.3)}).answer == "1"


def test_an_article_is_no_label_and_where_both_cases_are_labels_each_is_itself():
    found = reading({" a": math.log(0.6), " B": math.log(0.3)})  # "a metal, which is …"
    assert found.answer == "1" and found.label_mass == pytest.approx(0.3)
    assert reading({"a": math.log(0.6), "A": math.log(0.3)}, labels=("A", "a", "B", "b")).answer == "1"


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
    open_, gated = extractor_of("first_token"), extractor_of("first_token_gated")
    low = gated.read(ITEM, shown(ITEM), [said("", top_logprobs=top)])
    assert open_.read(ITEM, shown(ITEM), [said("", top_logprobs=top)]).answer == "2"
    assert (low.status, low.answer) == (UNREADABLE, None)
    assert low.label_mass == pytest.approx(0.4) and dict(low.probabilities)["2"] == pytest.approx(0.3)


def test_the_gate_is_adjustable_and_a_mass_on_the_threshold_passes():
    top = {" C": math.log(0.5), "The": math.log(0.4)}
    at = extractor_of("first_token_gated").read(ITEM, shown(ITEM), [said("", top_logprobs={" C": math.log(0.5) + 1e-12})])
    assert at.answer == "2"
    strict = extractor_of("first_token_gated", {"least_mass": 0.75}).read(ITEM, shown(ITEM), [said("", top_logprobs=top)])
    assert strict.status == UNREADABLE


def test_top_k_is_asked_for():
    request = extractor_of("first_token", {"top_k": 40}).needs(ITEM, shown(ITEM), None, [])[0].request
    assert (request.kind, request.top_k, request.max_tokens) == ("first_token", 40, 1)


def test_the_reading_looks_through_a_lone_blank_where_the_model_can_be_asked_what_follows():
    digits = labels_of("digits", 4)
    first, behind = logs(**{" ": 0.9, "3": 0.02}), logs(**{"3": 0.5, "1": 0.4})
    found = read_first_token(shown(ITEM, labels=digits), first, behind)
    assert (found.status, found.answer) == (OK, "2") and "blank first token of probability 0.90" in found.reason
    assert dict(found.probabilities) == pytest.approx({"0": 0.36, "1": 0.0, "2": 0.47, "3": 0.0})
    assert found.label_mass == pytest.approx(0.83)
    alone = read_first_token(shown(ITEM, labels=digits), logs(**{" ": 0.97}))
    assert alone.status == UNREADABLE and "what follows it was not given" in alone.reason


def test_what_follows_the_blank_is_a_need_of_its_own_and_only_where_the_blank_matters():
    reader, variant = extractor_of("first_token"), shown(ITEM)
    assert len(reader.needs(ITEM, variant, Ask(), [])) == 1
    assert len(reader.needs(ITEM, variant, Ask(), [said("", top_logprobs=logs(**{" ": 0.01, "C": 0.9}))])) == 1
    for token, text in ((" ", " "), ("\u0120", " "), ("\u010a", "\n"), ("\u2581", " ")):
        first, second = reader.needs(ITEM, variant, Ask(), [said("", top_logprobs={token: math.log(0.9)})])
        assert second.optional and second.request.continuation == text and second.request.ability == "score"
        assert (first.request.prompt, first.optional) == (second.request.prompt, False)


def test_the_pocket_model_is_read_through_its_blank_and_a_chat_model_is_not_asked():
    items = load_report(ItemSource("pocket_choice", n=4, seed=1)).items
    reader, backend = extractor_of("first_token"), open_backend("pocket", model_cards())
    variants = [axis("label_set", {"sets": ["digits"]}).variants(item, "plain", generator(0), Material()) for item in items]

    async def asked(item, several, abilities):
        known = {}
        while calls := SINGLE.next_calls(past := history(item, several, abilities, known)):
            known |= {call.call_id: await backend.complete(call) for call in calls}
        return [one.reading for one in SINGLE.readouts(past) if one.variant_id == several[1].variant_id]

    def history(item, several, abilities, known):
        lab = Lab(backend.name, backend.revision, abilities)
        return History(item, tuple(several), (reader,), lab, Ask(), 1, known)

    async def both():
        return [
            [reading for item, several in zip(items, variants, strict=True) for reading in await asked(item, several, can)]
            for can in (frozenset(ABILITIES), frozenset({"generate", "first_token_logprobs"}))
        ]

    through, chat = asyncio.run(both())
    assert len(through) == len(chat) == 4
    assert all(one.status == OK and one.label_mass > 0.3 and "p(label | blank)" in one.reason for one in through)
    assert all(one.label_mass < 0.1 and "p(label | blank)" not in one.reason for one in chat)
    assert any("what follows it was not given" in one.reason for one in chat)
