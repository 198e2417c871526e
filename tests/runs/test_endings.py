"""Every run ends, at any size, in a state that is true: the server dies, a key is missing, somebody cancels, money runs out."""

import asyncio
import dataclasses
import json
import threading
import time

import pytest

from flipcore.core.errors import OverBudget
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import model_cards
from flipcore.models.simulated import Simulated
from flipcore.runs import runner
from flipcore.store.queries import budgets, studies
from tests.models.openai.test_breaker import dead_url
from tests.models.server import Server

pytestmark = pytest.mark.usefixtures("allowed_folders")

N = 400
LIMIT_S = 90.0  # a run that has to stop does so in seconds; a busy machine takes longer to plan it


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    path = tmp_path_factory.mktemp("items") / "items.jsonl"
    rows = [{"question": f"What is {i} plus {i}?", "answer": str(2 * i), "id": i} for i in range(N)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def study(items, n=0, **changes):
    source = ItemSource("file", n=n, path=items, columns={"question": "question", "target": "answer", "key": "id"})
    made = {
        "name": "endings",
        "items": (source,),
        "axes": (Part("prompt_format", {"layouts": ["paren"]}),),
        "extractors": (Part("regex"),),
        "models": (ModelUse("lab", max_tokens=8),),
    }
    return Study(**made | changes)


@pytest.fixture
def declared(monkeypatch):
    """Declares the model `lab` at an address, with short waits."""
    monkeypatch.setattr("flipcore.models.openai.retries.FIRST_WAIT_S", 0.01)

    def at(url, **rest):
        from flipcore.models.cards import ModelCard

        made = {"model": "m", "endpoint": url, "price_in": 0.0, "price_out": 0.0, "timeout_s": 30.0} | rest
        table = {**model_cards(), "lab": ModelCard("lab", "openai_compatible", **made)}
        monkeypatch.setattr(runner, "model_cards", lambda: table)
        monkeypatch.setattr("flipcore.runs.plan.model_cards", lambda: table)

    return at


def ended(study, store, **rest):
    """The run's last progress; fails where the run does not end in time."""
    held = {}
    thread = threading.Thread(target=lambda: held.update(last=runner.run(study, store, **rest)), daemon=True)
    thread.start()
    thread.join(LIMIT_S)
    assert "last" in held, "the run did not end"
    return held["last"]


def state(store, study):
    return store.rows("SELECT state, message FROM studies WHERE study_id = $study_id", study_id=study.study_id)[0]


@pytest.mark.slow
def test_a_dead_server_ends_a_large_run(store, items, declared):
    declared(dead_url())
    last = ended(study(items), store)
    assert last.state == "failed" and "could not be reached" in last.message and last.n_done < 100
    assert state(store, study(items)) == ("failed", last.message)


@pytest.mark.slow
def test_a_server_that_sends_calls_on_ends_a_large_run(store, items, declared):
    redirect = ("status", 307, {"Location": "http://127.0.0.1:9/v1/chat/completions"})
    with Server(*[redirect] * 2 * N) as server:
        declared(server.url)
        last = ended(study(items), store)
        assert len(server.bodies) < 100
    assert last.state == "failed" and "sends calls on to http://127.0.0.1:9/v1 " in last.message


def test_a_missing_key_ends_a_large_run_and_stores_no_call(store, items, declared, monkeypatch):
    monkeypatch.delenv("LAB_KEY", raising=False)
    declared("http://127.0.0.1:9/v1", api_key_env="LAB_KEY")
    last = ended(study(items), store)
    assert last.state == "failed" and "LAB_KEY" in last.message
    assert (last.n_done, store.rows("SELECT count(*) FROM completions")) == (0, [(0,)])


@pytest.mark.slow
def test_cancel_ends_a_large_run_and_resume_makes_the_rest(store, items, declared):
    cancel = threading.Event()
    quick, slow = [("none",)] * 100, [("slow", 2.0)] * 700  # progress is told twice a second: the rest must not be over by then
    with Server(*quick, *slow) as server:
        declared(server.url)
        first = ended(study(items), store, cancel=cancel, on_progress=lambda p: p.n_done > 20 and cancel.set())
        assert first.state == "cancelled" and 20 < first.n_done < first.n_calls
        assert store.rows("SELECT count(*) FROM completions") == [(first.n_done,)]
        server.faults.clear()
        second = ended(study(items), store)
        assert second.state == "done" and second.n_reused == first.n_done
        assert len(server.bodies) == second.n_done


@pytest.mark.slow
def test_cancel_reaches_calls_that_wait_for_another_attempt(store, items, declared):
    cancel = threading.Event()
    with Server(*[("status", 429, {"retry-after": "59"})] * 5_000) as server:
        declared(server.url)
        threading.Timer(2.0, cancel.set).start()
        began = time.monotonic()
        assert ended(study(items), store, cancel=cancel).state == "cancelled"
    assert time.monotonic() - began < 45


@pytest.mark.slow
def test_a_budget_ends_a_large_run_and_is_kept(store, items, declared):
    with Server() as server:
        declared(server.url, price_in=0.0, price_out=1000.0)  # 5 tokens out: $0.005 billed, $0.008 at most
        dear = study(items, budget_usd=6.5)  # the projection: 800 calls at $0.008 at most
        assert ended(dear, store).state == "done"
        overbilled = {"choices": [{"message": {"content": "4"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 100}}
        server.faults.extend([("reply", overbilled)] * 2_000)
        other = study(items, name="overbilled", budget_usd=6.5, models=(ModelUse("lab", max_tokens=8, temperature=0.5),))
        last = ended(other, store)
        assert last.state == "over_budget" and "$6.50" in last.message
    assert 6.0 < budgets.spent_usd(store, other.study_id) <= 6.5 == other.budget_usd
    assert last.n_done == 65  # $0.1 each


@pytest.mark.slow
def test_a_fault_of_ours_ends_a_large_run_with_a_sentence_and_keeps_what_came(store, items, monkeypatch):
    answered, n = Simulated.complete, iter(range(100_000))

    async def breaks(self, call):
        if next(n) == 100:
            raise KeyError("ours")
        await asyncio.sleep(0.01)
        return await answered(self, call)

    monkeypatch.setattr(Simulated, "complete", breaks)
    made = study(items, models=(ModelUse("simulated-clean"),))
    last = ended(made, store)
    assert last.state == "failed" and "internal fault (KeyError: 'ours')" in last.message
    assert store.rows("SELECT count(*) FROM completions") == [(last.n_done,)] and last.n_done >= 100
    assert state(store, made)[0] == "failed"


@pytest.mark.slow
def test_a_call_that_fails_leaves_the_run_incomplete_and_resume_asks_it_alone(store, items, declared):
    with Server(*[("status", 400)] * 3) as server:
        declared(server.url)
        first = ended(study(items, n=20), store)
        assert (first.state, first.n_failed) == ("incomplete", 3)
        assert first.message.startswith("3 of 20 calls failed. Resume asks only those again.") and "HTTP 400" in first.message
        assert state(store, study(items, n=20))[0] == "incomplete"
        n_before = len(server.bodies)
        second = ended(study(items, n=20), store)
        assert (second.state, second.n_failed, len(server.bodies) - n_before) == ("done", 0, 3)
    assert "absent" not in set(studies.readouts(store, study(items, n=20).study_id)["status"])


def priced(monkeypatch, price):
    cards = model_cards()
    table = {**cards, "simulated-clean": dataclasses.replace(cards["simulated-clean"], price_in=price, price_out=price)}
    monkeypatch.setattr(runner, "model_cards", lambda: table)
    monkeypatch.setattr("flipcore.runs.plan.model_cards", lambda: table)


def billed(monkeypatch, usd):
    """Makes the simulated model charge for every answer."""
    answered = Simulated.complete

    async def charged(self, call):
        return dataclasses.replace(await answered(self, call), cost_usd=usd)

    monkeypatch.setattr(Simulated, "complete", charged)


@pytest.mark.slow
def test_the_budget_is_the_studys_over_all_runs_and_can_be_raised(store, items, monkeypatch):
    priced(monkeypatch, 1.0)
    billed(monkeypatch, 0.10)
    made = study(items, n=20, budget_usd=1.0, models=(ModelUse("simulated-clean", max_tokens=8),))
    first = ended(made, store)
    assert first.state == "over_budget" and 9 <= first.n_done <= 10  # longer prompts are expected to be billed more
    spent = budgets.spent_usd(store, made.study_id)
    assert spent == pytest.approx(0.1 * first.n_done)
    again = ended(made, store)  # what the server bills is known from before: not one more call
    assert (again.state, again.n_done - again.n_reused) == ("over_budget", 0)
    budgets.set_budget(store, made.study_id, spent + 0.55)
    third = ended(made, store)
    assert third.state == "over_budget" and spent + 0.35 < budgets.spent_usd(store, made.study_id) <= spent + 0.55
    budgets.set_budget(store, made.study_id, 50)
    assert ended(made, store).state == "done"
    assert made.study_id == Study.from_toml(made.to_toml()).study_id  # the declaration and its id stayed


@pytest.mark.slow
def test_what_another_study_paid_for_is_subtracted_before_the_start_and_not_counted(store, items, monkeypatch):
    priced(monkeypatch, 1000.0)
    billed(monkeypatch, 0.001)
    one = study(items, n=20, budget_usd=100.0, models=(ModelUse("simulated-clean", max_tokens=8),))
    assert ended(one, store).state == "done"
    with pytest.raises(OverBudget, match="more than its budget"):
        runner.run(dataclasses.replace(one, budget_usd=0.01, items=study(items, n=30).items), store)
    cached = dataclasses.replace(one, name="the same questions", budget_usd=0.0)
    last = ended(cached, store)
    assert (last.state, last.n_reused, budgets.spent_usd(store, cached.study_id)) == ("done", 20, 0.0)
    assert budgets.spent_usd(store, one.study_id) == pytest.approx(0.02)


@pytest.mark.slow
def test_a_reply_without_token_counts_is_paid_at_its_most(store, items, declared):
    uncounted = {"choices": [{"message": {"content": "4"}}]}
    with Server(*[("reply", uncounted)] * 500) as server:
        declared(server.url, price_in=0.0, price_out=1000.0)
        made = study(items, n=20, budget_usd=0.4)
        assert ended(made, store).n_done == 20
    assert budgets.spent_usd(store, made.study_id) == pytest.approx(20 * 0.008)


@pytest.mark.slow
def test_a_call_that_was_never_sent_is_not_stored_as_failed(store, items, declared):
    declared(dead_url(), n_in_flight=1)
    last = ended(study(items, n=20), store)
    rows = store.rows("SELECT n_attempts FROM completions")
    assert len(rows) == last.n_done and all(n > 0 for (n,) in rows)


@pytest.mark.slow
def test_two_runs_that_share_calls_end_when_one_is_cancelled(store, items, monkeypatch):
    """The other asks what the cancelled one had taken and not sent."""
    answered = Simulated.complete

    async def slowly(self, call):
        await asyncio.sleep(0.05)
        return await answered(self, call)

    monkeypatch.setattr(Simulated, "complete", slowly)
    cancel = threading.Event()
    one = study(items, n=60, models=(ModelUse("simulated-clean"),))
    two = dataclasses.replace(one, name="again")
    held = {}
    first = threading.Thread(target=lambda: held.update(one=runner.run(one, store, cancel=cancel)), daemon=True)
    first.start()
    time.sleep(0.5)
    threading.Timer(0.3, cancel.set).start()
    last = ended(two, store)
    first.join(30)
    assert held["one"].state in ("cancelled", "done") and last.state == "done"
    assert store.rows("SELECT count(*) FROM completions WHERE status = 'ok'") == [(last.n_done,)]


@pytest.mark.slow
def test_two_runs_at_once_send_a_server_no_more_calls_than_its_card_allows(store, items, declared):
    with Server(delay_s=0.02) as server:
        declared(server.url, n_in_flight=5)
        both = [study(items, n=30, name=name, seed=seed) for seed, name in enumerate(("one", "two"))]
        both[1] = dataclasses.replace(both[1], models=(ModelUse("lab", max_tokens=9),))  # other calls than those of the first
        held = []
        threads = [threading.Thread(target=lambda one=one: held.append(ended(one, store))) for one in both]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT_S)
        assert [one.state for one in held] == ["done", "done"]
        assert len(server.bodies) == sum(one.n_done for one in held) and server.most_at_once == 5
