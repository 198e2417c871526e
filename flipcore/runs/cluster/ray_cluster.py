"""Ray as a cluster: one actor per worker, whose answers are streamed back.

Ray places and restarts actors and carries messages. Its own documentation says how to start it on
many machines. A process has one connection, which studies at the same address share. A study at
another address is refused meanwhile. Ray's usage reports and the copying of workers' output to this
terminal are off.
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
OBJECT_STORE_BYTES = 200 * 2**20  # of a Ray that is started here; batches are small
# A worker replies every two seconds, if only to show that it is alive. After so long it is lost.
SILENT_S = 120.0
MAX_MOVES, MOVE_S = 30, 0.3  # attempts to place a worker on its own machine, and the wait between
_HOST_PORT = re.compile(r"(?:ray://)?[\w.\-]+(?:\[[\w:]+\])?:\d{1,5}")


def why_not() -> str:
    """Return a sentence on how to install Ray; "" if it is installed."""
    if find_spec("ray") is not None:
        return ""
    return (
        "Ray is not installed. Install it by `pip install -r requirements-ray.txt`, or run the"
        " study on this machine."
    )


def address_of(text: str) -> str:
    """Return Ray's address from the user's text. "ray" is RAY_ADDRESS, or "" (a new Ray on this
    machine) without it. Raises BadInput for text that is no address."""
    if text == LOCAL:
        return os.environ.get("RAY_ADDRESS", "")
    if not _HOST_PORT.fullmatch(text):
        raise BadInput(
            f"{text[:80]!r} is no place to run a study. Take `ray` for this machine, or the address"
            " of a Ray cluster: ray://HOST:PORT or HOST:PORT."
        )
    return text


class RayCluster(Cluster):
    """The Ray cluster at an address. Raises MissingPackage without the package, FlipscopeError
    where no Ray answers."""

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
            shared_setup = ray.put(setup)  # sent once, for all workers
            return [
                _RayLink(shared_setup, slot, n_models, is_client=self._is_client) for slot in slots
            ]
        except ModuleNotFoundError as error:  # raised in the process that Ray starts per client
            raise FlipscopeError(
                f"{self.address} lacks {error.name or 'a package'}. Install the same version of"
                " Flipscope on every machine of the cluster, its head too; nothing was asked."
            ) from error

    async def renew(self, server: str, run: str, n_allowed: int, n_on_way: int) -> int:
        try:
            if self._parts is None:
                self._parts = _server_parts()
            return await _result(self._parts.renew.remote(server, run, n_allowed, n_on_way))
        except WorkerLost:  # the actor ended with the run that started it; start another next time
            self._parts = None
            raise

    def close(self) -> None:
        self._parts = None
        _CONNECTION.release()


@dataclass
class _Connection:
    """The connection of this process to Ray."""

    address: str | None = None
    n_users: int = 0  # runs that share it
    is_own: bool = False  # opened by us; otherwise other code of this process closes it
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
    logging_options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    options = (
        {}
        if address
        else {
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
            "num_cpus": os.cpu_count(),
        }
    )
    with _own_signals():
        try:
            ray.init(address or "local", **options, **logging_options)
        except Exception as error:  # Ray raises many types; each means that it cannot be reached
            with suppress(Exception):
                ray.shutdown()
            error_lines = str(error).strip().splitlines() or [type(error).__name__]
            reason = error_lines[0][:200]
            raise FlipscopeError(
                f"{title} could not be reached ({reason}). Check the address, and that Ray is"
                " running there; nothing was asked."
            ) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep our signal handlers: Ray takes SIGTERM for itself and would end a run in the middle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@cache
def _actor() -> Any:
    """Return `Worker` as a class of Ray actors."""
    import ray

    class RayWorker(Worker):
        def __init__(self) -> None:
            super().__init__(ray.get_runtime_context().was_current_actor_reconstructed)

        async def node_id(self) -> str:
            return ray.get_runtime_context().get_node_id()

    return ray.remote(RayWorker)


def _server_parts() -> Any:
    """Return the `ServerParts` actor that all runs share; the first run to ask starts it."""
    import ray

    options = {
        "name": "server-parts",
        "namespace": "flipscope",
        "get_if_exists": True,
        "num_cpus": 0,
    }
    return ray.remote(ServerParts).options(**options).remote()


class _RayLink(Link):
    """The connection to one actor. Ray restarts a lost actor, on another machine if its own is
    gone, and repeats no call by itself."""

    def __init__(self, setup: Any, slot: WorkerSlot, n_models: int, *, is_client: bool) -> None:
        self.name, self.n_at_once = slot.name, slot.n_at_once
        self._is_client, self._setup = is_client, setup
        self._slot, self._n_models, self._n_moves = slot, n_models, 0
        self._actor = self._place_actor()

    def _place_actor(self) -> Any:
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
        """Open the worker's model, if need be after placing the worker again. While Ray's machines
        do not know of each other yet, Ray places workers anywhere. A worker on another machine is
        placed again if its own machine is up."""
        while self._n_moves < MAX_MOVES and await self._is_away():
            self._n_moves += 1
            await self.close()
            await asyncio.sleep(MOVE_S)
            self._actor = self._place_actor()
        return await _result(self._actor.hello.remote(self._setup))

    async def _is_away(self) -> bool:
        import ray

        if await _result(self._actor.node_id.remote()) == self._slot.node_id:
            return False
        nodes = await asyncio.to_thread(ray.nodes)
        return any(node["Alive"] and node["NodeID"] == self._slot.node_id for node in nodes)

    async def answers(self, calls: Sequence[Any]) -> AsyncIterator[Reply]:
        if self._is_client:  # Ray's client has no streams, so each call is a message of its own
            replies = [_result(self._actor.reply.remote([call])) for call in calls]
            for reply in asyncio.as_completed(replies):
                yield await reply
            return
        import ray

        # Do not use Ray's own back pressure: a worker has at most `n_at_once` calls anyway. With it
        # a stream that begins while Ray restarts the actor would wait forever for its replies to
        # be acknowledged (Ray 2.60).
        stream = aiter(self._actor.answer.options(num_returns="streaming").remote(list(calls)))
        try:
            while (reference := await asyncio.wait_for(anext(stream, None), SILENT_S)) is not None:
                yield await reference
        except TimeoutError as error:
            raise WorkerLost(f"Nothing came from it for {SILENT_S:.0f} s.") from error
        except NotGreeted as error:
            raise WorkerLost("Its process was started anew.") from error
        except ray.exceptions.RayTaskError:
            raise  # an error in the worker's own code; its process still runs
        except ray.exceptions.RayError as error:
            raise WorkerLost(_gone_sentence(error)) from error

    def halt(self) -> None:
        with suppress(Exception):
            self._actor.halt.remote()

    async def close(self) -> None:
        import ray

        with suppress(Exception):
            ray.kill(self._actor, no_restart=True)


async def _result(reference: Any) -> Any:
    """Wait for the value of a Ray reference. Raises WorkerLost if its worker is lost."""
    import ray

    try:
        # Shielded, because Ray sets the future whether or not we wait.
        return await asyncio.shield(asyncio.wrap_future(reference.future()))
    except NotGreeted as error:
        raise WorkerLost("Its process was started anew.") from error
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise WorkerLost(_gone_sentence(error)) from error


def _gone_sentence(error: BaseException) -> str:
    """Return a sentence on why a worker is gone, from Ray's message of many lines."""
    text = str(error)
    if "No module named 'flipcore'" in text:
        return (
            "Flipscope is not installed there. Install the same version on every machine of the"
            " cluster."
        )
    lines = [line.strip() for line in text.splitlines() if line.strip() and "actor_id" not in line]
    reason = lines[0] if lines else type(error).__name__
    return f"Its process is gone ({reason[:160].rstrip(' .:')})."
