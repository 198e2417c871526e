"""Order and choice of the examples: the study's own prompt with its examples in another order, or with others of the same split."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from flipcore.axes.variants import base
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.records import Item, Variant

MOST = 10
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


AXIS = ExampleOrder()
