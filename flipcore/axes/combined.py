"""Combined wordings: each variant draws one setting of every axis at once.

One axis at a time explains a flip. Random combinations estimate how far a score would move if
somebody else had written the prompts. A setting is the difference between an axis's variant and the
base: order, labels, layout, question, system prompt, instruction. Variants that differ in anything
else (the question after the options) cannot be combined and are not drawn.
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

MAX_WAYS = 64
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
    """`n` random combinations of settings ("ways"), without the base.

    `parts` are the axes to combine, with the parameters that the study declares for them. `draw` is
    the seed. Way k has the same settings for all items that have these settings.
    """

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
        if unknown or not self.parts or not 1 <= self.n <= MAX_WAYS or self.draw < 0:
            raise BadInput(
                f"Ways of asking take from 1 to {MAX_WAYS} ways, a seed from 0 on, and changes of "
                f"{', '.join(PARTS)}; got {self.n} ways, seed {self.draw}, changes "
                f"{', '.join(self.parts) or 'none'}."
            )

    def variants(
        self, item: Item, layout: str, rng: np.random.Generator, material: Material
    ) -> list[Variant]:
        unchanged = base(item, self.name, layout=layout)
        settings_of = {}
        for name in self.parts:
            axis = material.axes.get(name, PARTS[name])
            if item.kind in axis.applies_to:
                variants = axis.variants(item, layout, rng, material)
                # The first setting, {}, is the base.
                settings_of[name] = [{}, *_settings(item, unchanged, variants=variants)]
        sizes = tuple(len(settings) for settings in settings_of.values())
        ways = _ways(self.name, self.n, draw=self.draw, sizes=sizes, names=tuple(settings_of))
        changed = []
        for number, way in enumerate(ways, start=1):
            setting: dict[str, Any] = {}
            keys = {}
            for (name, settings), i in zip(settings_of.items(), way, strict=True):
                setting |= {key: value for key, value in settings[i].items() if key != "key"}
                keys[name] = settings[i].get("key", "base")
            changed.append(
                _build(
                    item,
                    self.name,
                    key=f"way-{number}",
                    layout=layout,
                    setting=setting,
                    params={"settings": keys},
                )
            )
        return collapsed([unchanged, *changed])


@lru_cache(64)
def _ways(
    axis: str, n: int, draw: int, sizes: tuple[int, ...], names: tuple[str, ...]
) -> tuple[tuple[int, ...], ...]:
    """Draw `n` different ways, each an index of a setting per axis; fewer where fewer exist.

    The base on all axes (all 0) is never drawn. It and repeated ways are replaced by the next way
    in order.
    """
    n_combinations = math.prod(sizes)
    picks_of: dict[int, tuple[int, ...]] = {}
    for way_number in range(min(n, n_combinations - 1)):
        # Each axis draws from a stream of its own, so way k has the same settings for all items
        # that have these settings.
        draws = [generator(draw, axis, way_number, name).random() for name in names]
        picks = [int(uniform * size) for uniform, size in zip(draws, sizes, strict=True)]
        number = int(np.ravel_multi_index(picks, sizes))
        # 0 is the base on every axis.
        while number == 0 or number in picks_of:
            number = (number + 1) % n_combinations
        picks_of[number] = tuple(int(i) for i in np.unravel_index(number, sizes))
    return tuple(picks_of.values())


def _settings(item: Item, unchanged: Variant, variants: Sequence[Variant]) -> list[dict[str, Any]]:
    """Return each variant's setting; variants that their setting does not reproduce are left out.

    Such a variant has a change that no setting holds (the question after the options), so it cannot
    be combined.
    """
    settings = []
    for changed in variants:
        setting = _setting(unchanged, changed)
        unkeyed = {name: value for name, value in setting.items() if name != "key"}
        rebuilt = _build(
            item, changed.axis, key=changed.key, layout=unchanged.layout, setting=unkeyed, params={}
        )
        is_whole = rebuilt.prompt == changed.prompt and changed.target == unchanged.target
        if is_whole and rebuilt.prompt != unchanged.prompt:
            settings.append(setting)
    return settings


def _setting(unchanged: Variant, changed: Variant) -> dict[str, Any]:
    """Return a variant's differences from the base by name, with its key."""
    setting: dict[str, Any] = {"key": changed.key}
    for name in ("order", "labels", "layout", "material_id"):
        if getattr(changed, name) != getattr(unchanged, name):
            setting[name] = getattr(changed, name)
    parts = dict(changed.prompt.parts)
    before, after = layout_by_name(changed.layout).stem.split("{}")
    if parts["stem"] != dict(unchanged.prompt.parts)["stem"] and changed.layout == unchanged.layout:
        setting["question"] = parts["stem"].removeprefix(before).removesuffix(after)
    if INSTRUCTION in parts:
        setting["instruction"] = parts[INSTRUCTION].strip("\n")
    if changed.prompt.system != unchanged.prompt.system:
        setting["system"] = changed.prompt.system
    return setting


def _build(
    item: Item,
    axis: str,
    key: str,
    layout: str,
    setting: Mapping[str, Any],
    params: Mapping[str, Any],
) -> Variant:
    """Return the variant of an item with this setting."""
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
