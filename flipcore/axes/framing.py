"""What stands around a question: the layout of its words, a sentence that says in which form to answer, the system message. The question
stays as it is."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import ALL_KINDS, base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import CODE, Item, Prompt, Variant
from flipcore.text.prompts import LAYOUTS, layout_by_name


@dataclass(frozen=True)
class PromptFormat(Axis):
    layouts: tuple[str, ...] = param(("paren", "bare"), choices=tuple(LAYOUTS))
    name: ClassVar[str] = "prompt_format"
    title: ClassVar[str] = "Prompt format"
    about: ClassVar[str] = "The same words with other brackets, line breaks and cues."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text", CODE})

    def __post_init__(self) -> None:
        for one in self.layouts:
            layout_by_name(one)

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        changed = [variant(item, self.name, one, one) for one in self.layouts]
        return collapsed([base(item, self.name, layout), *changed])


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


MOST_TEXTS = 10


@dataclass(frozen=True)
class SystemPrompt(Axis):
    """The base has the study's own system prompt, which is none unless it says one; `params["system"]` then stands in its place."""

    texts: tuple[str, ...] = param(("You are a helpful assistant.",), "system prompts")
    name: ClassVar[str] = "system_prompt"
    title: ClassVar[str] = "System prompt"
    about: ClassVar[str] = "The same question behind another system prompt, or behind none where the study has its own."
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def __post_init__(self) -> None:
        if not 1 <= len(self.texts) <= MOST_TEXTS or not all(one.strip() for one in self.texts):
            raise BadInput(f"System prompts: give from 1 to {MOST_TEXTS} texts, none of them empty.")

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        plain = base(item, self.name, layout)
        texts = {f"system-{i}": text for i, text in enumerate(self.texts, start=1)} | (
            {"none": ""} if material.has_system else {}
        )
        changed = [
            replace(plain, key=key, prompt=replace(plain.prompt, system=text), params={"system": text})
            for key, text in texts.items()
        ]
        return [plain, *changed] if material.has_system else collapsed([plain, *changed])


AXES = (PromptFormat(), AnswerFormat(), SystemPrompt())
