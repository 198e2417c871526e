"""Extractors: each takes answers out of completions in one way.

Adding an extractor is one file and one name here, or an entry point `flipscope.extractors`. A file
with several extractors ends in a tuple of them.
"""

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any

from flipcore.core.contracts import VALUE, Extractor, extractor_fault
from flipcore.core.plugins import Registry, in_files
from flipcore.core.records import CONTINUATION, Variant

_FILES = (
    "first_token written_answer pattern judge losses continuations same_meaning mathematics "
    "unit_tests"
)
EXTRACTORS: Registry[Extractor] = Registry(
    "extractor",
    "extractors",
    kind=Extractor,
    shipped=in_files(__name__, _FILES, singular="EXTRACTOR", plural="EXTRACTORS"),
    fault=extractor_fault,
)


class _Values(Set):
    """Names of the extractors that read a value, not an answer.
    Each use looks them up again, because packages may add some."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in EXTRACTORS and EXTRACTORS[name].gives == VALUE

    def __iter__(self) -> Iterator[str]:
        return (name for name in EXTRACTORS if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


VALUES = _Values()


def reads(extractor: Extractor, variant: Variant) -> bool:
    """Tell whether this variant asks for what the extractor reads: an answer or a continuation."""
    # A reasoning effort changes only the written answer, no first token and no score.
    if "effort" in variant.params and "generate" not in extractor.abilities:
        return False
    return (variant.layout == CONTINUATION) == (extractor.asks == CONTINUATION)


def title_of(name: str) -> str:
    """Return an extractor's title; its name with spaces where it is not installed here."""
    return EXTRACTORS[name].title if name in EXTRACTORS else name.replace("_", " ")


_TOLERANT = re.compile(r"(?i)(?<![a-z])(within|tolerance|tol|approx\w*|(is)?close)(?![a-z])")


def count_alike(first: str, second: str) -> bool:
    """Tell whether two extractors may contradict each other: by their names, either both or neither
    count answers near the right one as right ("within_1pct")."""
    return bool(_TOLERANT.search(first)) == bool(_TOLERANT.search(second))


def needs_judge(name: str) -> bool:
    """Tell whether another model made the readouts with this name ("same_meaning v1").
    Names of recorded readouts by a judge begin with "judge"."""
    base = name.partition(" v")[0]
    return EXTRACTORS[base].needs_judge if base in EXTRACTORS else name.startswith("judge")


def reads_together(name: str) -> bool:
    """Tell whether readouts with this name depend on the item's other answers."""
    base = name.partition(" v")[0]
    return base in EXTRACTORS and EXTRACTORS[base].reads_together


def extractor_of(name: str, params: Mapping[str, Any] | None = None) -> Extractor:
    """Return the extractor with its parameters set; BadInput for an unknown name or parameter."""
    return EXTRACTORS.plugin(name, params)
