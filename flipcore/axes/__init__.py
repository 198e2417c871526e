"""Axes: each makes variants of an item by one kind of change.

Adding an axis is one file and one name here, or an entry point `flipscope.axes`.
"""

from collections.abc import Mapping
from typing import Any

from flipcore.core.contracts import Axis, axis_fault
from flipcore.core.plugins import Registry, in_files

_FILES = (
    "identity options framing stored_wordings effort combined numeric_resample entity_rename "
    "bit_flip completion masked_option"
)
AXES: Registry[Axis] = Registry(
    "axis",
    "axes",
    kind=Axis,
    shipped=in_files(__name__, _FILES, singular="AXIS", plural="AXES"),
    fault=axis_fault,
)


def axis_of(name: str, params: Mapping[str, Any] | None = None) -> Axis:
    """Return the axis with its parameters set; BadInput for an unknown name or parameter."""
    return AXES.plugin(name, params)
