"""One way to read completions each: Completions -> Reading. Adding an extractor is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipcore.core import plugins
from flipcore.core.contracts import Extractor
from flipcore.core.records import CONTINUATION, Variant
from flipcore.extractors import (
    answer_loss,
    cloze,
    first_token,
    first_token_gated,
    judge,
    judge_backwards,
    min_k,
    ncd,
    pattern,
    question_loss,
    regex,
    rouge_l,
    text_match,
)

EXTRACTORS: dict[str, Extractor] = {
    module.EXTRACTOR.name: module.EXTRACTOR
    for module in (
        first_token,
        first_token_gated,
        regex,
        pattern,
        cloze,
        judge,
        judge_backwards,
        answer_loss,
        question_loss,
        min_k,
        ncd,
        rouge_l,
        text_match,
    )
}
VALUES = frozenset(name for name, extractor in EXTRACTORS.items() if getattr(extractor, "gives", "answer") == "value")


def reads(extractor: Extractor, variant: Variant) -> bool:
    """Whether this variant asks for what the extractor reads: an answer, or a continuation."""
    kind = getattr(extractor, "asks", "answer")
    return (variant.layout == CONTINUATION) == (kind == "continuation")


def extractor_of(name: str, params: Mapping[str, Any] | None = None) -> Extractor:
    """The extractor with its parameters set; raises BadInput for an unknown name or parameter."""
    return plugins.plugin_of(EXTRACTORS, "extractor", name, params)
