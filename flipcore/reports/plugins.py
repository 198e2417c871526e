"""What is installed besides the shipped plug-ins, and what of it cannot be used: for the command
line and for New study."""

from collections.abc import Callable
from itertools import chain
from typing import Any

from flipcore.axes import AXES
from flipcore.core.contracts import ANSWER
from flipcore.core.plugins import SHIPPED, Registry
from flipcore.datasets import LOADERS
from flipcore.detectors import DETECTORS
from flipcore.extractors import EXTRACTORS
from flipcore.models import BACKENDS

REGISTRIES: tuple[Registry, ...] = (LOADERS, AXES, EXTRACTORS, BACKENDS, DETECTORS)


def plugin_problems() -> list[str]:
    """A sentence for each installed plug-in that cannot be used."""
    return list(chain.from_iterable(registry.problems for registry in REGISTRIES))


def plugin_lines(*, with_shipped: bool = False) -> list[str]:
    """A line a plug-in with what it is and the package that it comes from; then what cannot be
    used."""
    lines = []
    for registry in REGISTRIES:
        for name, one in registry.items():
            origin = registry.origin(name)
            if with_shipped or origin != SHIPPED:
                lines.append(
                    f"{registry.noun} {name} ({one.title}),"
                    f" {'shipped' if origin == SHIPPED else origin}"
                )
    return [
        *(lines or ["No package offers a plug-in; what is shipped is listed with --all."]),
        *plugin_problems(),
    ]


def about(registry: Registry, name: str) -> str:
    """What a plug-in is for, and the package that it comes from."""
    origin = registry.origin(name)
    return registry[name].about + ("" if origin == SHIPPED else f" From the package {origin}.")


def groups() -> list[tuple[str, Registry, list[str]]]:
    """What New study offers under a heading each: axes of harmless changes, other axes, extractors
    of answers, other extractors."""
    flips = [name for name, axis in AXES.items() if axis.harmless and not axis.rewrites]
    answers = [name for name, extractor in EXTRACTORS.items() if extractor.gives == ANSWER]
    return [
        ("What is changed without touching the answer: flips", AXES, flips),
        (
            "What is rewritten or damaged: memory",
            AXES,
            [name for name in AXES if name not in flips],
        ),
        ("How the answer is read", EXTRACTORS, answers),
        (
            "What else is measured: losses and similarities",
            EXTRACTORS,
            [name for name in EXTRACTORS if name not in answers],
        ),
    ]


def tables() -> str:
    """The shipped axes, extractors, detectors and kinds of model as Markdown, for docs/parts.md."""
    parts: list[tuple[str, str, str, str, Registry, Callable[[Any], str]]] = [
        (
            "axis",
            "what it changes",
            "items",
            "flips",
            AXES,
            lambda one: "yes" if one.harmless else "no: memory alone",
        ),
        (
            "extractor",
            "what it reads",
            "items",
            "needs of a model",
            EXTRACTORS,
            lambda one: ", ".join(sorted(one.abilities)),
        ),
        ("detector", "what it measures", "", "compared with", DETECTORS, lambda one: one.null),
    ]
    lines = []
    for what, about_title, items, more, registry, tell in parts:
        heads = [what, about_title, *([items] if items else []), more]
        lines += ["", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        for name, one in registry.items():
            if registry.origin(name) == SHIPPED:
                kinds = [", ".join(sorted(one.applies_to))] if items else []
                lines.append(
                    f"| {' | '.join([f'`{name}` {one.title}', one.about, *kinds, tell(one)])} |"
                )
    return "\n".join(lines).strip()
