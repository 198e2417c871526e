"""Which calls are stored is read once for a run, not once an item, and again when a file was merged meanwhile; nothing counts as done
before it is stored, and the first fault is kept and raised."""

import asyncio
from concurrent.futures import Future

import pytest

from flipcore.core.records import Call, Completion, Request
from flipcore.runs import runner
from flipcore.runs.asking import Asking, StoredCalls, Storing
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
