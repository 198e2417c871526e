"""A cluster inside of the test's own process: the same workers and the same lines, but everything that would travel is pickled and
kept, and a test may kill a worker whenever it likes."""

import asyncio
import pickle
import threading
from contextlib import aclosing

from flipcore.runs.cluster.place import Cluster, Link, Machine, ServerParts, WorkerLost
from flipcore.runs.cluster.where import ClusterPlace
from flipcore.runs.cluster.worker import Worker

MAX_AT_ONCE = 8  # that the first worker to stand does not take a whole study


class InProcess(Cluster):
    """`n` machines with one processor each. `changed` alters the worker with that number, as its machine may."""

    address = "the test's cluster"

    def __init__(self, n: int, changed=lambda number, worker, line: worker, dies=lambda number, n_calls: False) -> None:
        self.n, self.changed, self.dies = n, changed, dies
        self.links, self.messages, self.is_closed = [], [], False
        self.sent: list[str] = []
        self.tasks: list[asyncio.Future] = []
        self.parts, self.one_at_a_time = ServerParts(wait_s=0.0), threading.Lock()

    def machines(self):
        return [Machine(f"id-{i}", f"machine-{i}", 1) for i in range(self.n)]

    def start(self, setup, slots, n_models):
        new = [_Line(self, len(self.links) + i, slot, self.carried(setup)) for i, slot in enumerate(slots)]
        self.links += new
        return new

    async def renew(self, *words):
        with self.one_at_a_time:  # as an actor of Ray answers; the runs of a test are threads
            return self.parts.renew(*words)

    def close(self):
        self.is_closed = True

    def carried(self, content):
        """What arrives of a message."""
        message = pickle.dumps(content)
        self.messages.append(message)
        return pickle.loads(message)


class _Line(Link):
    def __init__(self, cluster, number, slot, setup) -> None:
        self.cluster, self.number, self.setup = cluster, number, setup
        self.name, self.n_at_once = slot.name, min(slot.n_at_once, MAX_AT_ONCE)
        self.n_lives, self.n_calls, self.is_up = 0, 0, False
        self.worker, self.workers = None, []

    async def hello(self):
        if not self.is_up:
            await asyncio.sleep(0.01)
            self.worker = self.cluster.changed(self.number, Worker(self.n_lives > 0), self)
            self.workers.append(self.worker)
            self.n_lives, self.is_up = self.n_lives + 1, True
        return self.cluster.carried(await self.worker.hello(self.setup))

    async def answers(self, calls):
        life = self.n_lives
        calls = self.cluster.carried(list(calls))
        self.n_calls += len(calls)
        self.cluster.sent += [call.call_id for call in calls]
        async with aclosing(self.worker.answer(calls)) as replies:
            async for reply in replies:
                if self.cluster.dies(self.number, self.n_calls):
                    self.is_up = False
                if not self.is_up or self.n_lives != life:
                    raise WorkerLost("Its process is gone (killed by the test).")
                yield self.cluster.carried(reply)

    def halt(self):
        if self.worker:
            self.cluster.tasks.append(asyncio.ensure_future(self.worker.halt()))

    async def close(self):
        self.is_up = False
        await asyncio.gather(*(one.close() for one in self.workers))


def place(n: int = 3, **how) -> ClusterPlace:
    return ClusterPlace(InProcess(n, **how))
