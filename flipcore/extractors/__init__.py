"""One way to read completions each: Completions -> Reading. Adding an extractor is one file and one line here;
a file that holds a family of them ends in the tuple of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipcore.core import plugins
from flipcore.core.contracts import Extractor
from flipcore.core.records import CONTINUATION, Variant
from flipcore.extractors import cloze, continuations, first_token, judge, losses, pattern, regex, text_match

EXTRACTORS: dict[str, Extractor] = {
    extractor.name: extractor
    for extractor in (
        *first_token.EXTRACTORS,
        regex.EXTRACTOR,
        pattern.EXTRACTOR,
        cloze.EXTRACTOR,
        *judge.EXTRACTORS,
        *losses.EXTRACTORS,
        *continuations.EXTRACTORS,
        text_match.EXTRACTOR,
    )
}
VALUES = frozenset(name for name, extractor in EXTRACTORS.items() if getattr(extractor, "gives", "answer") == "value")


def reads(extractor: Extractor, variant: Variant) -> bool:
    """Whether this variant asks for what the extractor reads: an answer, or a continuation. Another reasoning effort changes what
    is written, not what a first token or a score is."""
    if "effort" in variant.params and "generate" not in extractor.abilities:
        return False
    kind = getattr(extractor, "asks", "answer")
    return (variant.layout == CONTINUATION) == (kind == "continuation")


def title_of(extractor: str) -> str:
    """What pages and sentences call it; an extractor that is not ours (of a log, or of another version) by its own name."""
    return EXTRACTORS[extractor].title if extractor in EXTRACTORS else extractor.replace("_", " ")


def extractor_of(name: str, params: Mapping[str, Any] | None = None) -> Extractor:
    """The extractor with its parameters set; raises BadInput for an unknown name or parameter."""
    return plugins.plugin_of(EXTRACTORS, "extractor", name, params)
