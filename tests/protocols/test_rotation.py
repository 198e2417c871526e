"""The C.1 harness as a protocol: against `definitions.c1_run` on the same votes, by hand, and through the runner."""

from contextlib import closing
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from flipcore.axes import axis_of as axis
from flipcore.core.contracts import Ask, History, Material
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import ABILITIES, ROTATION_READOUTS, Completion, Item
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.extractors import extractor_of as extractor
from flipcore.models.simulated import PROFILES, Profile
from flipcore.protocols import protocol_of
from flipcore.protocols.rotation import _order, _read_vote
from flipcore.runs import runner
from flipcore.runs.plan import plan, projection
from flipcore.store.connection import Store
from flipcore.store.queries import studies
from tests.definitions import c1_run, lead3_two_option
from tests.extractors.asking import FAILED, choice, number

pytestmark = pytest.mark.usefixtures("allowed_folders")

ITEM = choice()  # rye, barley, tin, oats; alphabetically barley, oats, rye, tin


@dataclass(frozen=True)
class Lab:
    name: str = "lab"
    revision: str = "1"
    abilities: frozenset = frozenset(ABILITIES)
    simulated: bool = False

    def why_not(self, ability):
        return f"{self.name} cannot do {ability}."


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
    return {one.extractor: one for one in protocol.readouts(past) if one.extractor in ROTATION_READOUTS}


def test_options_stand_in_alphabetical_order_turned_by_one_more_place_each_time():
    assert [[ITEM.options[i] for i in _order(ITEM, t)] for t in (0, 1, 4)] == [
        ["barley", "oats", "rye", "tin"],
        ["oats", "rye", "tin", "barley"],
        ["barley", "oats", "rye", "tin"],
    ]


@pytest.mark.parametrize(
    ("form", "said", "vote"),
    [
        ("text", "Tin.", 2),
        ("text", " tin\nand more", 2),
        ("text", "tin foil", None),
        ("number", "4", 2),
        ("number", "4) tin", 2),
        ("number", "D", None),
        ("number", "9", None),
        ("letter", "d", 2),
        ("letter", "(D)", 2),
        ("letter", "D. tin", 2),
        ("letter", "4", None),
        ("letter", "A metal", None),
        ("letter", "", None),
    ],
)
def test_a_vote_is_the_first_line_read_as_text_number_or_letter(form, said, vote):
    assert _read_vote(Completion("c", "ok", text=said), form, ITEM, _order(ITEM, 0)) == vote


def test_one_that_is_always_sure_stops_at_five_attempts_of_one_call_each():
    protocol = protocol_of("rotation")
    past, waves = answered(protocol, lambda call: "tin")
    found = outcome(protocol, past)["rotation"]
    assert (found.reading.answer, found.is_correct, len(found.source_ids)) == ("2", True, 5)
    assert waves == [2 + 5]  # the identity axis asks twice by itself; the five that are needed in any case go out at once
    assert "A lead of 5 after 5 attempts" in found.reading.reason


@pytest.mark.slow
def test_text_that_is_no_option_is_asked_for_by_number_and_then_by_letter():
    """The letter prompt of the plain layout ends like the base prompt, so its reply is told by the labels shown."""
    protocol = protocol_of("rotation")
    past, _ = answered(protocol, lambda call: "C" if "A. " in call.request.prompt else "no idea")
    found = outcome(protocol, past)
    assert len(found["rotation_single"].source_ids) == 3 and found["rotation_single"].reading.answer == "0"  # rye


@pytest.mark.parametrize(
    ("said", "form", "vote"),
    [
        ("pH", "text", 0),
        ("PH.", "text", 1),
        ("ph", "text", None),  # exactly, or else it must be one alone
        ("3.5 kg", "number", None),
        ("3. pH", "number", 0),
        ("3. PH", "number", None),
        ("3: 4", "number", None),
        ("B", "letter", 3),
        ("B 4", "letter", 3),
        ("B pH", "letter", None),
    ],
)
def test_no_reply_is_taken_for_an_option_that_it_does_not_name(said, form, vote):
    item = Item.make(dataset="t", key="1", kind="choice", question="?", options=("pH", "PH", "3", "4"), target="0")
    order = _order(item, 0)
    assert [item.options[i] for i in order] == ["3", "4", "pH", "PH"]
    assert _read_vote(Completion("c", "ok", text=said), form, item, order) == vote


def test_a_model_that_writes_no_text_leaves_both_votes_absent_with_its_reason():
    scorer = Lab(abilities=frozenset({"score"}))
    past = history({}, backend=scorer)
    assert protocol_of("rotation").next_calls(past) == []
    assert {
        name: (one.reading.status, one.reading.reason) for name, one in outcome(protocol_of("rotation"), past).items()
    } == dict.fromkeys(ROTATION_READOUTS, ("absent", "lab cannot do generate."))


