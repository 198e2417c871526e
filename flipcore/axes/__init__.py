"""One change each: Item -> Variants. Adding an axis is one file and one line here, or an entry point `flipscope.axes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flipcore.axes import (
    bit_flip,
    effort,
    entity_rename,
    few_shot,
    identity,
    label_set,
    numeric_resample,
    option_order,
    paraphrase,
    prompt_format,
)
from flipcore.core.contracts import Axis, axis_fault
from flipcore.core.plugins import Registry

AXES: Registry[Axis] = Registry(
    "axis",
    "axes",
    Axis,
    (
        identity.AXIS,
        option_order.AXIS,
        label_set.AXIS,
        prompt_format.AXIS,
        few_shot.AXIS,
        effort.AXIS,
        paraphrase.AXIS,
        numeric_resample.AXIS,
        entity_rename.AXIS,
        *bit_flip.AXES,
    ),
    axis_fault,
)


def axis_of(name: str, params: Mapping[str, Any] | None = None) -> Axis:
    """The axis with its parameters set; raises BadInput for an unknown name or parameter."""
    return AXES.plugin(name, params)
