"""Answer format: a sentence that says in which form to answer stands before the cue; the question stays as it is."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import base, collapsed
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Prompt, Variant

# form -> kind of item -> the sentence
FORMS: dict[str, dict[str, str]] = {
    "bare": {
        "choice": "Reply with the label of the right option and nothing else.",
        "number": "Reply with the number and nothing else.",
        "text": "Reply with the answer and nothing else.",
    },
    "sentence": {
        "choice": 'Reply in one sentence: "The answer is" and the label of the right option.',
        "number": 'Reply in one sentence: "The answer is" and the number.',
        "text": 'Reply in one sentence: "The answer is" and the answer.',
    },
    "last line": {
        "choice": 'End with a line "Answer: " and the label of the right option.',
        "number": 'End with a line "Answer: " and the number.',
        "text": 'End with a line "Answer: " and the answer.',
    },
}
INSTRUCTION = "instruction"  # the part of a prompt that holds the sentence


@dataclass(frozen=True)
class AnswerFormat(Axis):
    forms: tuple[str, ...] = param(("bare", "sentence"), "forms", tuple(FORMS))
    name: ClassVar[str] = "answer_format"
    title: ClassVar[str] = "Answer-format instruction"
    about: ClassVar[str] = "The same question with a sentence that says in which form to answer."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        unknown = [one for one in self.forms if one not in FORMS]
        if unknown or not self.forms:
            raise BadInput(f"An answer format is one of {', '.join(FORMS)}, not {unknown[0] if unknown else 'nothing'!r}.")

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        plain = base(item, self.name, layout)
        changed = [
            replace(plain, key=form.replace(" ", "-"), prompt=with_instruction(plain.prompt, FORMS[form][item.kind]))
            for form in self.forms
        ]
        return collapsed([plain, *changed])


def with_instruction(prompt: Prompt, sentence: str) -> Prompt:
    """The prompt with the sentence on a line of its own before the cue."""
    *before, cue = prompt.parts
    text = f"\n{sentence}" if cue[1].startswith("\n") else f"{sentence}\n"
    return replace(prompt, parts=(*before, (INSTRUCTION, text), cue))


AXIS = AnswerFormat()
