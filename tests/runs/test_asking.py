"""Which calls are stored is read once for a run, not once an item, and again when a file was merged meanwhile; nothing counts as done
before it is stored, and the first fault is kept and raised."""

import asyncio
from concurrent.futures import Future
from types import SimpleNamespace

import numpy as np
import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.runs import asking as asking_module
from flipcore.runs import runner
from flipcore.runs.asking import Asking, InFlight, NotAsked, StoredCalls, Storing
from flipcore.runs.progress import CANCELLED, FAILED, OVER_BUDGET
from flipcore.store import rows
from flipcore.store.queries import planning
from tests.runs.test_runner import tiny_study

MODEL = tiny_study().models[0].name


@pytest.mark.slow
def test_a_call_is_there_once_it_was_answered_and_the_set_is_read_again_after_a_merge(store):
    stored = StoredCalls(store, [MODEL])
    assert "0" * 20 not in stored
    runner.run(tiny_study(), store)
    ids = [one for (one,) in store.rows("SELECT call_id FROM completions ORDER BY call_id")]
    assert len(ids) > 20 and not any(one in stored for one in ids)  # what was stored since is not known
    store.touch([""])  # as a merge does
    assert all(one in stored for one in ids)
    assert ids[-1] + "0" not in stored and "g" * 20 not in stored and "é" not in stored
    assert not any(one in StoredCalls(store, ["another"]) for one in ids)


@pytest.mark.slow
def test_a_failed_call_is_not_there(store):
    runner.run(tiny_study(), store)
    cursor = store.own_cursor()
    cursor.execute("UPDATE completions SET status = 'failed' WHERE call_id = (SELECT min(call_id) FROM completions)")
    ((first,), (second,)) = cursor.execute("SELECT call_id FROM completions ORDER BY call_id LIMIT 2").fetchall()
    cursor.close()
    stored = StoredCalls(store, [MODEL])
    assert first not in stored and second in stored


@pytest.mark.slow
def test_a_first_run_looks_no_item_up_and_a_later_one_only_what_is_there(store, monkeypatch):
    looks, look = [], planning.completions
    monkeypatch.setattr(planning, "completions", lambda store, ids: looks.append(ids) or look(store, ids))
    n_calls = runner.run(tiny_study(), store).n_done
    assert looks == []
    store.writer.transact(lambda connection: connection.execute("DELETE FROM item_runs")).result()
    assert runner.run(tiny_study(), store).n_reused == n_calls and sum(map(len, looks)) == n_calls


def test_a_stored_answer_is_reused_and_not_asked_again(store):
    call = Call("m", "r", Request("generate", "Which?"))
    completion = Completion(call.call_id, "ok", text="A")
    store.writer.add("completions", [rows.completion_row(call, completion, simulated=False)]).result()

    async def ask():
        replies = await asking.replies([call])
        await asking.storing.until_stored()
        return replies

    asking = Asking(store, "s", models=["m"], cards={}, cap_usd=None)  # no backend: whoever asks fails
    replies = asyncio.run(ask())
    assert replies[call.call_id].text == "A" and (asking.progress.n_reused, asking.progress.n_done) == (1, 1)


class Disk:
    """A writer whose rows are safe, or fail, when the test says so."""

    def __init__(self):
        self.futures = []

    def add_together(self, parts):
        self.futures.append(Future())
        return self.futures[-1]


def test_who_waits_is_told_when_the_rows_are_safe():
    disk, told = Disk(), []
    storing = Storing(disk)
    storing.add([("readouts", [])], told.append)
    assert told == []
    disk.futures[0].set_result(None)
    asyncio.run(storing.until_stored())
    assert told == [None] and storing.problem is None


def test_the_first_fault_is_raised_at_the_end():
    disk, told = Disk(), []
    storing = Storing(disk)
    for _ in range(2):
        storing.add([], told.append)
    first, second = OSError("The disk is full."), OSError("again")
    disk.futures[1].set_exception(first)
    disk.futures[0].set_exception(second)
    with pytest.raises(OSError, match="full"):
        asyncio.run(storing.until_stored())
    assert told == [first, second]


def test_whoever_adds_much_waits_until_the_disk_has_taken_some(monkeypatch):
    monkeypatch.setattr(asking_module, "MAX_UNSTORED", 1)
    disk = Disk()
    storing = Storing(disk)

    async def is_waiting():
        try:
            await asyncio.wait_for(storing.until_room(), 0.05)
        except TimeoutError:
            return True
        return False

    waits = []
    for _ in range(2):
        storing.add([])
        waits.append(asyncio.run(is_waiting()))
    disk.futures[0].set_result(None)
    assert [*waits, asyncio.run(is_waiting())] == [False, True, False]


def test_only_answered_calls_of_the_models_are_among_the_stored_ones(store):
    calls = [Call(model, "r", Request("generate", f"Which {n}?")) for n, model in enumerate("mmn")]
    for call, status in zip(calls, ("ok", "failed", "ok"), strict=True):
        row = rows.completion_row(call, Completion(call.call_id, status), simulated=False)
        store.writer.add("completions", [row]).result()
    stored = StoredCalls(store, ["m"])
    assert [call.call_id in stored for call in calls] == [True, False, False]
    assert "0" not in stored and "g" * 20 not in stored  # before the first, and behind the last one
    ids = StoredCalls(store, [])
    assert calls[0].call_id not in ids


