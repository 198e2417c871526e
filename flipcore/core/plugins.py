"""From a plug-in's name and parameters to the plug-in, with a sentence when either is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from flipcore.core import bounds
from flipcore.core.errors import BadInput

T = TypeVar("T")


def plugin_of(by_name: Mapping[str, T], what: str, name: str, params: Mapping[str, Any] | None = None) -> T:
    """The plug-in with its parameters set; raises BadInput with what is known."""
    if name not in by_name:
        raise BadInput(f"There is no {what} called {name!r}; choose one of {', '.join(by_name)}.")
    settings = dict(params or {})
    plugin: Any = by_name[name]  # every plug-in is a frozen dataclass, which a protocol cannot say
    allowed = {field.name for field in fields(plugin)}
    unknown = sorted(set(settings) - allowed)
    if unknown:
        takes = f"it takes {', '.join(sorted(allowed))}" if allowed else "it takes no parameters"
        raise BadInput(f"The {what} {name!r} has no parameter {unknown[0]!r}; {takes}.")
    fitting = {key: _fitting(f"The {what} {name!r}", key, value, getattr(plugin, key)) for key, value in settings.items()}
    return replace(plugin, **fitting)


def _fitting(who: str, key: str, value: Any, default: Any) -> Any:
    """The value in the type of the parameter's default: a list becomes a tuple, an integer may stand for a float."""
    value = tuple(value) if isinstance(value, list) else value
    bounds.check_nested(who, key, value, bounds.PARAMETERS)
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if default is not None and type(value) is not type(default):
        raise BadInput(f"{who} has {key} = {value!r}; it must be of the kind of {default!r}.")
    return value
