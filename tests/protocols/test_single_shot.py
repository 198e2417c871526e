import asyncio
from dataclasses import dataclass, field, replace

import pytest

from flipcore.axes import axis_of as axis
from flipcore.core.contracts import Ask, History, Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import ABILITIES, ABSENT, OK, Completion, Item
from flipcore.extractors import extractor_of as extractor
from flipcore.protocols import PROTOCOLS, protocol_of
from tests.extractors.asking import choice, number

ITEM = choice()
SINGLE = protocol_of("single_shot")


@dataclass(frozen=True)
class Lab:
    """A backend that answers C to everything and, as judge, what it is told."""

    name: str = "lab"
    revision: str = "1"
    abilities: frozenset = frozenset(ABILITIES)
    simulated: bool = False
    text: str = "The answer is (C)."
    seen: list = field(default_factory=list, compare=False)

    def why_not(self, ability):
        return f"The lab has no {ability}."

    async def complete(self, call):
        self.seen.append(call)
        if call.request.kind == "score":
            tin = call.request.continuation == " tin"
            return Completion(call.call_id, "ok", tokens=((call.request.continuation, -1.0 if tin else -5.0),))
        return Completion(call.call_id, "ok", text=self.text, top_logprobs={" C": -0.1})


def history(extractors=("regex",), axes=("identity",), item=ITEM, backend=None, judge=None, n_samples=1, completions=None):
    variants = [
        v
        for name in axes
        if item.kind in axis(name).applies_to
        for v in axis(name).variants(item, "plain", generator(0, name), Material())
    ]
    return History(
        item, variants, [extractor(name) for name in extractors], backend or Lab(), Ask(), n_samples, completions or {}, judge
    )


def finished(start):
    """The history once no call is left, and how many rounds that took."""
    rounds = 0
    while calls := SINGLE.next_calls(start):
        rounds += 1
        known = {start.backend.name: start.backend} | ({start.judge.name: start.judge} if start.judge else {})
        came = {call.call_id: asyncio.run(known[call.model].complete(call)) for call in calls}
        start = replace(start, completions={**start.completions, **came})
    return start, rounds


def test_the_protocols_are_the_ones_a_study_can_name():
    assert set(PROTOCOLS) == {"single_shot", "rotation"}
    with pytest.raises(BadInput, match="single_shot"):
        protocol_of("double_shot")


def test_identity_is_asked_twice_even_if_the_study_asks_once():
    calls = SINGLE.next_calls(history())
    assert [call.sample for call in calls] == [0, 1]
    assert len(SINGLE.next_calls(history(n_samples=5))) == 5


def test_the_base_prompt_of_several_axes_is_asked_once():
    # option_order: base and 3 rotations; label_set: base, lower, digits; one base between them: 4 + 3 - 1 = 6
    calls = SINGLE.next_calls(history(axes=("option_order", "label_set")))
    assert len(calls) == len({call.call_id for call in calls}) == 6
    assert len(SINGLE.readouts(finished(history(axes=("option_order", "label_set")))[0])) == 7


def test_extractors_that_read_the_same_completion_ask_for_it_once():
    four = ("first_token", "first_token_gated", "regex", "judge")
    calls = SINGLE.next_calls(history(four, ("option_order",), judge=Lab("judge")))
    assert len(calls) == 8  # 4 variants x (one first token + one text); the judge waits for the text


def test_the_judge_is_asked_in_a_second_round_as_child_of_what_it_judges():
    judge = Lab("judge", text="Final: C")
    done, rounds = finished(history(("judge", "regex"), judge=judge))
    assert rounds == 2
    rows = [row for row in SINGLE.readouts(done) if row.extractor == "judge"]
    assert [row.reading.answer for row in rows] == ["2", "2"] and all(len(row.source_ids) == 2 for row in rows)
    parents = {call.parent_id for call in judge.seen}
    assert parents == {row.source_ids[0] for row in rows}


