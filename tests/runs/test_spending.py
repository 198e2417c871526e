"""What may have been billed counts: attempts without an answer, second calls behind a blank, a first bill beyond all bounds."""

import dataclasses
import threading

import pytest

from flipcore.core.errors import NotStored
from flipcore.core.records import Call, Completion, Request
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import model_cards
from flipcore.models.cards import ModelCard
from flipcore.runs import plan, runner
from flipcore.runs.asking import Asking, Spending
from flipcore.runs.cost import TEMPLATE_TOKENS
from flipcore.runs.plan import remaining
from flipcore.runs.progress import Progress
from flipcore.store.queries import budgets, studies
from tests.models.server import Server
from tests.runs.test_endings import declared, ended, items, study
from tests.runs.test_runner import tiny_study

pytestmark = pytest.mark.usefixtures("allowed_folders")

__all__ = ["declared", "items"]  # fixtures

PAID = ModelCard("m", "openai_compatible", price_in=1000.0, price_out=1000.0)
CALL = Call("m", "r", Request("generate", "x" * 36, max_tokens=50))
INPUT_USD = (36 + TEMPLATE_TOKENS) / 1000  # a token a byte, at $1,000 a million


def test_an_attempt_without_an_answer_costs_its_input_whatever_came_after_it():
    for completion, bill in (
        (Completion(CALL.call_id, "failed", n_lost=3), 0.0),
        (Completion(CALL.call_id, "ok", cost_usd=0.02, n_lost=3), 0.02),
    ):
        spending = Spending(10.0, 0.0, {"m": PAID})
        assert spending.settle(CALL, completion) == pytest.approx(bill + 3 * INPUT_USD) == pytest.approx(spending.spent_usd)
        assert spending.bound_by_bills(CALL) == spending.bound(
            CALL
        )  # what was lost is no sign that a server bills more than it should


def test_whoever_names_no_earlier_spending_has_the_whole_cap(store):
    """Proposals and surveys have no earlier runs; calls that cost the cap to the cent are sent."""
    spending = Asking(store, "a survey", models=["m"], cards={"m": PAID}, cap_usd=1.0).spending
    assert spending.spent_usd == 0.0 and spending.cap_usd == 1.0


def test_first_bills_beyond_all_bounds_pass_the_cap_by_one_call_whatever_the_number_of_models():
    """Three models bill ten times their bound: the second one's call is not sent beside the first one's."""
    cards = {name: dataclasses.replace(PAID, name=name) for name in "abc"}
    calls = [dataclasses.replace(CALL, model=name) for name in "abc"]
    bound = INPUT_USD + 50 / 1000
    spending = Spending(3.5 * bound, 0.0, cards)
    sent = [call for call in calls if spending.reserve(call)]
    assert sent == calls[:1] and spending.can_wait()
    spending.settle(calls[0], Completion("a", "ok", cost_usd=10 * bound))
    spending.release(calls[0], spending.bound(calls[0]))
    assert [spending.reserve(call) for call in calls] == [None] * 3 and not spending.can_wait()
    assert spending.spent_usd <= spending.cap_usd + 10 * bound


