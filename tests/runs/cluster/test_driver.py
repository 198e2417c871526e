"""Calls spread over workers: the same tables as in one process, no answer twice, none lost with a worker, faults where they belong."""

import asyncio
import dataclasses
import threading

import pytest

from flipcore.core.contracts import Backend
from flipcore.core.records import Call, Completion, Request
from flipcore.core.study import ItemSource, ModelUse, Part, Study
from flipcore.models import ModelCard
from flipcore.models.simulated import PROFILES, Simulated
from flipcore.runs import runner
from flipcore.runs.cluster import driver
from flipcore.runs.cluster.place import Place, WorkerLost, worker_slots
from flipcore.runs.cluster.states import AT_WORK, LOST, MISSING, SET_ASIDE
from flipcore.store.connection import Store
from tests.runs.cluster.in_process import InProcess, place
from tests.runs.kills import contents

pytestmark = pytest.mark.usefixtures("allowed_folders")


def tiny_study(**changes):
    own = {
        "name": "spread",
        "items": (ItemSource("flipscope_choice", n=5), ItemSource("flipscope_problems", n=2)),
        "axes": (Part("identity"), Part("option_order", {"n": 3})),
        "extractors": (Part("first_token"), Part("regex")),
        "models": (ModelUse("simulated-artifact-prone", n_samples=2), ModelUse("simulated-noisy")),
    }
    return Study(**own | changes)