def test_what_flipped_texts_are_compared_with_is_asked_once_for_all_samples():
    # 6 levels x 10 samples, and the unchanged text once at temperature 0.
    start = history(
        ("rouge_l", "ncd"),
        ("bit_flip_summary",),
        Item.make(
            dataset="t",
            key="p",
            kind="completion",
            question="The harbour wakes before the town does, and the lamps still burn.",
        ),
    )
    calls = SINGLE.next_calls(start)
    assert len(calls) == 61 and sorted({call.request.temperature for call in calls}) == [0, 0.7]
    done, rounds = finished(start)
    assert rounds == 1 and {row.reading.value for row in SINGLE.readouts(done) if row.extractor == "rouge_l"} == {1.0}


def test_without_a_judge_the_readout_is_absent_and_nothing_is_asked_for_it():
    start = history(("judge",))
    assert SINGLE.next_calls(start) == []
    assert {row.reading.status for row in SINGLE.readouts(start)} == {ABSENT}


def test_a_missing_ability_is_absent_with_the_models_reason_and_asks_nothing():
    start = history(("first_token", "cloze"), backend=Lab(abilities=frozenset({"generate"})))
    assert SINGLE.next_calls(start) == []
    rows = SINGLE.readouts(start)
    assert {row.reading.reason for row in rows} == {"The lab has no first_token_logprobs.", "The lab has no score."}
    assert {row.is_correct for row in rows} == {None} and {row.source_ids for row in rows} == {()}


def test_readouts_map_back_to_the_items_own_options_and_say_whether_they_are_right():
    done, _ = finished(history(("regex", "first_token", "cloze"), ("option_order",)))
    rows = SINGLE.readouts(done)
    assert len(rows) == 12
    assert {row.reading.status for row in rows} == {OK}
    by_variant = {v.variant_id: v for v in done.variants}
    for row in rows:
        said = str(by_variant[row.variant_id].order[2]) if row.extractor != "cloze" else "2"  # it always says C, or scores tin
        assert row.reading.answer == said and row.is_correct == (said == "2")
        assert all(one in done.completions for one in row.source_ids)


def test_readouts_are_a_pure_function_of_what_is_stored():
    done, _ = finished(history(("regex", "cloze"), ("option_order",)))
    assert SINGLE.readouts(done) == SINGLE.readouts(done)
    assert SINGLE.next_calls(done) == []


def test_a_failed_call_is_not_asked_again_and_its_readout_is_absent_with_its_error():
    start = history(("regex", "judge"), judge=Lab("judge"))
    failed = {call.call_id: Completion(call.call_id, "failed", error="HTTP 500.") for call in SINGLE.next_calls(start)}
    done = replace(start, completions=failed)
    assert SINGLE.next_calls(done) == []
    assert {(row.reading.status, row.reading.reason) for row in SINGLE.readouts(done)} == {(ABSENT, "HTTP 500.")}


def test_what_was_not_asked_is_absent_and_only_the_rest_is_asked_on_resuming():
    start = history(("cloze", "regex"), ("option_order",))
    calls = SINGLE.next_calls(start)
    came = {call.call_id: asyncio.run(start.backend.complete(call)) for call in calls[1::2]}
    partial = replace(start, completions=came)
    assert {c.call_id for c in SINGLE.next_calls(partial)} == {c.call_id for c in calls} - set(came)
    absent = [row for row in SINGLE.readouts(partial) if row.reading.status == ABSENT]
    assert absent and {row.reading.reason for row in absent} == {"It was not asked: the study stopped before."}


def test_extractors_that_do_not_apply_to_the_items_kind_give_no_row():
    assert SINGLE.readouts(history(("first_token", "cloze"), item=number())) == []


def test_a_changed_parameter_or_revision_is_another_call():
    base = {call.call_id for call in SINGLE.next_calls(history())}
    assert base.isdisjoint(c.call_id for c in SINGLE.next_calls(history(backend=Lab(revision="2"))))
    warm = replace(history(), ask=Ask(temperature=0.7))
    assert base.isdisjoint(c.call_id for c in SINGLE.next_calls(warm))
