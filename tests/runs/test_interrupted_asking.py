"""A run, a judge, a survey and proposals, interrupted at every call: what was bought is stored and recorded, and never bought again."""

import asyncio
import signal
import threading
from contextlib import suppress
from typing import ClassVar

import pytest

import flipcore.models
from flipcore.annotation.proposals.proposing import RECIPES, propose
from flipcore.annotation.surveys.sheets import ask_model, new_survey
from flipcore.core.contracts import Backend
from flipcore.core.records import Completion, Item
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import ModelCard, model_cards
from flipcore.runs import runner
from flipcore.runs.rereading import EXAMPLE, judge_again
from flipcore.store.connection import Store
from flipcore.store.queries import holdout
from tests.annotation.surveys.test_sheets import ITEMS, RETRO, TARGET
from tests.stores import built_once, copy_of

pytestmark = pytest.mark.usefixtures("allowed_folders", "allowed_callables")

CENT = 0.01
CARD = ModelCard("till", "till", price_in=1.0, price_out=1.0, n_in_flight=3)
FREE = Study(
    "free", (ItemSource("flipscope_problems", n=9),), (Part("prompt_format"),), (Part("regex"),), (ModelUse("simulated-clean"),)
)
PAID = Study(
    "paid",
    (ItemSource("flipscope_problems", n=4),),
    (Part("identity"),),
    (Part("regex"),),
    (ModelUse("till", n_samples=3, max_tokens=16),),
    budget_usd=50.0,
)
LEGS = [
    Item.make(dataset="t", key=str(n), kind="number", question=f"How many legs do {n} horses have?", target=str(4 * n))
    for n in range(3, 9)
]
SURVEY = new_survey("Which one?", TARGET, RETRO, seed=3)


class Till(Backend):
    """A model with a bill of a cent a call. `at` is the call with which somebody interrupts, `interrupt` how."""

    name, revision, simulated, abilities = "till", "1", False, frozenset({"generate"})
    bought: ClassVar[list[str]] = []  # call ids, over all that ask it
    n_sent = n_now = most_at_once = 0
    at, interrupt = 0, staticmethod(lambda: None)

    async def complete(self, call):
        Till.n_sent += 1
        if Till.n_sent == Till.at:
            Till.interrupt()
        Till.bought.append(call.call_id)  # whoever hangs up now has paid all the same
        Till.n_now += 1
        Till.most_at_once = max(Till.most_at_once, Till.n_now)
        await asyncio.sleep(0.002)
        Till.n_now -= 1
        if call.request.prompt.endswith("Rewritten:") or call.request.prompt.endswith(("French:", "English:")):
            text = (
                call.request.prompt.rpartition("Text: ")[2]
                .partition("\n")[0]
                .replace("How many legs do", "Count the legs that")
            )
        else:
            text = "Final: 2"
        return Completion(call.call_id, "ok", text, "stop", cost_usd=CENT)

    def why_not(self, ability):
        return ""

    async def close(self):
        pass


@pytest.fixture
def store(tmp_path_factory, monkeypatch):
    """A store of whose free answers the judge reads, and the model."""

    def fill(made):
        runner.run(FREE, made)
        holdout.keep_survey(made, SURVEY.row("sets"), TARGET + RETRO)

    path = copy_of(built_once(tmp_path_factory, "interrupted", fill), tmp_path_factory.mktemp("copy"))
    opened = flipcore.models.open_card
    declared = flipcore.models.declared_cards
    monkeypatch.setattr(flipcore.models, "open_card", lambda card: Till() if card.name == "till" else opened(card))
    monkeypatch.setattr(flipcore.models, "declared_cards", lambda path=None: declared(path) | {"till": CARD})
    monkeypatch.setattr(Till, "bought", [])
    monkeypatch.setattr(Till, "most_at_once", 0)
    made = Store.open(path)
    yield made
    made.close()


def run(store, cancel):
    runner.run(PAID, store, cancel=cancel)


def judge(store, cancel):
    judge_again(store, FREE.study_id, "till", EXAMPLE, budget_usd=50.0, cancel=cancel)


def survey(store, cancel):
    ask_model(store, SURVEY, ITEMS, "till", model_cards(), n_sheets=1, budget_usd=50.0, may_send_retro=True, cancel=cancel)


