"""One way to read completions each: Completions -> Reading. Adding an extractor is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipcore import plugins
from flipcore.contracts import Extractor
from flipcore.extractors import cloze, first_token, first_token_gated, judge, judge_backwards, regex

EXTRACTORS: dict[str, Extractor] = {module.EXTRACTOR.name: module.EXTRACTOR for module in (
    first_token, first_token_gated, regex, cloze, judge, judge_backwards)}


def made(name: str, params: Mapping[str, Any] | None = None) -> Extractor:
    """The extractor with its parameters set; raises BadInput for an unknown name or parameter."""
    return plugins.made(EXTRACTORS, "extractor", name, params)