def test_a_call_is_made_by_one_asking_and_the_others_wait_for_its_reply():
    in_flight, reply = InFlight(), Completion("c", "ok")
    own, other = in_flight.begin("c")
    assert other is None and in_flight.begin("c") == (None, own)
    in_flight.end("c", reply, None)
    assert own.result(0) is reply and in_flight.begin("c") == (None, None)  # it is stored
    in_flight.forget("c")
    again, _ = in_flight.begin("c")
    in_flight.end("c", Completion("c", "failed"), None)
    assert again.result(0).status == "failed" and in_flight.begin("c")[0]  # a failed call is made anew
    in_flight.give_up("c", NotAsked())
    unstored, _ = in_flight.begin("c")
    in_flight.end("c", reply, OSError("The disk is full."))
    with pytest.raises(OSError, match="full"):
        unstored.result(0)
    assert in_flight.begin("c")[0]


@pytest.fixture
def idle(store):
    """An asking that no model takes part in."""
    return Asking(store, "s", models=[], cards={}, cap_usd=2.5)


@pytest.mark.parametrize("is_stopped", [False, True])
def test_whoever_waits_gets_the_reply_of_another_unless_that_failed_or_this_asking_stops(idle, is_stopped):
    def awaited(**outcome):
        future = Future()
        if "reply" in outcome:
            future.set_result(outcome["reply"])
        if "error" in outcome:
            future.set_exception(outcome["error"])
        return asyncio.run(asyncio.wait_for(idle._await_other(future), 5))

    if is_stopped:
        idle.cancel.set()
        assert awaited() is None
    assert awaited(reply="reply") == "reply" and awaited(error=NotAsked()) is None


def test_the_first_reason_to_stop_is_the_one_that_is_said(idle):
    assert not idle.check_stopped() and idle.why == ""
    idle.stop(OVER_BUDGET)
    idle.stop(FAILED, "It failed.")
    assert idle.check_stopped() and (idle.ending, idle.why) == (OVER_BUDGET, "The budget of $2.50 is used up.")


@pytest.mark.parametrize(
    ("stop", "ending", "why"),
    [
        (lambda asking: asking.cancel.set(), CANCELLED, "It was stopped."),
        (lambda asking: asking.fault(NotAsked("It is so.")), FAILED, "It is so."),
        (lambda asking: asking.stop(FAILED, "The server is down."), FAILED, "The server is down."),
        (lambda asking: setattr(asking.storing, "problem", NotAsked("The disk is full.")), FAILED, "The disk is full."),
        (
            lambda asking: asking.fault(KeyError("x")),
            FAILED,
            "The run stopped on an internal fault (KeyError: 'x'). Nothing stored is lost. The same again asks only the missing ones.",
        ),
    ],
)
def test_why_an_asking_stopped_is_a_sentence(idle, stop, ending, why):
    stop(idle)
    assert idle.check_stopped() and (idle.ending, idle.why) == (ending, why)


def test_stored_calls_are_counted_by_their_ending(idle):
    idle.count(OSError("full"), n_reused=3, completion=Completion("c", "ok"))
    assert (idle.progress.n_done, idle.progress.n_reused, idle.other_models_sentence()) == (0, 0, "")
    idle.count(None, n_reused=2)
    for status, error in (("ok", ""), ("failed", "first"), ("failed", "second")):
        idle.count(None, completion=Completion("c", status, error=error, other_model=f"{status} {error}"))
    progress = idle.progress
    assert (progress.n_done, progress.n_reused, progress.n_failed, idle.first_error) == (5, 2, 2, "first")
    idle.count(None, completion=Completion("c", "ok", other_model="a"))
    idle.count(None, completion=Completion("c", "ok", other_model="b"))
    assert "than the one asked: a, b, failed first. Check" in idle.other_models_sentence()


def test_jobs_are_done_in_order_by_so_many_workers_until_one_stops_the_asking(idle):
    begun, at_once, most = [], [], []

    async def work(job):
        begun.append(job)
        at_once.append(job)
        most.append(len(at_once))
        await asyncio.sleep(0)
        at_once.remove(job)
        if job == 5:
            raise NotAsked("It is so.")

    asyncio.run(idle.do_each(range(100), work, n_workers=3))
    assert begun == list(range(len(begun))) and 6 <= len(begun) < 9 and max(most) == 3 and idle.why == "It is so."


@pytest.mark.parametrize("revision", [0, 1, 2])
def test_stored_calls_are_read_at_the_first_question_and_after_each_change(monkeypatch, revision):
    queries = []
    monkeypatch.setattr(
        planning, "answered_ids", lambda store, models: queries.append(models) or np.array(["b" * 20, "a" * 20], "S20")
    )
    store = SimpleNamespace(revision=lambda study_id: revision)
    stored = StoredCalls(store, ["m"])
    assert "a" * 20 in stored and "b" * 20 in stored and "c" * 20 not in stored and queries == [["m"]]
    store.revision = lambda study_id: revision + 1
    assert "a" * 20 in stored and len(queries) == 2


def test_a_call_beside_one_that_fails_is_received_all_the_same(idle, monkeypatch):
    received = []

    async def ask(call):
        if call.model == "broken":
            raise OSError("It broke.")
        await asyncio.sleep(0.01)
        received.append(call.model)
        return Completion(call.call_id, "ok") if call.model == "whole" else None

    monkeypatch.setattr(idle, "_ask", ask)
    broken, whole, unsent = (Call(model, "r", Request("generate", "Which?")) for model in ("broken", "whole", "unsent"))

    async def replies():
        with pytest.raises(OSError, match="It broke."):
            await idle.replies([broken, whole])
        assert received == ["whole"]
        return await idle.replies([whole, unsent, whole])

    answered = asyncio.run(replies())
    assert list(answered) == [whole.call_id] and received == ["whole", "whole", "unsent"]