def test_models_that_sent_a_bill_in_this_run_are_asked_side_by_side():
    """What a server billed in an earlier run says nothing of how many of today's bills may come at once."""
    cards = {name: dataclasses.replace(PAID, name=name) for name in "ab"}
    spending = Spending(10.0, 0.0, cards, {"a": 1.0})
    known, new = (dataclasses.replace(CALL, model=name) for name in "ab")
    alone = spending.reserve(known)
    assert alone and spending.reserve(known) is None and spending.reserve(new) is None
    spending.settle(known, Completion("a", "ok", cost_usd=alone))
    spending.release(known, alone)
    assert spending.reserve(known) and spending.reserve(known) and spending.reserve(new) and spending.reserve(new) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "is_lost"),
    [(("slow", 30.0), 1), (("drop",), 1), (("half",), 1), (("malformed",), 1), (("status", 503), 0), (("status", 429), 0)],
    ids=str,
)
def test_attempts_that_may_have_been_billed_are_counted_and_refused_ones_are_not(store, items, declared, fault, is_lost):
    with Server(fault, fault) as server:
        declared(server.url, price_in=1000.0, price_out=0.0, timeout_s=4.0, n_in_flight=1)
        asked = study(items, n=1, budget_usd=100.0)
        last = ended(asked, store)
    assert (last.state, last.n_failed) == ("done", 0) and len(server.bodies) >= 3
    ((n_attempts,),) = store.rows("SELECT n_attempts FROM completions")
    n_lost = is_lost * (n_attempts - 1)  # all but the last; on a busy machine one may end before it is sent
    (n_bytes,) = {len(call.request.prompt) for call in _calls(asked, store)}
    assert store.rows("SELECT n_lost FROM completions") == [(n_lost,)]
    billed = 20 / 1000
    expected = billed + n_lost * (n_bytes + TEMPLATE_TOKENS) / 1000
    assert budgets.spent_usd(store, asked.study_id) == pytest.approx(expected) == pytest.approx(last.cost_usd)
    assert budgets.overbilling(store) == {"lab": 1.0}


def _calls(asked, store):
    made = plan.plan(asked, store)
    backend = plan.open_backend("lab", plan.model_cards())
    return made.protocol.next_calls(made.history(made.items[0], asked.models[0], backend, {}, None))


CHOICES = Study(
    "first tokens",
    (ItemSource("flipscope_choice", n=4),),
    (Part("option_order", {"n": 2}),),
    (Part("first_token"), Part("first_token_gated")),
    (ModelUse("lab"),),
)


@pytest.mark.parametrize("api, n_more", [("completions", 1), ("chat", 0)])
def test_a_second_call_behind_a_blank_stands_in_the_projection(store, declared, api, n_more):
    abilities = ("generate", "first_token_logprobs", "score")
    declared("http://127.0.0.1:9/v1", api=api, abilities=abilities, price_in=1.0, price_out=1.0)
    whole = plan.projection(plan.plan(CHOICES, store))
    calls = _calls(CHOICES, store)
    assert whole.n_more == n_more * whole.n_calls > -1 and whole.n_calls == 4 * len(calls)
    assert whole.n_tokens_out == (1 + n_more) * whole.n_calls  # one token each
    assert (f"{whole.n_calls:,} calls and up to {whole.n_more:,} more" in whole.sentence()) == bool(n_more)
    assert remaining(plan.plan(CHOICES, store), store) == whole


@pytest.mark.slow
def test_stored_first_tokens_take_their_second_calls_with_them(store, monkeypatch):
    cards = model_cards()
    table = {**cards, "simulated-clean": dataclasses.replace(cards["simulated-clean"], price_in=1.0, price_out=1.0)}
    monkeypatch.setattr(runner, "model_cards", lambda: table)
    monkeypatch.setattr("flipcore.runs.plan.model_cards", lambda: table)
    asked = dataclasses.replace(CHOICES, models=(ModelUse("simulated-clean"),), budget_usd=100.0)
    assert runner.run(asked, store).state == "done"
    left = remaining(plan.plan(asked, store), store)
    assert (left.n_calls, left.n_more, left.cost_usd) == (0, 0, 0.0)


@pytest.mark.slow
def test_what_another_study_paid_for_is_no_cost_of_this_one(store, items, declared):
    with Server() as server:
        declared(server.url, price_in=1000.0, price_out=0.0)
        paid, twice = study(items, n=3, budget_usd=100.0), study(items, n=4, budget_usd=100.0, name="twice")
        ended(paid, store)
        ended(twice, store)
    of_study = {row["study_id"]: row for row in studies.studies(store).to_dict("records")}
    for one in (paid, twice):
        spent = budgets.spent_usd(store, one.study_id)
        assert spent > 0 and of_study[one.study_id]["cost_usd"] == pytest.approx(spent)
    assert of_study[twice.study_id]["n_reused"] > 0


