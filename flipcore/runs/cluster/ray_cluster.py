"""Ray as a cluster: an actor for each worker, its answers streamed back. Ray places actors, starts
a lost one anew and carries messages; how Ray itself is started on many machines is in its own
documentation.

The connection belongs to the process, so two studies at one address share it, and a second address
waits for the first. Nothing of Ray reports home, and no worker's output is copied to this terminal.
"""

import asyncio
import os
import re
import signal
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any

from flipcore.core.errors import BadInput, FlipscopeError, MissingPackage
from flipcore.runs.cluster.place import Cluster, Link, Machine, ServerParts, WorkerLost, WorkerSlot
from flipcore.runs.cluster.worker import Greeting, NotGreeted, Reply, Setup, Worker

LOCAL, CLIENT = "ray", "ray://"
STORE_BYTES = 200 * 2**20  # of the object store of a Ray that is started here: batches are small
# So long a stream may bring nothing, though its worker gives a sign of life every two seconds.
SILENT_S = 120.0
MOST_MOVES, MOVE_S = 30, 0.3  # of a worker that Ray placed on another machine than was said
_HOST_PORT = re.compile(r"(?:ray://)?[\w.\-]+(?:\[[\w:]+\])?:\d{1,5}")


def why_not() -> str:
    """Return what to install where Ray is missing; "" where it is there."""
    if find_spec("ray") is not None:
        return ""
    return (
        "Ray is not installed. Install it by `pip install -r requirements-ray.txt`, or run the"
        " study on this machine."
    )


def address_of(text: str) -> str:
    """Return the address of Ray from what was typed: `ray` is the address of the environment, else
    a Ray of its own on this machine (""). Raises BadInput for what is no address."""
    if text == LOCAL:
        return os.environ.get("RAY_ADDRESS", "")
    if not _HOST_PORT.fullmatch(text):
        raise BadInput(
            f"{text[:80]!r} is no place to run a study. Take `ray` for this machine, or the address"
            " of a Ray cluster: ray://HOST:PORT or HOST:PORT."
        )
    return text


class RayCluster(Cluster):
    """The Ray at an address. Raises MissingPackage without Ray, FlipscopeError where nobody answers
    there."""

    def __init__(self, on: str) -> None:
        if reason := why_not():
            raise MissingPackage(reason)
        ray_address = address_of(on)
        self.address = ray_address or "Ray on this machine"
        self._is_client = ray_address.startswith(CLIENT)
        _CONNECTION.take(ray_address, self.address)
        self._parts: Any = None

    def machines(self) -> list[Machine]:
        import ray

        machines = []
        for node in ray.nodes():
            if node["Alive"]:
                resources = node["Resources"]
                n_cpus, n_gpus = resources.get("CPU", 0), resources.get("GPU", 0)
                machines.append(Machine(node["NodeID"], node["NodeManagerAddress"], n_cpus, n_gpus))
        return machines

    def start(self, setup: Setup, slots: Sequence[WorkerSlot], n_models: int) -> list[Link]:
        import ray

        try:
            shared_setup = ray.put(setup)  # once, however many workers read it
            return [
                _RayLink(shared_setup, slot, n_models, is_client=self._is_client) for slot in slots
            ]
        except ModuleNotFoundError as error:  # of the process that Ray starts for each client
            raise FlipscopeError(
                f"{self.address} lacks {error.name or 'a package'}. Install the same version of"
                " Flipscope on every machine of the cluster, its head too; nothing was asked."
            ) from error

    async def renew(self, server: str, run: str, most: int, n_now: int) -> int:
        try:
            if self._parts is None:
                self._parts = _server_parts()
            return await _result(self._parts.renew.remote(server, run, most, n_now))
        except WorkerLost:  # it ends with the run that began it; the next to ask begins another
            self._parts = None
            raise

    def close(self) -> None:
        self._parts = None
        _CONNECTION.release()


@dataclass
class _Connection:
    """The connection of this process to Ray; `n_users` runs share it."""

    address: str | None = None
    n_users: int = 0
    is_own: bool = False  # else somebody else of this process opened it, and closes it
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, address: str, title: str) -> None:
        import ray

        with self.lock:
            if self.n_users and address != self.address:
                raise BadInput(
                    "A study is running on another cluster. Wait until it ends, then start this"
                    f" one on {title}."
                )
            if not self.n_users and not ray.is_initialized():
                _connect(address, title)
                self.is_own = True
            self.address, self.n_users = address, self.n_users + 1

    def release(self) -> None:
        import ray

        with self.lock:
            self.n_users -= 1
            if not self.n_users and self.is_own:
                self.is_own = False
                ray.shutdown()


_CONNECTION = _Connection()


