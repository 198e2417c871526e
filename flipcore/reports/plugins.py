"""Lists of plug-ins, for the command line, New study and the documentation."""

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
    """Return a sentence per installed plug-in that cannot be used."""
    return list(chain.from_iterable(registry.problems for registry in REGISTRIES))


def plugin_lines(*, with_shipped: bool = False) -> list[str]:
    """Return one line per plug-in with its package, then those that cannot be used. Shipped ones
    are left out without `with_shipped`."""
    lines = []
    for registry in REGISTRIES:
        for name, plugin in registry.items():
            origin = registry.origin(name)
            if with_shipped or origin != SHIPPED:
                source = "shipped" if origin == SHIPPED else origin
                lines.append(f"{registry.noun} {name} ({plugin.title}), {source}")
    if not lines:
        lines.append("No package offers a plug-in; what is shipped is listed with --all.")
    return [*lines, *plugin_problems()]


def about(registry: Registry, name: str) -> str:
    """Describe a plug-in; one that is not shipped with its package."""
    origin = registry.origin(name)
    return registry[name].about + ("" if origin == SHIPPED else f" From the package {origin}.")


def groups() -> list[tuple[str, Registry, list[str]]]:
    """Return (heading, registry, names) per group of parts that New study offers."""
    harmless_axes = [name for name, axis in AXES.items() if axis.harmless and not axis.rewrites]
    other_axes = [name for name in AXES if name not in harmless_axes]
    answers = [name for name, extractor in EXTRACTORS.items() if extractor.gives == ANSWER]
    other_extractors = [name for name in EXTRACTORS if name not in answers]
    return [
        ("What is changed without touching the answer: flips", AXES, harmless_axes),
        ("What is rewritten or damaged: memory", AXES, other_axes),
        ("How the answer is read", EXTRACTORS, answers),
        ("What else is measured: losses and similarities", EXTRACTORS, other_extractors),
    ]


def tables() -> str:
    """Return the shipped axes, extractors and detectors as Markdown tables, for docs/parts.md."""
    axis_rows = [["axis", "what it changes", "items", "flips"]]
    for name, axis in _shipped(AXES).items():
        flips = "yes" if axis.harmless else "no: memory alone"
        axis_rows.append([f"`{name}` {axis.title}", axis.about, _kinds(axis), flips])
    extractor_rows = [["extractor", "what it reads", "items", "needs of a model"]]
    for name, extractor in _shipped(EXTRACTORS).items():
        needs = ", ".join(sorted(extractor.abilities))
        row = [f"`{name}` {extractor.title}", extractor.about, _kinds(extractor), needs]
        extractor_rows.append(row)
    detector_rows = [["detector", "what it measures", "compared with"]]
    for name, detector in _shipped(DETECTORS).items():
        detector_rows.append([f"`{name}` {detector.title}", detector.about, detector.null])
    lines = []
    for rows in (axis_rows, extractor_rows, detector_rows):
        shown = [f"| {' | '.join(row)} |" for row in rows]
        lines += ["", shown[0], f"|{'---|' * len(rows[0])}", *shown[1:]]
    return "\n".join(lines).strip()


def _shipped(registry: Registry) -> dict[str, Any]:
    return {name: part for name, part in registry.items() if registry.origin(name) == SHIPPED}


def _kinds(part: Any) -> str:
    return ", ".join(sorted(part.applies_to))
