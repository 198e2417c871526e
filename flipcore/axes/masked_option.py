"""TS-guessing (arXiv:2311.09783): one wrong option of an item is hidden, and the model fills it in.

Nothing in the question tells the hidden words, so a model that knows them has read the item. It
needs no log-probabilities, so it works for models behind an API. Each item is asked once, at
temperature 0. As in the paper, options that anybody could guess are never hidden: yes and no,
options about other options, and options similar to another one (ROUGE-L above .65).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flipcore.axes.completion import token_limit_for
from flipcore.axes.options import referring
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.records import BASE, CONTINUATION, Item, Prompt, Variant
from flipcore.text.prompts import LAYOUTS, labels_of
from flipcore.text.similarity import rouge_l

MASK = "[MASK]"
INSTRUCTION = (
    f"One wrong option of this published question is hidden behind {MASK}. Write the words that "
    "stood there, as they were published. Write only these words.\n\n"
)
MAX_SIMILARITY = 0.65  # the paper's limit
# The least token limit. Short options all have it, so that the limit does not reveal their length.
_MIN_TOKENS = 96
_GUESSABLE = frozenset({"yes", "no", "true", "false", "both", "neither", "all", "none", "either"})
_WHY_NOT = (
    "It has no wrong option that only its text could tell: they are like another option, speak of "
    "the others, or say yes or no."
)


@dataclass(frozen=True)
class MaskedOption(Axis):
    """`instruction` asks to fill in an option drawn at random. Without one, as for a base model,
    the item is shown up to its last wrong option, whose text comes next."""

    instruction: str = param(INSTRUCTION, "instruction (none for a base model)")
    name: ClassVar[str] = "masked_option"
    title: ClassVar[str] = "Hidden option (TS-guessing)"
    about: ClassVar[str] = "One wrong option is hidden, to be filled in: who has read it, can."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice"})
    harmless: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True
    asks: ClassVar[str] = CONTINUATION

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        labels = labels_of("upper", len(item.options))
        candidates = _maskable(item)
        lines = [f"{label}. {option}" for label, option in zip(labels, item.options, strict=True)]
        params: dict = {"refusal": "guessable", "why": _WHY_NOT}
        if candidates:
            if self.instruction:
                hidden = int(rng.choice(candidates))
                lines[hidden] = f"{labels[hidden]}. {MASK}"
            else:
                hidden = candidates[-1]
                lines = [*lines[:hidden], f"{labels[hidden]}."]
            reference = item.options[hidden]
            params = {
                "reference": reference,
                "is_whole": True,
                "room": max(_MIN_TOKENS, token_limit_for(reference)),
                "n_samples": 1,
                "temperature": 0.0,
            }
            if self.instruction:
                params["label"] = labels[hidden]
        # A layout's own words may ask for an answer, which would contradict the instruction.
        stem = LAYOUTS["plain" if self.instruction else layout].stem.format(item.question)
        parts = (("instruction", self.instruction), ("stem", stem), ("options", "\n".join(lines)))
        return [
            Variant(
                item.item_id,
                self.name,
                key=BASE,
                prompt=Prompt(tuple(part for part in parts if part[1])),
                target=None,
                order=tuple(range(len(item.options))),
                labels=labels,
                layout=CONTINUATION,
                params=params,
            )
        ]


def _maskable(item: Item) -> list[int]:
    """Return the indices of the wrong options that nobody can guess."""
    if item.target is None:
        return []
    refers = referring(item.options)
    excluded = {*item.target.split("\n"), *map(str, (*refers.by_label, *refers.about_others))}
    maskable = []
    for i, option in enumerate(item.options):
        visible = (*item.options[:i], *item.options[i + 1 :])
        if str(i) not in excluded and _is_unguessable(option, visible):
            maskable.append(i)
    return maskable


def _is_unguessable(option: str, visible: Sequence[str]) -> bool:
    words = option.strip(" .").casefold()
    if words in _GUESSABLE or not any(letter.isalnum() for letter in words):
        return False
    return all(rouge_l(option, shown) <= MAX_SIMILARITY for shown in visible)


AXIS = MaskedOption()
