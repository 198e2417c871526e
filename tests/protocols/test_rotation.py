"""The C.1 harness as a protocol: against `harness.c1_run` on the same votes, by hand, and through the runner."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipcore import runner
from flipcore.axes import made as axis
from flipcore.contracts import Ask, History, Material
from flipcore.errors import BadInput
from flipcore.extractors import made as extractor
from flipcore.harness import c1_run
from flipcore.plan import plan, projection
from flipcore.protocols import made
from flipcore.protocols.rotation import READOUTS, _order, _vote
from flipcore.records import ABILITIES, Completion
from flipcore.stats.resample import generator
from flipcore.store import queries
from flipcore.store.connection import Store
from flipcore.study import ItemSource, ModelUse, Part, Study
from tests.extractors.asking import FAILED, choice, number

ITEM = choice()  # rye, barley, tin, oats; alphabetically barley, oats, rye, tin


@dataclass(frozen=True)
class Lab:
    name: str = "lab"
    revision: str = "1"
    abilities: frozenset = frozenset(ABILITIES)
    simulated: bool = False


def history(completions, item=ITEM, backend=None, **ask):
    variants = axis("identity").variants(item, "plain", generator(0, "t"), Material())
    return History(item, tuple(variants), (extractor("regex"),), backend or Lab(), Ask(**ask), 1, completions)


def answered(protocol, reply, item=ITEM, most=400):
    """Goes on asking until nothing is wanted; `reply(call)` is the text. The history and how many calls were made at once."""
    known, waves = {}, []
    while calls := protocol.next_calls(history(known, item)):
        known |= {call.call_id: Completion(call.call_id, "ok", text=reply(call)) for call in calls}
        waves.append(len(calls))
        assert len(known) < most
    return history(known, item), waves


def outcome(protocol, past):
    return {one.extractor: one for one in protocol.readouts(past) if one.extractor in READOUTS}


def test_options_stand_in_alphabetical_order_turned_by_one_more_place_each_time():
    assert [[ITEM.options[i] for i in _order(ITEM, t)] for t in (0, 1, 4)] == [
        ["barley", "oats", "rye", "tin"], ["oats", "rye", "tin", "barley"], ["barley", "oats", "rye", "tin"]]


@pytest.mark.parametrize(("form", "said", "vote"), [
    ("text", "Tin.", 2), ("text", " tin\nand more", 2), ("text", "tin foil", None), ("number", "4", 2), ("number", "4) tin", 2),
    ("number", "D", None), ("number", "9", None), ("letter", "d", 2), ("letter", "(D)", 2), ("letter", "D. tin", 2),
    ("letter", "4", None), ("letter", "A metal", None), ("letter", "", None)])
def test_a_vote_is_the_first_line_read_as_text_number_or_letter(form, said, vote):
    assert _vote(Completion("c", "ok", text=said), form, ITEM, _order(ITEM, 0)) == vote


def test_one_that_is_always_sure_stops_at_five_attempts_of_one_call_each():
    protocol = made("rotation")
    past, waves = answered(protocol, lambda call: "tin")
    found = outcome(protocol, past)["rotation"]
    assert (found.reading.answer, found.is_correct, len(found.source_ids)) == ("2", True, 5)
    assert waves == [2 + 5]  # the identity axis asks twice by itself; the five that are needed in any case go out at once
    assert "A lead of 5 after 5 attempts" in found.reading.reason


def test_text_that_is_no_option_is_asked_for_by_number_and_then_by_letter():
    """The letter prompt of the plain layout ends like the base prompt, so its reply is told by the labels shown."""
    protocol = made("rotation")
    past, _ = answered(protocol, lambda call: "C" if "A. " in call.request.prompt else "no idea")
    found = outcome(protocol, past)
    assert len(found["rotation_single"].source_ids) == 3 and found["rotation_single"].reading.answer == "0"  # rye


@given(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=40, max_size=40), st.integers(1, 6), st.integers(1, 4))
def test_the_outcome_is_that_of_the_reference_on_the_same_votes(votes, least, lead):
    protocol = made("rotation", {"least": least, "lead": lead, "cap": 40})

    def reply(call):
        vote = votes[call.sample]
        return "?" if vote is None or "word for word" not in call.request.prompt else ITEM.options[vote]

    past, _ = answered(protocol, reply)
    wanted = c1_run(lambda attempt, _: votes[attempt - 1], 4, least, lead, 40)
    found = outcome(protocol, past)
    assert found["rotation"].reading.answer == (None if wanted["choice"] is None else str(wanted["choice"]))
    assert found["rotation_single"].reading.answer == (None if votes[0] is None else str(votes[0]))
    text = found["rotation"].reading.reason
    assert (f"after {wanted['attempts']} attempts" in text) == (wanted["stopped"] == "lead")


def test_a_failed_call_leaves_the_vote_absent_and_asks_nothing_in_vain():
    protocol = made("rotation")
    calls = protocol.next_calls(history({}))
    known = {call.call_id: FAILED for call in calls}
    assert protocol.next_calls(history(known)) == []
    assert {one.reading.status for one in outcome(protocol, history(known)).values()} == {"absent"}


def test_other_kinds_are_asked_as_in_single_shot():
    protocol = made("rotation")
    past = history({}, number())
    assert protocol.next_calls(past) == made("single_shot").next_calls(past)
    assert outcome(protocol, past) == {}


@pytest.mark.parametrize("params", [{"least": 0}, {"lead": 0}, {"least": 9, "cap": 5}])
def test_parameters_that_do_not_fit_are_a_sentence(params):
    with pytest.raises(BadInput, match="lead of at least 1"):
        made("rotation", params)


def test_a_study_on_the_pocket_model_votes_within_the_projection_and_is_resumed_for_nothing(tmp_path):
    study = Study("votes", (ItemSource("pocket_choice", n=6),), (Part("identity"),), (Part("regex"),),
                  (ModelUse("pocket", temperature=0.7, max_tokens=12),), protocol=Part("rotation", {"cap": 12}))
    store = Store.open(tmp_path / "flips.duckdb")
    progress = runner.run(study, store)
    assert progress.state == "done" and progress.n_failed == 0
    assert progress.n_done <= projection(plan(study, store)).n_calls
    frame = queries.readouts(store, study.study_id, everything=True)
    voted = frame[frame["extractor"].isin(READOUTS)]
    final = voted[voted["extractor"] == "rotation"]
    assert len(voted) == 12 and set(final["status"]) == {"ok"} and final["is_correct"].mean() > 0.6
    assert not set(READOUTS) & set(queries.readouts(store, study.study_id)["extractor"])  # votes are no flips
    assert runner.run(study, store).n_reused == progress.n_done
    store.close()
