"""What is done beside the database, such as a model that was added or a file that was brought in, is told to whoever keeps the log of
acts: the open store. Where access is off there is no log, and where no store is open there is nobody to tell."""

from typing import Protocol
from weakref import WeakSet

from flipcore.access.acting import is_access_on


class Keeper(Protocol):
    """Keeps the log of acts; `told` returns when the act is stored."""

    def told(self, act: str, target: str) -> None: ...


_keepers: WeakSet[Keeper] = WeakSet()


def listen(keeper: Keeper) -> None:
    """From now on this one is told."""
    _keepers.add(keeper)


def leave(keeper: Keeper) -> None:
    """It is told nothing any more."""
    _keepers.discard(keeper)


def tell(act: str, target: str) -> None:
    """The person who acts has done this on `target`."""
    for keeper in list(_keepers) if is_access_on() else ():
        keeper.told(act, target)
