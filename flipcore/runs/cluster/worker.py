"""The far side of a cluster: a worker answers the calls that it is handed, and keeps nothing. It
knows neither study nor store.

Keys are never handed over: a card names the variable of the environment that holds one, and each
worker reads its own.
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

GATHER_S = 0.01  # answers that come this close together travel together
SIGN_OF_LIFE_S = 2.0  # so long a batch may be silent


@dataclass(frozen=True)
class Material:
    """The material for a model that cannot read what a prompt means (`Backend.prepare`)."""

    items: Sequence[Item]
    variants: Sequence[Variant]
    roles: Mapping[str, str]


@dataclass(frozen=True)
class Setup:
    """The facts that a worker is told once: which model it opens (`card` is None for a Python
    function), as which `revision` the driver knows it, and the `share` of the minute's limits that
    is its own. With it the shares of all workers are the limits of the study.
    """

    name: str
    card: ModelCard | None
    revision: str
    material: Material | None = None
    share: float = 1.0


@dataclass(frozen=True)
class Greeting:
    """A worker's place, and why it cannot work ("" where it can)."""

    place: str
    problem: str = ""


@dataclass(frozen=True)
class Reply:
    """Completions that came back, and what the worker's model says of itself (`Backend.down`,
    `Backend.trouble`)."""

    completions: tuple[Completion, ...]
    down: str = ""
    trouble: str = ""


class NotGreeted(FlipscopeError):
    """A worker was started anew and knows no model yet; calls that it had before are gone."""


@dataclass
class Worker:
    """One process of a cluster with one model. `is_again` says that it stands in for one that was
    lost: the share of the minute that its forerunner may have used up is not used twice."""

    is_again: bool = False
    _backend: Backend | None = field(default=None, init=False)

    async def hello(self, setup: Setup) -> Greeting:
        """Open the model; what is wrong with it here is a sentence, because other workers may do
        better."""
        place = f"{platform.node()}, process {os.getpid()}"
        try:
            backend = self._backend = self._opened(setup)
        except Exception as error:  # a model of a package may raise anything
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

    def _opened(self, setup: Setup) -> Backend:
        backend = self._backend or open_backend(
            setup.name, {setup.name: setup.card} if setup.card else {}
        )
        if setup.material is not None:
            backend.prepare(setup.material.items, setup.material.variants, setup.material.roles)
        backend.share_limits(setup.share, is_again=self.is_again)
        return backend

    async def answer(self, calls: Sequence[Call]) -> AsyncIterator[Reply]:
        """Ask all of the calls at once and hands on what has come back as it comes back. Raises
        NotGreeted before `hello`."""
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
        """All of it at once, for lines that carry no streams."""
        replies = [reply async for reply in self.answer(calls)]
        completions = chain.from_iterable(reply.completions for reply in replies)
        return Reply(tuple(completions), replies[-1].down, replies[-1].trouble)

    async def halt(self) -> None:
        """Halt, as nothing more is wanted: what is on its way comes in, what waits for another
        attempt ends."""
        if self._backend is not None:
            self._backend.halt()

    async def close(self) -> None:
        if self._backend is not None:
            await self._backend.close()


async def _completion(backend: Backend, call: Call) -> Completion:
    """One completion. A fault of the model's own code is a failed completion here: it must not take
    a whole batch with it."""
    try:
        return await backend.complete(call)
    except Exception as error:
        return Completion(
            call.call_id, "failed", error=f"{backend.name} raised {type(error).__name__}: {error}"
        )
