"""One harmless change each: Item -> Variants. Adding an axis is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipcore.axes import (
    bit_flip,
    bit_flip_summary,
    entity_rename,
    few_shot,
    identity,
    label_set,
    numeric_resample,
    option_order,
    paraphrase,
    prompt_format,
)
from flipcore.core import plugins
from flipcore.core.contracts import Axis

AXES: dict[str, Axis] = {
    module.AXIS.name: module.AXIS
    for module in (
        identity,
        option_order,
        label_set,
        prompt_format,
        few_shot,
        paraphrase,
        numeric_resample,
        entity_rename,
        bit_flip,
        bit_flip_summary,
    )
}


def axis_of(name: str, params: Mapping[str, Any] | None = None) -> Axis:
    """The axis with its parameters set; raises BadInput for an unknown name or parameter."""
    return plugins.plugin_of(AXES, "axis", name, params)
