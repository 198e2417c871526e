"""The worker's side of a cluster: it answers calls, keeps nothing, and knows no study or store.

Keys are never sent to workers. A model's card names the environment variable with the key, and each
worker reads its own environment.
"""

import asyncio
import os
import platform
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from flipcore.core.contracts import Backend
from flipcore.core.errors import FlipscopeError
from flipcore.core.records import Call, Completion, Item, Variant
from flipcore.core.version import __version__
from flipcore.models import ModelCard, open_backend

GATHER_S = 0.01  # answers that arrive within this time are sent in one reply
SIGN_OF_LIFE_S = 2.0  # without an answer for so long, an empty reply shows that the worker lives


@dataclass(frozen=True)
class Material:
    """Arguments of `Backend.prepare`, for models that cannot read the prompts."""

    items: Sequence[Item]
    variants: Sequence[Variant]
    roles: Mapping[str, str]


@dataclass(frozen=True)
class Setup:
    """The facts that a worker gets once, to open its model."""

    name: str
    card: ModelCard | None  # None for a Python function
    revision: str  # as the driver opened it; the worker's must be the same
    material: Material | None = None
    share: float = 1.0  # its share of the server's limits per minute; all shares sum to 1


@dataclass(frozen=True)
class Greeting:
    """A worker's place, and why it cannot work ("" if it can)."""

    place: str
    problem: str = ""


@dataclass(frozen=True)
class Reply:
    """Completions of some calls, with `down` and `trouble` of the worker's `Backend`."""

    completions: tuple[Completion, ...]
    down: str = ""
    trouble: str = ""


class NotGreeted(FlipscopeError):
    """A worker was restarted and has not opened its model yet; its earlier calls are lost."""


@dataclass
class Worker:
    """One process of a cluster with one model. `is_again` is set where it replaces a lost worker.
    That one may have used up its share of the present minute, so this one does not use it again."""

    is_again: bool = False
    _backend: Backend | None = field(default=None, init=False)

    async def hello(self, setup: Setup) -> Greeting:
        """Open the model. A problem is returned, not raised, as other workers may do better."""
        place = f"{platform.node()}, process {os.getpid()}"
        try:
            backend = self._backend = self._open(setup)
        except Exception as error:  # a model of another package may raise anything
            return Greeting(
                place, f"{setup.name} could not be opened ({type(error).__name__}: {error})."
            )
        if backend.revision != setup.revision:
            return Greeting(
                place,
                f"{setup.name} is another one here: {backend.revision} instead of {setup.revision}"
                f" (Flipscope {__version__}). Install the same version and the same model on every"
                " machine.",
            )
        return Greeting(place)

    def _open(self, setup: Setup) -> Backend:
        backend = self._backend or open_backend(
            setup.name, {setup.name: setup.card} if setup.card else {}
        )
        if setup.material is not None:
            backend.prepare(setup.material.items, setup.material.variants, setup.material.roles)
        backend.share_limits(setup.share, is_again=self.is_again)
        return backend

    async def answer(self, calls: Sequence[Call]) -> AsyncIterator[Reply]:
        """Make all calls at once, and yield replies as they arrive. Raises NotGreeted before
        `hello`."""
        backend = self._backend
        if backend is None:
            raise NotGreeted("Its process was started anew.")
        waiting = {asyncio.ensure_future(_completion(backend, call)) for call in calls}
        try:
            while waiting:
                ready, waiting = await asyncio.wait(
                    waiting, timeout=SIGN_OF_LIFE_S, return_when=asyncio.FIRST_COMPLETED
                )
                if ready and waiting:
                    more, waiting = await asyncio.wait(waiting, timeout=GATHER_S)
                    ready |= more
                yield Reply(tuple(task.result() for task in ready), backend.down, backend.trouble)
        finally:
            for task in waiting:
                task.cancel()

    async def reply(self, calls: Sequence[Call]) -> Reply:
        """Return all answers in one reply, for connections without streams."""
        replies = [reply async for reply in self.answer(calls)]
        completions = chain.from_iterable(reply.completions for reply in replies)
        return Reply(tuple(completions), replies[-1].down, replies[-1].trouble)

    async def halt(self) -> None:
        """Make no further attempts; calls on their way are still answered."""
        if self._backend is not None:
            self._backend.halt()

    async def close(self) -> None:
        if self._backend is not None:
            await self._backend.close()


async def _completion(backend: Backend, call: Call) -> Completion:
    """Make one call. An error in the model's code becomes a failed completion. Otherwise one such
    call would fail its whole batch."""
    try:
        return await backend.complete(call)
    except Exception as error:
        return Completion(
            call.call_id, "failed", error=f"{backend.name} raised {type(error).__name__}: {error}"
        )
