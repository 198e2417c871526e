"""Plug-ins of packages, offered through entry points as an installed package would, for one test."""

from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import ClassVar

from flipcore.axes.variants import ALL_KINDS, base, collapsed, variant
from flipcore.core import plugins
from flipcore.core.contracts import Axis


@dataclass(frozen=True)
class Opposite(Axis):
    """Another question with the old right answer: whoever takes it for a harmless change counts flips that are none."""

    loud: bool = False
    name: ClassVar[str] = "opposite"
    title: ClassVar[str] = "Opposite question"
    about: ClassVar[str] = "The question is turned into its opposite."
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS
    harmless: ClassVar[bool] = False

    def variants(self, item, layout, rng, material):
        question = f"Which is NOT so? {item.question}"
        return collapsed([base(item, self.name, layout), variant(item, self.name, "opposite", layout, question=question)])


@dataclass(frozen=True)
class Falling(Opposite):
    name: ClassVar[str] = "falling"

    def variants(self, item, layout, rng, material):
        raise ZeroDivisionError("nothing to divide by")


@dataclass(frozen=True)
class Again(Opposite):
    name: ClassVar[str] = "identity"


@dataclass(frozen=True)
class Odd(Opposite):
    name: ClassVar[str] = "odd"
    applies_to: ClassVar[frozenset[str]] = frozenset({"poem"})


@dataclass(frozen=True)
class Silent(Opposite):
    name: ClassVar[str] = "silent"
    title: ClassVar[str] = ""


OPPOSITE, FALLING, AGAIN, ODD, SILENT, NO_AXIS, NEVER = Opposite(), Falling(), Again(), Odd(), Silent(), "an axis", Opposite
BOTH = (OPPOSITE, replace(OPPOSITE, loud=True))


def entry(what, name="one", package="flip-lab", version="2.1"):
    """An entry point as an installed package has it."""
    point = EntryPoint(name, what if ":" in what else f"{__name__}:{what}", "")
    return point._for(SimpleNamespace(name=package, version=version))


@contextmanager
def offered(monkeypatch, registry, *entries):
    """The registry as if these entry points were installed."""
    with monkeypatch.context() as patch:
        patch.setattr(plugins, "installed_in", lambda group: entries if group == registry.group else ())
        patch.setattr(registry, "_contents", None)
        yield registry
