"""Registries of plug-ins by name: the shipped ones and those of installed packages.

A package offers its plug-in as an entry point in the group of its kind: `flipscope.axes`,
`flipscope.extractors`, `flipscope.models`, `flipscope.datasets` or `flipscope.detectors`. The entry
point names one plug-in or a tuple of them. It is imported the first time that somebody lists the
registry or asks for a name that is not shipped. A plug-in that cannot be used adds a sentence to
`problems` and affects nothing else. Installing a package means trusting it: there is no allow-list.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Generic, TypeVar, cast

from flipcore.core import bounds
from flipcore.core.declared import check_keys, fitting
from flipcore.core.errors import BadInput

T = TypeVar("T")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


@dataclass(frozen=True)
class Origin:
    """The package that a plug-in comes from, and its version; both "" for shipped plug-ins."""

    package: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.package} {self.version}".strip()


SHIPPED = Origin()


@cache
def installed() -> EntryPoints:
    """Return the entry points of all installed packages. Reading them takes 50 ms, so they are read
    once per process."""
    # Python 3.11 gives another type, with the same methods.
    return cast(EntryPoints, entry_points())


def installed_in(group: str) -> Iterable[EntryPoint]:
    """Return the entry points of a group."""
    return installed().select(group=group)


def in_files(package: str, names: str, singular: str, plural: str) -> Iterator[Any]:
    """Yield the plug-ins of a package's modules; `names` are the modules, separated by blanks.

    A module ends in one plug-in, the constant `singular` ("AXIS"), or in several, the tuple
    `plural` ("AXES").
    """
    for name in names.split():
        offers = vars(import_module(f"{package}.{name}"))
        yield from offers.get(plural) or (offers[singular],)


@dataclass
class _Contents(Generic[T]):
    by_name: dict[str, T]
    origins: dict[str, Origin]
    problems: list[str]


class Registry(Mapping[str, T]):
    """Plug-ins of one kind by name, the shipped ones first and in their own order.

    `noun` names the kind in sentences, and each plug-in must be an instance of `kind`. `fault`
    returns what else is wrong with a plug-in, as a clause; "" for nothing.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        kind: type,
        shipped: Iterable[T],
        fault: Callable[[T], str] = lambda plugin: "",
    ) -> None:
        self.noun, self.group, self._kind, self._fault = noun, f"flipscope.{group}", kind, fault
        self._shipped: dict[str, T] = {_name(plugin): plugin for plugin in shipped}
        self._contents: _Contents[T] | None = None
        self._lock = threading.RLock()

    def __getitem__(self, name: str) -> T:
        return self._shipped[name] if name in self._shipped else self._all().by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._shipped or name in self._all().by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._all().by_name)

    def __len__(self) -> int:
        return len(self._all().by_name)

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each installed plug-in that cannot be used."""
        return tuple(self._all().problems)

    def origin(self, name: str) -> Origin:
        """Return the package that offers a plug-in; SHIPPED also for unknown names."""
        return SHIPPED if name in self._shipped else self._all().origins.get(name, SHIPPED)

    def failure(self, name: str, error: Exception) -> str:
        """Return the sentence for an unexpected error of a package's plug-in.
        The error of a shipped plug-in is raised again."""
        origin = self.origin(name)
        if origin == SHIPPED:
            raise error
        return (
            f"The {self.noun} {name!r} of {origin} failed: {_error_words(error)}. Tell its author, "
            "or leave it out."
        )

    def plugin(self, name: str, params: Mapping[str, Any] | None = None) -> T:
        """Return the plug-in with its parameters set; BadInput for an unknown name or parameter."""
        return plugin_of(self, self.noun, name=name, params=params)

    def _all(self) -> _Contents[T]:
        with self._lock:
            if self._contents is None:
                # A plug-in that reads the registry while it is imported sees only shipped ones.
                self._contents = _Contents(dict(self._shipped), {}, problems=[])
                entries = installed_in(self.group)
                for entry in sorted(entries, key=lambda entry: (str(_origin(entry)), entry.name)):
                    self._load(entry, self._contents)
            return self._contents

    def _load(self, entry: EntryPoint, contents: _Contents[T]) -> None:
        origin = _origin(entry)
        try:
            offer = entry.load()
            plugins = offer if isinstance(offer, (tuple, list)) else (offer,)
            for plugin in plugins:
                problem = self._problem(plugin, contents)
                if problem:
                    contents.problems.append(
                        f"{origin} offers the {self.noun} {entry.name!r}, which is not used: "
                        f"{problem}"
                    )
                    continue
                contents.by_name[_name(plugin)] = plugin
                contents.origins[_name(plugin)] = origin
        # Code of other packages may raise anything when it is imported.
        except (Exception, SystemExit) as error:
            contents.problems.append(
                f"{origin} offers the {self.noun} {entry.name!r}, which cannot be loaded: "
                f"{_error_words(error)}. Update the package or uninstall it."
            )

    def _problem(self, offer: Any, contents: _Contents[T]) -> str:
        """Return why an offer breaks its contract, as a clause; "" if it does not."""
        if isinstance(offer, type):
            return f"it is the class {offer.__name__}; offer an instance of it."
        if not isinstance(offer, self._kind):
            return (
                f"it is of the type {type(offer).__name__}, not {self._kind.__name__} of flipcore."
            )
        if not is_dataclass(offer):
            return "it is no instance of a dataclass, whose fields are its parameters."
        for key in ("name", "title", "about"):
            text = getattr(offer, key, None)  # no base class can force a class attribute
            if not isinstance(text, str) or not text:
                return f"it has no {key}, a text."
        name = _name(offer)
        if not _NAME.fullmatch(name):
            return f"its name {name[:60]!r} is not made of small letters, digits and _."
        if name in contents.by_name:
            origin = contents.origins.get(name) or "Flipscope itself"
            return f"the name {name!r} is taken by {origin}. Rename it in the package."
        plugin: Any = offer  # is_dataclass narrowed the type, and a T is needed
        return self._fault(plugin)


def _name(plugin: Any) -> str:
    return plugin.name


def _origin(entry: EntryPoint) -> Origin:
    dist = entry.dist
    return (
        Origin(dist.name, dist.version) if dist else Origin("a package without a name", version="")
    )


def _error_words(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}{f': {text}' if text else ''}"


def plugin_of(
    by_name: Mapping[str, T], noun: str, name: str, params: Mapping[str, Any] | None = None
) -> T:
    """Return the plug-in with its parameters set; BadInput lists the known names."""
    if name not in by_name:
        raise BadInput(f"There is no {noun} called {name!r}; choose one of {', '.join(by_name)}.")
    settings, where = dict(params or {}), f"The {noun} {name!r}"
    # Every plug-in is a frozen dataclass; its type does not say so.
    plugin: Any = by_name[name]
    check_keys(
        where, "parameter", table=settings, names=sorted(field.name for field in fields(plugin))
    )
    for key, value in settings.items():
        bounds.check_nested(where, key, value=value, bounds=bounds.PARAMETERS)
    values = {
        key: fitting(type(plugin), where, key=key, value=value, default=getattr(plugin, key))
        for key, value in settings.items()
    }
    return replace(plugin, **values)
