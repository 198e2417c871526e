"""What is still to be paid for of a study that was begun: items that came to their end cost no look at their calls."""

import dataclasses

import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.core.study import ModelUse, Part
from flipcore.models import model_cards
from flipcore.protocols import PROTOCOLS
from flipcore.runs import plan, runner
from flipcore.runs.plan import remaining
from flipcore.store import rows
from tests.runs.test_runner import tiny_study

MODEL = "simulated-clean"


@pytest.mark.slow
def test_items_that_ended_are_not_planned_again_and_the_price_is_the_same(store, monkeypatch):
    cards = model_cards()
    table = {**cards, MODEL: dataclasses.replace(cards[MODEL], price_in=1.0, price_out=1.0)}
    for module in ("runner", "plan"):
        monkeypatch.setattr(f"flipcore.runs.{module}.model_cards", lambda: table)
    study = tiny_study(models=(dataclasses.replace(tiny_study().models[0], name=MODEL),), budget_usd=100.0)
    whole = plan.plan(study, store)
    n_calls = remaining(whole, store).n_calls
    assert n_calls == plan.projection(whole).n_calls
    runner.run(study, store, items_limit=3)
    monkeypatch.setattr(plan, "COUNTED_ITEMS", 1)  # else the projection looks at all of these few items, too
    items, single_shot = [], type(PROTOCOLS["single_shot"])
    most_calls = single_shot.most_calls

    def counted(self, history):
        items.append(history.item.item_id)
        return most_calls(self, history)

    monkeypatch.setattr(single_shot, "most_calls", counted)
    left = remaining(whole, store)
    assert {one.item.item_id for one in whole.items} == set(items)
    items.clear()
    prices = []
    monkeypatch.setattr(runner, "refusal", lambda price, *_: prices.append(price) or "")
    assert runner.run(study, store).state == "done"
    assert prices == [left] and 0 < left.n_calls < n_calls
    first_of_sets = {
        next(one.item.item_id for one in whole.items if one.item.dataset == name)
        for name in {i.item.dataset for i in whole.items}
    }
    ended = {one.item.item_id for one in whole.items[:3]} - first_of_sets
    assert ended and not ended & set(items)


def test_a_judges_calls_are_those_beyond_what_its_models_are_asked(store):
    """Its model answered in another study, so the projection alone does not do."""
    study = tiny_study(
        models=(ModelUse(MODEL), ModelUse("simulated-brittle")), extractors=(Part("judge"),), judge="simulated-noisy"
    )
    whole = plan.plan(study, store)
    call = Call(MODEL, "r", Request("generate", "Which?"))
    row = rows.completion_row(call, Completion(call.call_id, "ok", text="A"), simulated=True)
    store.writer.add("completions", [row]).result()
    left, projected = remaining(whole, store), plan.projection(whole)
    assert (left.n_calls, left.n_tokens_in) == (projected.n_calls, projected.n_tokens_in)


@pytest.mark.parametrize(("n_answers", "n_left"), [(0, None), (1, 0)])
def test_items_are_looked_at_only_where_something_is_stored(store, monkeypatch, n_answers, n_left):
    whole = plan.plan(tiny_study(models=(ModelUse(MODEL),)), store)
    monkeypatch.setattr(plan.studies, "n_answers_of", lambda *asked: n_answers)
    n_calls = remaining(whole, store, lambda item_plan, model: True).n_calls
    assert n_calls == (plan.projection(whole).n_calls if n_left is None else n_left)


def test_no_item_has_ended_unless_somebody_says_so(store, monkeypatch):
    whole = plan.plan(tiny_study(models=(ModelUse(MODEL),)), store)
    monkeypatch.setattr(plan.studies, "n_answers_of", lambda *asked: 1)
    assert remaining(whole, store).n_calls == plan.projection(whole).n_calls
