"""Question completion: the model gets the first half of an item, and a memorized item goes on
word for word.

It needs no log-probabilities, so it works for models behind an API. Options are part of the text.
Each item is asked once, at temperature 0. Golchin and Surdeanu (arXiv:2308.08493) also name the
dataset in their instruction. Here only the text is shown, so that controls get the same prompt.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.bit_flip import split_text
from flipcore.axes.variants import ALL_KINDS
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import BASE, CONTINUATION, Item, Prompt, Variant
from flipcore.text.prompts import LAYOUTS, labels_of

HALF = 0.5
INSTRUCTION = (
    "This is the first half of a text. Continue it word for word. Write only the words that come "
    "next.\n\n"
)
# In tokens. Limits are multiples of the step, because a batch holds only requests with one limit.
_LIMIT_STEP, _MAX_LIMIT = 16, 1024


@dataclass(frozen=True)
class Completion(Axis):
    """`instruction` stands before the text; without one, as for a base model, the layout's own
    words do."""

    instruction: str = param(INSTRUCTION, "instruction (none for a base model)")
    name: ClassVar[str] = "completion"
    title: ClassVar[str] = "Question completion"
    about: ClassVar[str] = (
        "The first half of the item is shown, to be continued word for word: what was read often "
        "is."
    )
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS
    harmless: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True
    asks: ClassVar[str] = CONTINUATION

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        labels = labels_of("upper", len(item.options)) if item.options else ()
        lines = [f"{label}. {option}" for label, option in zip(labels, item.options, strict=True)]
        begin, end = split_text("\n".join([item.question, *lines]), HALF)
        # A passage has no question, so the layout's words do not fit it.
        is_passage = item.kind == "completion" and not item.solution
        lead = "" if is_passage else LAYOUTS[layout].stem.partition("{}")[0]
        first_part = ("instruction", self.instruction) if self.instruction else ("lead", lead)
        params: dict = {"refusal": "short", "why": "It is one word, which has no second half."}
        if end:
            params = {
                "reference": end,
                "n_words": len(end.split()),
                "room": token_limit_for(end),
                "n_samples": 1,
                "temperature": 0.0,
            }
        parts = tuple(part for part in (first_part, ("stem", begin)) if part[1])
        order = tuple(range(len(item.options)))
        return [
            Variant(
                item.item_id,
                self.name,
                key=BASE,
                prompt=Prompt(parts),
                target=None,
                order=order,
                labels=labels,
                layout=CONTINUATION,
                params=params,
            )
        ]


def token_limit_for(reference: str) -> int:
    """Return a token limit for the reference: 2 per word or 1 per 3 bytes, and 8 more."""
    n_bytes = len(reference.encode("utf-8", "surrogatepass"))
    n_tokens = 8 + max(2 * len(reference.split()), n_bytes // 3)
    return min(_MAX_LIMIT, _LIMIT_STEP * math.ceil(n_tokens / _LIMIT_STEP))


AXIS = Completion()