CALL_USD = INPUT_USD + 50 / 1000  # the most that CALL can cost
CENT = 0.01


@pytest.mark.parametrize(
    "cap, spent, has_room",
    [
        (None, 0.0, False),  # without a budget no paid call is made
        (0.0, 0.0, False),
        (CALL_USD, 0.0, True),
        (CALL_USD - CENT, 0.0, False),
        (CALL_USD + CENT, 0.0, True),
        (10.0, 10.0 - CALL_USD, True),
        (10.0, 10.0 - CALL_USD + CENT, False),
        (10.0, 10.0, False),
        (10.0, 11.0, False),
        (1e6, 0.0, True),
        (1e6, 1e6 - CALL_USD / 2, False),
    ],
)
def test_a_call_is_sent_where_what_is_spent_and_its_most_fit_the_budget(cap, spent, has_room):
    assert (Spending(cap, spent, {"m": PAID}).reserve(CALL) is not None) == has_room


def test_what_is_on_its_way_counts_against_the_budget_until_it_is_back():
    spending = Spending(2 * CALL_USD, 0.0, {"m": PAID})
    spending.settle(CALL, Completion("first", "ok", cost_usd=0.0))  # its server's bills are known now
    first, second = spending.reserve(CALL), spending.reserve(CALL)
    assert first and second and spending.reserve(CALL) is None and spending.can_wait()
    spending.release(CALL, second)
    assert spending.reserve(CALL) == pytest.approx(CALL_USD)
    for _ in range(2):
        spending.release(CALL, CALL_USD)
    assert spending.reserved_usd == pytest.approx(0.0, abs=1e-9) and not spending.can_wait()


def test_a_free_call_needs_no_budget():
    free = dataclasses.replace(PAID, price_in=0.0, price_out=0.0)
    assert Spending(None, 0.0, {"m": free}).reserve(CALL) == 0.0


@pytest.mark.slow
def test_a_first_run_counts_each_call_once_and_reuses_none(store):
    first = runner.run(tiny_study(), store)
    assert first.n_done == first.n_calls > 0 and (first.n_reused, first.n_failed) == (0, 0)
    again = runner.run(tiny_study(name="again"), store)
    assert again.n_done == again.n_reused == first.n_done


def test_a_call_that_another_study_asked_counts_as_done_and_not_as_reused():
    asking = object.__new__(Asking)
    asking.progress, asking._counting = Progress(), threading.Lock()
    asking.first_error, asking.other_models = "", set()
    asking.count(None, completion=Completion("a", "ok"))
    asking.count(None, completion=Completion("b", "failed", error="Gone."))
    asking.count(NotStored("full"), completion=Completion("c", "ok"))  # not safe: not counted
    progress = asking.progress
    assert (progress.n_done, progress.n_reused, progress.n_failed) == (2, 0, 1)
    assert asking.first_error == "Gone."


def test_a_server_that_billed_more_than_the_bound_is_expected_to_do_so_again():
    assert Spending(10.0, 0.0, {"m": PAID}).bound_by_bills(CALL) == pytest.approx(CALL_USD)
    spending = Spending(10.0, 0.0, {"m": PAID}, {"m": 3.0})
    assert spending.bound_by_bills(CALL) == pytest.approx(3 * CALL_USD)
    for n_bounds, expected in ((2, 3), (5, 5), (4, 5)):  # the largest counts
        spending.settle(CALL, Completion("a", "ok", cost_usd=n_bounds * CALL_USD))
        assert spending.bound_by_bills(CALL) == pytest.approx(expected * CALL_USD)
    assert spending.spent_usd == pytest.approx(11 * CALL_USD)
    unknown = spending.settle(CALL, Completion("a", "ok"))
    assert unknown == pytest.approx(5 * CALL_USD)
