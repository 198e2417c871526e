"""One registry for every kind of plug-in: those shipped, and those of installed packages (entry points), by name.

A package offers its plug-in under the group of its kind: `flipscope.axes`, `flipscope.extractors`, `flipscope.models`,
`flipscope.datasets` or `flipscope.detectors`. The entry point names one plug-in or a tuple of them. It is imported when
somebody first looks through the registry or asks for a name that is not shipped. One that cannot be used is a sentence in
`problems` and hurts nothing else. Who installs a package trusts it: there is no further allow-list.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from flipcore.core import bounds
from flipcore.core.declared import check_keys, fitting
from flipcore.core.errors import BadInput

T = TypeVar("T")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


@dataclass(frozen=True)
class Origin:
    """The package that a plug-in comes from, and its version; both empty for what is shipped."""

    package: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.package} {self.version}".strip()


SHIPPED = Origin()


def in_files(package: str, names: str, one: str, several: str) -> Iterator[Any]:
    """What these modules of a package offer, in this order: each what it calls `one` ("AXIS"), or the tuple `several` ("AXES") in which a
    file of close relatives ends."""
    for name in names.split():
        offers = vars(import_module(f"{package}.{name}"))
        yield from offers.get(several) or (offers[one],)


@dataclass
class _Content(Generic[T]):
    by_name: dict[str, T]
    origins: dict[str, Origin]
    problems: list[str]


class Registry(Mapping[str, T]):
    """Plug-ins of one kind by name, the shipped ones first and in their own order.

    `what` is the kind as a sentence names it, `kind` the type that each must be of; `fault` says what else is wrong with one
    ("" for nothing)."""

    def __init__(
        self, what: str, group: str, kind: type, shipped: Iterable[T], fault: Callable[[T], str] = lambda one: ""
    ) -> None:
        self.what, self.group, self._kind, self._fault = what, f"flipscope.{group}", kind, fault
        self._shipped: dict[str, T] = {_name(one): one for one in shipped}
        self._content: _Content[T] | None = None
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
        """The package that offers a plug-in; SHIPPED for one of Flipscope's own, and for an unknown name."""
        return SHIPPED if name in self._shipped else self._all().origins.get(name, SHIPPED)

    def failure(self, name: str, error: Exception) -> str:
        """A plug-in of a package raised what it should not: the sentence. Raises the error again for a shipped one."""
        origin = self.origin(name)
        if origin == SHIPPED:
            raise error
        return f"The {self.what} {name!r} of {origin} failed: {_words(error)}. Tell its author, or leave it out."

    def plugin(self, name: str, params: Mapping[str, Any] | None = None) -> T:
        """The plug-in with its parameters set; raises BadInput for an unknown name or parameter."""
        return plugin_of(self, self.what, name, params)

    def _all(self) -> _Content[T]:
        with self._lock:
            if self._content is None:
                # what a plug-in sees that looks here while it is imported
                self._content = _Content(dict(self._shipped), {}, [])
                for entry in sorted(entry_points(group=self.group), key=lambda one: (str(_origin(one)), one.name)):
                    self._load(entry, self._content)
            return self._content

    def _load(self, entry: EntryPoint, content: _Content[T]) -> None:
        origin = _origin(entry)
        try:
            offer = entry.load()
            plugins = offer if isinstance(offer, (tuple, list)) else (offer,)
            for one in plugins:
                problem = self._problem(one, content)
                if problem:
                    content.problems.append(f"{origin} offers the {self.what} {entry.name!r}, which is not used: {problem}")
                    continue
                content.by_name[_name(one)] = one
                content.origins[_name(one)] = origin
        except (Exception, SystemExit) as error:  # somebody else's code may raise anything when it is imported
            content.problems.append(
                f"{origin} offers the {self.what} {entry.name!r}, which cannot be loaded: {_words(error)}. "
                "Update the package or uninstall it."
            )

    def _problem(self, one: Any, content: _Content[T]) -> str:
        """Why an offer is refused, as a sentence; "" for one that is as its contract says."""
        if isinstance(one, type):
            return f"it is the class {one.__name__}; offer an instance of it."
        if not isinstance(one, self._kind):
            return f"it is of the type {type(one).__name__}, not {self._kind.__name__} of flipcore."
        if not is_dataclass(one):
            return "it is no instance of a dataclass, whose fields are its parameters."
        for key in ("name", "title", "about"):
            text = getattr(one, key, None)  # a contract cannot force a class attribute
            if not isinstance(text, str) or not text:
                return f"it has no {key}, a text."
        name = _name(one)
        if not _NAME.fullmatch(name):
            return f"its name {name[:60]!r} is not made of small letters, digits and _."
        if name in content.by_name:
            whose = content.origins.get(name)
            return f"the name {name!r} is taken by {f'{whose}' if whose else 'Flipscope itself'}. Rename it in the package."
        offer: Any = one  # what is_dataclass makes of it is no T
        return self._fault(offer)


def _name(plugin: Any) -> str:
    return plugin.name


def _origin(entry: EntryPoint) -> Origin:
    dist = entry.dist
    return Origin(dist.name, dist.version) if dist else Origin("a package without a name", "")


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}{f': {text}' if text else ''}"


def plugin_of(by_name: Mapping[str, T], what: str, name: str, params: Mapping[str, Any] | None = None) -> T:
    """The plug-in with its parameters set; raises BadInput with what is known."""
    if name not in by_name:
        raise BadInput(f"There is no {what} called {name!r}; choose one of {', '.join(by_name)}.")
    settings, where = dict(params or {}), f"The {what} {name!r}"
    plugin: Any = by_name[name]  # every plug-in is a frozen dataclass, which a base class cannot say
    check_keys(where, "parameter", settings, sorted(field.name for field in fields(plugin)))
    for key, value in settings.items():
        bounds.check_nested(where, key, value, bounds.PARAMETERS)
    values = {key: fitting(type(plugin), where, key, value, getattr(plugin, key)) for key, value in settings.items()}
    return replace(plugin, **values)
