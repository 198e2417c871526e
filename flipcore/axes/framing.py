"""Axes that change the prompt around a question: layout, instruction, system prompt, examples.

Examples before the question (few shots; source 002, 2.2.1) are one of the source's ways to get more
out of a weak model that is older than the benchmark. All items of a role have the same examples,
except that no item is its own example.
"""

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
        for name in self.layouts:
            layout_by_name(name)

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        changed = [variant(item, self.name, key=name, layout=name) for name in self.layouts]
        return collapsed([base(item, self.name, layout=layout), *changed])


# Form -> kind of item -> the instruction
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
INSTRUCTION = "instruction"  # name of the prompt's part that holds the instruction


@dataclass(frozen=True)
class AnswerFormat(Axis):
    forms: tuple[str, ...] = param(("bare", "sentence"), "forms", choices=tuple(FORMS))
    name: ClassVar[str] = "answer_format"
    title: ClassVar[str] = "Answer-format instruction"
    about: ClassVar[str] = "The same question with a sentence that says in which form to answer."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        unknown = [form for form in self.forms if form not in FORMS]
        if unknown or not self.forms:
            raise BadInput(
                f"An answer format is one of {', '.join(FORMS)}, not "
                f"{unknown[0] if unknown else 'nothing'!r}."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        unchanged = base(item, self.name, layout=layout)
        changed = [
            replace(
                unchanged,
                key=form.replace(" ", "-"),
                prompt=with_instruction(unchanged.prompt, FORMS[form][item.kind]),
            )
            for form in self.forms
        ]
        return collapsed([unchanged, *changed])


def with_instruction(prompt: Prompt, sentence: str) -> Prompt:
    """Add the sentence to a prompt, on a line of its own before the cue."""
    *before, cue = prompt.parts
    text = f"\n{sentence}" if cue[1].startswith("\n") else f"{sentence}\n"
    return replace(prompt, parts=(*before, (INSTRUCTION, text), cue))


MAX_TEXTS = 10


@dataclass(frozen=True)
class SystemPrompt(Axis):
    """Other system prompts; the base has the study's own, which may be none.
    `params["system"]` of a variant replaces it."""

    texts: tuple[str, ...] = param(("You are a helpful assistant.",), "system prompts")
    name: ClassVar[str] = "system_prompt"
    title: ClassVar[str] = "System prompt"
    about: ClassVar[str] = (
        "The same question behind another system prompt, or behind none where the study has its "
        "own."
    )
    applies_to: ClassVar[frozenset[str]] = ALL_KINDS

    def __post_init__(self) -> None:
        if not 1 <= len(self.texts) <= MAX_TEXTS or not all(text.strip() for text in self.texts):
            raise BadInput(f"System prompts: give from 1 to {MAX_TEXTS} texts, none of them empty.")

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        unchanged = base(item, self.name, layout=layout)
        texts = {f"system-{i}": text for i, text in enumerate(self.texts, start=1)} | (
            {"none": ""} if material.has_system else {}
        )
        changed = [
            replace(
                unchanged,
                key=key,
                prompt=replace(unchanged.prompt, system=text),
                params={"system": text},
            )
            for key, text in texts.items()
        ]
        # The study inserts its own system prompt later. Until then the base lacks it, so equal
        # prompts must stay.
        variants = [unchanged, *changed]
        return variants if material.has_system else collapsed(variants)


MAX_EXAMPLES = 10  # examples, orders and choices of examples


@dataclass(frozen=True)
class FewShot(Axis):
    n: int = param(5, "how many")
    name: ClassVar[str] = "few_shot"
    title: ClassVar[str] = "Examples before the question"
    about: ClassVar[str] = (
        "Other questions of the same set, with their right answers, stand before the question."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MAX_EXAMPLES:
            raise BadInput(
                f"Few shots need from 1 to {MAX_EXAMPLES} examples; {self.n} were asked for."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        """Return the base and a variant with `n` examples; the base alone without enough items."""
        unchanged = base(item, self.name, layout=layout)
        examples = [
            example
            for example in material.examples.get(item.item_id, ())
            if example.item_id != item.item_id
            and example.kind == item.kind
            and example.target is not None
        ][: self.n]
        if len(examples) < self.n:
            return [unchanged]
        shots = "".join(_shot(example, layout) for example in examples)
        prompt = Prompt((("shots", shots), *unchanged.prompt.parts), unchanged.prompt.system)
        return collapsed([unchanged, replace(unchanged, key=f"{self.n}-shot", prompt=prompt)])


def _shot(item: Item, layout: str) -> str:
    """Return a question in the layout with its answer: a label, or a worked solution."""
    example = variant(item, FewShot.name, key="shot", layout=layout)
    if item.kind == "choice" and item.target is not None:
        return f"{example.prompt.text} {example.labels[int(item.target)]}\n\n"
    return f"{example.prompt.text} {item.solution.strip() or item.target}\n\n"


WHY_NOT = (
    "The study's own prompt shows fewer than two examples, so there is no order to change. Give "
    "it examples."
)


@dataclass(frozen=True)
class ExampleOrder(Axis):
    """Other orders and choices of the examples in the study's own prompt.
    A variant only names its change in `params["examples"]`; `runs.own_prompts` makes it."""

    orders: int = param(2, "other orders")
    choices: int = param(1, "other examples")
    name: ClassVar[str] = "example_order"
    title: ClassVar[str] = "Order and choice of the examples"
    about: ClassVar[str] = (
        "The examples of the study's own prompt in another order, or others of the same split."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        if (
            not 0 <= self.orders <= MAX_EXAMPLES
            or not 0 <= self.choices <= MAX_EXAMPLES
            or not self.orders + self.choices
        ):
            raise BadInput(
                f"Order and choice of the examples take from 0 to {MAX_EXAMPLES} orders and "
                "choices, and one at least."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        if material.n_examples < 2:
            return [
                base(
                    item,
                    self.name,
                    layout=layout,
                    params={"refusal": "no examples", "why": WHY_NOT},
                )
            ]
        unchanged = base(item, self.name, layout=layout)
        keys = [
            *(f"order-{i + 1}" for i in range(self.orders)),
            *(f"choice-{i + 1}" for i in range(self.choices)),
        ]
        return [unchanged, *(replace(unchanged, key=key, params={"examples": key}) for key in keys)]


AXES = (PromptFormat(), AnswerFormat(), SystemPrompt(), FewShot(), ExampleOrder())