@pytest.mark.slow
@given(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=40, max_size=40), st.integers(1, 6), st.integers(1, 4))
def test_the_outcome_is_that_of_the_reference_on_the_same_votes(votes, least, lead):
    protocol = protocol_of("rotation", {"least": least, "lead": lead, "cap": 40})

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
    protocol = protocol_of("rotation")
    calls = protocol.next_calls(history({}))
    known = {call.call_id: FAILED for call in calls}
    assert protocol.next_calls(history(known)) == []
    assert {one.reading.status for one in outcome(protocol, history(known)).values()} == {"absent"}


def test_other_kinds_are_asked_as_in_single_shot():
    protocol = protocol_of("rotation")
    past = history({}, number())
    assert protocol.next_calls(past) == protocol_of("single_shot").next_calls(past)
    assert outcome(protocol, past) == {}


@pytest.mark.parametrize("params", [{"least": 0}, {"lead": 0}, {"least": 9, "cap": 5}])
def test_parameters_that_do_not_fit_are_a_sentence(params):
    with pytest.raises(BadInput, match="lead of at least 1|must be at least 1"):
        protocol_of("rotation", params)


@pytest.mark.slow
def test_a_study_on_the_pocket_model_votes_within_the_projection_and_is_resumed_for_nothing(tmp_path):
    study = Study(
        "votes",
        (ItemSource("pocket_choice", n=6),),
        (Part("identity"),),
        (Part("regex"),),
        (ModelUse("pocket", temperature=0.7, max_tokens=12),),
        protocol=Part("rotation", {"cap": 12}),
    )
    store = Store.open(tmp_path / "flips.duckdb")
    progress = runner.run(study, store)
    assert progress.state == "done" and progress.n_failed == 0
    assert progress.n_done <= projection(plan(study, store)).n_calls
    frame = studies.readouts(store, study.study_id, everything=True)
    voted = frame[frame["extractor"].isin(ROTATION_READOUTS)]
    final = voted[voted["extractor"] == "rotation"]
    assert len(voted) == 12 and set(final["status"]) == {"ok"} and final["is_correct"].mean() > 0.6
    assert not set(ROTATION_READOUTS) & set(studies.readouts(store, study.study_id)["extractor"])  # votes are no flips
    assert runner.run(study, store).n_reused == progress.n_done
    store.close()


def voted(tmp_path, monkeypatch, profile):
    """Which items a planted model gets right, by readout: our own choices, through the runner and a store, twice."""
    monkeypatch.setitem(PROFILES, "noisy", profile)
    study = Study(
        "planted",
        (ItemSource("flipscope_choice"),),
        (Part("identity"),),
        (Part("regex"),),
        (ModelUse("simulated-noisy"),),
        protocol=Part("rotation", {"least": 1, "cap": 60}),
    )
    with closing(Store.open(tmp_path / "flips.duckdb")) as store:
        progress = runner.run(study, store)
        frame = studies.readouts(store, study.study_id, everything=True)
        again = runner.run(study, store)
        most = projection(plan(study, store)).n_calls
    assert progress.state == "done" and progress.n_failed == 0 and again.n_reused == progress.n_done <= most
    right = {name: frame[frame["extractor"] == name]["is_correct"].astype(bool) for name in ROTATION_READOUTS}
    assert all(set(frame[frame["extractor"] == name]["status"]) == {"ok"} for name in ROTATION_READOUTS)
    return right


@pytest.mark.slow
def test_a_planted_model_without_noise_votes_as_it_would_answer_once(tmp_path, monkeypatch):
    right = voted(tmp_path, monkeypatch, Profile(ability=0.7))
    assert list(right["rotation"]) == list(right["rotation_single"])
    assert binomtest(int(right["rotation"].sum()), len(right["rotation"]), 0.7).pvalue > 0.001


@pytest.mark.slow
def test_planted_noise_is_amplified_as_the_gamblers_ruin_says(tmp_path, monkeypatch):
    """Each sample is right with .7 and otherwise the same wrong option, so a vote to a lead of 3 is right with
    .7³ / (.7³ + .3³) = .343 / .370 = .927; a single answer with .7."""
    right = voted(tmp_path, monkeypatch, Profile(ability=1.0, noise=0.3))
    assert lead3_two_option(0.7) == pytest.approx(0.343 / 0.370)
    for name, p in (("rotation", 0.343 / 0.370), ("rotation_single", 0.7)):
        assert binomtest(int(right[name].sum()), len(right[name]), p).pvalue > 0.001, name
    assert right["rotation"].mean() > right["rotation_single"].mean() + 0.1


def test_a_reply_whose_first_line_was_cut_off_is_no_vote_and_a_later_line_may_be_cut():
    protocol = protocol_of("rotation", {"cap": 5})

    def ended(text, reason):
        known = {}
        while calls := protocol.next_calls(history(known)):
            known |= {call.call_id: Completion(call.call_id, "ok", text, reason) for call in calls}
        return {name: one.reading for name, one in outcome(protocol, history(known)).items()}

    cut = ended("tin", "length")
    assert {one.status for one in cut.values()} == {"cut"} and "token limit" in cut["rotation"].reason
    assert {one.answer for one in ended("tin\nBecause", "length").values()} == {"2"}
    assert {one.answer for one in ended("tin", "stop").values()} == {"2"}