def tables(store, study):
    """What is stored, but for how often it was attempted: that is what a cluster may differ in."""
    held = contents(store, study)
    return held | {"completions": [row[:-1] for row in held["completions"]]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tables of the study as one process makes them."""
    opened = Store.open(tmp_path_factory.mktemp("whole") / "flips.duckdb")
    runner.run(tiny_study(), opened)
    yield tables(opened, tiny_study())
    opened.close()


@pytest.fixture(autouse=True)
def slowly(monkeypatch):
    """Answers take a moment, or there would be nothing on its way when a worker goes."""
    answered = Simulated.complete

    async def later(self, call):
        await asyncio.sleep(0.005 + int(call.call_id[:2], 16) / 5_000)
        return await answered(self, call)

    monkeypatch.setattr(Simulated, "complete", later)


@pytest.mark.slow
def test_the_same_tables_as_in_one_process(store, whole):
    on = place(3)
    last = runner.run(tiny_study(), store, place=on)
    assert (last.state, last.n_failed) == ("done", 0) and tables(store, tiny_study()) == whole
    cluster = on._cluster
    assert len(cluster.sent) == len(set(cluster.sent)) == last.n_done
    assert all(link.n_calls for link in cluster.links) and len(cluster.links) == 6  # three workers a model
    assert sum(one.n_answers for one in last.workers) == last.n_done and {one.state for one in last.workers} == {AT_WORK}
    again = runner.run(tiny_study(), store, place=place(3))
    assert again.n_reused == again.n_done == last.n_done


@pytest.mark.slow
def test_a_lost_workers_calls_are_asked_again_and_no_others(store, whole):
    """Two workers go in the middle, each with calls on their way to it: only those are sent a second time."""
    n_on_way = {}

    def dies(number, n_calls):
        if number in (0, 4) and n_calls >= 4 and number not in n_on_way:
            n_on_way[number] = on._drivers[cluster.links[number].setup.name]._workers[number % 3].n_on_way
            return True
        return False

    on = place(3, dies=dies)
    cluster = on._cluster
    last = runner.run(tiny_study(), store, place=on)
    assert last.state == "done" and tables(store, tiny_study()) == whole
    n_again = len(cluster.sent) - len(set(cluster.sent))
    assert len(n_on_way) == 2 and 0 < n_again <= sum(n_on_way.values())
    assert [one.n_losses for one in last.workers] == [1, 0, 0, 0, 1, 0]
    assert {one.state for one in last.workers} <= {AT_WORK, LOST}  # lost: on its way back when the run ended
    assert store.rows("SELECT sum(n_lost), sum(n_attempts - 1) FROM completions") == [(n_again, n_again)]


@pytest.mark.slow
def test_a_worker_that_fails_every_call_is_set_aside_and_named(store, whole):
    class Broken(Simulated):
        async def complete(self, call):
            return Completion(call.call_id, "failed", error="There is no route to the server.")

    def changed(number, worker, line):
        if number == 1:
            card = line.setup.card
            worker._backend = Broken(card.name, PROFILES[card.options["profile"]], card.options.get("seed", 0))
        return worker

    on = place(3, changed=changed)
    last = runner.run(tiny_study(), store, place=on)
    assert (last.state, last.n_failed) == ("done", 0) and tables(store, tiny_study()) == whole
    (broken,) = [one for one in last.workers if one.state == SET_ASIDE]
    assert broken.name == "machine-1 #2" and broken.n_answers == 0
    assert "1 of 6 workers get no calls (machine-1 #2, set aside: " in last.message and "no route to the server" in last.message


@pytest.mark.slow
def test_calls_that_fail_everywhere_fail_once_and_set_nobody_aside(store, monkeypatch):
    """Every second prompt is refused by the model itself: the run is incomplete, as in one process, and asks nothing for ever."""
    answered = Simulated.complete

    async def half(self, call):
        if int(call.call_id[-1], 16) % 2:
            return Completion(call.call_id, "failed", error="The prompt was refused.")
        return await answered(self, call)

    monkeypatch.setattr(Simulated, "complete", half)
    on = place(3)
    last = runner.run(tiny_study(), store, place=on)
    assert last.state == "incomplete" and {one.state for one in last.workers} == {AT_WORK}
    assert max(on._cluster.sent.count(one) for one in on._cluster.sent) <= 2
    ((n_failed,),) = store.rows("SELECT count(*) FROM completions WHERE status = 'failed'")
    assert n_failed == last.n_failed > 0


@pytest.mark.slow
def test_another_model_on_a_machine_is_seen_before_it_is_asked(store, whole):
    def changed(number, worker, line):
        if number == 0:
            line.setup = dataclasses.replace(line.setup, revision="older")
        return worker

    on = place(2, changed=changed)
    last = runner.run(tiny_study(), store, place=on)
    assert last.state == "done" and tables(store, tiny_study()) == whole
    assert on._cluster.links[0].n_calls == 0 and "Install the same version" in last.message


@pytest.mark.slow
def test_without_any_worker_the_run_ends_with_a_sentence_and_resumes(store, whole, monkeypatch):
    monkeypatch.setattr(driver, "GIVE_UP_S", 0.3)

    async def never(self):
        raise WorkerLost("Its process is gone.")

    on = place(2)
    monkeypatch.setattr("tests.runs.cluster.in_process._Line.hello", never)
    last = runner.run(tiny_study(), store, place=on)
    assert last.state == "failed" and "No worker of the test's cluster can be asked" in last.message
    assert {one.state for one in last.workers} == {MISSING}
    monkeypatch.undo()
    assert runner.run(tiny_study(), store, place=place(2)).state == "done" and tables(store, tiny_study()) == whole


@pytest.mark.slow
def test_a_cancelled_run_goes_on_elsewhere(store, whole, monkeypatch):
    monkeypatch.setattr(
        Place, "n_items_at_once", lambda self, uses, cards, n_calls: 2
    )  # else every call would be on its way by then
    cancel = threading.Event()
    on = place(3, dies=lambda number, n_calls: cancel.set())  # with the first answer
    first = runner.run(tiny_study(), store, place=on, cancel=cancel)
    assert first.state == "cancelled" and "Resume makes only the missing calls" in first.message
    ((n_stored,),) = store.rows("SELECT count(*) FROM completions WHERE status = 'ok'")
    last = runner.run(tiny_study(), store)  # in this process
    assert last.state == "done" and 0 < last.n_reused == n_stored < last.n_done and tables(store, tiny_study()) == whole


@pytest.mark.slow
def test_a_judge_and_an_adaptive_protocol_are_asked_through_workers_too(store, tmp_path):
    study = tiny_study(
        items=(ItemSource("flipscope_choice", n=4),),
        axes=(Part("identity"),),
        extractors=(Part("regex"), Part("judge"), Part("answer_loss")),
        protocol=Part("rotation"),
        judge="simulated-clean",
        models=(ModelUse("simulated-noisy", n_samples=2),),
    )
    on = place(2)
    assert runner.run(study, store, place=on).state == "done"
    assert {link.setup.name for link in on._cluster.links} == {*(use.name for use in study.models), "simulated-clean"}
    alone = Store.open(tmp_path / "alone.duckdb")
    runner.run(study, alone)
    assert tables(store, study) == tables(alone, study)
    alone.close()


def test_a_call_that_takes_its_workers_with_it_fails_alone(monkeypatch):
    """One call of forty kills whoever has it: after five it has failed. The calls that went with it are answered: after three losses
    it is sent alone."""
    poison, sizes = "poison", []

    class Fragile(InProcess):
        def start(self, setup, slots, n_models):
            links = super().start(setup, slots, n_models)
            for link in links:
                link.answers = self.fragile(link, link.answers)
            return links

        def fragile(self, link, answers):
            async def all_or_nothing(calls):
                if any(call.request.prompt == poison for call in calls):
                    link.is_up = False
                    sizes.append(len(calls))
                    raise WorkerLost("Its process is gone.")
                async for reply in answers(calls):
                    yield reply

            return all_or_nothing

    completions = asyncio.run(spread_over(Fragile(2), [poison if i == 7 else f"{i}" for i in range(40)]))
    assert [one.status for one in completions] == ["failed" if i == 7 else "ok" for i in range(40)]
    assert len(sizes) == 5 and sizes[0] > 1 and sizes[3:] == [1, 1]
    assert completions[7].error.startswith("5 workers were lost") and completions[7].n_lost == 5


class Echo(Backend):
    name, revision, abilities, simulated = "echo", "1", frozenset({"generate"}), False

    def why_not(self, ability):
        return ""

    async def complete(self, call):
        await asyncio.sleep(0.002)
        return Completion(call.call_id, "ok", call.request.prompt)


async def spread_over(cluster, prompts):
    """The completions of some prompts, by an echo on each machine of a cluster."""
    card = ModelCard("echo", "echo", n_in_flight=8)
    rooms = worker_slots(card, cluster.machines(), "echo", cluster.address)
    cluster.changed = with_echo
    model = driver.Driver(Echo(), card, lambda setup: cluster.start(setup, rooms, 1), len(rooms), cluster.address)
    calls = [Call("echo", "1", Request("generate", prompt)) for prompt in prompts]
    completions = await asyncio.gather(*map(model.complete, calls))
    await model.close()
    return completions


def with_echo(number, worker, line):
    worker._backend = Echo()
    return worker
