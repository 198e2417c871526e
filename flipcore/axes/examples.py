"""Examples before the question: with or without (few shots; source 002, 2.2.1), and in another order or choice.

Few shots are one of the source's ways to get more out of a weak model from before the benchmark; they change no word of the question
itself. The examples are the same for all items of a role, but that no item is its own example.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Prompt, Variant

MOST = 10


@dataclass(frozen=True)
class FewShot(Axis):
    n: int = param(5, "how many")
    name: ClassVar[str] = "few_shot"
    title: ClassVar[str] = "Examples before the question"
    about: ClassVar[str] = "Other questions of the same set, with their right answers, stand before the question."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number"})

    def __post_init__(self) -> None:
        if not 1 <= self.n <= MOST:
            raise BadInput(f"Few shots need from 1 to {MOST} examples; {self.n} were asked for.")

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        """The base and one variant with `n` examples; without that many other answered items of the kind only the base."""
        plain = base(item, self.name, layout)
        others = [
            one
            for one in material.examples.get(item.item_id, ())
            if one.item_id != item.item_id and one.kind == item.kind and one.target is not None
        ][: self.n]
        if len(others) < self.n:
            return [plain]
        shots = "".join(_shot(one, layout) for one in others)
        prompt = Prompt((("shots", shots), *plain.prompt.parts), plain.prompt.system)
        return collapsed([plain, replace(plain, key=f"{self.n}-shot", prompt=prompt)])


def _shot(item: Item, layout: str) -> str:
    """The question as the layout shows it, with its answer: a label, or the worked solution of a problem."""
    example = variant(item, FewShot.name, "shot", layout)
    if item.kind == "choice" and item.target is not None:
        return f"{example.prompt.text} {example.labels[int(item.target)]}\n\n"
    return f"{example.prompt.text} {item.solution.strip() or item.target}\n\n"


WHY_NOT = "The study's own prompt shows fewer than two examples, so there is no order to change. Give it examples."


@dataclass(frozen=True)
class ExampleOrder(Axis):
    """A variant says in `params["examples"]` what is to be done; the study's prompt does it (`runs.own_prompts`)."""

    orders: int = param(2, "other orders")
    choices: int = param(1, "other examples")
    name: ClassVar[str] = "example_order"
    title: ClassVar[str] = "Order and choice of the examples"
    about: ClassVar[str] = "The examples of the study's own prompt in another order, or others of the same split."
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        if not 0 <= self.orders <= MOST or not 0 <= self.choices <= MOST or not self.orders + self.choices:
            raise BadInput(f"Order and choice of the examples take from 0 to {MOST} orders and choices, and one at least.")

    def variants(self, item: Item, layout: str, rng: np.random.Generator, material: Material) -> list[Variant]:
        if material.n_examples < 2:
            return [base(item, self.name, layout, params={"refusal": "no examples", "why": WHY_NOT})]
        plain = base(item, self.name, layout)
        keys = [*(f"order-{i + 1}" for i in range(self.orders)), *(f"choice-{i + 1}" for i in range(self.choices))]
        return [plain, *(replace(plain, key=key, params={"examples": key}) for key in keys)]


AXES = (FewShot(), ExampleOrder())
