"""What the similarity readouts share: the request for a continuation, and the text that it is compared with.

The variant carries its reference, or the prompt whose answer at temperature 0 is one: that is asked once, whatever the number
of samples.

A continuation is asked for with a fixed length, so the token limit that ends it cuts nothing off; a filter or an open
reasoning block does.
"""

from __future__ import annotations

from collections.abc import Sequence

from flipcore.core.contracts import Ask, Need
from flipcore.core.records import Completion, Reading, Request, Variant
from flipcore.extractors.readings import absent, failure, unfinished

_ROOM_STEP = 16  # tokens; requests of like length are answered in one batch
_MOST = 1024


def continuation_need(variant: Variant, ask: Ask) -> list[Need]:
    """A request for a continuation about as long as the reference, at the axis' own temperature, after one for the reference
    where the variant has none."""
    reference, prompt = variant.params.get("reference"), variant.params.get("reference_prompt")
    if not reference and not prompt:
        return []
    words = 2 * len(str(reference).split()) + 8
    room = min(_MOST, _ROOM_STEP * -(-words // _ROOM_STEP)) if reference else min(_MOST, ask.max_tokens)

    def request(text: str, temperature: float, top_p: float) -> Request:
        return Request(
            "generate", text, variant.prompt.system, max_tokens=room, temperature=temperature, top_p=top_p, seed=ask.seed
        )

    continued = Need(request(variant.prompt.text, float(variant.params.get("temperature", ask.temperature)), ask.top_p))
    return [continued] if reference else [Need(request(str(prompt), 0.0, 1.0), sample=0), continued]


def compared(variant: Variant, completions: Sequence[Completion]) -> tuple[str, str] | Reading:
    """The reference and the continuation, or the absent or cut reading that says why there are not both. An empty continuation is a
    continuation too."""
    reference = str(variant.params.get("reference") or "")
    if not reference and not variant.params.get("reference_prompt"):
        return absent("This variant carries no reference to compare a continuation with.")
    nothing = failure(completions) or next(filter(None, (unfinished(one, length_counts=False) for one in completions)), None)
    if nothing:
        return nothing
    reference = reference or completions[0].text.strip()
    if not reference:
        return absent("The model wrote nothing of the unchanged text, so there is nothing to compare with.")
    return reference, completions[-1].text
