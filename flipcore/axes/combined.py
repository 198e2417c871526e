"""Combined wordings: each way of asking draws one setting of every axis at once, so that a score
can be told of other ways of asking.

One axis at a time explains a flip; ways of asking drawn at random say how far a score would move if
somebody else had worded the questions. A setting is what a variant of an axis differs in from the
base: order, labels, layout, question, system prompt, instruction. One that differs in anything else
(the question behind the options) cannot be joined with others and is not drawn.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from flipcore.axes.framing import (
    INSTRUCTION,
    AnswerFormat,
    PromptFormat,
    SystemPrompt,
    with_instruction,
)
from flipcore.axes.options import LabelSet, OptionOrder
from flipcore.axes.stored_wordings import ParaphraseAxis, Typos
from flipcore.axes.variants import base, collapsed, variant
from flipcore.core.contracts import Axis, Material, param
from flipcore.core.errors import BadInput
from flipcore.core.randomness import generator
from flipcore.core.records import Item, Prompt, Variant
from flipcore.core.wordings import COMBINED
from flipcore.text.prompts import layout_by_name

MOST = 64
_PARTS = (
    OptionOrder(),
    LabelSet(),
    PromptFormat(),
    AnswerFormat(),
    ParaphraseAxis(),
    SystemPrompt(),
    Typos(),
)
PARTS: Mapping[str, Axis] = {axis.name: axis for axis in _PARTS}


@dataclass(frozen=True)
class CombinedWordings(Axis):
    """`n` ways of asking, the base not among them; `parts` are the axes whose settings they join,
    with the parameters that the study declares for them. The same `draw` gives the same ways, way k
    the same settings for every item that has them all."""

    n: int = param(8, "how many ways")
    parts: tuple[str, ...] = param(
        ("option_order", "label_set", "prompt_format", "answer_format"),
        "changes",
        choices=tuple(PARTS),
    )
    draw: int = param(0, "random seed of the ways")
    name: ClassVar[str] = COMBINED
    title: ClassVar[str] = "Ways of asking, drawn at random"
    about: ClassVar[str] = (
        "Each way changes several things at once: option order, labels, format, instruction."
    )
    applies_to: ClassVar[frozenset[str]] = frozenset({"choice", "number", "text"})

    def __post_init__(self) -> None:
        unknown = [part for part in self.parts if part not in PARTS]
        if unknown or not self.parts or not 1 <= self.n <= MOST or self.draw < 0:
            raise BadInput(
                f"Ways of asking take from 1 to {MOST} ways, a seed from 0 on, and changes of "
                f"{', '.join(PARTS)}; got {self.n} ways, seed {self.draw}, changes "
                f"{', '.join(self.parts) or 'none'}."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        plain = base(item, self.name, layout=layout)
        by_axis = {}
        for name in self.parts:
            axis = material.axes.get(name, PARTS[name])
            if item.kind in axis.applies_to:
                by_axis[name] = [
                    {},
                    *_settings(item, plain, variants=axis.variants(item, layout, rng, material)),
                ]
        sizes = tuple(len(settings) for settings in by_axis.values())
        ways = _ways(self.name, self.n, draw=self.draw, sizes=sizes, names=tuple(by_axis))
        changed = []
        for number, way in enumerate(ways, start=1):
            joined: dict[str, Any] = {}
            keys = {}
            for (name, settings), i in zip(by_axis.items(), way, strict=True):
                joined |= {key: value for key, value in settings[i].items() if key != "key"}
                keys[name] = settings[i].get("key", "base")
            changed.append(
                _joined(
                    item,
                    self.name,
                    key=f"way-{number}",
                    layout=layout,
                    setting=joined,
                    params={"settings": keys},
                )
            )
        return collapsed([plain, *changed])


@lru_cache(64)
def _ways(
    axis: str, n: int, draw: int, sizes: tuple[int, ...], names: tuple[str, ...]
) -> tuple[tuple[int, ...], ...]:
    """`n` different picks of one setting an axis, none of them all base; as many as there are where
    that is fewer. What an item cannot have, or has already, is replaced by the next pick in order.
    """
    n_all = math.prod(sizes)
    by_number: dict[int, tuple[int, ...]] = {}
    for number_drawn in range(min(n, n_all - 1)):
        # Each axis draws from a stream of its own, so way k has the same settings for every item
        # that has them all.
        places = [generator(draw, axis, number_drawn, name).random() for name in names]
        picks = [int(place * size) for place, size in zip(places, sizes, strict=True)]
        number = int(np.ravel_multi_index(picks, sizes))
        # 0 is the base on every axis.
        while number == 0 or number in by_number:
            number = (number + 1) % n_all
        by_number[number] = tuple(int(i) for i in np.unravel_index(number, sizes))
    return tuple(by_number.values())


def _settings(item: Item, plain: Variant, variants: Sequence[Variant]) -> list[dict[str, Any]]:
    """Differences of each variant from the base, where they alone make up the variant."""
    settings = []
    for changed in variants:
        setting = _setting(plain, changed)
        without_key = {name: value for name, value in setting.items() if name != "key"}
        rebuilt = _joined(
            item, changed.axis, key=changed.key, layout=plain.layout, setting=without_key, params={}
        )
        # A setting that does not give the variant back holds a change that is not told here
        # (the question behind the options), and could not be joined with others.
        is_whole = rebuilt.prompt == changed.prompt and changed.target == plain.target
        if is_whole and rebuilt.prompt != plain.prompt:
            settings.append(setting)
    return settings


def _setting(plain: Variant, changed: Variant) -> dict[str, Any]:
    setting: dict[str, Any] = {"key": changed.key}
    for name in ("order", "labels", "layout", "material_id"):
        if getattr(changed, name) != getattr(plain, name):
            setting[name] = getattr(changed, name)
    parts = dict(changed.prompt.parts)
    before, after = layout_by_name(changed.layout).stem.split("{}")
    if parts["stem"] != dict(plain.prompt.parts)["stem"] and changed.layout == plain.layout:
        setting["question"] = parts["stem"].removeprefix(before).removesuffix(after)
    if INSTRUCTION in parts:
        setting["instruction"] = parts[INSTRUCTION].strip("\n")
    if changed.prompt.system != plain.prompt.system:
        setting["system"] = changed.prompt.system
    return setting


def _joined(
    item: Item,
    axis: str,
    key: str,
    layout: str,
    setting: Mapping[str, Any],
    params: Mapping[str, Any],
) -> Variant:
    changes = {
        name: setting[name]
        for name in ("order", "labels", "question", "material_id")
        if name in setting
    }
    joined = variant(
        item, axis, key=key, layout=setting.get("layout", layout), params=dict(params), **changes
    )
    prompt = joined.prompt
    if "instruction" in setting:
        prompt = with_instruction(prompt, setting["instruction"])
    if "system" in setting:
        prompt = Prompt(prompt.parts, setting["system"])
        joined = replace(joined, params={**joined.params, "system": setting["system"]})
    return replace(joined, prompt=prompt)


AXIS = CombinedWordings()
