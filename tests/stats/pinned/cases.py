"""All pinned cases, by the module whose results they hold."""

from collections.abc import Callable, Iterator

from tests.stats.pinned.results import Case

GROUPS: dict[str, Callable[[], Iterator[Case]]] = {}


def pinned(module: str) -> Callable[[Callable[[], Iterator[Case]]], Callable[[], Iterator[Case]]]:
    """Register a generator of cases of a module of flipcore/stats, such as "base.families"."""

    def register(cases: Callable[[], Iterator[Case]]) -> Callable[[], Iterator[Case]]:
        GROUPS[module] = cases
        return cases

    return register