def _connect(address: str, title: str) -> None:
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    options = (
        {}
        if address
        else {
            "include_dashboard": False,
            "object_store_memory": STORE_BYTES,
            "num_cpus": os.cpu_count(),
        }
    )
    with _own_signals():
        try:
            ray.init(address or "local", **options, **quiet)
        except Exception as error:  # Ray raises many kinds; each means that nobody could be reached
            with suppress(Exception):
                ray.shutdown()
            words = (
                str(error).strip().splitlines()[0][:200]
                if str(error).strip()
                else type(error).__name__
            )
            raise FlipscopeError(
                f"{title} could not be reached ({words}). Check the address, and that Ray is"
                " running there; nothing was asked."
            ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our signal handlers: Ray takes SIGTERM for itself and would end a run in the middle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@cache
def _actor() -> Any:
    """The worker as a class of Ray."""
    import ray

    class RayWorker(Worker):
        def __init__(self) -> None:
            super().__init__(ray.get_runtime_context().was_current_actor_reconstructed)

        async def node_id(self) -> str:
            return ray.get_runtime_context().get_node_id()

    return ray.remote(RayWorker)


def _server_parts() -> Any:
    """Return the actor that all runs ask for their parts of a server; whoever asks first starts
    it."""
    import ray

    options = {
        "name": "server-parts",
        "namespace": "flipscope",
        "get_if_exists": True,
        "num_cpus": 0,
    }
    return ray.remote(ServerParts).options(**options).remote()


class _RayLink(Link):
    """The line to one actor. Ray starts a lost actor anew, on another machine where its own is
    gone, and repeats no call by itself."""

    def __init__(self, setup: Any, slot: WorkerSlot, n_models: int, *, is_client: bool) -> None:
        self.name, self.n_at_once, self._is_client, self._setup = (
            slot.name,
            slot.n_at_once,
            is_client,
            setup,
        )
        self._slot, self._n_models, self._n_moves = slot, n_models, 0
        self._actor = self._placed()

    def _placed(self) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        slot = self._slot
        return (
            _actor()
            .options(
                num_cpus=0 if slot.is_waiting else max(0.01, int(100 / self._n_models) / 100),
                num_gpus=slot.n_gpus,
                max_restarts=-1,
                max_task_retries=0,
                max_concurrency=2 * slot.n_at_once + 16,
                scheduling_strategy=NodeAffinitySchedulingStrategy(slot.node_id, soft=True),
            )
            .remote()
        )

    async def hello(self) -> Greeting:
        """Ray places a worker anywhere while its machines do not yet know of each other; one that
        is away from its own, though that is there, is placed again."""
        while self._n_moves < MOST_MOVES and await self._is_away():
            self._n_moves += 1
            await self.close()
            await asyncio.sleep(MOVE_S)
            self._actor = self._placed()
        return await _result(self._actor.hello.remote(self._setup))

    async def _is_away(self) -> bool:
        import ray

        if await _result(self._actor.node_id.remote()) == self._slot.node_id:
            return False
        nodes = await asyncio.to_thread(ray.nodes)
        return any(node["Alive"] and node["NodeID"] == self._slot.node_id for node in nodes)

    async def answers(self, calls: Sequence[Any]) -> AsyncIterator[Reply]:
        if self._is_client:  # Ray's client carries no streams: each call is a message of its own
            replies = [_result(self._actor.reply.remote([call])) for call in calls]
            for reply in asyncio.as_completed(replies):
                yield await reply
            return
        import ray

        # No back pressure of Ray's own: a worker has at most `n_at_once` calls, and a stream that
        # was begun while Ray started its actor anew would wait for ever to hear that its replies
        # were taken (Ray 2.60).
        stream = aiter(self._actor.answer.options(num_returns="streaming").remote(list(calls)))
        try:
            while (reference := await asyncio.wait_for(anext(stream, None), SILENT_S)) is not None:
                yield await reference
        except TimeoutError as error:
            raise WorkerLost(f"Nothing came from it for {SILENT_S:.0f} s.") from error
        except NotGreeted as error:
            raise WorkerLost("Its process was started anew.") from error
        except ray.exceptions.RayTaskError:
            raise  # of the worker's own code: it stands
        except ray.exceptions.RayError as error:
            raise WorkerLost(_words(error)) from error

    def halt(self) -> None:
        with suppress(Exception):
            self._actor.halt.remote()

    async def close(self) -> None:
        import ray

        with suppress(Exception):
            ray.kill(self._actor, no_restart=True)


async def _result(reference: Any) -> Any:
    """Return what a reference will hold. Raises WorkerLost where its worker went."""
    import ray

    try:
        # Ray answers it whether or not we wait.
        return await asyncio.shield(asyncio.wrap_future(reference.future()))
    except NotGreeted as error:
        raise WorkerLost("Its process was started anew.") from error
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise WorkerLost(_words(error)) from error


def _words(error: BaseException) -> str:
    """Return a sentence on why a worker is gone; Ray's own words run over many lines."""
    text = str(error)
    if "No module named 'flipcore'" in text:
        return (
            "Flipscope is not installed there. Install the same version on every machine of the"
            " cluster."
        )
    lines = [line.strip() for line in text.splitlines() if line.strip() and "actor_id" not in line]
    return f"Its process is gone ({(lines or [type(error).__name__])[0][:160].rstrip(' .:')})."
