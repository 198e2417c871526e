"""What the similarity readouts share: the request for a continuation, and its reference, which the variant carries."""

from __future__ import annotations

from collections.abc import Sequence

from flipcore.contracts import Ask, Need
from flipcore.extractors.readings import absent, failure
from flipcore.records import Completion, Reading, Request, Variant

_ROOM_STEP = 16  # tokens; requests of like length are answered in one batch


def reference(variant: Variant) -> str:
    """The text that a continuation is compared with; empty where the variant has none."""
    return str(variant.params.get("reference") or "")


def continuation_need(variant: Variant, ask: Ask) -> list[Need]:
    """One request for a continuation about as long as the reference, at the axis' own temperature."""
    if not reference(variant):
        return []
    words = 2 * len(reference(variant).split()) + 8
    room = min(1024, _ROOM_STEP * -(-words // _ROOM_STEP))
    temperature = float(variant.params.get("temperature", ask.temperature))
    return [Need(Request("generate", variant.prompt.text, variant.prompt.system, max_tokens=room, temperature=temperature,
                         top_p=ask.top_p, seed=ask.seed))]


def continued(variant: Variant, completions: Sequence[Completion]) -> str | Reading:
    """The continuation, or the absent reading that says why there is none. An empty one is a continuation too."""
    if not reference(variant):
        return absent("This variant carries no reference to compare a continuation with.")
    return failure(completions) or completions[0].text