def proposals(store, cancel):
    propose(LEGS, RECIPES["back_translation"], ModelUse("till", max_tokens=16), store, cancel=cancel, budget_usd=50.0)


N_CALLS = {run: 12, judge: 18, survey: 12, proposals: 12}  # a check of the survey comes twice word for word


def fault(cancel):
    raise RuntimeError("planted")


@pytest.fixture(autouse=True)
def pythons_own_ctrl_c():
    """A shell's background jobs start with Ctrl-C ignored; set before a run, which takes the handler over."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c(cancel):
    signal.raise_signal(signal.SIGINT)


def cancelled(cancel):
    cancel.set()


def is_whole(store, n_lost=0):
    """Every answer that was bought is stored, and bought once; `n_lost` calls brought none and may have been billed."""
    store.writer.flush()
    stored = [one for (one,) in store.rows("SELECT call_id FROM completions WHERE model = 'till' AND status = 'ok'")]
    bills = store.rows("SELECT call_id, cost_usd FROM purchases")
    assert sorted(stored) == sorted(Till.bought) == sorted(call_id for call_id, cost in bills if cost == CENT)
    assert len(bills) - len(stored) == n_lost


def interrupted(store, monkeypatch, ask, how, k):
    cancel = threading.Event()
    monkeypatch.setattr(Till, "n_sent", 0)
    monkeypatch.setattr(Till, "at", k)
    monkeypatch.setattr(Till, "interrupt", staticmethod(lambda: how(cancel)))
    with suppress(RuntimeError, KeyboardInterrupt):
        ask(store, cancel)
    n_before = len(Till.bought)
    assert k <= Till.n_sent < k + 2 * CARD.n_in_flight, "what waited was sent all the same"
    is_whole(store, n_lost=int(how is fault))
    monkeypatch.setattr(Till, "at", 0)
    ask(store, threading.Event())
    is_whole(store, n_lost=int(how is fault))
    assert Till.most_at_once <= CARD.n_in_flight
    assert len(Till.bought) == len(set(Till.bought)) <= N_CALLS[ask]
    return n_before


@pytest.mark.slow
@pytest.mark.parametrize("how", [cancelled, ctrl_c, fault], ids=lambda one: one.__name__)
@pytest.mark.parametrize("ask", N_CALLS, ids=lambda one: one.__name__)
def test_what_was_bought_before_an_interrupt_is_stored_and_recorded(store, monkeypatch, ask, how):
    assert interrupted(store, monkeypatch, ask, how, k=7) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("how", [cancelled, ctrl_c, fault], ids=lambda one: one.__name__)
@pytest.mark.parametrize(("ask", "k"), [(ask, k) for ask, n in N_CALLS.items() for k in range(1, n + 1) if k != 7])
def test_so_it_is_at_every_call(store, monkeypatch, ask, how, k):
    interrupted(store, monkeypatch, ask, how, k)


@pytest.mark.slow
def test_two_who_ask_the_same_at_once_buy_it_once(store):
    threads = [threading.Thread(target=survey, args=(store, threading.Event())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    is_whole(store)
    assert len(Till.bought) == len(set(Till.bought)) >= 12


def test_a_budget_that_is_used_up_ends_each_of_them_with_a_sentence(store, monkeypatch):
    """The model bills more than was projected."""
    for module in ("annotation.surveys.sheets.refusal", "runs.cost.refusal"):
        monkeypatch.setattr(f"flipcore.{module}", lambda *_, **__: "")
    asked = ask_model(store, SURVEY, ITEMS, "till", model_cards(), budget_usd=5 * CENT, may_send_retro=True)
    assert asked.n_answers + asked.n_missing == 13 and 0 < asked.n_answers <= 6
    assert "questions were not asked. The budget of $0.05 is used up." in asked.sentence() and "for $0.0" in asked.sentence()
    made = propose(LEGS, RECIPES["back_translation"], ModelUse("till", max_tokens=16), store, budget_usd=5 * CENT)
    assert len(made) == len(LEGS) and {one.error for one in made} >= {"The budget of $0.05 is used up."}
    is_whole(store)
