"""One change each: Item -> Variants. Adding an axis is one file and one line here, or an entry point `flipscope.axes`."""

from collections.abc import Mapping
from typing import Any

from flipcore.axes import (
    answer_format,
    bit_flip,
    combined,
    completion,
    effort,
    entity_rename,
    example_order,
    few_shot,
    identity,
    label_set,
    language,
    numeric_resample,
    option_order,
    paraphrase,
    prompt_format,
    question_position,
    system_prompt,
    typos,
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
        question_position.AXIS,
        answer_format.AXIS,
        system_prompt.AXIS,
        few_shot.AXIS,
        example_order.AXIS,
        typos.AXIS,
        language.AXIS,
        effort.AXIS,
        combined.AXIS,
        paraphrase.AXIS,
        numeric_resample.AXIS,
        entity_rename.AXIS,
        *bit_flip.AXES,
        completion.AXIS,
    ),
    axis_fault,
)


def axis_of(name: str, params: Mapping[str, Any] | None = None) -> Axis:
    """The axis with its parameters set; raises BadInput for an unknown name or parameter."""
    return AXES.plugin(name, params)
